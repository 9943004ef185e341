"""A gold table compared with its proof, row by row: in this process where both are small, else by Spark.

Put here what makes two tables equal. Not here: how the proof is made (``verify``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns import digests
from assets.gold import row_digests
from assets.gold.apply import spark_versions
from assets.gold.apply.stored_in_process import StoredInProcess
from assets.gold.row_digests import Digests
from assets.lake import Lake
from assets.layers import Layer
from assets.upkeep.history_by_spark import is_expired
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES
from transforms.gold.columns import (
    BEGAN_BY,
    EVENT_AT,
    EVENT_ID,
    LOG_POSITION,
    VALID_FROM,
    tombstone_columns,
)

SHOWN = 10
"""How many of the keys that differ are named."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose row in gold is not the proof's: it is in one of the two only, or both have it with other values."""

    key: str
    in_gold: bool
    in_proof: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of comparing one gold table with its proof.

    ``rows``, ``tombstones``: how many gold has. ``digest``: of all rows of gold. ``differing``: how many keys differ,
    and ``differences`` the first of them.
    """

    table: str
    rows: int
    tombstones: int
    digest: str
    differing: int
    differences: tuple[Difference, ...]


def compared(
    both: tuple[Lake, Lake],
    feed: Feed,
    name: str,
    table: Table,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare one gold table (``name``), its tombstones and its history with the proof's.

    Args:
        both: the warehouse, and the proof's.
        feed: the feed with its recorded decisions.
        name: the gold table.
        table: the declared table that it mirrors.
        compaction_watermark: tombstones and versions at or below it are not compared, for compaction has dropped some.
    """
    ours, theirs = (
        StoredInProcess.of(lake, feed, table, name, compaction_watermark) for lake in both
    )
    sizes = ours.size + theirs.size, ours.count + theirs.count
    if ours.exists and theirs.exists and both[0].choice.fits_in_process(*sizes):
        return in_process(ours, theirs, name, compaction_watermark)
    return by_spark(both, feed, name, table, compaction_watermark)


def in_process(
    ours: StoredInProcess,
    theirs: StoredInProcess,
    name: str,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare two tables in this process."""
    rows, proof_rows = (row_digests.digests_of(one.table, one.rows) for one in (ours, theirs))
    tombstones, proof_tombstones = (
        _tombstones(one, compaction_watermark) for one in (ours, theirs)
    )
    pairs = [
        (rows, proof_rows),
        (tombstones, proof_tombstones),
        (_versions(ours), _versions(theirs)),
    ]
    found = sorted((one for pair in pairs for one in _differing(*pair)), key=str)
    return Certificate(
        *(name, rows.total(), tombstones.total(), row_digests.whole_digest(rows)),
        *(len(found), tuple(found[:SHOWN])),
    )


def _tombstones(
    files: StoredInProcess, compaction_watermark: CompactionWatermark | None
) -> Digests:
    own = tombstone_columns(files.table)
    there = set(files.keys)
    positions = [tuple(one) for one in files.tombstone_rows[LOG_POSITION].to_pylist()]
    left = [
        key not in there
        and not (
            compaction_watermark is not None
            and compaction_watermark.covers(position, len(position))
        )
        for key, position in zip(files.tombstone_keys, positions, strict=True)
    ]
    rows = files.tombstone_rows.filter(pa.array(left, pa.bool_()))
    return row_digests.digested(rows.select([*own, LOG_POSITION, EVENT_ID, EVENT_AT]), own)


def _versions(files: StoredInProcess) -> Digests:
    own = (*files.table.key, VALID_FROM, BEGAN_BY)
    return row_digests.digested(files.versions_above(), own)


def _differing(ours: Digests, theirs: Digests) -> list[Difference]:
    more, less = {key for key, _ in ours - theirs}, {key for key, _ in theirs - ours}
    return [Difference(key, key in more, key in less) for key in more | less]


def by_spark(
    both: tuple[Lake, Lake],
    feed: Feed,
    name: str,
    table: Table,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare two tables by Spark, history included; see ``compared``."""
    gold, tombstones = (
        [one.table(Layer.GOLD, feed.name, part).read() for one in both]
        for part in (name, name + TOMBSTONES)
    )
    ours, theirs = (digests.of_rows(one, table) for one in gold)
    tombstones_ours, tombstones_theirs = (
        digests.of_tombstones(tombstone.where(~is_expired(compaction_watermark)), row, table)
        for tombstone, row in zip(tombstones, gold, strict=True)
    )
    pairs = {"rows": (ours, theirs), "tombstones": (tombstones_ours, tombstones_theirs)}
    if table.history:
        versions, proof_versions = (
            spark_versions.above(
                one.table(Layer.GOLD, feed.name, name + HISTORY).read(), compaction_watermark
            )
            for one in both
        )
        pairs["versions"] = (
            digests.of_versions(versions, table),
            digests.of_versions(proof_versions, table),
        )
    mine, proof = _sums(pairs)
    sizes = (mine["rows"][0], mine["tombstones"][0], mine["rows"][1])
    if mine == proof:
        return Certificate(name, *sizes, 0, ())
    differ = reduce(DataFrame.unionByName, (digests.differing(*pair) for pair in pairs.values()))
    differ = differ.localCheckpoint()
    some = [
        Difference(row["key"], row["ours"], row["theirs"])
        for row in differ.orderBy("key").limit(SHOWN).collect()
    ]
    return Certificate(name, *sizes, differ.count(), tuple(some))


def _sums(
    pairs: Mapping[str, tuple[DataFrame, DataFrame]],
) -> tuple[dict[str, tuple[int, str]], dict[str, tuple[int, str]]]:
    """By kind of row how many there are and their digest, of either side; in one query, since most tables are small."""
    every = [
        digests.of_table(one).select(F.lit(what).alias("what"), F.lit(side).alias("side"), "*")
        for what, pair in pairs.items()
        for side, one in enumerate(pair)
    ]
    found: tuple[dict[str, tuple[int, str]], dict[str, tuple[int, str]]] = ({}, {})
    for row in reduce(DataFrame.unionByName, every).collect():
        found[row["side"]][row["what"]] = row["rows"], row["digest"]
    return found
