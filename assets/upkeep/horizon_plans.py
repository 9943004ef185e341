"""Where a table's next horizon may be drawn: what is old enough, read in full, and wholly decided.

Not here: what is done with the history below it (``assets/upkeep/compaction.py``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import bases, dismissals, ledger
from assets.bookkeeping.transactions import released
from assets.columns import silver_rows, transactions
from assets.gold.changes.streams import has_streams
from assets.gold.changes.table_changes import TableChanges
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window
from transforms.formats import FORMATS
from transforms.gold.change import Position
from transforms.horizons import Horizon, Reach, Span, most_have_reached, watermark


@dataclass(frozen=True, slots=True)
class Plan:
    """Up to where a table may be compacted now: None where that is no further than before, and what holds it back.

    ``old``: the horizon before, None where there is none yet.
    """

    old: Horizon | None
    new: Horizon | None
    held_back_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Eligible:
    """The windows whose changes may be compacted: those up to ``last``, None where there are none."""

    last: str | None
    held_back_by: tuple[str, ...]


def planned(lake: Lake, feed: Feed, name: str, table_changes: TableChanges) -> Plan:
    """Draw one gold table's horizon.

    It is the newest position in windows that are old enough, but no newer than what each stream has told by then, and
    older than everything that is not decided yet.
    """
    old = bases.drawn(lake, feed).get(name)
    if (
        table_changes.change_kinds.transactions
        and not table_changes.changes.where("transaction.at_commit").isEmpty()
    ):
        # Such a change stands where its commit does, which may be in a window that nobody has read yet.
        return Plan(old, None, ("changes that take effect at their commit, whose history is kept",))
    if FORMATS[feed.format].crosses_streams and has_streams(lake, feed):
        # Where they stand depends on other tables' changes, and on when those were made.
        return Plan(old, None, ("deletes that reach other partitions, whose history is kept",))
    if feed.retention.kept is None:
        return Plan(old, None, ("the feed file says `retention: forever`",))
    eligible = eligible_windows(lake, feed, name)
    if eligible.last is None:
        return Plan(old, None, eligible.held_back_by)
    reasons = list(eligible.held_back_by)
    # What a complete snapshot is for stands in no stream.
    changes = table_changes.changes.where(~F.col("derived").eqNullSafe("epoch"))
    for undecided, what in (
        (first_held(lake, feed, name), "a held delete"),
        (first_quarantined(lake, feed, name, old), "an event in quarantine"),
        (first_open(lake, feed, name, table_changes), "a change whose transaction is open"),
    ):
        if undecided is not None:
            changes = changes.where(F.col("position") < F.array(*map(F.lit, undecided)))
            reasons.append(f"{what} at position {_spelled(undecided)}")
    streams: dict[str | None, Reach] = {}
    for stream, spans in _spans(changes).items():
        if stream not in feed.retention.retired:
            newest = max((one.newest for one in spans if one.window <= eligible.last), default=None)
            reached = most_have_reached(spans, eligible.last)
            if newest is not None and reached is not None:
                reasons.append(
                    f"position {_spelled(newest)} of an old window, which most windows since then have not reached"
                    f" ({_spelled(reached)}): one of the two is wrong"
                )
                newest = _newest(changes, stream, eligible.last, reached)
            streams[stream] = Reach(min(one.oldest for one in spans), newest)
    position, lagging = watermark(streams)
    if lagging is not None and len(streams) > 1:
        reasons.append(
            f"stream {lagging!r}, the one that lags most (`retired: [{lagging}]` where it has ended)"
        )
    if position is None or (old is not None and position <= old.position):
        return Plan(old, None, tuple(reasons))
    return Plan(old, Horizon(position), tuple(reasons))


def _spans(changes: DataFrame) -> dict[str | None, list[Span]]:
    """What each stream has told in each window."""
    found: dict[str | None, list[Span]] = defaultdict(list)
    of_windows = changes.groupBy("stream", "window").agg(
        F.min("position").alias("oldest"), F.max("position").alias("newest")
    )
    for row in of_windows.collect():
        found[row["stream"]].append(Span(row["window"], tuple(row["oldest"]), tuple(row["newest"])))
    return found


def _newest(
    changes: DataFrame, stream: str | None, last: str, reached: Position
) -> Position | None:
    """The newest position in the stream's windows up to the ``last``, among those that are not beyond ``reached``."""
    mine = F.col("stream").eqNullSafe(F.lit(stream)) & (F.col("window") <= last)
    within = F.col("position") <= F.array(*map(F.lit, reached))
    row = changes.where(mine & within).agg(F.max("position").alias("newest")).first()
    assert row is not None  # an aggregate without groups has one row
    return None if row["newest"] is None else tuple(row["newest"])


def _spelled(position: Sequence[int]) -> str:
    return "/".join(map(str, position))


def eligible_windows(lake: Lake, feed: Feed, name: str) -> Eligible:
    """The windows that are older than the retention, before the first one that is not read or not decided."""
    assert feed.retention.kept is not None
    accounts = lake.table(Layer.ACCOUNTING, feed.name).read()
    windows = sorted(row["window"] for row in accounts.select("window").distinct().collect())
    if not windows:
        return Eligible(None, ("nothing is in silver yet",))
    newest = parse_window(windows[-1], feed.window)
    old = [one for one in windows if newest - parse_window(one, feed.window) >= feed.retention.kept]
    reasons = (
        [f"retention: all windows since {windows[len(old)]} are kept"]
        if len(old) < len(windows)
        else []
    )
    quarantined = quarantined_in(lake, feed, name)
    undecided = {
        window: f"{counted(events, 'event')} in quarantine"
        for window, events in quarantined.items()
    }
    for window in ledger.unfinished(lake, feed, ledger.read_objects(lake, feed)):
        undecided[window] = "not in gold yet"
    first = min(undecided, default=None)
    if first is not None and old and first <= old[-1]:
        old = [one for one in old if one < first]
        advice = (
            f"; mend it, let it go (`weir dismiss {feed.name}`), or list the window under"
            " `compaction: {dismissed: [...]}`"
        )
        reasons.append(
            f"window {first}: {undecided[first]}{advice if first in quarantined else ''}"
        )
    return Eligible(old[-1] if old else None, tuple(reasons))


def quarantined_in(lake: Lake, feed: Feed, name: str) -> dict[str, int]:
    """How many events of the table, or of no table, are in quarantine and may yet be mended, by their window."""
    refused = dismissals.waiting(lake, feed)
    if refused is None:
        return {}
    mine = (F.col("table") == name) | F.col("table").isNull()
    waits = ~F.col("window").isin(list(feed.retention.dismissed))
    found = refused.where(mine & waits).groupBy("window").count().collect()
    return {row["window"]: row["count"] for row in found}


def first_held(lake: Lake, feed: Feed, name: str) -> list[int] | None:
    """The smallest position of a scoped delete that waits for a decision."""
    silver = lake.table(Layer.SILVER, feed.name).read()
    held = silver.where(silver_rows.are_held(name))
    row = held.agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position


def first_quarantined(lake: Lake, feed: Feed, name: str, old: Horizon | None) -> list[int] | None:
    """The smallest position of an event in quarantine that may yet be mended, as far as positions are known.

    What came too late, below the ``old`` horizon, is decided. A record that cannot be read has no position: there its
    window counts.
    """
    refused = dismissals.waiting(lake, feed)
    if refused is None:
        return None
    mine = F.col("table") == name
    if old is not None:
        mine &= F.col("position") > F.array(*map(F.lit, old.position))
    waits = ~F.col("window").isin(list(feed.retention.dismissed))
    row = refused.where(mine & waits).agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position


def first_open(lake: Lake, feed: Feed, name: str, table_changes: TableChanges) -> list[int] | None:
    """The smallest position of a change whose transaction is not complete."""
    if not table_changes.change_kinds.transactions:
        return None
    silver = lake.table(Layer.SILVER, feed.name).read()
    waiting = transactions.waiting(silver.where(silver_rows.are_of(name)))
    complete = released(lake, feed, [])
    if complete is not None:
        waiting = waiting.join(complete, on="id", how="left_anti")
    row = waiting.agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position
