"""The quarantine of one feed in an open warehouse, and the records of it that a person names.

Put here what every way to work with quarantine begins with. Not here: what is known of a record (``records``), and what
is then done with it (``assets/upkeep``).
"""

from __future__ import annotations

from dataclasses import dataclass

from assets.bookkeeping import decisions
from assets.bookkeeping.choice import Choice, Listed
from assets.bookkeeping.quarantine.known_records import records
from assets.bookkeeping.quarantine.records import Records
from assets.lake import Lake
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A feed with its recorded decisions, its warehouse, and all records that are or were in quarantine."""

    lake: Lake
    feed: Feed
    records: Records

    @property
    def open(self) -> Records:
        """Those that wait for somebody."""
        return self.records.where(state="open")

    def picked(self, choice: Choice) -> Records:
        """Those that a person picks: by the beginnings of their ids, or all that are open.

        Raises:
            DecisionRefused: an id is the beginning of none, or of more than one; or nothing is picked.
        """
        if not choice.is_made:
            raise DecisionRefused(
                self.feed.name,
                f"say which records: by the beginnings of their ids, or `--all`; `weir quarantine list"
                f" {self.feed.name}` lists them",
            )
        if choice.everything:
            return self.open
        listed = Listed(self.feed, "quarantine list", "record of quarantine")
        ids = ((id, number) for number, id in enumerate(self.records.ids()))
        return self.records.take(listed.picked(choice, ids))


def quarantine_of(lake: Lake, feed: Feed) -> Quarantine:
    """The quarantine of a feed in an open warehouse, as it is now."""
    with_recorded = decisions.with_recorded(lake, feed)
    return Quarantine(lake, with_recorded, records(lake, with_recorded))
