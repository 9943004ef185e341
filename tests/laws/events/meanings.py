"""What landed records mean, in the laws' own words: the events in each, and the rows of silver that these must become.

Each module that draws a format's records adds to every record its meaning (``Meaning``), from what the source did and
never from the record's bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.laws.oracle.event import Image, Key, LogPosition
from transforms.feed.feed import Feed

CONTROL = ("begin", "commit", "note")
HOLD = "hold"


NOTHING: Image = {}


class Row(NamedTuple):
    """One row of silver, as far as the source decides what is in it; ``table`` is gold's name."""

    table: str | None
    operation: str
    effect: str
    key: Key | None = None
    moved_from: Key | None = None
    derived: str | None = None
    before: Image = NOTHING
    after: Image = NOTHING
    attribute_ops: Image = NOTHING
    scope: Image | None = None


@dataclass(slots=True)
class Meaning:
    """One event in a record.

    ``name``: what event it is: two deliveries with one name are one event, and two names are two events.
    ``log_position``: where this delivery of it stands, as far as the source decides that; ``stable``: how many leading
    numbers of it are the same in every delivery. ``rows``: one, or two of an event that changes its key, the old key's
    first. ``reason``: why it is quarantined, or None; it has no rows and no name then. ``table``: whose account it goes
    to. ``event_id``: its identity as the oracle spells it, where that knows how.
    """

    table: str | None
    name: Hashable = None
    log_position: LogPosition = ()
    stable: int = 0
    rows: Sequence[Row] = ()
    reason: str | None = None
    event_id: str | None = None

    @property
    def derived(self) -> str | None:
        """Why it is there, where the source sent no such event."""
        return self.rows[-1].derived if self.rows else None

    @property
    def count(self) -> str:
        """What it is counted as where it counts."""
        if self.reason is not None:
            return "quarantined"
        if self.derived is not None:
            return "derived"
        effect = self.rows[-1].effect
        return "control" if effect in CONTROL else "held" if effect == HOLD else "changes"


@dataclass(slots=True)
class Record:
    """One record of an object: its text, and its events in order."""

    text: str
    meanings: Sequence[Meaning]


Place = tuple[str, str]
"""The window of an object, and its name."""


@dataclass(slots=True)
class Landed:
    """One object: its records, in order, behind a header where it has one."""

    records: list[Record] = field(default_factory=list)
    header: str | None = None

    def data(self) -> bytes:
        """The object's bytes."""
        lines = [one.text for one in self.records]
        return "".join(
            f"{one}\n" for one in ([self.header] if self.header else []) + lines
        ).encode()


@dataclass(slots=True)
class Drawn:
    """What was drawn for one feed: every object of every window.

    ``compaction_watermarks``: by gold table, the position up to which its history is compacted.
    """

    feed: Feed
    objects: dict[Place, Landed]
    compaction_watermarks: Mapping[str, LogPosition] = field(default_factory=dict)

    def records(self) -> Iterator[tuple[Place, Record]]:
        """Every record with its object."""
        for place, landed in self.objects.items():
            for record in landed.records:
                yield place, record

    def windows(self) -> dict[str, list[Record]]:
        """The records of each window."""
        found: dict[str, list[Record]] = {}
        for (window, _), record in self.records():
            found.setdefault(window, []).append(record)
        return found

    def is_covered(self, meaning: Meaning) -> bool:
        """Whether an event is at or below its table's compaction watermark."""
        compaction_watermark = self.compaction_watermarks.get(meaning.table or "")
        if (
            compaction_watermark is None
            or meaning.reason is not None
            or meaning.rows[-1].effect in CONTROL
        ):
            return False
        return meaning.log_position[: meaning.stable] <= compaction_watermark[: meaning.stable]

    def in_base(self, meaning: Meaning) -> bool:
        """Whether the base rows have an event that is at or below the compaction watermark: half of them, whichever."""
        return sum(meaning.log_position[: meaning.stable]) % 2 == 0
