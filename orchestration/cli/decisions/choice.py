"""What a person picks from a list that a command has printed: some entries by the beginning of their ids, or all.

Put here what ``release`` and the commands of ``weir quarantine`` share. Not here: what they list, and the value that
was typed (``Choice`` in ``orchestration/cli/options``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from orchestration.cli.options import Choice
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Listed:
    """What a command has listed of a feed: the command's own name, and what one entry is called."""

    feed: Feed
    command: str
    called: str

    def picked(self, choice: Choice, entries: Sequence[tuple[str, Entry]]) -> list[Entry]:
        """The entries that were chosen; ``entries`` are all that were listed, each with its id.

        Raises:
            DecisionRefused: an id that was typed is the beginning of none, or of more than one.
        """
        if choice.everything:
            return [entry for _, entry in entries]
        return [self._by_id(text, entries) for text in choice.ids]

    def _by_id(self, text: str, entries: Sequence[tuple[str, Entry]]) -> Entry:
        alike = [entry for id, entry in entries if id.startswith(text)]
        if len(alike) != 1:
            how_many = f"more than one {self.called} has" if alike else f"no {self.called} has"
            raise DecisionRefused(
                self.feed.name,
                f"{how_many} an id that begins with {text!r}; `weir {self.command} {self.feed.name}` lists them",
            )
        return alike[0]
