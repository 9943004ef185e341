"""Messages about runs that need somebody: what one says, and where it goes, by the addresses in ``WEIR_ALERTS``.

Apprise sends to all services that it knows; an ``http://`` or ``https://`` address of none of them gets JSON.
Addresses hold secrets, and are never printed.
"""

from __future__ import annotations

import http.client
import json
import logging
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urlsplit

from transforms.addresses import without_credentials
from transforms.display import hanging, one_line
from transforms.errors import SettingMisdeclared

if TYPE_CHECKING:
    from apprise import AppriseResult, NotifyBase

ALERTS: Final = "WEIR_ALERTS"
UI: Final = "WEIR_UI_URL"
WEBHOOK_SECONDS: Final = 10
"""So long a webhook may take to answer: the daemon has other work. Apprise waits for some seconds, too."""

_ADDRESS: Final = re.compile(r"\b([a-z][a-z0-9+.-]*):(?=//)|\b(mailto|tel|javascript|data):", re.I)
_ALL: Final = re.compile(r"@(?=channel|here|all|everyone)", re.I)
_BRACKETS: Final = str.maketrans("<>", "‹›")
# Addresses stand between spaces, or between commas; a comma within one is its own.
_BETWEEN: Final = re.compile(r"\s+|,\s*(?=[A-Za-z0-9]+://)")


def inert(text: str) -> str:
    """One line that does nothing where it is read: it mentions nobody, is no link, and ends no block of code.

    ``http://x`` is ``http[:]//x``, ``@channel`` is ``[@]channel``, and ``<`` is ``‹``: what is changed can be seen.
    """
    text = _ALL.sub("[@]", one_line(text))
    text = _ADDRESS.sub(lambda found: f"{found[1] or found[2]}[:]", text)
    return text.replace("](", "] (").replace("```", "'''").translate(_BRACKETS)


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A check that did not pass: the asset, its name, its weight, and what was found and what to do, line by line."""

    asset: str
    check: str
    severity: Literal["failed", "warning"]
    says: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message about a run.

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
        return inert(f"Weir: {self.feed}{of_windows}: {self._what()}")

    @property
    def gravity(self) -> Literal["failure", "warning", "info"]:
        """How grave it is, in Apprise's words."""
        if self.failed or any(one.severity == "failed" for one in self.checks):
            return "failure"
        return "warning" if self.checks or self.drift else "info"

    def _what(self) -> str:
        broken = [one.check for one in self.checks if one.severity == "failed"]
        if self.failed or broken:
            return "the run failed" if self.failed else f"check failed: {', '.join(broken)}"
        if self.checks:
            return f"warning: {', '.join(one.check for one in self.checks)}"
        return "the stream has something new" if self.drift else "a test of Weir's messages"

    @property
    def body(self) -> str:
        """What follows the subject; never empty, for there are services that send nothing then."""
        return "\n".join([*map(inert, self._lines()), *self._end()]) or "Nothing is wrong."

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
        lines = [*map(inert, self._lines())]
        block = ["```", *lines, "```"] if lines else []
        text = "\n".join([self.subject, *block, *self._end()])
        return {"text": text, "weir": {"subject": self.subject, **asdict(self)}}


Hook = Callable[[Message], str | None]
"""Sends a message; returns why it could not, without a secret, or None."""


def hooks_of(environment: Mapping[str, str]) -> dict[str, Hook]:
    """A hook for each address in ``WEIR_ALERTS``, by its service: ``slack``, ``mailto``, ``webhook``, ``webhook-2``.

    Raises:
        SettingMisdeclared: an address is none.
    """
    addresses = [one for one in _BETWEEN.split(environment.get(ALERTS, "").strip()) if one]
    hooks: dict[str, Hook] = {}
    for number, address in enumerate(addresses, 1):
        service, hook = _hook_of(address, f"address {number} of {len(addresses)}")
        of_service = sum(name.split("-")[0] == service for name in hooks)
        hooks[f"{service}-{of_service + 1}" if of_service else service] = hook
    return hooks


def link_of_run(environment: Mapping[str, str], run: str) -> str:
    """The run's page below ``WEIR_UI_URL``; nothing where that is not set."""
    base = without_credentials(environment.get(UI, "").strip()).rstrip("/")
    return f"{base}/runs/{run}" if base else ""


def _hook_of(address: str, which: str) -> tuple[str, Hook]:
    plugin = _import_apprise().Apprise.instantiate(address, asset=_asset())
    if plugin is not None:
        service = plugin.url(privacy=True).partition("://")[0]
        return service, lambda message: _send(plugin, address, message)
    try:
        parts = urlsplit(address)
        is_webhook = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_webhook = False
    if not is_webhook:
        # The address may hold a password, so it is not repeated.
        raise SettingMisdeclared(
            ALERTS,
            "…",
            f"{which} is no address of a service that Apprise knows, or lacks something that the service needs, and "
            "is no webhook's (https://host/path). How each is written: https://appriseit.com/services/",
        )
    return "webhook", lambda message: _post(address, message)


def _import_apprise() -> ModuleType:
    """Apprise, imported on first use, because that takes a while; its own log goes nowhere but into its answers."""
    import apprise

    log = logging.getLogger("apprise")
    log.propagate = False
    # Only here it says why a connection failed.
    log.setLevel(logging.DEBUG)
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return apprise


def _asset() -> object:
    # No picture is fetched from Apprise's own site by whoever reads a message.
    return _import_apprise().AppriseAsset(
        app_id="Weir", app_desc="Weir", app_url="", image_url_mask="", image_url_logo=""
    )


def _send(plugin: NotifyBase, address: str, message: Message) -> str | None:
    apprise = _import_apprise()
    if plugin.overflow_mode == apprise.OverflowMode.UPSTREAM:
        # What is too long for a service would be refused as a whole.
        plugin.overflow_mode = apprise.OverflowMode.SPLIT
    service = apprise.Apprise()
    service.add(plugin)
    with service.notify(
        body=message.body,
        title=message.subject,
        notify_type=message.gravity,
        body_format=apprise.NotifyFormat.TEXT,
        log_level=logging.DEBUG,
    ) as answer:
        return None if answer else _without_secrets(_why(answer), plugin, address)


def _why(answer: AppriseResult) -> str:
    entries = [*answer.logs()]
    said = [
        one.message.rstrip(".") for one in entries if one.level in ("WARNING", "ERROR", "CRITICAL")
    ]
    # Below that, Apprise says everything, secrets too: no more is taken of it than these words.
    reasons = [
        found[1] or f"it answers {found[2]}" if found[1] or found[2] else found[0]
        for one in entries
        if one.message.startswith("Socket Exception:")
        and (found := re.search(r"Errno -?\d+\] ([A-Za-z ]+)|\((\d{3}), |timed out", one.message))
    ]
    return ": ".join(dict.fromkeys([*said, *reasons])) or "it did not take the message"


def _without_secrets(text: str, plugin: NotifyBase, address: str) -> str:
    """The text without any part of the address that Apprise holds to be secret."""
    public = str(plugin.url(privacy=True))  # type: ignore[no-untyped-call]
    parts = [*re.split(r"[:/?#@&=;,]+", address)]
    for part in sorted({*parts, *map(unquote, parts)}, key=len, reverse=True):
        if part and part not in public:
            text = text.replace(part, "…")
    return one_line(without_credentials(text))


def _post(url: str, message: Message) -> str | None:
    request = urllib.request.Request(
        url,
        data=json.dumps(message.as_json()).encode(),
        headers={"Content-Type": "application/json", "Idempotency-Key": message.key},
        method="POST",
    )
    host = urlsplit(url).hostname
    try:
        with urllib.request.urlopen(request, timeout=WEBHOOK_SECONDS):
            return None
    except urllib.error.HTTPError as fault:
        return f"the webhook at {host} answers {fault.code}"
    except (OSError, ValueError, http.client.HTTPException) as fault:
        # In a word or two: an error's own text might repeat the address.
        reason = getattr(fault, "reason", None) or fault
        kind = getattr(reason, "strerror", None) or type(reason).__name__
        return f"the webhook at {host} cannot be reached: {kind}"
