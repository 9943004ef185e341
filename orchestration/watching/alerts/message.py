"""What a message says: one per run, as text for people, with the same in parts for programs.

Put here how a message reads. Not here: sending it (``hooks``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from transforms.display import chat
from transforms.display.plain import hanging, one_line


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
        body = [chat.block(lines)] if lines else []
        return "\n".join([chat.said(self.subject), *body, *self._end()])

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
