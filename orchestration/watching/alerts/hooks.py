"""Where messages go, by the environment: a webhook, and mail. Addresses may hold secrets, and are never printed.

Put here how a message is sent. Not here: what it says (``message``).
"""

from __future__ import annotations

import http.client
import json
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from orchestration.watching.alerts.message import Message
from transforms.addresses import without_credentials
from transforms.errors import SettingMisdeclared

WEBHOOK: Final = "WEIR_WEBHOOK_URL"
SMTP, TO, FROM = "WEIR_SMTP_URL", "WEIR_MAIL_TO", "WEIR_MAIL_FROM"
UI: Final = "WEIR_UI_URL"
SECONDS: Final = 10
"""So long a hook may take to answer: the daemon has other work."""

Hook = Callable[[Message], str | None]
"""Sends a message; returns why it could not, without a secret, or None."""


def hooks_of(environment: Mapping[str, str]) -> dict[str, Hook]:
    """The hooks that the environment names, by what they are called.

    Raises:
        SettingMisdeclared: an address is none, or mail has nobody to go to.
    """
    hooks: dict[str, Hook] = {}
    if url := environment.get(WEBHOOK, "").strip():
        _address(WEBHOOK, url, "http", "https")
        hooks["webhook"] = lambda message: _post(url, message)
    if server := environment.get(SMTP, "").strip():
        parts = _address(SMTP, server, "smtp", "smtps")
        to = [one.strip() for one in environment.get(TO, "").split(",") if one.strip()]
        if not to:
            raise SettingMisdeclared(TO, "", f"{SMTP} is set, and nobody to write to is named")
        sender = environment.get(FROM, "").strip() or f"weir@{parts.hostname}"
        hooks["mail"] = lambda message: _mail(parts, sender, to, message)
    return hooks


def link_of_run(environment: Mapping[str, str], run: str) -> str:
    """The run's page below ``WEIR_UI_URL``; nothing where that is not set."""
    base = without_credentials(environment.get(UI, "").strip()).rstrip("/")
    return f"{base}/runs/{run}" if base else ""


def _address(name: str, text: str, *schemes: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        # The value may hold a password, so it is not repeated.
        wanted = " or ".join(f"{one}://host" for one in schemes)
        raise SettingMisdeclared(name, "…", f"this is no address; write {wanted}")
    return parts


def _post(url: str, message: Message) -> str | None:
    request = urllib.request.Request(
        url,
        data=json.dumps(message.as_json()).encode(),
        headers={"Content-Type": "application/json", "Idempotency-Key": message.key},
        method="POST",
    )
    host = urlsplit(url).hostname
    try:
        with urllib.request.urlopen(request, timeout=SECONDS):
            return None
    except urllib.error.HTTPError as fault:
        return f"the webhook at {host} answers {fault.code}"
    except (OSError, ValueError, http.client.HTTPException) as fault:
        return f"the webhook at {host} cannot be reached: {_kind(fault)}"


def _mail(server: SplitResult, sender: str, to: list[str], message: Message) -> str | None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = message.subject, sender, ", ".join(to)
    # Of one run there is one mail, however often a program that forwards it has seen it.
    mail["Message-ID"] = f"<weir-{message.key}@{server.hostname}>"
    mail.set_content(message.text)
    try:
        with _connected(server) as client:
            if server.username:
                client.login(unquote(server.username), unquote(server.password or ""))
            client.send_message(mail)
    except smtplib.SMTPResponseException as fault:
        return f"the mail server {server.hostname} answers {fault.smtp_code}"
    except (smtplib.SMTPException, OSError, ValueError) as fault:
        return f"the mail server {server.hostname} takes no mail: {_kind(fault)}"
    return None


def _connected(server: SplitResult) -> smtplib.SMTP:
    host = server.hostname or ""
    if server.scheme == "smtps":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(host, server.port or 465, timeout=SECONDS, context=context)
    client = smtplib.SMTP(host, server.port or 25, timeout=SECONDS)
    client.ehlo()
    if client.has_extn("starttls"):
        client.starttls(context=ssl.create_default_context())
    return client


def _kind(fault: Exception) -> str:
    """An error in a word or two: its own text might repeat an address."""
    reason = getattr(fault, "reason", None)
    return getattr(reason or fault, "strerror", None) or type(fault).__name__
