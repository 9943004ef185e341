"""What a feed's report tells: windows, outcomes, lag, growth, quarantine; asked of the tables in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from assets.control import accounting, decisions, run_history
from assets.control.run_history import TableSize
from assets.quarantine.records import totals_of
from assets.source.health import newest_events
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.silver.accounting import OUTCOMES
from transforms.source_health import TableEvents

SHOWN = 48
"""Maximum number of windows that a report shows one by one: the newest."""

MOST_CHANGES = 500_000
"""Maximum number of changes of which it is looked up what the source did and when: those of the newest windows."""


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
    ``windows`` are in quarantine, by reason; ``waiting`` and ``dismissed``: how many of all windows there wait for
    somebody, and how many somebody gave up. ``gold``: the tables as they are now. ``growth``: gold after each run,
    oldest first. ``newest``: the newest event of each table.
    """

    windows: Sequence[WindowFacts] = ()
    all_windows: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    dismissed: int = 0
    gold: Sequence[TableSize] = ()
    growth: Sequence[SizeAfterRun] = ()
    newest: Sequence[TableEvents] = ()


def facts_of(lake: Lake, feed: Feed, sizes: Sequence[TableSize] | None = None) -> FeedReport:
    """The facts of a feed's report, as the tables say now; ``sizes``: those of gold, where they are known already."""
    names = ("events", *OUTCOMES)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    rows = accounts.read([*_OF_ACCOUNTS, *names])
    known = pc.unique(rows["window"])
    shown = sorted(known.to_pylist())[-SHOWN:]
    of_shown = rows.filter(pc.is_in(rows["window"], pa.array(shown, pa.string())))
    windows = accounting.summed_counts(of_shown, "window", (*names, "derived"))
    silver_rows = {
        window: sum(counts[name] for name in ("changes", "control", "held", "derived"))
        for window, counts in windows.items()
    }
    looked = _looked_through(lake, feed, _within(shown, silver_rows))
    in_gold = lake.in_process_table(Layer.PROGRESS, feed.name).rows(where={"window": shown})
    finished = {row["window"]: row["finished_at"] for row in in_gold}
    waiting, dismissed = _decided(lake, feed, rows)
    return FeedReport(
        windows=[
            WindowFacts(
                *(one, {name: windows[one][name] for name in names}, finished.get(one)),
                *looked.get(one, (None, None)),
            )
            for one in shown
        ],
        all_windows=len(known),
        outcomes={name: pc.sum(rows[name]).as_py() or 0 for name in names},
        tables=_of_tables(rows, names),
        reasons=_reasons(lake, feed, shown),
        waiting=waiting,
        dismissed=dismissed,
        gold=run_history.sizes_now(lake, feed) if sizes is None else sizes,
        growth=_growth(lake, feed),
        newest=newest_events(rows.select(_OF_TABLES).to_pylist()),
    )


def _of_tables(rows: pa.Table, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """The accounts of each table that has events, by the name that it is known by."""
    counted = rows.filter(pc.not_equal(rows["events"], 0))
    # An empty name is none.
    given = (pc.if_else(pc.equal(counted[one], ""), None, counted[one]) for one in _NAMES)
    named = counted.append_column("name", pc.coalesce(*given, "(no table)"))
    found = accounting.summed_counts(named, "name", names)
    return {name: found[name] for name in sorted(found)}


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
    found = {}
    rows = lake.in_process_table(Layer.SILVER, feed.name).read(_LOOKED_AT, {"window": windows})
    events = rows.filter(pc.is_null(rows["derived"]))
    for window in windows:
        of_window = events.filter(pc.equal(events["window"], window))
        operations = Counter[str]()
        for one in of_window["operation"].value_counts().to_pylist():
            operations[one["values"] or "(none)"] += one["counts"]
        begins = pa.scalar(parse_window(window, feed.window), _MOMENT)
        late = pc.sum(pc.less(of_window["event_at"], begins)).as_py() or 0
        found[window] = dict(operations), late
    return found


def _reasons(lake: Lake, feed: Feed, windows: Collection[str]) -> dict[str, int]:
    rows = lake.in_process_table(Layer.QUARANTINE, feed.name).read(["reason"], {"window": windows})
    counted = rows["reason"].value_counts().to_pylist()
    return dict(Counter({one["values"]: one["counts"] for one in counted}).most_common())


def _decided(lake: Lake, feed: Feed, accounts: pa.Table) -> tuple[int, int]:
    """How many events in quarantine wait for somebody, and how many are dismissed.

    Quarantine is read of windows alone in which something was dismissed: of all others the accounts say how many wait.
    """
    feed = decisions.with_recorded(lake, feed)
    windows = {one.window for one in feed.decisions.dismissals}
    is_in = pc.is_in(accounts["window"], pa.array(sorted(windows), pa.string()))
    waiting = pc.sum(accounts.filter(pc.invert(is_in))["quarantined"]).as_py() or 0
    found = totals_of(lake, feed, windows)
    return waiting + found.open_events, found.dismissed


def _growth(lake: Lake, feed: Feed) -> list[SizeAfterRun]:
    columns = ["ended_at", "rows", "tombstones"]
    rows = lake.in_process_table(Layer.RUNS, feed.name).rows(columns)
    return sorted((SizeAfterRun(**row) for row in rows), key=lambda one: one.ended_at)


def seconds_to_gold(feed: Feed, window: WindowFacts) -> float | None:
    """How long after a window's end it was in gold; None where it is not, 0 where it was read before it ended."""
    if window.finished_at is None:
        return None
    ended = parse_window(window.window, feed.window) + STEPS[feed.window]
    return max(0.0, (window.finished_at - ended).total_seconds())


_NAMES = ("table", "source_table")
_OF_TABLES = ("window", "table", "source_table", "declared", "newest_event_at")
_OF_ACCOUNTS = (*_OF_TABLES, "derived")
_MOMENT = pa.timestamp("us", "UTC")
_LOOKED_AT = ("window", "operation", "derived", "event_at")
