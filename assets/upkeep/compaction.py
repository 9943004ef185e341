"""Compaction: old history becomes base rows, tombstones that nothing needs go, small files become large ones.

The order of commits is what makes a crash harmless: identities, then base rows with their horizon (from here on silver
at or below it is not read), then silver's old rows go, then tombstones. Each step leaves what is right, and the next
compaction does what is left. Not here: how far history may be compacted (``assets/upkeep/horizon_plans.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import bases, decisions, ledger
from assets.columns import base_rows, digests, silver_rows
from assets.columns.horizons import covers
from assets.gold import gold_tables, table_faults, table_properties
from assets.gold.apply import commits
from assets.gold.changes import scoping
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import spark_fold, whole_history
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.silver import silver_asset
from assets.upkeep import horizon_plans
from assets.upkeep.file_sizes import count_files, tidy
from assets.upkeep.horizon_plans import Plan
from assets.upkeep.tombstones import drop, droppable
from transforms.errors import CompactionRefused
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES
from transforms.horizons import Horizon

TIDIED_WITHOUT_SPARK: frozenset[Layer] = frozenset(
    {Layer.PROGRESS, Layer.LANDED, Layer.DECISIONS, Layer.OFFSETS, Layer.LEDGER}
)
"""Small tables that Weir reads and commits itself (``small_table``); it makes large files of small ones there, too."""

TIDIED: Sequence[Layer] = tuple(
    one for one in Layer if one is not Layer.GOLD and one not in TIDIED_WITHOUT_SPARK
)
"""All other layers beside gold, whose tables are compacted one by one."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What one gold table kept and lost, class by class, and why no more.

    ``folded``: silver rows that became part of the base; ``kept``: those newer than the horizon. ``base``: keys in the
    base. ``superseded``: tombstones whose key is back or was deleted once more; ``expired``: those at or below the
    horizon; ``tombstones``: the rest. ``digest``: of gold, the same before and after; None where no history was folded.
    """

    table: str
    plan: Plan
    folded: int
    kept: int
    base: int
    superseded: int
    expired: int
    tombstones: int
    files_before: int
    files_after: int
    digest: str | None


def compact_feed(
    lake: Lake, feed: Feed, names: Mapping[str, Table], *, dry_run: bool
) -> Iterator[Compacted]:
    """Compact every gold table of a feed, by name, and then the files of its silver.

    One that fails leaves the others alone, and its error is raised once all is done (``table_faults.refuse``).

    Raises:
        CompactionRefused: base rows and newer changes do not make the gold that there is. Nothing of it is changed.
        GoldBehind: the table was made under another declaration, or is missing.
        TableBusy: another run writes it.
    """
    feed = decisions.with_recorded(lake, feed)
    faults: dict[str, Exception] = {}
    with writing(lake, Layer.SILVER, feed.name) if not dry_run else nullcontext():
        for name, table in names.items():
            done = None
            try:
                with (
                    writing(lake, Layer.GOLD, feed.name, table.name)
                    if not dry_run
                    else nullcontext()
                ):
                    done = compact(lake, feed, table, name, dry_run=dry_run)
            except Exception as fault:
                # Whatever it is, the other tables have nothing to do with it.
                faults[name] = fault
            if done:
                yield done
        if not dry_run:
            for layer in TIDIED:
                tidy(lake, lake.table(layer, feed.name).path)
            for layer in TIDIED_WITHOUT_SPARK:
                lake.small_table(layer, feed.name, pa.schema([])).tidy()
    table_faults.refuse(feed.name, faults)


def compact(lake: Lake, feed: Feed, table: Table, name: str, *, dry_run: bool) -> Compacted | None:
    """Compact one gold table; None where it does not exist yet."""
    gold = lake.table(Layer.GOLD, feed.name, name)
    tombstones = lake.table(Layer.GOLD, feed.name, name + TOMBSTONES)
    if not (gold.exists() and tombstones.exists()):
        return None
    gold_tables.refuse_behind(lake, feed, table, name)
    table_changes = TableChanges.read(lake, feed, table, name, [])
    plan = horizon_plans.planned(lake, feed, name, table_changes)
    return to_horizon(lake, feed, table_changes, name, plan, dry_run=dry_run)


def to_horizon(
    lake: Lake, feed: Feed, table_changes: TableChanges, name: str, plan: Plan, *, dry_run: bool
) -> Compacted:
    """Compact one gold table up to a horizon that somebody has drawn."""
    gold = lake.table(Layer.GOLD, feed.name, name)
    tombstones = lake.table(Layer.GOLD, feed.name, name + TOMBSTONES)
    before = count_files(lake, gold.path)
    if plan.old is not None and not dry_run:
        finish(lake, feed, name, plan.old)
    folded, base, kept, digest = 0, 0, table_changes.changes.count(), None
    if plan.new is not None:
        covered = covers(plan.new)
        folded = table_changes.changes.where(covered).count()
        kept -= folded
        new_base = based(feed, table_changes, name, plan.new)
        base = new_base.count()
        digest = proved(lake, feed, table_changes, name, new_base, plan.new)
        if not dry_run:
            draw(lake, feed, table_changes, name, new_base, plan.new)
            finish(lake, feed, name, plan.new)
    elif table_changes.base is not None:
        base = table_changes.base.count()
    # By the horizon that is drawn, not by what a compaction that died had begun to write down.
    removable = droppable(
        table_changes.table, gold.read(), tombstones.read(), plan.new or plan.old
    ).localCheckpoint()
    superseded = removable.where("is_superseded").count()
    expired = removable.where("NOT is_superseded").count()
    left = tombstones.read().count() - superseded - expired
    if not dry_run:
        if superseded + expired:
            drop(lake, tombstones, removable, table_changes.table)
        table_properties.end_change_feed(gold, table_changes.table)
        versions = lake.table(Layer.GOLD, feed.name, name + HISTORY)
        for path in (gold.path, tombstones.path, versions.path):
            tidy(lake, path)
    files = before, before if dry_run else count_files(lake, gold.path)
    return Compacted(name, plan, folded, kept, base, superseded, expired, left, *files, digest)


def based(feed: Feed, table_changes: TableChanges, name: str, horizon: Horizon) -> DataFrame:
    """The table's base rows up to a new horizon: the old base, and the changes between the two."""
    old = replace(table_changes, changes=table_changes.changes.where(covers(horizon)))
    return base_rows.of_states(whole_history.to_base(feed, old), name)


def proved(
    lake: Lake,
    feed: Feed,
    table_changes: TableChanges,
    name: str,
    base: DataFrame,
    horizon: Horizon,
) -> str:
    """Fold the new base and all newer changes; returns the digest of what they make, which is gold's.

    Raises:
        CompactionRefused: It is not gold's.
    """
    rest = replace(
        table_changes,
        changes=table_changes.changes.where(~covers(horizon)),
        base=base.select("key", "streams", "state"),
    )
    found = spark_fold.folded(feed, rest, scoping.of_changes(feed, rest))
    rows = commits.present(found.rows, table_changes.table)
    gold = lake.table(Layer.GOLD, feed.name, name).read()
    ours, theirs = (digests.of_rows(one, table_changes.table) for one in (gold, rows))
    digest = digests.of_table(ours).first()
    again = digests.of_table(theirs).first()
    assert digest is not None  # an aggregate without groups has one row
    assert again is not None
    if digest["digest"] != again["digest"]:
        some = digests.differing(ours, theirs).orderBy("key").limit(3).collect()
        behind = ledger.unfinished(lake, feed, ledger.read_objects(lake, feed))
        raise CompactionRefused(feed.name, name, [row["key"] for row in some], behind)
    return str(digest["digest"])


def draw(
    lake: Lake,
    feed: Feed,
    table_changes: TableChanges,
    name: str,
    base: DataFrame,
    horizon: Horizon,
) -> None:
    """Commit the new base; where a run brought older changes meanwhile, once more with them."""
    # What the base was before is read before it is replaced.
    before = None if table_changes.base is None else table_changes.base.localCheckpoint()
    earlier = bases.newest_window(lake, feed, name)
    while True:
        mine = _covered(lake, feed, name, horizon)
        bases.remember(lake, feed, name, mine)
        row = mine.agg(F.max("window").alias("window")).first()
        assert row is not None  # an aggregate without groups has one row
        newest = max(row["window"] or "", earlier)
        bases.write(lake, feed, name, table_changes.table, base, horizon, newest)
        unknown = bases.with_known(lake, feed, _covered(lake, feed, name, horizon))
        if unknown.where("NOT is_known").isEmpty():
            return
        # Frames read anew: the history's has what was brought meanwhile.
        base = based(feed, replace(table_changes, base=before), name, horizon)


def finish(lake: Lake, feed: Feed, name: str, horizon: Horizon) -> None:
    """Remove from silver what the base has; what came at the wrong moment is judged anew in its window."""
    covered = _covered(lake, feed, name, horizon)
    if covered.isEmpty():
        return
    unknown = bases.with_known(lake, feed, covered).where("NOT is_known")
    if windows := [row["window"] for row in unknown.select("window").distinct().collect()]:
        silver_asset.derive_alone(lake, feed, windows)
    target = DeltaTable.forPath(lake.spark, lake.table(Layer.SILVER, feed.name).path)
    target.delete(silver_rows.are_of(name) & covers(horizon))


def _covered(lake: Lake, feed: Feed, name: str, horizon: Horizon) -> DataFrame:
    return _of_table(lake, feed, name).where(covers(horizon))


def _of_table(lake: Lake, feed: Feed, name: str) -> DataFrame:
    return lake.table(Layer.SILVER, feed.name).read().where(silver_rows.are_of(name))
