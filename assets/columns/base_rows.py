"""The columns of base rows: what a key is after all changes up to a horizon, in place of those changes.

Every later fold of the key begins with its base row. Put here what base rows consist of. Not here: the horizon itself
(``transforms/horizons.py``), and how base rows are read and written (``assets/bookkeeping/compacted/bases.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.gold.fold_rows import NUMBERS, TEXTS
from transforms.gold.stages import BASE_ROWS
from transforms.horizons import Horizon

_LAST = "struct<position:array<bigint>,event_id:string,event_at:timestamp,is_scoped:boolean>"
STATE = f"struct<effect:string,columns:map<string,string>,copies:bigint,last:{_LAST}>"
"""What a key is: ``put`` (a row of exactly these columns) or ``remove`` (absent); its copies, in a table without a key;
and the last change that counted."""

HORIZON = (
    "struct<position:array<bigint>,drawn_at:timestamp,newest_window:string,declared:string,"
    "judged_by:string,added:array<string>>"
)

BASE = f"table string, key array<string>, streams array<string>, state {STATE}, horizon {HORIZON}"
"""One row per key that is present at the horizon, and one per table, without ``key``, that has the ``horizon``.

``table``: the gold table. ``streams``: those that the key's changes came from. ``state``: what the key is
(``STATE``), with every column that its changes mentioned, declared or not. ``horizon.position``: up to where;
``drawn_at``: when that was decided; ``newest_window``: the newest landing window that had a change of the base;
``declared``: the feed file's name of the table; ``judged_by``: what the feed said that the base depends on, as JSON
(``compacted_past.Meaning``); ``added``: columns of gold that it had not declared.
"""


_HORIZON = pa.struct(
    [
        *[("position", NUMBERS), ("drawn_at", pa.timestamp("us", "UTC"))],
        *[("newest_window", pa.string()), ("declared", pa.string())],
        *[("judged_by", pa.string()), ("added", TEXTS)],
    ]
)
BASE_ARROW = pa.schema([("table", pa.string()), *BASE_ROWS, ("horizon", _HORIZON)])
"""``BASE`` as an Arrow schema."""


def marked(rows: pa.Table, table: str, marker: Mapping[str, Any]) -> pa.Table:
    """The base rows of one gold table (``stages.BASE_ROWS``), and the one row that says up to where they go.

    ``marker``: the fields of ``HORIZON``.
    """
    count = rows.num_rows
    cells = [
        pa.repeat(table, count)
        if one.name == "table"
        else pa.nulls(count, one.type)
        if one.name == "horizon"
        else rows[one.name].cast(one.type)
        for one in BASE_ARROW
    ]
    last = pa.Table.from_pylist([{"table": table, "horizon": dict(marker)}], schema=BASE_ARROW)
    return pa.concat_tables([pa.table(cells, schema=BASE_ARROW), last])


def of_states(states: DataFrame, table: str) -> DataFrame:
    """One row of ``BASE`` per row of ``states`` (``key``, ``streams``, ``state``)."""
    return states.select(
        F.lit(table).alias("table"),
        *("key", "streams", "state"),
        F.lit(None).cast(HORIZON).alias("horizon"),
    )


def marker(
    frame: DataFrame, table: str, horizon: Horizon, facts: Mapping[str, Column]
) -> DataFrame:
    """The one row of ``BASE`` that says up to where a table's base goes.

    Args:
        frame: Any frame of the session.
        table: The gold table.
        horizon: Up to where the base goes.
        facts: The other fields of ``HORIZON``, but ``drawn_at``, which is now.
    """
    position = F.array(*[F.lit(number) for number in horizon.position]).cast("array<bigint>")
    drawn = {"position": position, "drawn_at": F.current_timestamp(), **facts}
    names = ("position", "drawn_at", "newest_window", "declared", "judged_by", "added")
    of_horizon = F.struct(*[drawn[name].alias(name) for name in names])
    one = frame.sparkSession.range(1)
    return one.select(
        F.lit(table).alias("table"),
        F.lit(None).cast("array<string>").alias("key"),
        F.lit(None).cast("array<string>").alias("streams"),
        F.lit(None).cast(STATE).alias("state"),
        of_horizon.cast(HORIZON).alias("horizon"),
    )
