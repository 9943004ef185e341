"""The base rows and the compaction watermark of each compacted gold table, ``base.<feed>``.

A table's base rows and its compaction watermark are one commit; whoever reads a history reads the watermark with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns import base_rows, spelling
from assets.columns.quoting import literal
from assets.lake import Lake
from assets.layers import Layer
from transforms.compaction_watermarks import CompactionWatermark
from transforms.errors import DecisionRefused
from transforms.feed import compacted_past
from transforms.feed.feed import Feed, Table


def compaction_watermarks(lake: Lake, feed: Feed) -> dict[str, CompactionWatermark]:
    """The compaction watermark of every gold table of the feed that has one."""
    return {
        name: CompactionWatermark(tuple(row["log_position"]))
        for name, row in compaction_watermark_facts(lake, feed).items()
    }


def compaction_watermark_facts(lake: Lake, feed: Feed) -> dict[str, dict[str, Any]]:
    """The stored facts of each gold table's watermark (``base_rows.COMPACTION_WATERMARK``), by the table's name."""
    found = {}
    for rows in lake.in_process_table(Layer.BASE, feed.name).each(_COMPACTION_WATERMARKS):
        for row in rows.filter(pc.is_valid(rows["compaction_watermark"])).to_pylist():
            found[row["table"]] = row["compaction_watermark"]
    return found


_COMPACTION_WATERMARKS = pa.schema(
    [base_rows.BASE_ARROW.field(name) for name in ("table", "compaction_watermark")]
)


def rows(lake: Lake, feed: Feed, table: Table, name: str) -> DataFrame:
    """One row per key of one gold table (``name``) that is present at its watermark: ``key``, ``streams``, ``state``.

    The images in ``state`` have gold's column names.
    """
    mine = (F.col("table") == name) & F.col("key").isNotNull()
    base = lake.table(Layer.BASE, feed.name).read().where(mine).select("key", "streams", "state")
    return spelling.base_in_gold(base, table)


@dataclass(frozen=True, slots=True)
class NewBase:
    """The base of one gold table (``name``) that is to be committed.

    ``rows``: one per key that is present at the ``compaction_watermark``, under gold's column names
    (``base_rows.of_states``). ``newest_window``: the newest window that has a change of the base.
    """

    name: str
    table: Table
    rows: DataFrame
    compaction_watermark: CompactionWatermark
    newest_window: str


def write(lake: Lake, feed: Feed, base: NewBase) -> None:
    """Put a table's base and compaction watermark in place of those before them, in one commit."""
    table = base.table
    meaning = compacted_past.meaning(feed, table, base.newest_window)
    facts = {
        "newest_window": F.lit(base.newest_window),
        "declared": F.lit(table.name),
        "judged_by": F.lit(json.dumps(meaning, sort_keys=True)),
        "added": F.array(*[F.lit(column) for column in table.added]).cast("array<string>"),
    }
    rows = spelling.base_of_source(base.rows, table)
    marked = rows.unionByName(base_rows.marker(rows, base.name, base.compaction_watermark, facts))
    written = lake.table(Layer.BASE, feed.name)
    written.replace_where(marked, f"table = {literal(base.name)}", partition_by=("table",))


def write_in_process(lake: Lake, feed: Feed, rows: pa.Table, name: str) -> None:
    """Put the base rows and the watermark of one gold table (``base_rows.BASE``) in place of those before them."""
    lake.in_process_table(Layer.BASE, feed.name).replace(rows, "table", [name], ["table"])


def newest_window(lake: Lake, feed: Feed, name: str) -> str:
    """The newest window that has a change of the table's base; empty where there is no base."""
    compaction_watermark = compaction_watermark_facts(lake, feed).get(name)
    return compaction_watermark["newest_window"] if compaction_watermark else ""


def refuse_altered_past(feed: Feed, facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise where the feed's declarations or decisions would now make other changes of compacted events.

    ``facts``: of its tables' compaction watermarks (``compaction_watermark_facts``).

    Raises:
        DecisionRefused: only a rebuild reads those events again.
    """
    for name, row in facts.items():
        if row["declared"] not in feed.tables:
            continue
        newest = row["newest_window"]
        now = compacted_past.meaning(feed, feed.tables[row["declared"]], newest)
        if words := compacted_past.altered(json.loads(row["judged_by"]), now):
            raise DecisionRefused(
                feed.name,
                f"table {name}: history up to window {newest} is compacted, and the feed file or a decision"
                f" has since changed what that history was made with: {'; '.join(words)}. `weir rebuild {feed.name}`"
                " makes the tables again from bronze; or undo the change",
            )


def declared_of(lake: Lake, feed: Feed) -> dict[str, str]:
    """The gold tables that have a base, each with the feed file's name of its table."""
    return {
        name: compaction_watermark["declared"]
        for name, compaction_watermark in compaction_watermark_facts(lake, feed).items()
    }


def added(lake: Lake, feed: Feed, name: str) -> list[str]:
    """The columns of one gold table's base that no declaration had when gold took them."""
    compaction_watermark = compaction_watermark_facts(lake, feed).get(name)
    return list(compaction_watermark["added"]) if compaction_watermark else []
