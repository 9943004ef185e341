"""What DDL records say of a table: its key and types, the columns that it no longer has, its rows' time to live.

A DDL record holds the whole list of columns as it is from there on. It is sent once per tablet, at the start of every
stream and after every ALTER.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.feed import Feed, Table
from transforms.formats.spec import Remark
from transforms.formats.yugabyte import messages

TIME_TO_LIVE = Remark(
    "time_to_live",
    "rows_live_for_ever",
    "No table of the source has rows that expire.",
    "Rows that expire leave the source without an event: gold keeps them. Set the table's time to live to 0, or delete"
    " its rows.",
)


_NULLABLE_TOLD = "struct<key:array<string>,columns:array<struct<name:string,type:string>>>"
"""``spec.TOLD``, whose fields have to be there: Spark casts to it from nothing that may be null."""


def has_time_to_live(message: Column) -> Column:
    """True for a table whose rows expire."""
    told = message["schema"]["tab_info"]["default_time_to_live"].try_cast("decimal(20,0)")
    return F.coalesce(told != 0, F.lit(False))


def told_by_ddl(message: Column) -> Column:
    """The table as its list of columns describes it (``spec.TOLD``); null where there is none with a key."""
    listed = message["schema"]["column_info"]
    named = F.filter(listed, lambda one: one["name"].isNotNull())
    key = F.transform(F.filter(named, lambda one: is_true(one["is_key"])), lambda one: one["name"])
    columns = F.transform(
        named,
        lambda one: F.struct(
            one["name"].alias("name"),
            messages.spark_type(one["oid"], one["type"]["main"]).alias("type"),
        ),
    )
    return _told(key, columns)


def told_by_row(key: Column, *tuples: Column) -> Column:
    """The same, of a row message that says its key's values, as newer servers' do."""
    every = F.concat(key, *tuples)
    names = F.array_distinct(messages.names(every))
    columns = F.transform(
        names,
        lambda name: F.struct(
            name.alias("name"),
            messages.spark_type(
                F.get(F.filter(every, lambda one: one["name"] == name), F.lit(0))["oid"],
                F.lit(None).cast("string"),
            ).alias("type"),
        ),
    )
    return _told(messages.names(key), columns)


def _told(key: Column, columns: Column) -> Column:
    names = F.transform(columns, lambda one: one["name"])
    sound = (F.size(key) > 0) & (F.size(F.array_distinct(names)) == F.size(names))
    return F.when(sound, F.struct(key.alias("key"), columns.alias("columns"))).cast(_NULLABLE_TOLD)


def is_true(flag: Column) -> Column:
    """A flag, however it is written."""
    return F.coalesce(F.lower(flag).isin("true", "1"), F.lit(False))


def dropped(message: Column, feed: Feed) -> Column:
    """The declared columns that a DDL's list lacks, as an image that sets them to null; null where it lacks none.

    A column that is not there yet is lacking, too: no row has a value in it by then.
    """
    choice = F.lit(None).cast(TEXTS)
    for is_this, table in _declared(message, feed):
        choice = F.when(is_this, _lacking(message, table)).otherwise(choice)
    return choice


def texts(message: Column, feed: Feed) -> Column:
    """The columns of the message's table that are declared as something else than binary, by all their names."""
    choice = F.array().cast("array<string>")
    for is_this, table in _declared(message, feed):
        earlier = {new: old for old, new in table.renamed.items()}
        names = [name for name, kind in table.columns.items() if kind.strip().lower() != "binary"]
        every = [*names, *(earlier[name] for name in names if name in earlier)]
        known = F.array(*map(F.lit, every)).cast("array<string>")
        choice = F.when(is_this, known).otherwise(choice)
    return choice


def _declared(message: Column, feed: Feed) -> list[tuple[Column, Table]]:
    """Each declared table, with what is true of the messages that are of it; the last that is counts."""
    known: dict[str, Table] = {}
    for table in feed.tables.values():
        known |= {name: table for name in (*table.was, table.name)}
    names = [F.concat_ws(".", message["pgschema_name"], message["table"]), message["table"]]
    return [(F.lit(name).isin(*names), table) for name, table in known.items()]


def _lacking(message: Column, table: Table) -> Column:
    listed = F.transform(
        F.filter(message["schema"]["column_info"], lambda one: one["name"].isNotNull()),
        lambda one: one["name"],
    )
    today = (
        F.transform(listed, lambda name: _renamed(name, table.renamed)) if table.renamed else listed
    )
    lacking = F.array_except(F.array(*map(F.lit, table.columns)), today)
    later = [
        F.when(F.col("window") < first, F.lit(column)) for column, first in table.since.items()
    ]
    if later:
        lacking = F.array_except(lacking, F.array(*later))
    key = F.array(*map(F.lit, table.key)).cast("array<string>")
    is_whole = F.size(F.array_except(key, today)) == 0
    return F.when(
        is_whole & (F.size(lacking) > 0),
        F.map_from_entries(
            F.transform(lacking, lambda name: F.struct(name, F.lit(None).cast("string")))
        ),
    ).cast(TEXTS)


def _renamed(name: Column, renames: Mapping[str, str]) -> Column:
    now = F.create_map(*[F.lit(part) for pair in renames.items() for part in pair])
    return F.coalesce(F.try_element_at(now, name), name)
