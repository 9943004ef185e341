"""Arcion on S3, CSV: a row of X columns for a snapshot, of 3X+3 for an operation.

An operation's row is a triplet for each column (new value, old value, exists flag), then opType, cursor and
operationcount. Which column a field belongs to is said by the header where the file has one, else by the feed:
``columns`` for a snapshot row, ``cdc_columns`` for the triplets (Arcion's only sample has them in alphabetical order).
Rows never name their table: the object's path does.

Null is the unquoted text NULL; a quoted "NULL" is that text. Blanks around unquoted values are no part of them. Quotes
inside quotes are doubled in the vendor's samples and escaped with a backslash in its configuration: a record is read
by doubling where that fits its whole line, else by both.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", CSV file format; "amazon-s3" applier settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms import layouts
from transforms.feed import Feed
from transforms.formats import _arcion
from transforms.formats.spec import SourceFormat, fault
from transforms.record import Record
from transforms.splitting import csv_records
from transforms.splitting.csv_records import DOUBLING_FIELD, MIXED_FIELD, PREFIX_ROLE, SUFFIX_ROLE
from transforms.tables import table_of_object

NULL = "NULL"
TRAILING = 3
"""opType, cursor and operationcount, at the end of every row of an operation."""

FIELD = "struct<text:string,quoted:boolean>"


def split(data: bytes, feed: Feed, object_name: str) -> Iterator[Record]:
    """CSV records; the header, where there is one, goes along with each."""
    table = feed.tables.get(table_of_object(object_name, feed.tables))
    return csv_records.split(data, table, feed.name, object_name)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per CSV record (see ``spec.EVENT_COLUMNS``)."""
    parsed = (
        bronze.join(F.broadcast(layouts.layouts(bronze, feed)), on=layouts.in_layout(), how="left")
        .drop(*layouts.VALIDITY)
        .withColumn("text", F.try_validate_utf8(F.col("payload").cast("string")))
        .withColumn("fields", fields_of(F.col("text")))
        .withColumn("names", F.transform(fields_of(F.col("header")), lambda field: field["text"]))
        .withColumn("operational", is_operational())
        .withColumn("bare", ~F.col("operational"))
        .withColumn("row", by_header())
        .withColumn("width", F.size("fields"))
        .withColumn("fault", unreadable())
        .withColumn("catalog", F.lit(None).cast("string"))
        .withColumn("schema", F.lit(None).cast("string"))
        .withColumn("name", F.col("object_table"))
        .withColumn("op", trailing(3))
        .withColumn("cursor", trailing(2))
        .withColumn("cells", F.when(F.col("bare"), snapshot_cells()).otherwise(operation_cells()))
    )
    return _arcion.to_events(parsed)


def fields_of(text: Column) -> Column:
    """A record's fields with quotes taken off, null where the text is null or fits neither way of quoting."""

    def cut(pattern: str) -> Column:
        # A comma before every field: a match is then never empty, and none is skipped.
        return F.regexp_extract_all(F.concat(F.lit(","), text), F.lit(f",({pattern})"), 1)

    def whole(pattern: str) -> Column:
        return text.rlike(rf"\A(?:{pattern})(?:,(?:{pattern}))*+\z")

    doubled = F.transform(cut(DOUBLING_FIELD), lambda raw: unquoted(raw, r'"(")'))
    mixed = F.transform(
        cut(MIXED_FIELD), lambda raw: unquoted(raw, r'(?:\\(?=["\\])|"(?="))(["\\])')
    )
    return (
        F.when(whole(DOUBLING_FIELD), doubled)
        .when(whole(MIXED_FIELD), mixed)
        .cast(f"array<{FIELD}>")
    )


def unquoted(raw: Column, escapes: str) -> Column:
    """The field's text without its quotes and escapes, and whether it had any."""
    trimmed = F.trim(raw, F.lit(" \t"))
    quoted = F.startswith(trimmed, F.lit('"'))
    inner = F.substring(trimmed, F.lit(2), F.char_length(trimmed) - 2)
    text = F.when(quoted, F.regexp_replace(inner, escapes, "$1")).otherwise(trimmed)
    return F.struct(text.alias("text"), quoted.alias("quoted"))


def value(field: Column) -> Column:
    """The field's text, or null where it is the unquoted null marker."""
    return F.when(field["quoted"] | (field["text"] != NULL), field["text"])


def is_operational() -> Column:
    """True for a row of an operation: by the header's names, else by the row's width."""
    plain = F.transform("names", lambda name: F.lower(F.regexp_replace(name, r"[\s_-]", "")))
    by_names = F.array_contains(plain, F.lit("optype")) & F.array_contains(plain, F.lit("cursor"))
    by_width = F.size("fields") == 3 * F.size("cdc_columns") + TRAILING
    return F.coalesce(by_names, by_width, F.lit(False))


def by_header() -> Column:
    """``role:column`` to field, for an operation's row under a header; names decide, in any order."""

    def role(name: Column) -> Column:
        suffixed, prefixed = name.rlike(SUFFIX_ROLE), name.rlike(PREFIX_ROLE)
        word = (
            F.when(suffixed, F.regexp_extract(name, SUFFIX_ROLE, 2))
            .when(prefixed, F.regexp_extract(name, PREFIX_ROLE, 1))
            .otherwise(F.lit(""))
        )
        column = (
            F.when(suffixed, F.regexp_extract(name, SUFFIX_ROLE, 1))
            .when(prefixed, F.regexp_extract(name, PREFIX_ROLE, 2))
            .otherwise(name)
        )
        plain = F.regexp_replace(F.regexp_replace(F.lower(word), "after", "new"), "before", "old")
        return F.concat(plain, F.lit(":"), declared(column))

    fits = F.col("operational") & (F.size("fields") == F.size("names"))
    return F.when(
        fits, F.map_from_arrays(F.array_distinct(F.transform("names", role)), F.col("fields"))
    )


def declared(column: Column) -> Column:
    """The name as the feed spells it, where only the case differs."""
    known = F.filter("columns", lambda name: F.lower(name) == F.lower(column))
    return F.coalesce(F.get(known, F.lit(0)), column)


def unreadable() -> Column:
    """Why a record is no row of this format; null where it is one."""
    expected = F.when(
        F.col("names").isNotNull(), F.concat(F.size("names"), F.lit(" as the header"))
    ).otherwise(
        F.concat(
            F.size("columns"),
            F.lit(" for a snapshot row or "),
            3 * F.size("cdc_columns") + TRAILING,
            F.lit(" for an operation"),
        )
    )
    widths = F.when(F.col("names").isNotNull(), F.col("width") == F.size("names")).otherwise(
        F.col("operational") | (F.col("width") == F.size("columns"))
    )
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(F.col("text").isNull(), fault("invalid_utf8", "the record is not valid UTF-8"))
        .when(
            F.col("fields").isNull(),
            fault("malformed_csv", "quotes do not close, or text follows a closing quote"),
        )
        .when(
            F.col("columns").isNull() & F.col("names").isNull(),
            fault(
                "undeclared_table",
                *("the path names table ", F.col("object_table")),
                ", which the feed does not declare, and the file has no header: declare the table's columns",
            ),
        )
        .when(
            ~F.coalesce(widths, F.lit(False)),
            fault(
                "wrong_column_count", "the row has ", F.col("width"), " fields; expected ", expected
            ),
        )
        .otherwise(_arcion.without_fault())
    )


def trailing(from_end: int) -> Column:
    """The opType (3) or cursor (2), counted from the row's end; null on a snapshot row."""
    return F.when(F.col("operational"), value(F.get("fields", F.size("fields") - from_end)))


def snapshot_cells() -> Column:
    """One cell per column of a snapshot row: all are given, as if by an insert."""
    names = F.coalesce(F.transform("names", declared), F.col("columns"))
    return F.transform(
        names,
        lambda name, at: F.struct(
            name.alias("name"),
            value(F.get(F.col("fields"), at)).alias("new"),
            F.lit(None).cast("string").alias("old"),
            F.lit("1").alias("flag"),
            F.lit(True).alias("new_given"),
            F.lit(False).alias("old_given"),
        ),
    ).cast(f"array<{_arcion.CELL}>")


def operation_cells() -> Column:
    """One cell per triplet."""

    def cell(name: Column, new: Column, old: Column, flag: Column) -> Column:
        return F.struct(
            name.alias("name"),
            value(new).alias("new"),
            value(old).alias("old"),
            flag["text"].alias("flag"),
            F.lit(True).alias("new_given"),
            F.lit(True).alias("old_given"),
        )

    def under_header(name: Column) -> Column:
        new, old, flag = (
            F.try_element_at(F.col("row"), F.concat(F.lit(f"{role}:"), name))
            for role in ("new", "old", "exists")
        )
        return cell(name, new, old, flag)

    def in_order(name: Column, at: Column) -> Column:
        return cell(name, *(F.get(F.col("fields"), 3 * at + offset) for offset in range(3)))

    named = F.transform(
        F.filter(F.map_keys("row"), lambda role: F.startswith(role, F.lit("new:"))),
        lambda role: F.substring(role, F.lit(5), F.char_length(role)),
    )
    cells = F.when(F.col("row").isNotNull(), F.transform(named, under_header)).otherwise(
        F.transform("cdc_columns", in_order)
    )
    return cells.cast(f"array<{_arcion.CELL}>")


FORMAT = SourceFormat(
    name="arcion_s3_csv",
    files=("**/*.csv*",),
    split=split,
    to_events=to_events,
    remarks=(_arcion.FLAGS_DISAGREE,),
    unknowable=(
        _arcion.NO_COMMITS,
        "a text column's unquoted NULL: the format writes null the same way.",
    ),
)
