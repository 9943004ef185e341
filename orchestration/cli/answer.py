"""What a command prints about its feeds: lines for people while it works, or one JSON document at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assets.storage.step_faults import fault_in_words
from orchestration.console import print_error, put, put_json

Facts = dict[str, object]
"""Part of a document: what is known, by the names that docs/commands.md explains."""


@dataclass(slots=True)
class CommandAnswer:
    """What a command says of its feeds. With ``as_json`` its lines are not printed, and its facts are, at the end.

    Every feed has ``feed``, ``ok`` and ``errors``, as in the documents of ``weir feeds check``.
    """

    as_json: bool = False
    feeds: dict[str, Facts] = field(default_factory=dict)

    def line(self, text: str) -> None:
        """Print one line for people."""
        if not self.as_json:
            put(text)

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines for people."""
        for text in texts:
            self.line(text)

    def of(self, feed: str) -> Facts:
        """The facts of one feed, to be added to."""
        return self.feeds.setdefault(feed, {"feed": feed, "ok": True, "errors": []})

    def fail(self, feed: str, errors: Sequence[str] = ()) -> None:
        """Note that the command did not do for this feed what it should, and why."""
        facts = self.of(feed)
        known = facts["errors"]
        assert isinstance(known, list)
        known.extend(errors)
        facts["ok"] = False

    def error(self, feed: str, fault: Exception) -> None:
        """Print the error that ended the work on a feed, and note it."""
        print_error(feed, fault)
        self.fail(feed, [fault_in_words(fault)])

    def end(self) -> None:
        """Print the document of a command that is about several feeds: one object for each."""
        if self.as_json:
            put_json([*self.feeds.values()])

    def end_of_one(self, feed: str) -> None:
        """Print the document of a command that is about one feed: its object."""
        if self.as_json:
            put_json(self.of(feed))
