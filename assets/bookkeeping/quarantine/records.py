"""The records of a feed that are or were in quarantine, each with its state: as values, and many of them as columns.

Put here what a person may ask about such records. Not here: reading them (``known_records``), changing their state
(``assets/upkeep/repairing``, ``decisions.dismiss``), and how answers are printed (``orchestration/cli/quarantine``).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args, overload

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine import source_locations
from assets.bookkeeping.quarantine.repaired_records import REPAIRED, Cells, source_location_of
from transforms.feed.decisions import Replacement, SourceLocation
from transforms.record import SOURCE_LOCATION

State = Literal["open", "repaired", "dismissed", "too late"]
"""Where a record stands: it waits for somebody, its window takes it now, or somebody gave it up.

Or it came too late for compacted history, which nobody has to decide (``weir rebuild`` takes it in).
"""

STATES: Sequence[State] = get_args(State)


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """A record with ``events`` events that could not be taken, and the table, reason and detail of the first of them.

    ``decided``: when, by whom and why it came into its state, where a person did that. ``replacement``: what a person
    gave in its place, whether its window has been derived with it or not. ``left_at``: when it left quarantine, and
    ``how`` (``repaired_records``); None and empty where it is there.
    """

    id: str
    state: State
    window: str
    source_location: SourceLocation
    events: int
    table: str | None
    reason: str
    detail: str
    decided: Signature | None = None
    replacement: Replacement | None = None
    left_at: datetime | None = None
    how: str = ""
    is_of_topic: bool = False

    @property
    def where(self) -> str:
        """The object or partition of the topic, and the line or offset, as people say it."""
        object_name, _, line, byte_offset = self.source_location
        return f"{object_name} {f'offset {byte_offset}' if self.is_of_topic else f'line {line}'}"


def id_of(source_location: SourceLocation) -> str:
    """The id of a record: the same for ever, and in every warehouse."""
    return hashlib.sha256(json.dumps(source_location).encode()).hexdigest()


KNOWN = pa.schema([*REPAIRED, pa.field("state", pa.string())])
"""What is held of each record; ``how`` and ``repaired_at`` are null of those that are in quarantine."""

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Records(Sequence[QuarantinedRecord]):
    """Records by window, object and line, held as columns: a record is made of a row when somebody looks at it.

    ``replaced`` and ``dismissed`` are what persons decided about any records of the feed.
    """

    rows: pa.Table
    is_of_topic: bool = False
    replaced: Mapping[SourceLocation, Replacement] = field(default_factory=dict)
    dismissed: Mapping[SourceLocation, Signature] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many records these are."""
        found: int = self.rows.num_rows
        return found

    @overload
    def __getitem__(self, at: int) -> QuarantinedRecord: ...
    @overload
    def __getitem__(self, at: slice) -> Records: ...

    def __getitem__(self, at: int | slice) -> QuarantinedRecord | Records:
        """One record, or those of a slice."""
        numbers = range(len(self))[at]
        if isinstance(numbers, int):
            return self._record(self.rows.slice(numbers, 1).to_pylist()[0])
        return self.take(numbers)

    def __iter__(self) -> Iterator[QuarantinedRecord]:
        """Each record, one after the other."""
        for batch in self.rows.to_batches(_AT_ONCE):
            yield from map(self._record, batch.to_pylist())

    def take(self, numbers: Sequence[int]) -> Records:
        """The records with these numbers in the list, in the order of the numbers."""
        return replace(self, rows=self.rows.take(pa.array(numbers, pa.int64())))

    def where(self, *, state: str | None = None, reason: str | None = None) -> Records:
        """Those with this state and this reason."""
        rows = self.rows
        for name, value in (("state", state), ("reason", reason)):
            if value is not None:
                rows = rows.filter(pc.equal(rows[name], value))
        return replace(self, rows=rows)

    def among(self, others: Records) -> Records:
        """Those that are among the others, too."""
        return replace(self, rows=source_locations.among(self.rows, others.rows))

    def plus(self, others: Records) -> Records:
        """These and the others, each once."""
        more = others.without(self)
        return replace(self, rows=pa.concat_tables([self.rows, more.rows]))

    def without(self, others: Records) -> Records:
        """Those that are not among the others."""
        return replace(self, rows=source_locations.without(self.rows, others.rows))

    def ids(self) -> Iterator[str]:
        """The id of each record, in order."""
        for batch in self.rows.select(SOURCE_LOCATION).to_batches(_AT_ONCE):
            columns = (column.to_pylist() for column in batch.columns)
            yield from map(id_of, zip(*columns, strict=True))

    def with_ids(self, ids: Collection[str]) -> Records:
        """Those with these ids."""
        return self.take([number for number, id in enumerate(self.ids()) if id in ids])

    @property
    def windows(self) -> list[str]:
        """The windows that they are of, in order."""
        return sorted(pc.unique(self.rows["window"]).to_pylist())

    @property
    def reasons(self) -> Counter[str]:
        """How many records have each reason."""
        counts = self.rows["reason"].value_counts().to_pylist()
        return Counter({one["values"]: one["counts"] for one in counts})

    def _record(self, row: Cells) -> QuarantinedRecord:
        source_location = source_location_of(row)
        given, state = self.replaced.get(source_location), row["state"]
        decided = self.dismissed.get(source_location) if state == "dismissed" else None
        if state == "repaired" and given is not None:
            decided = Signature(given.at, given.by, given.reason)
        return QuarantinedRecord(
            id=id_of(source_location),
            state=state,
            window=row["window"],
            source_location=source_location,
            events=row["events"],
            table=row["table"],
            reason=row["reason"],
            detail=row["detail"],
            decided=decided,
            replacement=given,
            left_at=row["repaired_at"],
            how=row["how"] or "",
            is_of_topic=self.is_of_topic,
        )
