"""Whether a row began with an update: its insert never came, and perhaps neither did other changes.

The source says of an update that the row was there. Where gold had none, some change is missing: the stream began amid
the row's life, or lost what came before. Where updates are whole the row is right from then on, but rows that nothing
has touched since may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from transforms.gold.change import Change


@dataclass(slots=True)
class Beginning:
    """What a key's present row began with, as its changes are seen one after the other.

    ``is_present``: whether there is a row. ``is_by_update``: whether it began with an update. Range deletes are not
    looked at: what is behind them in the source may have been in their snapshot.
    """

    is_present: bool
    is_by_update: bool = False

    def see(self, change: Change) -> None:
        """The next change."""
        if change.is_range_delete:
            return
        if change.effect == "remove":
            self.is_present = self.is_by_update = False
        elif not self.is_present:
            self.is_present, self.is_by_update = True, change.is_update

    def seeing(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes, each seen as it is taken."""
        for change in changes:
            self.see(change)
            yield change
