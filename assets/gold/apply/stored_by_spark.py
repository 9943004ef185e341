"""One gold table, its tombstones and its versions, read and committed by Spark: for tables of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import types
from assets.columns.quoting import quoted
from assets.executors import in_spark
from assets.executors.spark import shaped
from assets.gold.apply import spark_commits, spark_versions
from assets.gold.folding import Folded
from assets.gold.gold_table import GoldTable
from assets.gold.table_properties import properties_of, require_properties
from transforms.arrow.nested_types import TEXTS
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import (
    BEGAN_BY,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    FROM_AT,
    KEY,
    LOG_POSITION,
    PARTS,
    RESET,
    TO_AT,
    VALID_FROM,
    VALID_TO,
)
from transforms.gold.fold_rows import FOLD_ROWS, GOLD, VERSION, cells, list_array
from transforms.types import judge_of


@dataclass(frozen=True, slots=True)
class StoredBySpark:
    """The tables of one gold table; see ``folding.Stored``.

    ``compaction_watermark``: versions that ended at or below it can no longer be derived from silver, and stay.
    """

    gold: GoldTable
    compaction_watermark: CompactionWatermark | None = None

    def last_changes(self, what: int, keys: DataFrame | None, *, with_values: bool) -> DataFrame:
        """See ``folding.Stored``."""
        table = self.gold.table
        layer = (self.gold.rows if what == GOLD else self.gold.tombstones).read()
        if table.key and keys is not None:
            # Keys are compared as gold has them: making texts of ten million keys takes half a minute.
            layer = layer.join(_typed_keys(table, keys), on=[*table.key], how="left_semi")
        key = key_texts(table) if table.key else F.from_json(KEY, "array<string>")
        found = layer.select(
            F.lit(what).alias("what"),
            key.alias("key"),
            F.col(LOG_POSITION).alias("log_position"),
            F.col(EVENT_ID).alias("event_id"),
            F.unix_micros(EVENT_AT).alias("event_at"),
            F.col(RESET).alias("reset"),
            *([_image(table)] if with_values else []),
        )
        if not table.key and keys is not None:
            found = found.join(keys, on="key", how="left_semi")
        return _as_in_silver(shaped(found), self.gold)

    def versions(self, keys: DataFrame) -> DataFrame:
        """See ``folding.Stored``."""
        table = self.gold.table
        kept = spark_versions.above(self.gold.history.read(), self.compaction_watermark)
        mine = kept.join(_typed_keys(table, keys), on=[*table.key], how="left_semi")
        found = shaped(
            mine.select(
                F.lit(VERSION).alias("what"),
                key_texts(table).alias("key"),
                F.col(VALID_FROM).alias("log_position"),
                F.col(BEGAN_BY).alias("event_id"),
                F.unix_micros(FROM_AT).alias("event_at"),
                F.col(VALID_TO).alias("reset"),
                F.col(ENDED_BY).alias("ended_by"),
                F.unix_micros(TO_AT).alias("ended_at"),
                _image(table),
            )
        )
        return _as_in_silver(found, self.gold)

    def put(self, folded: Folded[DataFrame]) -> tuple[int, int]:
        """Put what keys are now in place of what they were; returns how many rows and tombstones there are then.

        Versions are written first, then tombstones: a crash in between leaves a row beside a newer tombstone, and the
        same run removes it when it is repeated.
        """
        if folded.metrics.keys:
            self._put_versions(folded, full_rebuild=False)
            require_properties(self.gold.rows, self.gold.table)
            tables = self.gold.rows, self.gold.tombstones
            spark_commits.put(*tables, folded.rows, self.gold.table, folded.metrics)
        return self.gold.rows.count(), self.gold.tombstones.count()

    def create(self, folded: Folded[DataFrame], feed: Feed) -> tuple[int, int]:
        """Write the tables in place of what there was; returns how many rows and tombstones they have."""
        self._put_versions(folded, full_rebuild=True)
        tables, table = (self.gold.rows, self.gold.tombstones), self.gold.table
        properties = properties_of(table, table_digest(feed, table))
        spark_commits.create(*tables, folded.rows, table, properties)
        return self.gold.rows.count(), self.gold.tombstones.count()

    def _put_versions(self, folded: Folded[DataFrame], *, full_rebuild: bool) -> None:
        if self.gold.table.history:
            spark_versions.write_versions(
                self.gold,
                folded.versions,
                folded.rows.select(PARTS),
                full_rebuild=full_rebuild,
                compaction_watermark=self.compaction_watermark,
            )


def _typed_keys(table: Table, keys: DataFrame) -> DataFrame:
    """One row per row of ``keys`` (``key``): the key's columns, typed as in gold."""
    return keys.select(
        *[
            types.typed(F.get("key", F.lit(at)), table.columns[name]).alias(name)
            for at, name in enumerate(table.key)
        ]
    )


def key_texts(table: Table) -> Column:
    """The key of a row of gold as canonical texts, for a table with a key."""
    return F.array(*[types.text_of(F.col(quoted(name)), table.columns[name]) for name in table.key])


def _as_in_silver(rows: DataFrame, gold: GoldTable) -> DataFrame:
    """The rows of a fold with the texts of keys as silver has them.

    Java 17 writes large floating numbers with more digits than they need.
    """
    kinds = [gold.table.columns[name] for name in gold.table.key]
    if not any(map(_is_floating, kinds)):
        return rows
    return in_spark.staged(rows, _Respelled(tuple(kinds)), rows.schema, gold.feed)


def _is_floating(kind: str) -> bool:
    return kind.strip().lower() in ("float", "double")


@dataclass(frozen=True, slots=True)
class _Respelled:
    """A stage that spells the floating numbers in keys as silver does; ``kinds``: the types of a key's parts."""

    kinds: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches with other keys."""
        judges = [judge_of(kind) if _is_floating(kind) else None for kind in self.kinds]
        at = FOLD_ROWS.get_field_index("key")
        for batch in batches:
            keys = [
                [
                    text if judge is None else judge(text)
                    for judge, text in zip(judges, key, strict=True)
                ]
                for key in cells(batch.column(at))
            ]
            yield batch.set_column(at, batch.schema.field(at), list_array(keys, TEXTS))


def _image(table: Table) -> Column:
    """The values of a row as canonical texts."""
    texts = [types.text_of(F.col(quoted(name)), kind) for name, kind in table.columns.items()]
    names = [F.lit(name) for name in table.columns]
    return F.map_from_arrays(F.array(*names), F.array(*texts)).alias("after")
