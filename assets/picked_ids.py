"""What a person picks from a list that was shown: some entries by the beginning of their ids, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class PickedIds:
    """The entries of a list that a person picks, by the beginnings of their ids or all, and the reason given."""

    ids: Sequence[str] = ()
    everything: bool = False
    reason: str | None = None

    @property
    def has_any(self) -> bool:
        """False where nothing is picked: then the command prints the list."""
        return bool(self.ids) or self.everything


@dataclass(frozen=True, slots=True)
class Listed:
    """What a command has listed of a feed: the command's own name, and what one entry is called."""

    feed: Feed
    command: str
    called: str

    def picked(self, picked: PickedIds, entries: Iterable[tuple[str, Entry]]) -> list[Entry]:
        """The entries that were chosen; ``entries`` are all that were listed, each with its id.

        Raises:
            DecisionRefused: an id that was typed is the beginning of none, or of more than one.
        """
        if picked.everything:
            return [entry for _, entry in entries]
        alike: dict[str, list[Entry]] = {text: [] for text in picked.ids}
        lengths = {len(text) for text in alike}
        # There may be many entries, so that each is looked at once, whatever number of ids was typed.
        for id, entry in entries:
            for length in lengths:
                if id[:length] in alike and length <= len(id):
                    alike[id[:length]].append(entry)
        return [self._only(text, alike[text]) for text in picked.ids]

    def _only(self, text: str, alike: Sequence[Entry]) -> Entry:
        if len(alike) != 1:
            how_many = f"more than one {self.called} has" if alike else f"no {self.called} has"
            raise DecisionRefused(
                self.feed.name,
                f"{how_many} an id that begins with {text!r}; `weir {self.command} {self.feed.name}` lists them",
            )
        return alike[0]
