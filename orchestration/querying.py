"""``weir query``: SQL over the tables by their Weir names, without a metastore.

A name of two or three parts that begins with a layer is the table at that path. Delta's catalog takes no three-part
names, so each becomes a temporary view; the rest of the statement stays as it was typed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

import sqlglot
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from sqlglot import exp
from sqlglot.errors import SqlglotError

from assets.lake import LAYERS, Lake
from transforms.errors import QueryRefused

FORMATS = ("table", "jsonl", "csv")


def query(lake: Lake, sql: str) -> DataFrame:
    """Run one statement that reads; the names of Weir's tables in it are their paths."""
    try:
        statement = sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError as fault:
        raise QueryRefused(sql, str(fault).split("\n")[0]) from fault
    if not isinstance(statement, exp.Query | exp.Describe):
        raise QueryRefused(sql, "only statements that read are run here")
    text = sql
    for number, name in enumerate(sorted(names_in(statement), key=len, reverse=True)):
        text = replace_name(text, name, view_of(lake, name, number))
    return lake.spark.sql(text)


def names_in(statement: exp.Expr) -> set[tuple[str, ...]]:
    """The dotted names in the statement that begin with a layer."""
    dotted = {tuple(part.name for part in table.parts) for table in statement.find_all(exp.Table)}
    return {name for name in dotted if len(name) in (2, 3) and name[0].lower() in LAYERS}


def view_of(lake: Lake, name: tuple[str, ...], number: int) -> str:
    """A temporary view of one table; an error that lists what there is where it does not exist."""
    layer, feed, *table = name
    found = lake.table(layer.lower(), feed, *table)
    if not found.exists():
        raise QueryRefused(".".join(name), f"there is no such table in {lake.warehouse}")
    view = f"weir_view_{number}"
    found.read().createOrReplaceTempView(view)
    return view


def replace_name(sql: str, name: tuple[str, ...], view: str) -> str:
    """Put the view's name where the dotted name stands, and leave everything else as it was typed."""
    tokens = sqlglot.tokenize(sql, read="spark")
    width = 2 * len(name) - 1
    pieces, at = [], 0
    position = 0
    while position < len(tokens):
        found = tokens[position : position + width]
        if tuple(token.text for token in found[::2]) == name and all(
            token.text == "." for token in found[1::2]
        ):
            pieces += [sql[at : found[0].start], view]
            at = found[-1].end + 1
            position += width
        else:
            position += 1
    return "".join([*pieces, sql[at:]])


def show(rows: DataFrame, style: str, out: TextIO) -> None:
    """Print the rows: an aligned table, one JSON object a line, or CSV with a header."""
    if style == "jsonl":
        for line in json_lines(rows):
            print(line, file=out)
    elif style == "csv":
        writer = csv.writer(out)
        writer.writerow(rows.columns)
        writer.writerows(
            [_plain(row[name]) for name in rows.columns] for row in _as_text(rows).toLocalIterator()
        )
    else:
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in rows.columns:
            table.add_column(name, overflow="fold")
        for row in _as_text(rows).toLocalIterator():
            table.add_row(*[_plain(row[name], "NULL") for name in rows.columns])
        Console(
            file=out, width=None if out.isatty() else 10_000, markup=False, highlight=False
        ).print(table)


def json_lines(rows: DataFrame) -> Iterator[str]:
    """One JSON object per row: numbers exact, timestamps ISO in UTC, binary base64."""
    whole = F.to_json(F.struct(*[F.col(f"`{name}`") for name in rows.columns]), _JSON)
    for row in rows.select(whole.alias("line")).toLocalIterator():
        yield row["line"]


_JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def _as_text(rows: DataFrame) -> DataFrame:
    """Every column as text: nested ones as JSON, binary as base64, timestamps ISO in UTC."""

    def text(field: T.StructField) -> Column:
        column = F.col(f"`{field.name}`")
        if isinstance(field.dataType, T.ArrayType | T.MapType | T.StructType):
            return F.to_json(column, _JSON).alias(field.name)
        if isinstance(field.dataType, T.BinaryType):
            return F.base64(column).alias(field.name)
        if isinstance(field.dataType, T.TimestampType):
            return F.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX").alias(field.name)
        return column.cast("string").alias(field.name)

    return rows.select(*[text(field) for field in rows.schema.fields])


def _plain(value: str | None, null: str = "") -> str:
    return null if value is None else value
