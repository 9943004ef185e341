"""The digest of an event as a Spark column: millions of rows of a made table have to have the ids that Weir gives."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def event_id() -> Column:
    """SHA-256 over what is the same in every delivery of one event: table, operation, identity, images, scope.

    Each text goes in as its length, a colon and itself, so that no two events can spell the same line.
    """
    return F.sha2(
        F.concat(
            _netstring(F.col("table")),
            _netstring(F.col("operation")),
            _netstring(F.size("identity").cast("string")),
            F.array_join(F.transform("identity", _netstring), ""),
            _net_map("before"),
            _net_map("after"),
            _net_map("attribute_ops"),
            F.coalesce(_net_map("scope"), F.lit("-")),
        ),
        256,
    )


def _netstring(text: Column) -> Column:
    return F.coalesce(F.concat(F.char_length(text).cast("string"), F.lit(":"), text), F.lit("-"))


def _net_map(image: str) -> Column:
    entries = F.array_sort(F.map_entries(image))
    spelled = F.transform(
        entries, lambda entry: F.concat(_netstring(entry["key"]), _netstring(entry["value"]))
    )
    return F.concat(_netstring(F.size(image).cast("string")), F.array_join(spelled, ""))
