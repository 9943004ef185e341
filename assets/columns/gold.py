"""Gold's columns as Spark makes them: typed values, spelling, the newest tombstone of a key, digests of rows.

``ColumnType`` does the same with Arrow; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.quoting import quoted
from transforms.column_types.column_type import ColumnType
from transforms.column_types.nested import Array, Map, Nested, Struct
from transforms.column_types.registry import column_type
from transforms.column_types.texts import Binary, String
from transforms.feed.feed import Table
from transforms.feed.names import spelled_columns
from transforms.gold.columns import (
    BEGAN_BY,
    EVENT_AT,
    EVENT_ID,
    LOG_POSITION,
    OF_VERSION,
    RESET,
    VALID_FROM,
    key_columns,
    row_columns,
    tombstone_columns,
)

AS_JSON: Final = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How values are written as JSON: with nulls, and with the microseconds of times, which Spark leaves out by itself."""


def typed(text: Column, type_name: str, *, strictly: bool = False) -> Column:
    """The value of a canonical text in the declared type; a set is a sorted array without repeats.

    ``strictly``: a text of a simple type that is not canonical is an error, and not null.
    """
    kind = column_type(type_name)
    if isinstance(kind, Binary):
        return F.unbase64(text)
    if not isinstance(kind, Nested):
        return text.cast(kind.spark) if strictly else text.try_cast(kind.spark)
    value = _with_keys(F.from_json(text, kind.spark_json), kind, typed)
    is_set = isinstance(kind, Array) and kind.is_set
    return F.array_sort(F.array_distinct(value)) if is_set else value


def text_of_value(value: Column, type_name: str) -> Column:
    """The text of a typed value: what the type's judge reads as the same value."""
    kind = column_type(type_name)
    if isinstance(kind, Binary):
        return F.base64(value)
    if not isinstance(kind, Nested):
        return value.cast("string")
    # Of moments as keys Spark would write the number of microseconds.
    return F.to_json(_with_keys(value, kind, text_of_value), AS_JSON)


def _with_keys(value: Column, kind: ColumnType, made: Callable[[Column, str], Column]) -> Column:
    """The value with all keys of maps in it made into other ones: JSON has only texts as keys."""
    if not _has_keys(kind):
        return value
    if isinstance(kind, Array):
        return F.transform(value, lambda one: _with_keys(one, kind.element, made))
    if isinstance(kind, Map):
        is_text = isinstance(kind.key, String)
        keys, items = F.map_keys(value), F.map_values(value)
        return F.map_from_arrays(
            keys if is_text else F.transform(keys, lambda one: made(one, kind.key.name)),
            F.transform(items, lambda one: _with_keys(one, kind.item, made)),
        )
    assert isinstance(kind, Struct)
    fields = [
        _with_keys(value[quoted(name)], one, made).alias(name) for name, one in kind.fields.items()
    ]
    return F.when(value.isNotNull(), F.struct(*fields))


def _has_keys(kind: ColumnType) -> bool:
    """Whether there are keys of maps in it that are no texts."""
    if isinstance(kind, Map) and not isinstance(kind.key, String):
        return True
    return isinstance(kind, Nested) and any(map(_has_keys, kind.parts))


IMAGES = ("before", "after", "attribute_ops", "scope")


def in_gold(changes: DataFrame, table: Table) -> DataFrame:
    """Silver's changes of one table with their columns under gold's names."""
    names = gold_names(table)
    if not names:
        return changes
    return changes.withColumns({image: _renamed(F.col(image), names) for image in IMAGES})


def gold_names(table: Table) -> dict[str, str]:
    """Every column name that gold replaces, with gold's name; one that is another's new name is replaced, too."""
    taken = [name for name in table.spelled.values() if name not in table.spelled]
    return {**table.spelled, **{name: spelled_columns([name])[name] for name in taken}}


def with_names(base: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Base rows with other names of columns in their state."""
    if not names:
        return base
    columns = _renamed(F.col("state.columns"), names)
    return base.withColumn(
        "state", F.when(F.col("state").isNotNull(), F.col("state").withField("columns", columns))
    )


def _renamed(image: Column, names: Mapping[str, str]) -> Column:
    new = F.create_map(*[F.lit(one) for one in chain(*names.items())])
    return F.transform_keys(image, lambda name, _: F.coalesce(F.try_element_at(new, name), name))


def newest_tombstones(tombstones: DataFrame, table: Table) -> DataFrame:
    """One row per key, the newest: a key that was deleted several times has several tombstones until compaction."""
    whole = F.struct(*(quoted(name) for name in tombstones.columns))
    newest = F.max_by(whole, F.struct(LOG_POSITION, EVENT_ID)).alias("newest")
    own = [quoted(name) for name in tombstone_columns(table)]
    return tombstones.groupBy(*own).agg(newest).select("newest.*")


def digests_of_rows(gold: DataFrame, table: Table) -> DataFrame:
    """One row per gold row: ``key`` (what tells it apart, as JSON) and ``digest`` (SHA-256).

    The digest is over all its columns but the reset position.
    """
    own = key_columns(table)
    standing = [name for name in row_columns(table) if name != RESET]
    names = dict.fromkeys((*own, *table.columns, *standing))
    return _digested(gold, own, list(names))


def digests_of_tombstones(tombstones: DataFrame, gold: DataFrame, table: Table) -> DataFrame:
    """One row per key that is deleted, by its newest tombstone: ``key`` and ``digest`` as in ``digests_of_rows``.

    Older tombstones, and those of keys that are present again, may be dropped by compaction at any time.
    """
    own = tombstone_columns(table)
    newest = newest_tombstones(tombstones, table)
    same = [newest[name].eqNullSafe(gold[name]) for name in own]
    absent = newest.join(gold, on=same, how="left_anti")
    return _digested(absent, own, [*own, LOG_POSITION, EVENT_ID, EVENT_AT])


def digests_of_versions(history: DataFrame, table: Table) -> DataFrame:
    """One row per version of a table's history: ``key`` and ``digest`` as in ``digests_of_rows``."""
    own = (*table.key, VALID_FROM, BEGAN_BY)
    return _digested(history, own, list(dict.fromkeys((*own, *table.columns, *OF_VERSION))))


def _digested(rows: DataFrame, own: tuple[str, ...], names: list[str]) -> DataFrame:
    key = F.to_json(F.struct(*[F.col(quoted(name)) for name in own]), AS_JSON)
    # The order in which a map holds its entries means nothing.
    whole = F.to_json(F.struct(*[_ordered(rows, name) for name in names]), AS_JSON)
    return rows.select(key.alias("key"), F.sha2(whole, 256).alias("digest"))


def _ordered(rows: DataFrame, name: str) -> Column:
    column = F.col(quoted(name))
    if rows.schema[name].dataType.typeName() == "map":
        return F.array_sort(F.map_entries(column)).alias(name)
    return column


def digest_of_table(digests: DataFrame) -> DataFrame:
    """One row for all: ``rows``, their number, and ``digest``, which does not depend on their order."""
    # Sums of parts of the digests do not depend on order, and a row that comes twice counts twice.
    part = F.conv(F.substring("digest", 1, 12), 16, 10).cast("decimal(38,0)")
    other = F.conv(F.substring("digest", 13, 12), 16, 10).cast("decimal(38,0)")
    return digests.agg(
        F.count("*").alias("rows"),
        F.sha2(F.concat_ws("/", F.count("*"), F.sum(part), F.sum(other)), 256).alias("digest"),
    )


def differing_keys(ours: DataFrame, theirs: DataFrame) -> DataFrame:
    """One row per key whose digests differ: ``key``, and whether each side has it (``ours``, ``theirs``)."""
    one = ours.select("key", F.col("digest").alias("ours"))
    other = theirs.select("key", F.col("digest").alias("theirs"))
    return (
        one.join(other, on="key", how="full_outer")
        .where(~F.col("ours").eqNullSafe(F.col("theirs")))
        .select(
            "key",
            F.col("ours").isNotNull().alias("ours"),
            F.col("theirs").isNotNull().alias("theirs"),
        )
    )
