"""What keys are by all that silver has of them, for compaction and for people who ask; nothing is written.

Put here a question about keys' whole histories. Not here: an apply's fold (``spark_fold``), and what is done with the
answers (``assets/upkeep``, ``assets/audit``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from assets.arrow import in_spark
from assets.arrow.gold.base_fold import BASE_COLUMNS, ToBase
from assets.arrow.gold.key_groups import linked_key_groups
from assets.arrow.gold.ordered_changes import ordered_changes
from assets.gold.changes import scoping
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import change_rows
from assets.gold.fold.key_rows import Run, whole
from transforms.feed.feed import Feed
from transforms.gold.change import Change, Key
from transforms.gold.fold import Fold
from transforms.gold.scopes import Scopes
from transforms.gold.state import ABSENT, State


def to_base(feed: Feed, table_changes: TableChanges) -> DataFrame:
    """One row per key that is present after all these changes (``BASE_COLUMNS``), computed once."""
    scoped = scoping.of_changes(feed, table_changes)
    assert scoped.across_streams is None  # where they reach other streams, nothing is compacted
    run = Run.of(feed, table_changes, scoped)
    rows = change_rows.by_key(whole(run, None, 0))
    return in_spark.staged(rows, ToBase(run.folding), BASE_COLUMNS).localCheckpoint()


def story_of(feed: Feed, table_changes: TableChanges, key: Key) -> tuple[State, list[Change]]:
    """Everything that happened to one key: what it was at the table's horizon, and its changes in their order."""
    run = Run.of(feed, table_changes, scoping.of_changes(feed, table_changes))
    folding = run.folding
    asked = table_changes.changes.sparkSession.createDataFrame([(list(key),)], "key array<string>")
    rows = change_rows.by_key(whole(run, asked, 1), 1).toArrow()
    scopes = Scopes(folding.scoped, (fold := Fold.of(table_changes.table)).identity)
    for key_groups in linked_key_groups(folding, rows.to_batches()):
        for one in ordered_changes(folding, fold, scopes, list(key_groups)):
            if one.key.key == key:
                return one.key.base, [*one.changes]
    return ABSENT, []
