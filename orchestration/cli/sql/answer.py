"""The rows that a statement gives, as a person or a program reads them: a table, JSON lines, or CSV.

Put a format of ``weir query`` here. Not here: the statement (``statement``), and the names in it (``table_names``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from orchestration.cli.sql.statement import refusal
from orchestration.cli.sql.table_names import quoted
from transforms.errors import QueryRefused

FORMATS = ("table", "jsonl", "csv")


def read(rows: DataFrame) -> Iterator[Row]:
    """The rows, a partition at a time.

    Raises:
        QueryRefused: Spark found a fault only now; its own words say which.
    """
    try:
        yield from rows.toLocalIterator()
    except (PySparkException, Py4JJavaError) as fault:
        raise refusal("reading the answer", fault) from fault


def print_rows(rows: DataFrame, style: str, out: TextIO) -> None:
    """Print the rows: an aligned table, one JSON object a line, or CSV with a header."""
    if style == "jsonl":
        for line in json_lines(rows):
            print(line, file=out)
    elif style == "csv":
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(rows.columns)
        writer.writerows(["" if value is None else value for value in row] for row in texts(rows))
    else:
        table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in rows.columns:
            table.add_column(name, overflow="fold")
        for row in texts(rows):
            table.add_row(*["NULL" if value is None else value for value in row])
        width = None if out.isatty() else 10_000
        Console(file=out, width=width, markup=False, emoji=False, highlight=False).print(table)


def json_lines(rows: DataFrame) -> Iterator[str]:
    """One JSON object per row: numbers exact, timestamps ISO in UTC, binary base64, nulls kept.

    Raises:
        QueryRefused: several columns have one name.
    """
    repeated = sorted({name for name in rows.columns if rows.columns.count(name) > 1})
    if repeated:
        fault = (
            f"several columns are called {', '.join(repeated)}: give them names of their own (AS)"
        )
        raise QueryRefused("--format jsonl", fault)
    whole = F.to_json(F.struct(*[F.col(quoted(name)) for name in rows.columns]), _JSON)
    for row in read(rows.select(whole.alias("line"))):
        yield row["line"]


_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def texts(rows: DataFrame) -> Iterator[list[str | None]]:
    """One list per row, of its values as texts: nested ones as JSON, binary as base64, timestamps ISO in UTC."""
    # Numbered, since a statement may give two columns one name.
    numbered = rows.toDF(*[str(number) for number in range(len(rows.columns))])

    def text(field: T.StructField) -> Column:
        column = F.col(quoted(field.name))
        match field.dataType:
            case T.ArrayType() | T.MapType() | T.StructType():
                return F.to_json(column, _JSON)
            case T.BinaryType():
                return F.base64(column)
            case T.TimestampType():
                return F.date_format(column, _JSON["timestampFormat"])
            case T.TimestampNTZType():
                return F.date_format(column, _JSON["timestampNTZFormat"])
        return column.cast("string")

    whole = F.array(*[text(field) for field in numbered.schema.fields]).alias("texts")
    for row in read(numbered.select(whole)):
        yield row["texts"]
