"""What a large gold table has of some keys before a run: its rows, tombstones and versions, as the tasks read them.

Put here what turns rows of gold into columns of ``fold_row_columns``. Not here: changes of silver and base rows
(``change_rows``), and which keys are asked for (``key_rows``, ``spark_fold``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow.gold.fold_row_columns import VERSION
from assets.columns import types
from assets.columns.gold import EVENT_AT, EVENT_ID, KEY, POSITION, RESET
from assets.columns.history import BEGAN_BY, ENDED_BY, FROM_AT, TO_AT, VALID_FROM, VALID_TO
from assets.columns.quoting import quoted
from transforms.feed.feed import Table


def typed_keys(table: Table, keys: DataFrame) -> DataFrame:
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


def last_changes(
    table: Table, layer: DataFrame, what: int, keys: DataFrame | None, *, with_values: bool
) -> DataFrame:
    """One row per row of gold, or per tombstone: ``key`` as canonical texts, and its last change.

    Args:
        table: The declared table.
        layer: The table of rows, or that of tombstones.
        what: Which of both (``GOLD``, ``TOMBSTONE``).
        keys: One row per key that is asked for (``key``); None for all keys.
        with_values: Whether the row's values are read, too (``after``).
    """
    if table.key and keys is not None:
        # Keys are compared as gold has them: making texts of ten million keys takes half a minute.
        layer = layer.join(typed_keys(table, keys), on=[*table.key], how="left_semi")
    key = key_texts(table) if table.key else F.from_json(KEY, "array<string>")
    values = [_image(table)] if with_values else []
    found = layer.select(
        F.lit(what).alias("what"),
        key.alias("key"),
        F.col(POSITION).alias("position"),
        F.col(EVENT_ID).alias("event_id"),
        F.unix_micros(EVENT_AT).alias("event_at"),
        *([F.col(RESET).alias("reset")] if RESET in layer.columns else []),
        *values,
    )
    if not table.key and keys is not None:
        found = found.join(keys, on="key", how="left_semi")
    return found


def _image(table: Table) -> Column:
    """The values of a row as canonical texts."""
    texts = [types.text_of(F.col(quoted(name)), kind) for name, kind in table.columns.items()]
    names = [F.lit(name) for name in table.columns]
    return F.map_from_arrays(F.array(*names), F.array(*texts)).alias("after")


def versions(table: Table, layer: DataFrame, keys: DataFrame) -> DataFrame:
    """One row per version of these ``keys`` (``key``) in the table of versions."""
    mine = layer.join(typed_keys(table, keys), on=[*table.key], how="left_semi")
    return mine.select(
        F.lit(VERSION).alias("what"),
        key_texts(table).alias("key"),
        F.col(VALID_FROM).alias("position"),
        F.col(BEGAN_BY).alias("event_id"),
        F.unix_micros(FROM_AT).alias("event_at"),
        F.col(VALID_TO).alias("reset"),
        F.col(ENDED_BY).alias("ended_by"),
        F.unix_micros(TO_AT).alias("ended_at"),
        _image(table),
    )
