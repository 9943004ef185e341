"""What a feed's report tells: its windows, outcomes, lag, growth and quarantine, asked of the tables in this process.

Put here the facts of a report. Not here: how they are drawn (``orchestration/watching/report``), and how a feed stands
now (``status``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import accounting, gold_sizes, window_progress
from assets.bookkeeping.gold_sizes import TableSize
from assets.columns.silver import REFUSALS_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.silver.accounting import OUTCOMES

SHOWN = 48
"""A report shows so many of the newest windows one by one."""

MOST_CHANGES = 500_000
"""Of so many changes, counted from the newest window back, it is looked up what the source did and when."""


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """One window: its name, and what became of its events (``outcomes``, with ``events`` their sum).

    ``finished_at``: when it was last brought to gold; None where it is not there yet. ``operations``: what the source
    did, by the name of the operation; ``late``: how many changes the source made before the window began. Both are
    None where the window is too large to be looked through.
    """

    window: str
    outcomes: Mapping[str, int]
    finished_at: datetime | None = None
    operations: Mapping[str, int] | None = None
    late: int | None = None


@dataclass(frozen=True, slots=True)
class SizeAfterRun:
    """How many rows and tombstones gold had when a run had ended."""

    ended_at: datetime
    rows: int
    tombstones: int


@dataclass(frozen=True, slots=True)
class FeedReport:
    """All that a report tells.

    ``windows``: the newest, oldest first. ``all_windows``: how many there are; ``outcomes``: of all of them together.
    ``tables``: the events of each table, by what became of them, over all windows. ``reasons``: how many events of the
    ``windows`` are in quarantine, by reason. ``gold``: the tables as they are now. ``growth``: gold after each run,
    oldest first.
    """

    windows: Sequence[WindowFacts] = ()
    all_windows: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    gold: Sequence[TableSize] = ()
    growth: Sequence[SizeAfterRun] = ()


def facts_of(lake: Lake, feed: Feed, sizes: Sequence[TableSize] | None = None) -> FeedReport:
    """The facts of a feed's report, as the tables say now; ``sizes``: those of gold, where they are known already."""
    names = ("events", *OUTCOMES)
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    windows: dict[str, Counter[str]] = {}
    tables: dict[str, Counter[str]] = {}
    silver_rows = Counter[str]()
    for row in accounts.rows(["window", "table", "source_table", "derived", *names]):
        counts = {name: row[name] or 0 for name in names}
        windows.setdefault(row["window"], Counter()).update(counts)
        if counts["events"]:
            name = row["table"] or row["source_table"] or "(no table)"
            tables.setdefault(name, Counter()).update(counts)
        kept = counts["changes"] + counts["control"] + counts["held"]
        silver_rows[row["window"]] += kept + (row["derived"] or 0)
    shown = sorted(windows)[-SHOWN:]
    looked = _looked_through(lake, feed, _within(shown, silver_rows))
    finished = {
        row["window"]: row["finished_at"]
        for row in lake.small_table(Layer.PROGRESS, feed.name, window_progress.PROGRESS).rows()
    }
    total = sum(windows.values(), Counter[str]())
    return FeedReport(
        windows=[
            WindowFacts(one, dict(windows[one]), finished.get(one), *looked.get(one, (None, None)))
            for one in shown
        ],
        all_windows=len(windows),
        outcomes={name: total[name] for name in names},
        tables={name: dict(tables[name]) for name in sorted(tables)},
        reasons=_reasons(lake, feed, shown),
        gold=gold_sizes.sizes_now(lake, feed) if sizes is None else sizes,
        growth=_growth(lake, feed),
    )


def _within(windows: Sequence[str], rows: Mapping[str, int]) -> list[str]:
    """The newest of these windows that have at most ``MOST_CHANGES`` rows together."""
    found: list[str] = []
    left = MOST_CHANGES
    for window in reversed(windows):
        left -= rows[window]
        if left < 0:
            break
        found.append(window)
    return found


def _looked_through(
    lake: Lake, feed: Feed, windows: Collection[str]
) -> dict[str, tuple[dict[str, int], int]]:
    """Of each of these windows: its changes by operation, and how many were made before it began."""
    operations = {window: Counter[str]() for window in windows}
    late = Counter[str]()
    begins = {window: pa.scalar(parse_window(window, feed.window), _MOMENT) for window in windows}
    rows = lake.local_table(Layer.SILVER, feed.name).of_windows(_LOOKED_AT, windows)
    events = rows.filter(pc.is_null(rows["derived"]))
    for window in windows:
        of_window = events.filter(pc.equal(events["window"], window))
        for one in of_window["operation"].value_counts().to_pylist():
            operations[window][one["values"] or "(none)"] += one["counts"]
        late[window] += pc.sum(pc.less(of_window["event_at"], begins[window])).as_py() or 0
    return {window: (dict(operations[window]), late[window]) for window in windows}


def _reasons(lake: Lake, feed: Feed, windows: Collection[str]) -> dict[str, int]:
    rows = lake.local_table(Layer.QUARANTINE, feed.name).of_windows(_REASON, windows)
    counted = rows["reason"].value_counts().to_pylist()
    return dict(Counter({one["values"]: one["counts"] for one in counted}).most_common())


def _growth(lake: Lake, feed: Feed) -> list[SizeAfterRun]:
    columns = ["ended_at", "rows", "tombstones"]
    rows = gold_sizes.runs_of(lake, feed).rows(columns)
    return sorted((SizeAfterRun(**row) for row in rows), key=lambda one: one.ended_at)


def seconds_to_gold(feed: Feed, window: WindowFacts) -> float | None:
    """How long after a window's end it was in gold; None where it is not, 0 where it was read before it ended."""
    if window.finished_at is None:
        return None
    ended = parse_window(window.window, feed.window) + STEPS[feed.window]
    return max(0.0, (window.finished_at - ended).total_seconds())


_MOMENT = pa.timestamp("us", "UTC")
_REASON = pa.schema([REFUSALS_ARROW.field("reason")])
_LOOKED_AT = pa.schema(
    [
        *((pa.field(name, pa.string())) for name in ("window", "operation", "derived")),
        pa.field("event_at", _MOMENT),
    ]
)
