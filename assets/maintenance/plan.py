"""How far a table's history may be compacted: what is old enough, read in full, and wholly decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow.compute as pc

from assets.control import ledger, progress
from assets.gold import held_losses, snapshot_deletes
from assets.gold.plan import TablePlan
from assets.quarantine.records import source_location_of
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.change import LogPosition
from transforms.compaction_watermarks import (
    CompactionWatermark,
    Reach,
    Span,
    common_position,
    most_have_reached,
)
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window
from transforms.formats import FORMATS
from transforms.record import SOURCE_LOCATION
from transforms.silver.faults import TOO_LATE


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """How far one gold table may be compacted now, and why no further.

    ``old``: the present compaction watermark, None where there is none yet. ``new``: the next one, None where it would
    be no further than the present one. ``held_back_by``: a phrase for each thing that holds it back.
    """

    old: CompactionWatermark | None
    new: CompactionWatermark | None
    held_back_by: tuple[str, ...]


class Positions(Protocol):
    """Where a table's changes above its present watermark stand; without the deletes that complete snapshots are."""

    @property
    def plan(self) -> TablePlan:
        """What is known of the table."""

    def stand_at_commits(self) -> bool:
        """Whether some change takes effect at its transaction's commit."""

    def first_held(self) -> LogPosition | None:
        """The smallest position of a range delete that waits for a decision."""

    def first_open(self) -> LogPosition | None:
        """The smallest position of a change whose transaction is not complete."""

    def spans(self, below: Sequence[LogPosition]) -> Mapping[str | None, Sequence[Span]]:
        """The oldest and the newest position of each stream in each window, of changes below all of these."""

    def newest(
        self, below: Sequence[LogPosition], stream: str | None, last: str, within: LogPosition
    ) -> LogPosition | None:
        """The newest position of a stream in its windows up to the ``last`` that is not beyond ``within``."""


def planned(lake: Lake, table: Positions) -> CompactionPlan:
    """Decide how far one gold table's history may be compacted now, and say what holds it back.

    The new compaction watermark is the newest position in windows that are old enough, but no newer than what each
    stream has delivered by then, and older than everything that is not decided yet.
    """
    feed, name, old = table.plan.feed, table.plan.name, table.plan.compaction_watermark
    if reason := _kept_for_ever(table):
        return CompactionPlan(old, None, (reason,))
    waiting = waiting_in_quarantine(lake, feed, name)
    eligible = eligible_windows(lake, feed, Counter(one.window for one in waiting))
    if eligible.last is None:
        return CompactionPlan(old, None, eligible.held_back_by)
    reasons = list(eligible.held_back_by)
    below: list[LogPosition] = []
    for undecided, what in (
        (table.first_held(), "a held delete"),
        (first_waiting_position(waiting, old), "an event in quarantine"),
        (table.first_open(), "a change whose transaction is open"),
        (
            min((one.log_position for one in held_losses.outstanding(table.plan)), default=None),
            "a held delete",
        ),
        (
            snapshot_deletes.first_unfinished(feed, table.plan.accounts),
            "a snapshot whose last rows may be still to come",
        ),
    ):
        if undecided is not None:
            below.append(undecided)
            reasons.append(f"{what} at position {_spelled(undecided)}")
    streams, outliers = _reached(feed, table, below, eligible.last)
    reasons += outliers
    log_position, lagging = common_position(streams)
    if lagging is not None and len(streams) > 1:
        reasons.append(
            f"stream {lagging!r}, the one that lags most (`retired: [{lagging}]` where it has ended)"
        )
    if log_position is None or (old is not None and log_position <= old.log_position):
        return CompactionPlan(old, None, tuple(reasons))
    return CompactionPlan(old, CompactionWatermark(log_position), tuple(reasons))


def _kept_for_ever(table: Positions) -> str | None:
    """Why this table's history is never compacted; None where it may be."""
    feed = table.plan.feed
    if table.plan.kinds.transactions and table.stand_at_commits():
        # Such a change stands where its commit does, which may be in a window that nobody has read yet.
        return "changes that take effect at their commit, whose history is kept"
    if FORMATS[feed.format].crosses_streams and table.plan.several_streams:
        # Where they stand depends on when each change was made, and a base row says that of the last alone.
        return "deletes that reach other partitions, whose history is kept"
    if feed.retention.kept is None:
        return "the feed file says `retention: forever`"
    return None


def _reached(
    feed: Feed, table: Positions, below: Sequence[LogPosition], last: str
) -> tuple[dict[str | None, Reach], list[str]]:
    """How far each stream has come in the windows up to ``last``, without streams that the feed lists as ``retired``.

    And a sentence on each stream whose newest position is an outlier: most of its later windows have not reached it, so
    it is passed over.
    """
    streams: dict[str | None, Reach] = {}
    outliers: list[str] = []
    for stream, spans in table.spans(below).items():
        if stream in feed.retention.retired:
            continue
        newest = max((one.newest for one in spans if one.window <= last), default=None)
        reached = most_have_reached(spans, last)
        if newest is not None and reached is not None:
            outliers.append(
                f"position {_spelled(newest)} of an old window, which most windows since then have not reached"
                f" ({_spelled(reached)}): one of the two is wrong"
            )
            newest = table.newest(below, stream, last, reached)
        streams[stream] = Reach(min(one.oldest for one in spans), newest)
    return streams, outliers


def _spelled(log_position: Sequence[int]) -> str:
    return "/".join(map(str, log_position))


@dataclass(frozen=True, slots=True)
class Eligible:
    """The windows whose changes may be compacted: those up to ``last``, None where there are none.

    ``held_back_by``: a phrase for each thing that keeps newer windows out.
    """

    last: str | None
    held_back_by: tuple[str, ...]


def eligible_windows(lake: Lake, feed: Feed, quarantined: Mapping[str, int]) -> Eligible:
    """The windows that are older than the retention, before the first one that is not read or not decided.

    ``quarantined``: how many events of each window are in quarantine and may yet be fixed.
    """
    assert feed.retention.kept is not None
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).read(["window"])
    windows = sorted(accounts["window"].unique().to_pylist())
    if not windows:
        return Eligible(None, ("nothing is in silver yet",))
    newest = parse_window(windows[-1], feed.window)
    old = [one for one in windows if newest - parse_window(one, feed.window) >= feed.retention.kept]
    reasons = (
        [f"retention: all windows since {windows[len(old)]} are kept"]
        if len(old) < len(windows)
        else []
    )
    undecided = {
        window: f"{counted(events, 'event')} in quarantine"
        for window, events in quarantined.items()
    }
    for window in progress.unfinished(lake, feed, ledger.read_objects(lake, feed)):
        undecided[window] = "not in gold yet"
    first = min(undecided, default=None)
    if first is not None and old and first <= old[-1]:
        old = [one for one in old if one < first]
        advice = (
            f"; repair the records (`weir quarantine list {feed.name}`), dismiss them"
            f" (`weir quarantine dismiss {feed.name}`), or list the window under `compaction: {{dismissed: [...]}}`"
        )
        reasons.append(
            f"window {first}: {undecided[first]}{advice if first in quarantined else ''}"
        )
    return Eligible(old[-1] if old else None, tuple(reasons))


_READ = ("window", "table", "reason", "log_position", *SOURCE_LOCATION)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events in quarantine that may yet be fixed: ``window`` and, as far as it is known, ``log_position``.

    ``of_table``: whether the event is of the table that was asked for; else it is of no table that is known.
    """

    window: str
    log_position: LogPosition | None
    of_table: bool


def waiting_in_quarantine(lake: Lake, feed: Feed, name: str) -> list[Waiting]:
    """The events of one table (``name``), or of no table, that are in quarantine and may yet be fixed.

    What came too late for compacted history is decided, and so is what somebody has dismissed, records or windows.
    """
    dismissed, windows = feed.decisions.dismissed(), set(feed.retention.dismissed)
    found = []
    for rows in lake.in_process_table(Layer.QUARANTINE, feed.name).each(_READ):
        mine = pc.fill_null(pc.equal(rows["table"], name), True)
        for row in rows.filter(pc.and_(mine, pc.not_equal(rows["reason"], TOO_LATE))).to_pylist():
            if source_location_of(row) not in dismissed and row["window"] not in windows:
                position = row["log_position"] and tuple(row["log_position"])
                found.append(Waiting(row["window"], position, row["table"] is not None))
    return found


def first_waiting_position(
    waiting: list[Waiting], old: CompactionWatermark | None
) -> LogPosition | None:
    """The smallest known position above the ``old`` compaction watermark; a record that cannot be read has none."""
    known = [one.log_position for one in waiting if one.of_table and one.log_position is not None]
    above = [one for one in known if old is None or one > old.log_position]
    return min(above, default=None)
