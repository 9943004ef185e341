"""The columns of base rows: what a key is after all changes up to a compaction watermark, in place of those changes.

Every later fold of the key begins with its base row. Put here what base rows consist of. Not here: the compaction
watermark itself (``transforms/compaction_watermarks.py``), and how base rows are read and written
(``assets/bookkeeping/compacted/bases.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.arrow.nested_types import NUMBERS, TEXTS
from transforms.compaction_watermarks import CompactionWatermark
from transforms.gold.stages import BASE_ROWS

_LAST = (
    "struct<log_position:array<bigint>,event_id:string,event_at:timestamp,is_range_delete:boolean>"
)
STATE = f"struct<effect:string,columns:map<string,string>,copies:bigint,last:{_LAST}>"
"""What a key is: ``replace`` (a row of exactly these columns) or ``remove`` (absent); its copies, in a table without a
key; and the last change that counted."""

COMPACTION_WATERMARK = (
    "struct<log_position:array<bigint>,drawn_at:timestamp,newest_window:string,declared:string,"
    "judged_by:string,added:array<string>>"
)

BASE = (
    f"table string, key array<string>, streams array<string>, state {STATE}, "
    f"compaction_watermark {COMPACTION_WATERMARK}"
)
"""One row per key that is present at the compaction watermark, and one per table, without ``key``, that has the
``compaction_watermark``.

``table``: the gold table. ``streams``: those that the key's changes came from. ``state``: what the key is
(``STATE``), with every column that its changes mentioned, declared or not. ``compaction_watermark.log_position``: up to
where; ``drawn_at``: when that was decided; ``newest_window``: the newest landing window that had a change of the base;
``declared``: the feed file's name of the table; ``judged_by``: what the feed said that the base depends on, as JSON
(``compacted_past.Meaning``); ``added``: columns of gold that it had not declared.
"""


_COMPACTION_WATERMARK = pa.struct(
    [
        *[("log_position", NUMBERS), ("drawn_at", pa.timestamp("us", "UTC"))],
        *[("newest_window", pa.string()), ("declared", pa.string())],
        *[("judged_by", pa.string()), ("added", TEXTS)],
    ]
)
BASE_ARROW = pa.schema(
    [("table", pa.string()), *BASE_ROWS, ("compaction_watermark", _COMPACTION_WATERMARK)]
)
"""``BASE`` as an Arrow schema."""


def marked(rows: pa.Table, table: str, marker: Mapping[str, Any]) -> pa.Table:
    """The base rows of one gold table (``stages.BASE_ROWS``), and the one row that says up to where they go.

    ``marker``: the fields of ``COMPACTION_WATERMARK``.
    """
    count = rows.num_rows
    cells = [
        pa.repeat(table, count)
        if one.name == "table"
        else pa.nulls(count, one.type)
        if one.name == "compaction_watermark"
        else rows[one.name].cast(one.type)
        for one in BASE_ARROW
    ]
    last = pa.Table.from_pylist(
        [{"table": table, "compaction_watermark": dict(marker)}], schema=BASE_ARROW
    )
    return pa.concat_tables([pa.table(cells, schema=BASE_ARROW), last])


def of_states(states: DataFrame, table: str) -> DataFrame:
    """One row of ``BASE`` per row of ``states`` (``key``, ``streams``, ``state``)."""
    return states.select(
        F.lit(table).alias("table"),
        *("key", "streams", "state"),
        F.lit(None).cast(COMPACTION_WATERMARK).alias("compaction_watermark"),
    )


def marker(
    frame: DataFrame,
    table: str,
    compaction_watermark: CompactionWatermark,
    facts: Mapping[str, Column],
) -> DataFrame:
    """The one row of ``BASE`` that says up to where a table's base goes.

    Args:
        frame: Any frame of the session.
        table: The gold table.
        compaction_watermark: Up to where the base goes.
        facts: The other fields of ``COMPACTION_WATERMARK``, but ``drawn_at``, which is now.
    """
    log_position = F.array(*[F.lit(number) for number in compaction_watermark.log_position]).cast(
        "array<bigint>"
    )
    drawn = {"log_position": log_position, "drawn_at": F.current_timestamp(), **facts}
    names = ("log_position", "drawn_at", "newest_window", "declared", "judged_by", "added")
    of_compaction_watermark = F.struct(*[drawn[name].alias(name) for name in names])
    one = frame.sparkSession.range(1)
    return one.select(
        F.lit(table).alias("table"),
        F.lit(None).cast("array<string>").alias("key"),
        F.lit(None).cast("array<string>").alias("streams"),
        F.lit(None).cast(STATE).alias("state"),
        of_compaction_watermark.cast(COMPACTION_WATERMARK).alias("compaction_watermark"),
    )
