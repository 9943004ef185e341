"""Messages about what needs somebody: what they say, and how they go by webhook and by mail."""

from __future__ import annotations

import http.client
import json
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from typing import Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from transforms import display
from transforms.addresses import without_credentials
from transforms.display import hanging, one_line
from transforms.errors import SettingMisdeclared


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A check that did not pass: the asset, its name, its weight, and what was found and what to do, line by line."""

    asset: str
    check: str
    severity: Literal["failed", "warning"]
    says: str


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody is told of a run.

    ``key``: the run's id; of one key no hook is sent two messages. ``failed``: why steps failed, a sentence or more
    each. ``drift``: what the stream has that the feed file does not, with the lines to paste. ``link``: the run's page,
    or "".
    """

    key: str
    feed: str
    windows: str = ""
    failed: Sequence[str] = ()
    checks: Sequence[CheckFinding] = ()
    drift: Sequence[str] = ()
    link: str = ""

    @property
    def subject(self) -> str:
        """The message in a line."""
        of_windows = f" ({self.windows})" if self.windows else ""
        return one_line(f"Weir: {self.feed}{of_windows}: {self._what()}")

    def _what(self) -> str:
        broken = [one.check for one in self.checks if one.severity == "failed"]
        if self.failed or broken:
            return "the run failed" if self.failed else f"check failed: {', '.join(broken)}"
        if self.checks:
            return f"warning: {', '.join(one.check for one in self.checks)}"
        return "the stream has something new" if self.drift else "a test of Weir's messages"

    @property
    def text(self) -> str:
        """The whole message, for a mail: lines, in which every character is seen."""
        return "\n".join([self.subject, *map(one_line, self._lines()), *self._end()])

    @property
    def chat_text(self) -> str:
        """The whole message, for a room where people chat: what sources wrote does nothing there."""
        lines = [*self._lines()]
        body = [display.chat_block(lines)] if lines else []
        return "\n".join([display.chat_text(self.subject), *body, *self._end()])

    def _lines(self) -> Iterator[str]:
        for reason in self.failed:
            yield from hanging(f"error: {reason}").split("\n")
        for one in self.checks:
            yield f"{one.severity}: {one.asset}: {one.check}"
            yield from (f"  {line}" for line in one.says.splitlines() if line)
        yield from self.drift

    def _end(self) -> Iterator[str]:
        if self.link:
            yield f"The run: {self.link}"

    def as_json(self) -> dict[str, object]:
        """``text``, which Slack and its like show, and the parts of the message under ``weir``, as they are."""
        return {"text": self.chat_text, "weir": {"subject": self.subject, **asdict(self)}}


# Where messages go, by the environment: a webhook, and mail. Addresses may hold secrets, and are never printed.


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
