"""The rows that Spark gives, as texts for ``weir query``.

Put here what a value of a type looks like where Spark answers. Not here: the layouts (``layouts``), and the same for
rows that no Spark has made (``arrow_answer``).
"""

from __future__ import annotations

from collections.abc import Iterator

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets.columns.quoting import quoted
from orchestration.cli.sql.answers import Answer, refuse_repeated
from orchestration.cli.sql.statement import refusal


def read(rows: DataFrame) -> Iterator[Row]:
    """The rows, a partition at a time.

    Raises:
        QueryRefused: Spark found a fault only now; its own words say which.
    """
    try:
        yield from rows.toLocalIterator()
    except (PySparkException, Py4JJavaError) as fault:
        raise refusal("reading the answer", fault) from fault


def of_spark(rows: DataFrame) -> Answer:
    """The rows, to be printed a partition at a time."""
    binary = frozenset(
        at
        for at, field in enumerate(rows.schema.fields)
        if isinstance(field.dataType, T.BinaryType)
    )
    return Answer(rows.columns, lambda: texts(rows), lambda: json_lines(rows), binary)


def json_lines(rows: DataFrame) -> Iterator[str]:
    """One JSON object per row: numbers exact, timestamps ISO in UTC, binary base64, nulls kept.

    Raises:
        QueryRefused: several columns have one name.
    """
    refuse_repeated(rows.columns)
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
