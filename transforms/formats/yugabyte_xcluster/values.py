"""The columns that a record of xCluster names: pairs of a name, in bytes, and a value of the server's own.

Not here: what such a value is (``_yugabyte_values``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.formats import _yugabyte_values as values
from transforms.formats._yugabyte import Shape
from transforms.gold.ordering import let

PAIR: Shape = {"key": "string", "value": values.VALUE}
"""KeyValuePairPB."""


def pairs(listed: Column) -> Column:
    """The columns: ``name``, ``text``, ``kind`` (null for null), ``is_unread``, ``is_plain`` for what is no base64."""
    empty = F.array().cast(
        "array<struct<name:string,text:string,kind:string,is_unread:boolean,is_plain:boolean>>"
    )
    return F.coalesce(F.transform(listed, _pair), empty)


def _pair(pair: Column) -> Column:
    def named(found: Column) -> Column:
        name = values.decoded(pair["key"])
        return F.struct(
            F.coalesce(name, pair["key"]).alias("name"),
            found["text"].alias("text"),
            found["kind"].alias("kind"),
            found["is_unread"].alias("is_unread"),
            F.coalesce(name.isNull() | found["is_plain"], F.lit(False)).alias("is_plain"),
        )

    return let(values.read(pair["value"]), named)


def image(columns: Column) -> Column:
    """Column to text."""
    return F.map_from_entries(
        F.transform(columns, lambda one: F.struct(one["name"], one["text"]))
    ).cast(TEXTS)
