"""Which events compaction has folded into base rows, ``compacted.<feed>``: by which a repeat is no late event."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.compaction_watermarks import kept_identity
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

COLUMNS = pa.schema([("table", pa.string()), ("identity", pa.binary())])
"""One row per event that is part of some base: the gold table, and 16 bytes of the event's identity."""


def remember(lake: Lake, feed: Feed, name: str, changes: DataFrame) -> None:
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


def known_in_process(lake: Lake, feed: Feed, name: str) -> set[bytes]:
    """The identities that the base of one gold table (``name``) has."""
    return _known(lake.in_process_table(Layer.COMPACTED, feed.name), name)


def _known(compacted: InProcessTable, name: str) -> set[bytes]:
    found: set[bytes] = set()
    for rows in compacted.each(COLUMNS, {"table": [name]}):
        found.update(rows["identity"].to_pylist())
    return found


def remember_in_process(lake: Lake, feed: Feed, name: str, identities: Collection[bytes]) -> None:
    """Add these identities to ``compacted.<feed>``, for the gold table ``name``; each is there once."""
    new = sorted({*identities} - known_in_process(lake, feed, name))
    if new:
        rows = pa.table({"table": [name] * len(new), "identity": new}, schema=COLUMNS)
        lake.in_process_table(Layer.COMPACTED, feed.name).append(rows, ["table"])


def with_known(compacted: InProcessTable, changes: DataFrame | pa.Table) -> DataFrame | pa.Table:
    """Add ``is_known``: true for changes that are in the base of their ``table`` already.

    ``compacted``: the feed's table of identities.
    """
    if isinstance(changes, DataFrame):
        return _with_known_by_spark(compacted, changes)
    tables = changes["table"].to_pylist()
    known = {name: _known(compacted, name) for name in sorted(set(tables))}
    kept = map(_identity, changes["event_id"].to_pylist())
    is_known = [one in known[name] for name, one in zip(tables, kept, strict=True)]
    return changes.append_column("is_known", pa.array(is_known, pa.bool_()))


def _with_known_by_spark(compacted: InProcessTable, changes: DataFrame) -> DataFrame:
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
