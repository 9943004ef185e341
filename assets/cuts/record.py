"""After a run: up to which position of the source all gold tables of the feed are whole, recorded with their versions.

Read is what the run brought, and what the last cut had not passed: silver's rows of these windows, a few columns, in
this process. Nothing is recorded while bronze has anything that gold has not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

import pyarrow as pa

from assets.columns import layers
from assets.control import compacted, decisions, discovered_tables, ledger, progress
from assets.cuts.seen import Seen, partition_named
from assets.gold.tables import by_declared_in
from assets.quarantine.records import rows_to_decide
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from assets.wording import counted
from transforms.change import LogPosition
from transforms.cuts import whole
from transforms.cuts.log_spelling import SourceLog, in_words
from transforms.cuts.whole import Hindrance, Reached
from transforms.feed.decisions import Hold
from transforms.feed.feed import Feed
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.feed.topics import has_transactions
from transforms.formats import FORMATS
from transforms.record import SOURCE_LOCATION, BronzeRecord

KEPT_CUTS: Final = 1_000
"""Maximum number of cuts of a feed that are kept: the oldest can no longer be asked for."""

_LOOKED_AT: Final = 1_000
"""Maximum number of records that are asked which log they are from."""

_PINNED: Final = (
    *(Layer.SILVER, Layer.ACCOUNTING, Layer.PROGRESS, Layer.TRANSACTIONS, Layer.BASE),
)
"""The tables beside gold's that an answer at a cut is made of."""


@dataclass(frozen=True, slots=True)
class CutTable:
    """One gold table when a cut was recorded.

    ``version``: of the Delta table at ``path``, below the warehouse. ``keys_ahead``: how many keys have changes beyond
    the cut there, so that the version is exactly the cut where it is 0; None where a delete of many rows is beyond it.
    """

    name: str
    path: str
    version: int
    keys_ahead: int | None = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """One recorded cut of a feed.

    ``text``: the position as the source writes it. ``versions``: those of all tables that answers are made of, by their
    paths below the warehouse. ``read_up_to``: the last offset that had been read of each partition, by its name and its
    topic's id. ``windows``: those that hold something that is not in it. ``end``: the offset of the end of the last
    transaction in it, in the topic of transactions. ``source_at``: when the source made its newest change; None where
    that does not say it. ``held_by``: what kept it from being newer. ``late_events``: how
    many events came later that stand at or below it; ``broken_by``: why it can no longer be asked for.
    """

    text: str
    log_position: LogPosition
    recorded_at: datetime
    seen_at: datetime
    log: SourceLog
    end: int
    tables: tuple[CutTable, ...]
    versions: Mapping[str, int]
    read_up_to: Mapping[str, int]
    source_at: datetime | None = None
    windows: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()
    late_events: int = 0
    broken_by: str | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """A row of ``cuts.<feed>``."""
        state = json.loads(row["state"])
        return cls(
            text=row["cut"],
            log_position=tuple(row["log_position"]),
            recorded_at=row["recorded_at"],
            seen_at=row["seen_at"],
            log=SourceLog(*state["log"]),
            end=state["end"],
            source_at=state["source_at"] and datetime.fromisoformat(state["source_at"]),
            tables=tuple(CutTable(**one) for one in json.loads(row["tables"])),
            versions=state["versions"],
            read_up_to=state["read_up_to"],
            windows=tuple(state["windows"]),
            held_by=tuple(state["held_by"]),
            late_events=row["late_events"],
            broken_by=row["broken_by"],
        )

    def as_row(self) -> dict[str, Any]:
        """The row that ``of_row`` reads."""
        state = {
            **{"log": [*self.log], "end": self.end, "versions": dict(self.versions)},
            "source_at": self.source_at and self.source_at.isoformat(),
            **{"read_up_to": dict(self.read_up_to), "windows": [*self.windows]},
            "held_by": [*self.held_by],
        }
        return {
            **{"cut": self.text, "log_position": [*self.log_position]},
            **{"recorded_at": self.recorded_at, "seen_at": self.seen_at},
            "tables": json.dumps([asdict(one) for one in self.tables]),
            "state": json.dumps(state),
            **{"late_events": self.late_events, "broken_by": self.broken_by},
        }

    @property
    def is_reached(self) -> bool:
        """Whether there is a position at all: before the first one, only what was read is noted."""
        return self.log_position != whole.NONE


def cuts_of(lake: Lake, feed: str) -> list[Cut]:
    """The recorded cuts of a feed, the oldest first; the last one may not be reached yet (``Cut.is_reached``)."""
    return _cuts_in(lake.in_process_table(Layer.CUTS, feed))


def reached_cuts(lake: Lake, feed: str) -> list[Cut]:
    """Those of a feed's recorded cuts that can be asked for, the oldest first."""
    return [one for one in cuts_of(lake, feed) if one.is_reached]


def _cuts_in(table: InProcessTable) -> list[Cut]:
    return sorted(map(Cut.of_row, table.rows()), key=lambda one: one.log_position)


def why_none(feed: Feed) -> str | None:
    """Why a feed cannot have cuts, as a sentence; None where it may."""
    if FORMATS[feed.format].log_of is None:
        return (
            f"a feed of {feed.format} has no cut: nothing in its stream tells up to where the changes of all tables are"
            " there with their transactions"
        )
    if not feed.reads_topics:
        return "a feed of files has no cut: nothing tells that no file is missing"
    if not has_transactions(feed.landing):
        return (
            "the feed reads no topic of transactions, so that nothing tells where one ends: set"
            " provide.transaction.metadata of the connector, and add <prefix>.transaction to the feed's topics"
        )
    return None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was found after a run: the newest cut, None where there is none; what holds it; and what came late.

    ``late``: how many new events stand at or below a cut that was recorded before, and ``broken`` the cuts that can no
    longer be asked for.
    """

    cut: Cut | None
    held_by: tuple[str, ...] = ()
    late: int = 0
    broken: tuple[str, ...] = ()


def newest(lake: Lake, feed: Feed) -> Recorded:
    """The newest cut as it is recorded, or why the feed has none. Records nothing."""
    if (reason := why_none(feed)) is not None:
        return Recorded(None, (reason,))
    known = cuts_of(lake, feed.name)
    return Recorded(known[-1], known[-1].held_by) if known else Recorded(None)


def record(lake: Lake, feed: Feed) -> Recorded:
    """Record how far all tables of the feed are whole now.

    Raises:
        TableBusy: another run records it.
    """
    if (reason := why_none(feed)) is not None:
        return Recorded(None, (reason,))
    with writing(lake, Layer.CUTS, feed.name):
        return _record(lake, decisions.with_recorded(lake, feed))


def _record(lake: Lake, feed: Feed) -> Recorded:
    table = lake.in_process_table(Layer.CUTS, feed.name)
    known = _cuts_in(table)
    last = known[-1] if known else None
    # Versions first: a run that has changed any of them since has more in bronze than is finished.
    there = _Tables.opened(lake, feed)
    held = ledger.bronze_contents(lake, feed).rows
    finished = there.pinned[Layer.PROGRESS].rows(progress.FINISHED)
    if unfinished := progress.unfinished_by(feed, finished, ledger.objects_in(held)):
        return Recorded(last, (f"not in gold yet: {_some('window', unfinished)}",))
    if there.stopped:
        return Recorded(last, (f"not made now: {_some('gold table', there.stopped)}",))
    start = Reached(last.log_position, last.end) if last else Reached(whole.NONE, -1)
    before = last.read_up_to if last else {}
    windows = _windows_since(held, before) | {*(last.windows if last else ())}
    log = last.log if last else _log_of(lake, feed, windows)
    if log is None:
        why = "no change says which log it was read from"
        return Recorded(None, (why if held.num_rows else "nothing was read yet (`weir run`)",))
    seen = Seen(start.log_position, before)
    seen.read(lake, feed, there.pinned, windows)
    if seen.uncomparable:
        return Recorded(last, (seen.uncomparable,))
    now = whole.reached(start, seen.transactions.values(), [*_hindrances(lake, feed, seen)])
    ahead, moment = seen.ahead(there.silver, now), datetime.now(UTC)
    cut = Cut(
        text=in_words(log, now.log_position) if now.log_position else "",
        log_position=now.log_position,
        recorded_at=moment,
        seen_at=moment,
        log=log,
        end=now.end,
        tables=tuple(replace(one, keys_ahead=ahead.get(one.name, 0)) for one in there.tables),
        versions=there.versions,
        read_up_to=_read_up_to(held),
        source_at=seen.made_at(now) or (last.source_at if last else None),
        windows=tuple(sorted(seen.windows_beyond(now))),
        held_by=now.held_by,
    )
    return _recorded(table, known, cut, seen.late_events(there.silver), now)


def _recorded(
    table: InProcessTable,
    known: Sequence[Cut],
    cut: Cut,
    late: Collection[LogPosition],
    now: Reached,
) -> Recorded:
    """Write what a run found, where that is news: its cut, and those that late events stand below."""
    older, last = known, known[-1] if known else None
    if last is not None and last.text == cut.text:
        cut = replace(
            cut,
            recorded_at=last.recorded_at,
            late_events=last.late_events,
            broken_by=last.broken_by,
        )
        older = [*known[:-1], cut]
    changed = {one.text: one for one in _told_of_late(older, late, now.late)}
    newest = changed.pop(cut.text, cut)
    if last is None or changed or _facts(newest) != _facts(last):
        _write(table, known, [*changed.values(), newest])
    broken = tuple(one.text for one in (*changed.values(), newest) if one.broken_by is not None)
    return Recorded(newest, now.held_by, len(late), broken)


def _facts(cut: Cut) -> Cut:
    """A cut without the time at which it was seen."""
    return replace(cut, seen_at=cut.recorded_at)


def _write(table: InProcessTable, known: Sequence[Cut], cuts: Sequence[Cut]) -> None:
    dropped = {one.text for one in known[: max(0, len(known) + 1 - KEPT_CUTS)]}
    rows = {one.text: one for one in cuts if one.text not in dropped}
    if any(rows):
        # What was noted before the first cut is none itself.
        rows.pop("", None)
        dropped.add("")
    table.replace([one.as_row() for one in rows.values()], "cut", {*rows, *dropped})


def _some(noun: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:3]) + (", …" if names[3:] else "")
    return f"{counted(len(names), noun)} ({shown})"


@dataclass(frozen=True, slots=True)
class _Tables:
    """The feed's tables at one moment: gold's, the versions that matter, and those beside gold (``pinned``).

    ``stopped``: the gold tables that are not made now.
    """

    tables: tuple[CutTable, ...]
    versions: Mapping[str, int]
    pinned: Mapping[Layer, InProcessTable]
    stopped: Sequence[str]

    @property
    def silver(self) -> InProcessTable:
        return self.pinned[Layer.SILVER]

    @classmethod
    def opened(cls, lake: Lake, feed: Feed) -> Self:
        """Each is opened once."""
        pinned = {layer: lake.in_process_table(layer, feed.name) for layer in _PINNED}
        versions = {f"{layer}/{feed.name}": one.version for layer, one in pinned.items()}
        accounts = pinned[Layer.ACCOUNTING].read(layers.Accounting.schema)
        bases = compacted.facts_in(pinned[Layer.BASE])
        met, _ = discovered_tables.found_in(feed, accounts)
        declared = {**feed.tables, **met.discovered}
        by_name = by_declared_in(feed, accounts, bases, None)
        named = {name: declared.get(of) for of, names in by_name.items() for name in names}
        found = []
        for name, table in sorted(named.items()):
            if table is None or name in met.stopped:
                continue
            for beside in ("", TOMBSTONES, *([HISTORY] if table.history else [])):
                path = f"{Layer.GOLD}/{feed.name}/{name}{beside}"
                version = lake.newest_version(Layer.GOLD, feed.name, name + beside)
                versions[path] = version
                if not beside and version >= 0:
                    found.append(CutTable(name, path, version))
        return cls(tuple(found), versions, pinned, sorted(met.stopped))


def _read_up_to(held: pa.Table) -> dict[str, int]:
    """The last offset that bronze has of each partition."""
    of_partition = held.group_by(["object", "generation"]).aggregate([("last_offset", "max")])
    return {
        partition_named(row["object"], row["generation"]): row["last_offset_max"]
        for row in of_partition.to_pylist()
    }


def _windows_since(held: pa.Table, before: Mapping[str, int]) -> set[str]:
    """The windows of which bronze has offsets behind these."""
    columns = held.select(["window", "object", "generation", "last_offset"]).to_pylist()
    return {
        row["window"]
        for row in columns
        if row["last_offset"] > before.get(partition_named(row["object"], row["generation"]), -1)
    }


def _log_of(lake: Lake, feed: Feed, windows: Collection[str]) -> SourceLog | None:
    """The log that the feed's changes come from, by the first record that says it."""
    make = FORMATS[feed.format].log_of
    assert make is not None  # the feed may have cuts
    log_of, looked = make(feed), 0
    bronze = lake.in_process_table(Layer.BRONZE, feed.name)
    names = [*_RECORD, "key", "headers"]
    for batch in bronze.batches(names, {"window": windows}):
        for row in batch.select(names).to_pylist():
            cells = {name: row[name] for name in _RECORD}
            record_ = BronzeRecord(
                **cells,
                header=None,
                defect=None,
                landed_at=0,
                key=row["key"],
                headers=[(one["key"], one["value"]) for one in row["headers"] or ()] or None,
            )
            if (found := log_of(record_)) is not None:
                return found
            looked += 1
        if looked >= _LOOKED_AT:
            break
    return None


_RECORD: Final = ("window", "object", "generation", "line", "byte_offset", "payload")


def _hindrances(lake: Lake, feed: Feed, seen: Seen) -> Iterator[Hindrance]:
    """What no cut may pass: deletes that wait for a person, and records in quarantine that nobody has dismissed."""
    kept = {one.event_id for one in feed.decisions.holds if one.reason in _NEVER}
    for event_id, log_position in seen.held.items():
        if event_id not in kept:
            yield Hindrance(log_position, _WAITS)
    for one in feed.decisions.held():
        if one.reason not in _NEVER:
            yield Hindrance(one.log_position, f"gold.{feed.name}.{one.table}: {_WAITS}")
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    dismissed = feed.decisions.dismissed()
    for rows in quarantine.each(["reason", "log_position", *SOURCE_LOCATION]):
        for row in rows_to_decide(rows, dismissed).to_pylist():
            known = row["log_position"]
            says = f"a record in quarantine ({row['object']}, offset {row['byte_offset']})"
            yield Hindrance(None if known is None else tuple(known), says)


_WAITS: Final = "a delete of many rows waits (`weir release`)"
_NEVER: Final = (Hold.KEPT, Hold.KEPT_ORDER)


def _told_of_late(
    known: Iterable[Cut], late: Collection[LogPosition], spans: Sequence[tuple[LogPosition, ...]]
) -> list[Cut]:
    """The cuts that late events change: how many, and whether one stands in the midst of a transaction now."""
    changed = []
    for cut in known:
        below = sum(one <= cut.log_position for one in late)
        is_split = below and any(first <= cut.log_position < last for first, last in spans)
        if below:
            why = "a transaction came late that it would show in part" if is_split else None
            changed.append(
                replace(
                    cut,
                    late_events=cut.late_events + below,
                    broken_by=cut.broken_by or why,
                )
            )
    return changed
