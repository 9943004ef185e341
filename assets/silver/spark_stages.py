"""The stages between bronze and silver as Spark runs them: what is read, shuffled, sorted and joined in between.

Each stage is a function over Arrow batches (``arrow/silver/silver_stages``). Put here what Spark does between two
stages. Not here: the same in this process (``local_stages``), and what is refused and written then
(``derive_windows``).
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow.silver import outcomes, pending_stages, silver_stages, transaction_commits
from assets.arrow.silver.shards import SHARDS, Shards
from assets.columns.silver import OUTPUT_SCHEMA, PENDING_SCHEMA, ROWS_SCHEMA
from assets.executors.in_spark import kept, staged, tasks_for
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.horizons import Horizon

_COMMITS = "transaction binary, commit array<bigint>"


def classified(
    feed: Feed, bronze: DataFrame, records: Mapping[str, int], horizons: Mapping[str, Horizon]
) -> tuple[DataFrame, list[DataFrame]]:
    """One row per outcome of the records of some windows (``OUTPUT_SCHEMA``), and the frames that are persisted for it.

    Args:
        feed: the feed with its recorded decisions.
        bronze: these windows' records.
        records: how many they are, by window.
        horizons: of each gold table whose history is compacted.
    """
    persisted = []
    tasks, shards = tasks_for(bronze, sum(records.values())), Shards.of(records)
    rows = _rows(feed, bronze, tasks, horizons, shards)
    if FORMATS[feed.format].transactional:
        persisted.append(kept(rows))
        rows = _with_commits(persisted[0], tasks)
    # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
    whole = rows.withColumn("commit", F.coalesce("commit", F.array().cast("array<bigint>")))
    # Side by side, and not by a hash: a task has rows of few windows, and writes a file for each of these.
    task = F.floor(F.col("shard").cast("long") * tasks / SHARDS).cast("int")
    shuffled = whole.repartitionById(tasks, task).sortWithinPartitions("sort_key")
    found = staged(shuffled, outcomes.Classify(feed, horizons), OUTPUT_SCHEMA)
    persisted.append(kept(found))
    return persisted[-1], persisted


def _rows(
    feed: Feed, bronze: DataFrame, tasks: int, horizons: Mapping[str, Horizon], shards: Shards
) -> DataFrame:
    """The records as rows (``ROWS_SCHEMA``); where neighbours decide, they are brought together first."""
    surveyed, source = _surveyed(feed, bronze), FORMATS[feed.format]
    if source.resolver is None:
        decode = silver_stages.DecodeRows(feed, source, surveyed, horizons, shards)
        return staged(bronze, decode, ROWS_SCHEMA)
    pending = staged(bronze, pending_stages.DecodePending(feed, source, surveyed), PENDING_SCHEMA)
    groups = pending.repartition(tasks, "shard").sortWithinPartitions("group", "order")
    return staged(groups, pending_stages.ResolveRows(feed, source, horizons, shards), ROWS_SCHEMA)


def _surveyed(feed: Feed, bronze: DataFrame) -> silver_stages.Surveyed:
    """Facts that some records of a window have and others of it need, by window."""
    marks = FORMATS[feed.format].survey_marks
    if not marks:
        return {}
    payload = F.col("payload")
    marked: list[Column] = [F.contains(payload, F.lit(mark)) for mark in marks]
    # A mended record may have a mark that bronze's own does not have.
    with_facts = (
        bronze if feed.decisions.replacements else bronze.where(reduce(Column.__or__, marked))
    )
    facts: dict[str, set[tuple[object, ...]]] = {}
    for row in staged(
        with_facts, silver_stages.Survey(feed, FORMATS[feed.format]), "window string, fact binary"
    ).collect():
        facts.setdefault(row["window"], set()).add(pickle.loads(row["fact"]))
    return {window: frozenset(some) for window, some in facts.items()}


def _with_commits(rows: DataFrame, tasks: int) -> DataFrame:
    """The rows, those of transactions that their window holds whole with the commit's position."""
    parts = rows.where(F.col("transaction").isNotNull()).select("transaction", "part")
    together = parts.repartition(tasks, "transaction").sortWithinPartitions("transaction")
    whole = staged(together, transaction_commits.commits, _COMMITS)
    return rows.drop("commit").join(whole, on="transaction", how="left").select(*ROWS_SCHEMA.names)


def texts_of(found: DataFrame, kind: str) -> Sequence[str]:
    """The texts that stages left in their rows of one kind."""
    rows = found.where(F.col("kind") == kind).select("payload").collect()
    return [bytes(row["payload"]).decode() for row in rows]
