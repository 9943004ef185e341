"""How far a table's history may be compacted: what is old enough, read in full, and wholly decided.

Put here what a horizon depends on in the changes themselves. Not here: which windows are old enough
(``eligible_windows``), what is not decided yet (``undecided``), and what is done with the history below a horizon
(``compaction``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.gold.plan import has_several_streams
from assets.gold.silver_by_spark import SilverBySpark
from assets.lake import Lake
from assets.upkeep.eligible_windows import eligible_windows
from assets.upkeep.undecided import first_held, first_open, first_quarantined
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.gold.change import Position
from transforms.horizons import Horizon, Reach, Span, most_have_reached, watermark


@dataclass(frozen=True, slots=True)
class Plan:
    """How far one gold table may be compacted now, and why no further.

    ``old``: the present horizon, None where there is none yet. ``new``: the next one, None where it would be no further
    than the present one. ``held_back_by``: a phrase for each thing that holds it back.
    """

    old: Horizon | None
    new: Horizon | None
    held_back_by: tuple[str, ...]


def planned(lake: Lake, silver: SilverBySpark) -> Plan:
    """Decide how far one gold table's history may be compacted now, and say what holds it back.

    The new horizon is the newest position in windows that are old enough, but no newer than what each stream has
    delivered by then, and older than everything that is not decided yet.

    Args:
        lake: the warehouse.
        silver: the table's changes above the present horizon.
    """
    feed, name, old = silver.plan.feed, silver.plan.name, silver.plan.horizon
    if reason := _kept_for_ever(lake, silver):
        return Plan(old, None, (reason,))
    eligible = eligible_windows(lake, feed, name)
    if eligible.last is None:
        return Plan(old, None, eligible.held_back_by)
    reasons = list(eligible.held_back_by)
    # The deletes that complete snapshots stand for are in no stream.
    changes = silver.rows.where(~F.col("derived").eqNullSafe("epoch"))
    for undecided, what in (
        (first_held(lake, feed, name), "a held delete"),
        (first_quarantined(lake, feed, name, old), "an event in quarantine"),
        (first_open(silver), "a change whose transaction is open"),
    ):
        if undecided is not None:
            changes = changes.where(F.col("position") < F.array(*map(F.lit, undecided)))
            reasons.append(f"{what} at position {_spelled(undecided)}")
    streams, outliers = _reached(feed, changes, eligible.last)
    reasons += outliers
    position, lagging = watermark(streams)
    if lagging is not None and len(streams) > 1:
        reasons.append(
            f"stream {lagging!r}, the one that lags most (`retired: [{lagging}]` where it has ended)"
        )
    if position is None or (old is not None and position <= old.position):
        return Plan(old, None, tuple(reasons))
    return Plan(old, Horizon(position), tuple(reasons))


def _kept_for_ever(lake: Lake, silver: SilverBySpark) -> str | None:
    """Why this table's history is never compacted; None where it may be."""
    feed = silver.plan.feed
    if silver.plan.kinds.transactions and not silver.rows.where("transaction.at_commit").isEmpty():
        # Such a change stands where its commit does, which may be in a window that nobody has read yet.
        return "changes that take effect at their commit, whose history is kept"
    if FORMATS[feed.format].crosses_streams and has_several_streams(lake, feed):
        # Where they stand depends on other tables' changes, and on when those were made.
        return "deletes that reach other partitions, whose history is kept"
    if feed.retention.kept is None:
        return "the feed file says `retention: forever`"
    return None


def _reached(
    feed: Feed, changes: DataFrame, last: str
) -> tuple[dict[str | None, Reach], list[str]]:
    """How far each stream has come in the windows up to ``last``, without streams that the feed lists as ``retired``.

    And a sentence on each stream whose newest position is an outlier: most of its later windows have not reached it, so
    it is passed over.
    """
    streams: dict[str | None, Reach] = {}
    outliers: list[str] = []
    for stream, spans in _spans(changes).items():
        if stream in feed.retention.retired:
            continue
        newest = max((one.newest for one in spans if one.window <= last), default=None)
        reached = most_have_reached(spans, last)
        if newest is not None and reached is not None:
            outliers.append(
                f"position {_spelled(newest)} of an old window, which most windows since then have not reached"
                f" ({_spelled(reached)}): one of the two is wrong"
            )
            newest = _newest(changes, stream, last, reached)
        streams[stream] = Reach(min(one.oldest for one in spans), newest)
    return streams, outliers


def _spans(changes: DataFrame) -> dict[str | None, list[Span]]:
    """The oldest and the newest position of each stream in each window."""
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
