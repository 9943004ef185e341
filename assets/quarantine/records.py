"""The records of a feed that are or were in quarantine: which and how many, in which state, and what they hold."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args, overload

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns import layers
from assets.control import decisions
from assets.control.decisions import Signature
from assets.picked_ids import Listed, PickedIds
from assets.storage.delta_rs import conformed
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Replacement, SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
from transforms.silver.faults import TOO_LATE

BY_PAYLOAD, BY_FEED_FILE = "payload", "window derived again"
"""How a record was repaired: a person gave another payload, or it became readable as it is, by another feed file."""

_FAULT = ("window", *SOURCE_LOCATION, "table", "reason", "detail")

FAULTS = layers.Quarantine.some(*_FAULT)
"""The columns of quarantine that say which record a row is of, and what is wrong with it."""

RECORDS = FAULTS.append(layers.Repaired.schema.field("events"))
"""One row per record: the first of its faults, and how many of its ``events`` were quarantined."""

Cells = dict[str, Any]

SOURCE_ORDER = [(name, "ascending") for name in ("window", *SOURCE_LOCATION)]


def source_location_of(row: Cells) -> SourceLocation:
    """The source location of a row that has them as columns."""
    return row["object"], row["generation"], row["line"], row["byte_offset"]


def in_quarantine(quarantine: InProcessTable, windows: Collection[str] | None = None) -> pa.Table:
    """The records (``RECORDS``) that the table has, of all windows or of some, by window and source location."""
    where = None if windows is None else {"window": windows}
    return records_of_rows(quarantine.each(FAULTS, where))


def records_of_rows(quarantined: Iterable[pa.Table]) -> pa.Table:
    """The records (``RECORDS``) that these rows of quarantine (``FAULTS``) are of, by window and source location."""
    rows = pa.concat_tables([FAULTS.empty_table(), *quarantined])
    # What came too late needs nobody; another event of the same record may.
    order = rows.append_column("is_late", pc.equal(rows["reason"], TOO_LATE))
    order = order.append_column("of_table", pc.fill_null(rows["table"], ""))
    last = [(name, "ascending") for name in ("is_late", "of_table", "reason", "detail")]
    found, events = first_rows(rows.take(pc.sort_indices(order, [*SOURCE_ORDER, *last])))
    return found.append_column(RECORDS.field("events"), events)


def note_leaving(
    lake: Lake, feed: Feed, had: pa.Table, staying: Callable[[pa.Table], pa.Table]
) -> None:
    """Note which records will no longer be in quarantine; called before quarantine is written.

    So a run that dies in between has noted too much: for a record that is in quarantine, that counts. ``had``: the
    records (``RECORDS``) of the windows that are about to be replaced; ``staying``: which of these will still be there.
    """
    had = had.filter(pc.not_equal(had["reason"], TOO_LATE))
    leaving = rows_without(had, staying(had.select(SOURCE_LOCATION))) if had.num_rows else had
    if not leaving.num_rows:
        return
    by_payload = are_among(leaving, source_locations_of(feed.decisions.replaced()))
    now = pa.scalar(datetime.now(UTC), layers.Repaired.schema.field("repaired_at").type)
    rows = leaving.append_column("how", pc.if_else(by_payload, BY_PAYLOAD, BY_FEED_FILE))
    rows = rows.append_column("repaired_at", pa.repeat(now, rows.num_rows))
    lake.in_process_table(Layer.REPAIRED, feed.name).append(rows)


def repaired_records(lake: Lake, feed: Feed) -> pa.Table:
    """The records (``layers.Repaired``) that have left quarantine; of one that left it several times, the last time."""
    rows = lake.in_process_table(Layer.REPAIRED, feed.name).read()
    return first_rows(rows.sort_by([("repaired_at", "descending")]))[0]


def count_dismissed(quarantined: DataFrame | pa.Table, known: Collection[SourceLocation]) -> int:
    """How many of these rows, those that are no events left aside, are of the dismissed records (``known``)."""
    if not known:
        return 0
    if isinstance(quarantined, pa.Table):
        is_event = pc.is_null(quarantined["derived"])
        asked = quarantined.filter(pc.and_(is_event, pc.not_equal(quarantined["reason"], TOO_LATE)))
        return int(rows_among(asked, source_locations_of(known)).num_rows)
    rows = quarantined.where("derived IS NULL").where(F.col("reason") != TOO_LATE)
    locations = rows.sparkSession.createDataFrame(source_locations_of(known))
    return rows.join(locations, on=[*SOURCE_LOCATION], how="left_semi").count()


# Source locations of records as Arrow columns, and tables met with them: hundreds of thousands take little memory so.


SOURCE_LOCATIONS = layers.Quarantine.some(*SOURCE_LOCATION)

_ROW = "row"


def source_locations_of(known: Collection[SourceLocation]) -> pa.Table:
    """One row per record, with its source location."""
    if not known:
        return SOURCE_LOCATIONS.empty_table()
    columns = [pa.array(some) for some in zip(*sorted(known), strict=True)]
    return pa.table(columns, names=SOURCE_LOCATION).cast(SOURCE_LOCATIONS)


def are_among(rows: pa.Table, source_locations: pa.Table) -> pa.Array:
    """Of each row whether it is of one of these records; both have source locations as columns."""
    if not rows.num_rows or not source_locations.num_rows:
        return pa.repeat(False, rows.num_rows)
    numbers = pa.arange(0, rows.num_rows)
    asked = rows.select(SOURCE_LOCATION).append_column(_ROW, numbers)
    known = source_locations.select(SOURCE_LOCATION)
    met = asked.join(known, [*SOURCE_LOCATION], join_type="left semi")
    return pc.is_in(numbers, met[_ROW].combine_chunks())


def rows_among(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of one of these records, in their order."""
    return rows.filter(are_among(rows, source_locations))


def rows_without(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of none of these records, in their order."""
    return rows.filter(pc.invert(are_among(rows, source_locations)))


def first_rows(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """The first row of each record, in their order, and how many rows each record has."""
    numbered = rows.select(SOURCE_LOCATION).append_column(_ROW, pa.arange(0, rows.num_rows))
    groups = numbered.group_by(list(SOURCE_LOCATION)).aggregate([(_ROW, "min"), (_ROW, "count")])
    groups = groups.select([f"{_ROW}_min", f"{_ROW}_count"]).sort_by(f"{_ROW}_min")
    return rows.take(groups[f"{_ROW}_min"]), groups[f"{_ROW}_count"]


# Records as people see them: each in its state, with who decided it.

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


KNOWN = pa.schema([*layers.Repaired.schema, pa.field("state", pa.string())])
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
        return replace(self, rows=rows_among(self.rows, others.rows))

    def plus(self, others: Records) -> Records:
        """These and the others, each once."""
        return replace(self, rows=pa.concat_tables([self.rows, others.without(self).rows]))

    def without(self, others: Records) -> Records:
        """Those that are not among the others."""
        return replace(self, rows=rows_without(self.rows, others.rows))

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

    def picked(self, picked: PickedIds) -> Records:
        """Those that a person picks: by the beginnings of their ids, or all that are open.

        Raises:
            DecisionRefused: an id is the beginning of none, or of more than one; or nothing is picked.
        """
        if not picked.has_any:
            raise DecisionRefused(
                self.feed.name,
                f"say which records: by the beginnings of their ids, or `--all`; `weir quarantine list"
                f" {self.feed.name}` lists them",
            )
        if picked.everything:
            return self.open
        listed = Listed(self.feed, "quarantine list", "record of quarantine")
        ids = ((id, number) for number, id in enumerate(self.records.ids()))
        return self.records.take(listed.picked(picked, ids))


def quarantine_of(lake: Lake, feed: Feed) -> Quarantine:
    """The quarantine of a feed in an open warehouse, as it is now."""
    with_recorded = decisions.with_recorded(lake, feed)
    return Quarantine(lake, with_recorded, read_records(lake, with_recorded))


def read_records(lake: Lake, feed: Feed) -> Records:
    """The records that are or were in quarantine, by window, object and line.

    ``feed``: with its recorded decisions.
    """
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    there = in_quarantine(quarantine)
    replaced, dismissed = feed.decisions.replaced(), decisions.dismissed_by(lake, feed)
    left = rows_without(repaired_records(lake, feed), there)
    noted = pa.concat_tables([one.select(SOURCE_LOCATION) for one in (there, left)])
    gone = pa.concat_tables([left, _never_noted(replaced, noted)])
    gone = gone.append_column("state", pa.repeat("repaired", gone.num_rows))
    states = [_with_state(there, source_locations_of(dismissed)), conformed(gone, KNOWN)]
    found = pa.concat_tables(states)
    return Records(found.sort_by(SOURCE_ORDER), feed.reads_topics, replaced, dismissed)


def _with_state(there: pa.Table, dismissed: pa.Table) -> pa.Table:
    """Records in quarantine, with their state."""
    is_late = pc.equal(there["reason"], TOO_LATE)
    decided = pc.if_else(are_among(there, dismissed), "dismissed", "open")
    return conformed(there.append_column("state", pc.if_else(is_late, "too late", decided)), KNOWN)


def _never_noted(replaced: Mapping[SourceLocation, Replacement], noted: pa.Table) -> pa.Table:
    """Those that a person's payload kept out of quarantine from the beginning: no row says what was wrong."""
    rows = [
        {
            **dict(zip(SOURCE_LOCATION, source_location, strict=True)),
            **{"window": one.window, "reason": "", "detail": "", "events": 0, "how": BY_PAYLOAD},
        }
        for source_location, one in replaced.items()
    ]
    return rows_without(pa.Table.from_pylist(rows, layers.Repaired.schema), noted)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Open records of some windows, in order; ``is_all``: whether these have no others."""

    records: Records
    is_all: bool


def sampled_records(
    quarantine: InProcessTable, feed: Feed, windows: Collection[str], most: int
) -> Sampled:
    """The open records of these windows, or those of the first ``most`` events: a run has no time for millions.

    ``quarantine``: the feed's table as it is now. ``feed``: with its recorded decisions.
    """
    replaced, dismissed = feed.decisions.replaced(), feed.decisions.dismissed(windows)
    looked: list[pa.Table] = []
    events = 0
    for rows in quarantine.batches(FAULTS, {"window": windows}):
        looked.append(rows_to_decide(rows, dismissed))
        events += looked[-1].num_rows
        if events > most:
            looked[-1] = looked[-1].slice(0, looked[-1].num_rows - (events - most))
            break
    found = _with_state(records_of_rows(looked), SOURCE_LOCATIONS.empty_table())
    return Sampled(Records(found, feed.reads_topics, replaced), events <= most)


_PAYLOADS = ("window", *SOURCE_LOCATION, "payload")


def payloads_of(
    quarantine: InProcessTable, wanted: Collection[QuarantinedRecord]
) -> Mapping[SourceLocation, bytes | None]:
    """What quarantine, as it is now, has as the payload of some records that are in it."""
    asked = {one.source_location for one in wanted}
    windows = {one.window for one in wanted}
    found: dict[SourceLocation, bytes | None] = {}
    if not asked:
        return found
    for rows in quarantine.batches(_PAYLOADS, {"window": windows}):
        for row in maybe_among(rows, asked).to_pylist():
            if (source_location := source_location_of(row)) in asked:
                found[source_location] = row["payload"]
        if len(found) == len(asked):
            break
    return found


def maybe_among(rows: pa.Table, asked: Collection[SourceLocation]) -> pa.Table:
    """Those rows that may be of one of these records: payloads of others need not become Python values."""
    is_of = pc.is_in(rows["object"], pa.array(sorted({one[0] for one in asked}), pa.string()))
    lines = pa.array(sorted({one[2] for one in asked}), pa.int64())
    return rows.filter(pc.and_(is_of, pc.is_in(rows["line"], lines)))


_COUNTED = (*SOURCE_LOCATION, "reason")

COUNTED_AT_ONCE = 50_000
"""About the number of rows that are counted together."""


@dataclass(frozen=True, slots=True)
class Totals:
    """``reasons``: how many events are in quarantine, by reason; ``dismissed``: how many of these somebody gave up.

    ``open_records``: how many records wait for somebody, however many of their events are quarantined.
    """

    reasons: Mapping[str, int]
    dismissed: int
    open_records: int

    @property
    def open_events(self) -> int:
        """How many events wait for somebody: none that came too late, and none that is dismissed."""
        return sum(self.reasons.values()) - self.reasons.get(TOO_LATE, 0) - self.dismissed


def totals_of(lake: Lake, feed: Feed, windows: Collection[str] | None = None) -> Totals:
    """What quarantine has in all, or of some windows; ``feed``: with its recorded decisions."""
    reasons, dismissed = Counter[str](), 0
    source_locations = [SOURCE_LOCATIONS.empty_table()]
    given_up = feed.decisions.dismissed()
    where = None if windows is None else {"window": windows}
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    for rows in _some_at_once(quarantine.each(_COUNTED, where)):
        counts = rows["reason"].value_counts().to_pylist()
        reasons.update({one["values"]: one["counts"] for one in counts})
        undecided = rows.filter(pc.not_equal(rows["reason"], TOO_LATE))
        open_rows = rows_to_decide(undecided, given_up)
        dismissed += undecided.num_rows - open_rows.num_rows
        source_locations.append(_distinct(open_rows))
    # Some files have a record once now; another file of its window may have it, too.
    return Totals(dict(reasons), dismissed, _distinct(pa.concat_tables(source_locations)).num_rows)


def _some_at_once(files: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of some files together: a window has a few, and counting them costs much the same as counting many."""
    held: list[pa.Table] = []
    for rows in files:
        held.append(rows)
        if sum(map(len, held)) >= COUNTED_AT_ONCE or len(held) >= COUNTED_AT_ONCE // 100:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def rows_to_decide(rows: pa.Table, dismissed: Collection[SourceLocation]) -> pa.Table:
    """Those rows of quarantine that wait for somebody: not too late for compacted history, and not dismissed."""
    undecided = rows.filter(pc.not_equal(rows["reason"], TOO_LATE))
    return rows_without(undecided, source_locations_of(dismissed))


def _distinct(rows: pa.Table) -> pa.Table:
    return rows.group_by(list(SOURCE_LOCATION)).aggregate([]).cast(SOURCE_LOCATIONS)
