"""One gold table, its tombstones and its versions, read and committed by Spark: for tables of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import gold
from assets.columns.gold import typed
from assets.columns.quoting import quoted
from assets.executors import spark
from assets.executors.spark import broadcast_if_small, kept_on_disk, shaped
from assets.gold.fold import Folded
from assets.gold.tables import GoldTable, properties_of, require_properties
from assets.storage.delta_rs import CHANGE_FEED
from assets.storage.row_commits import PROPERTY
from assets.storage.spark_table import PLACE, SparkTable, with_places
from transforms.column_types.map_columns import TEXTS
from transforms.column_types.registry import column_type
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import (
    BEGAN_BY,
    COPY,
    EFFECT,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    FROM_AT,
    IS_DELETED,
    KEY,
    LAST_CHANGE,
    LOG_POSITION,
    MENTIONS,
    OF_VERSION,
    PARTS,
    RESET,
    TO_AT,
    VALID_FROM,
    VALID_TO,
    key_columns,
    row_columns,
    tombstone_columns,
)
from transforms.gold.fold_rows import FOLD_ROWS, GOLD, MARKED, VERSION, cells, list_array
from transforms.gold.folded_rows import FoldMetrics


@dataclass(frozen=True, slots=True)
class StoredBySpark:
    """The tables of one gold table; see ``fold.Stored``.

    ``compaction_watermark``: versions that ended at or below it can no longer be derived from silver, and stay.
    ``found``: gold's rows of the keys that were looked for, with their places, and the version of gold.
    """

    gold: GoldTable
    compaction_watermark: CompactionWatermark | None = None
    found: list[tuple[int, DataFrame]] = field(default_factory=list)

    def last_changes(self, what: int, keys: DataFrame | None, *, with_values: bool) -> DataFrame:
        """See ``fold.Stored``."""
        table = self.gold.table
        seen = self.gold.rows.version()
        layer = (self.gold.rows if what == GOLD else self.gold.tombstones).read()
        # Places are told of tables that may have marks.
        is_noted = what == GOLD and table.key and keys is not None and not with_values
        is_noted = is_noted and self.gold.rows.properties().get(PROPERTY) == "true"
        if is_noted:
            layer = with_places(layer)
        if table.key and keys is not None:
            # Keys are compared as gold has them: making texts of ten million keys takes half a minute.
            layer = layer.join(_typed_keys(table, keys), on=[*table.key], how="left_semi")
            if is_noted:
                # Read once, and used twice: whoever commits has to know where the rows stand.
                columns = (*map(quoted, table.key), *row_columns(table), *PLACE)
                layer = kept_on_disk(layer.select(*columns))
                self.found.append((seen, layer))
        key = key_texts(table) if table.key else F.from_json(KEY, "array<string>")
        found = layer.select(
            F.lit(what).alias("what"),
            key.alias("key"),
            F.col(LOG_POSITION).alias("log_position"),
            F.col(EVENT_ID).alias("event_id"),
            F.unix_micros(EVENT_AT).alias("event_at"),
            F.col(RESET).alias("reset"),
            *([_image(table)] if with_values else []),
            *([_mark()] if what == GOLD and table.marks_deletes else []),
        )
        if not table.key and keys is not None:
            found = found.join(keys, on="key", how="left_semi")
        return _as_in_silver(shaped(found), self.gold)

    def versions(self, keys: DataFrame) -> DataFrame:
        """See ``fold.Stored``."""
        table = self.gold.table
        kept = versions_above(self.gold.history.read(), self.compaction_watermark)
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
        table, gold, metrics = self.gold.table, self.gold.rows, folded.metrics
        if metrics.keys:
            if table.history:
                self._put_versions(folded)
            require_properties(gold, table)
            self._put_tombstones(folded.rows, metrics)
            # Without a key, a row's copies are many rows.
            rows = broadcast_if_small(folded.rows, metrics.keys) if table.key else folded.rows
            is_followed = table.change_feed or gold.properties().get(CHANGE_FEED) == "true"
            if metrics.updated or is_followed:
                self._merge_rows(rows, metrics)
            else:
                seen, places = self._places_of(rows)
                gold.replace_rows(places, present_rows(folded.rows, table), seen=seen)
            if metrics.drops_tombstone:
                # Only now: were the tombstone deleted first, a crash would leave neither it nor the row.
                self._drop_tombstones_above(folded.rows.where(F.col(EFFECT) != "remove"))
        for _, one in self.found:
            one.unpersist()
        return self.gold.rows.count(), self.gold.tombstones.count()

    def _places_of(self, rows: DataFrame) -> tuple[int, DataFrame]:
        """Where gold's rows of these keys stand, by what was found when they were looked for; and gold's version."""
        own = [*(self.gold.table.key or (KEY,))]
        if len(self.found) == 1:
            ((seen, found),) = self.found
        else:
            seen, found = self.gold.rows.version(), with_places(self.gold.rows.read())
        places = found.join(rows.select(*map(quoted, own)), on=own, how="left_semi")
        return seen, places.select(*PLACE)

    def create(self, folded: Folded[DataFrame], feed: Feed) -> tuple[int, int]:
        """Write the tables in place of what there was; returns how many rows and tombstones they have."""
        tables, table = (self.gold.rows, self.gold.tombstones), self.gold.table
        if table.history:
            self._create_versions(folded)
        properties = properties_of(table, table_digest(feed, table))
        create_tables(*tables, folded.rows, table, properties)
        return self.gold.rows.count(), self.gold.tombstones.count()

    def _put_tombstones(self, rows: DataFrame, metrics: FoldMetrics) -> None:
        table, tombstones = self.gold.table, self.gold.tombstones
        if metrics.needs_tombstone_merge:
            # Another delivery may have put a delete at an earlier position, or a late event may show that it met no
            # row.
            own = tombstone_columns(table)
            whole = {quoted(name): _new(name) for name in (*own, *LAST_CHANGE)}
            absent = broadcast_if_small(_absent_rows(rows, table), metrics.absent)
            tombstones.merge(absent, own, update=(F.lit(True), whole), insert=(F.lit(True), whole))
        elif metrics.absent:
            # Older tombstones of the same keys stay beside the new ones until compaction: the newest counts.
            tombstones.append(_absent_rows(rows, table))

    def _merge_rows(self, rows: DataFrame, metrics: FoldMetrics) -> None:
        """Merge the rows where old values stay, or where Delta's change data feed has to say what changed."""
        table = self.gold.table
        own = key_columns(table)
        values = {
            quoted(name): _kept(name) if metrics.updated else _new(name)
            for name in table.columns
            if name not in table.identity
        }
        values |= {name: _new(name) for name in row_columns(table)}
        names = dict.fromkeys((*table.columns, *own, *row_columns(table)))
        new_row = {quoted(name): _new(name) for name in names}
        is_there = _new(EFFECT) != "remove"
        # Every row is of a key that has changed, so that old and new values need not be compared.
        self.gold.rows.merge(
            rows,
            own,
            delete=~is_there,
            update=(F.lit(True), values),
            insert=(is_there, new_row),
        )

    def _drop_tombstones_above(self, rows: DataFrame) -> None:
        """Delete tombstones at a later position than the last change of a row that is present: the row is right."""
        table, tombstones = self.gold.table, self.gold.tombstones
        own = tombstone_columns(table)
        once = rows if table.key else rows.where(F.col(COPY) == 1)
        same = " AND ".join(f"old.{quoted(key)} <=> row.{quoted(key)}" for key in own)
        target = DeltaTable.forPath(rows.sparkSession, tombstones.path).alias("old")
        source = once.select(*(quoted(key) for key in own), LOG_POSITION).alias("row")
        merge = target.merge(source, f"{same} AND old.{LOG_POSITION} > row.{LOG_POSITION}")
        with tombstones.commits():
            merge.whenMatchedDelete().execute()

    def _create_versions(self, folded: Folded[DataFrame]) -> None:
        """Write the versions of all keys; those that can no longer be derived from silver stay."""
        table, declared = self.gold.history, self.gold.table
        whole = folded.versions.select(*map(quoted, declared.columns), *OF_VERSION)
        if self.compaction_watermark is not None and table.exists():
            ended = _ended_versions(table.read(), declared, self.compaction_watermark)
            whole = whole.unionByName(ended).localCheckpoint()
        table.create(whole, {"delta.enableDeletionVectors": "true"})

    def _put_versions(self, folded: Folded[DataFrame]) -> None:
        """Put the versions of some keys that can be derived from silver in place of those before, in one commit."""
        table, declared = self.gold.history, self.gold.table
        new = folded.versions.select(*map(quoted, declared.columns), *OF_VERSION)
        named = _typed_keys(declared, folded.rows.select(F.col(PARTS).alias("key")))
        # What ended at or below the compaction watermark is not among the new versions, and stays.
        present = versions_above(table.read(), self.compaction_watermark).alias("old")
        same = [
            F.col(f"old.{quoted(name)}")
            .cast(column_type(declared.columns[name]).spark)
            .eqNullSafe(F.col(f"touched.{quoted(name)}"))
            for name in declared.key
        ]
        mine = present.join(named.alias("touched"), on=same, how="left_semi")
        own = [*declared.key, VALID_FROM, BEGAN_BY]
        gone = mine.join(new.select(*own), on=own, how="left_anti")
        source = new.withColumn("is_gone", F.lit(False)).unionByName(
            gone.withColumn("is_gone", F.lit(True))
        )
        values: dict[str, str | Column] = {
            quoted(name): _new(name) for name in (*declared.columns, *OF_VERSION)
        }
        condition = " AND ".join(f"old.{quoted(name)} = new.{quoted(name)}" for name in own)
        merge = (
            DeltaTable.forPath(table.spark, table.path)
            .alias("old")
            .merge(source.localCheckpoint().alias("new"), condition)
            .whenMatchedDelete("new.is_gone")
            .whenMatchedUpdate(set=values)
            .whenNotMatchedInsert("NOT new.is_gone", values)
        )
        with table.commits():
            merge.execute()


def _typed_keys(table: Table, keys: DataFrame) -> DataFrame:
    """One row per row of ``keys`` (``key``): the key's columns, typed as in gold."""
    return keys.select(
        *[
            typed(F.get("key", F.lit(at)), table.columns[name]).alias(name)
            for at, name in enumerate(table.key)
        ]
    )


def key_texts(table: Table) -> Column:
    """The key of a row of gold as canonical texts, for a table with a key."""
    return F.array(
        *[gold.text_of_value(F.col(quoted(name)), table.columns[name]) for name in table.key]
    )


def _as_in_silver(rows: DataFrame, gold: GoldTable) -> DataFrame:
    """The rows of a fold with the texts of keys as silver has them.

    Java 17 writes large floating numbers with more digits than they need.
    """
    kinds = [gold.table.columns[name] for name in gold.table.key]
    if not any(column_type(kind).is_respelled for kind in kinds):
        return rows
    return spark.run_staged(rows, _Respelled(tuple(kinds)), rows.schema, gold.feed)


@dataclass(frozen=True, slots=True)
class _Respelled:
    """A stage that spells the floating numbers in keys as silver does; ``kinds``: the types of a key's parts."""

    kinds: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches with other keys."""
        kinds = [column_type(name) for name in self.kinds]
        judges = [kind.judge if kind.is_respelled else None for kind in kinds]
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


def _mark() -> Column:
    """The effect of a row of gold, which says whether it is marked as deleted."""
    return F.when(F.col(IS_DELETED), F.lit(MARKED)).alias("effect")


def _image(table: Table) -> Column:
    """The values of a row as canonical texts."""
    texts = [gold.text_of_value(F.col(quoted(name)), kind) for name, kind in table.columns.items()]
    names = [F.lit(name) for name in table.columns]
    return F.map_from_arrays(F.array(*names), F.array(*texts)).alias("after")


def create_tables(
    gold: SparkTable,
    tombstones: SparkTable,
    rows: DataFrame,
    table: Table,
    properties: Mapping[str, str],
) -> None:
    """Write both tables, in place of what there was, by what every key is now (``folded_schema``)."""
    tombstones.create(_absent_rows(rows, table), {})
    present = present_rows(rows, table)
    if table.key:
        # Side by side by their keys: of files that have few of them, most may be passed over when some keys change.
        own = [quoted(name) for name in table.key]
        present = present.repartitionByRange(*own).sortWithinPartitions(*own)
    gold.create(present, properties)


def present_rows(rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is present, or per copy of it, with gold's columns."""
    own = [name for name in key_columns(table) if name not in table.columns]
    columns = [quoted(name) for name in table.columns]
    return rows.where(F.col(EFFECT) != "remove").select(*columns, *own, *row_columns(table))


def _absent_rows(rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is absent, with the columns of tombstones."""
    absent = rows.where(F.col(EFFECT) == "remove")
    if not table.key:
        # Where only some copies of a row are gone, the first is still there.
        absent = absent.where(F.col(COPY) == 1)
    return absent.select(*(quoted(name) for name in tombstone_columns(table)), *LAST_CHANGE)


def _new(name: str) -> Column:
    """A column of the row that a MERGE brings."""
    return F.col(f"new.{quoted(name)}")


def _kept(name: str) -> Column:
    """The new value where the whole row is replaced or the column is mentioned, else the old one."""
    is_said = (_new(EFFECT) == "replace") | F.array_contains(_new(MENTIONS), F.lit(name))
    return F.when(is_said, _new(name)).otherwise(F.col(f"old.{quoted(name)}"))


def versions_above(kept: DataFrame, compaction_watermark: CompactionWatermark | None) -> DataFrame:
    """The versions that can still be derived from silver: those that had not ended at the watermark, and later ones."""
    if compaction_watermark is None:
        return kept
    return kept.where(F.coalesce(F.col(VALID_TO) > _position(compaction_watermark), F.lit(True)))


def _ended_versions(
    kept: DataFrame, declared: Table, compaction_watermark: CompactionWatermark
) -> DataFrame:
    """The versions that can no longer be derived from silver, with the columns that are declared now."""
    ended = kept.where(F.col(VALID_TO) <= _position(compaction_watermark))
    columns = [
        (F.col(quoted(name)) if name in kept.columns else F.lit(None))
        .cast(column_type(kind).spark)
        .alias(name)
        for name, kind in declared.columns.items()
    ]
    return ended.select(*columns, *OF_VERSION)


def _position(compaction_watermark: CompactionWatermark) -> Column:
    return F.array(*[F.lit(number) for number in compaction_watermark.log_position]).cast(
        "array<bigint>"
    )
