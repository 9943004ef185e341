"""What compaction keeps of the history that it folds: base rows with their watermark, and events' identities."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns import gold, layers
from assets.columns.quoting import literal
from assets.columns.silver import kept_identity
from assets.storage.delta_rs import conformed
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from assets.storage.store_faults import naming_store_faults
from transforms.column_types import map_columns
from transforms.compaction_watermarks import CompactionWatermark
from transforms.errors import DecisionRefused
from transforms.feed import digest
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.stages import BASE_ROWS


def compaction_watermarks(lake: Lake, feed: Feed) -> dict[str, CompactionWatermark]:
    """The compaction watermark of every gold table of the feed that has one."""
    return {
        name: CompactionWatermark(tuple(row["log_position"]))
        for name, row in compaction_watermark_facts(lake, feed).items()
    }


def compaction_watermark_facts(lake: Lake, feed: Feed) -> dict[str, dict[str, Any]]:
    """The stored facts of each gold table's watermark (``layers.Base``), by the table's name."""
    return facts_in(lake.in_process_table(Layer.BASE, feed.name))


def facts_in(base: InProcessTable) -> dict[str, dict[str, Any]]:
    """``compaction_watermark_facts`` of the table of base rows."""
    found = {}
    for rows in base.each(["table", "compaction_watermark"]):
        for row in rows.filter(pc.is_valid(rows["compaction_watermark"])).to_pylist():
            found[row["table"]] = row["compaction_watermark"]
    return found


def base_rows_by_spark(lake: Lake, feed: Feed, table: Table, name: str) -> DataFrame:
    """One row per key of one gold table (``name``) that is present at its watermark: ``key``, ``streams``, ``state``.

    The images in ``state`` have gold's column names.
    """
    mine = (F.col("table") == name) & F.col("key").isNotNull()
    base = lake.table(Layer.BASE, feed.name).read().where(mine).select("key", "streams", "state")
    return gold.with_names(base, gold.gold_names(table))


@dataclass(frozen=True, slots=True)
class NewBase:
    """The base of one gold table (``name``) that is to be committed.

    ``rows``: one per key that is present at the ``compaction_watermark`` (``BASE_ROWS``), under gold's column names.
    ``newest_window``: the newest window that has a change of the base.
    """

    name: str
    table: Table
    rows: DataFrame | pa.Table
    compaction_watermark: CompactionWatermark
    newest_window: str


def write_base(lake: Lake, feed: Feed, base: NewBase) -> None:
    """Put a table's base and compaction watermark in place of those before them, in one commit."""
    table, name = base.table, base.name
    meaning = digest.compacted_meaning(feed, table, base.newest_window)
    marker = {
        "log_position": [*base.compaction_watermark.log_position],
        "drawn_at": datetime.now(UTC),
        "newest_window": base.newest_window,
        "declared": table.name,
        "judged_by": json.dumps(meaning, sort_keys=True),
        "added": [*table.added],
    }
    marked = pa.Table.from_pylist(
        [{"table": name, "compaction_watermark": marker}], schema=layers.Base.schema
    )
    # Gold's names may change when the table gets a column.
    own = {new: source for source, new in gold.gold_names(table).items()}
    if isinstance(base.rows, pa.Table):
        rows = _with_names(base.rows, own).append_column("table", pa.repeat(name, len(base.rows)))
        whole = pa.concat_tables([conformed(rows, layers.Base.schema), marked])
        lake.in_process_table(Layer.BASE, feed.name).replace(whole, "table", [name], ["table"])
        return
    frame = lake.spark.createDataFrame(marked)
    rows = gold.with_names(base.rows, own).withColumn("table", F.lit(name))
    lake.table(Layer.BASE, feed.name).replace_where(
        rows.unionByName(frame, allowMissingColumns=True).select(layers.Base.schema.names),
        f"table = {literal(name)}",
        partition_by=("table",),
    )


def refuse_altered_past(feed: Feed, facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise where the feed's declarations or decisions would now make other changes of compacted events.

    ``facts``: of its tables' compaction watermarks (``compaction_watermark_facts``).

    Raises:
        DecisionRefused: only a rebuild reads those events again.
    """
    for name, row in facts.items():
        then, newest = json.loads(row["judged_by"]), row["newest_window"]
        words: list[str] = []
        if row["declared"] in feed.tables:
            now = digest.compacted_meaning(feed, feed.tables[row["declared"]], newest)
            words = digest.altered_since(then, now)
        elif FORMATS[feed.format].describes_tables:
            words = digest.altered_for_discovered(then, feed)
        if words:
            raise DecisionRefused(
                feed.name,
                f"table {name}: history up to window {newest} is compacted, and the feed file or a decision"
                f" has since changed what that history was made with: {'; '.join(words)}. `weir rebuild {feed.name}`"
                " makes the tables again from bronze; or undo the change",
            )


def base_rows_in_process(lake: Lake, feed: Feed, table: Table, name: str) -> pa.Table | None:
    """One row per key of one gold table (``name``) that is there at its watermark (``BASE_ROWS``), under gold's names.

    None where there are more than fit into this process.
    """
    base = lake.in_process_table(Layer.BASE, feed.name)
    files = base.files({"table": [name]})
    if not lake.choice.fits_in_process(sum(one.size for one in files), 0):
        return None
    found, names = [BASE_ROWS.empty_table()], gold.gold_names(table)
    with naming_store_faults(base.name, lake.warehouse):
        for one in files:
            rows = base.read_file(one, BASE_ROWS.names)
            found.append(_with_names(rows.filter(pc.is_valid(rows["key"])), names))
    return pa.concat_tables(found)


def _with_names(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """The rows as ``BASE_ROWS``, their columns under other names; a file of Spark's has times without their zone."""
    states = rows["state"].combine_chunks()
    state = BASE_ROWS.field("state").type
    last = state.field("last").type
    columns = pc.struct_field(states, "columns")
    image = map_columns.map_array(map_columns.maps(columns, names), state.field("columns").type)
    cells = [pc.struct_field(states, ["last", one.name]) for one in last]
    lasts = pa.StructArray.from_arrays(
        [cell.cast(one.type) for cell, one in zip(cells, last, strict=True)], fields=[*last]
    )
    made = {"columns": image, "last": lasts}
    fields = [
        made[one.name] if one.name in made else pc.struct_field(states, one.name).cast(one.type)
        for one in state
    ]
    whole = pa.StructArray.from_arrays(fields, fields=[*state])
    texts = BASE_ROWS.field("key").type
    return pa.table([rows["key"].cast(texts), rows["streams"].cast(texts), whole], schema=BASE_ROWS)


# Which events compaction has folded into base rows, ``compacted.<feed>``: by which a repeat is no late event.


def remember_identities(lake: Lake, feed: Feed, name: str, changes: DataFrame) -> None:
    """Add the identities of these silver rows to ``compacted.<feed>``, for the gold table ``name``."""
    known = lake.table(Layer.COMPACTED, feed.name)
    new = changes.select(F.lit(name).alias("table"), kept_identity().alias("identity")).distinct()
    if known.exists():
        new = new.join(known.read(), on=["table", "identity"], how="left_anti")
    known.append(new, partition_by=("table",))


def identities_of(rows: pa.Table) -> set[bytes]:
    """What is kept of these silver rows' identities (``columns.compaction_watermarks.kept_identity``)."""
    return {_identity(one) for one in rows["event_id"].to_pylist()}


def _identity(event_id: str) -> bytes:
    return bytes.fromhex(event_id[:32])


def known_identities(lake: Lake, feed: Feed, name: str) -> set[bytes]:
    """The identities that the base of one gold table (``name``) has."""
    return _stored_identities(lake.in_process_table(Layer.COMPACTED, feed.name), name)


def _stored_identities(compacted: InProcessTable, name: str) -> set[bytes]:
    found: set[bytes] = set()
    for rows in compacted.each(None, {"table": [name]}):
        found.update(rows["identity"].to_pylist())
    return found


def remember_identities_in_process(
    lake: Lake, feed: Feed, name: str, identities: Collection[bytes]
) -> None:
    """Add these identities to ``compacted.<feed>``, for the gold table ``name``; each is there once."""
    new = sorted({*identities} - known_identities(lake, feed, name))
    if new:
        rows = pa.table(
            {"table": [name] * len(new), "identity": new}, schema=layers.Compacted.schema
        )
        lake.in_process_table(Layer.COMPACTED, feed.name).append(rows, ["table"])


def with_known_identities(
    compacted: InProcessTable, changes: DataFrame | pa.Table
) -> DataFrame | pa.Table:
    """Add ``is_known``: true for changes that are in the base of their ``table`` already.

    ``compacted``: the feed's table of identities.
    """
    if isinstance(changes, DataFrame):
        return _with_known_identities_by_spark(compacted, changes)
    tables = changes["table"].to_pylist()
    known = {name: _stored_identities(compacted, name) for name in sorted(set(tables))}
    kept = map(_identity, changes["event_id"].to_pylist())
    is_known = [one in known[name] for name, one in zip(tables, kept, strict=True)]
    return changes.append_column("is_known", pa.array(is_known, pa.bool_()))


def _with_known_identities_by_spark(compacted: InProcessTable, changes: DataFrame) -> DataFrame:
    if not compacted.exists:
        return changes.withColumn("is_known", F.lit(False))
    known = changes.sparkSession.read.format("delta").load(compacted.path)
    # A crash between the two commits of a compaction can leave an identity twice.
    identities = known.distinct().withColumn("is_known", F.lit(True))
    return (
        changes.withColumn("identity_kept", kept_identity())
        .join(
            identities.withColumnRenamed("identity", "identity_kept"),
            on=["table", "identity_kept"],
            how="left",
        )
        .withColumn("is_known", F.coalesce("is_known", F.lit(False)))
        .drop("identity_kept")
    )
