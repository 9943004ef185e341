"""What Arcion's file formats share: exists flags, cursors, operations and the way from them to an event.

The format files bring each record to *cells*, one struct per column of the row (name, new and old value, exists flag,
and whether each image gives the column at all), beside the texts of opType and cursor. Everything after that is here.

Facts: Arcion's "Internal CDC Format for Amazon S3" (exists flags 0 to 3; cursor and operationcount are JSON texts).
Cursor keys carry stray blanks in the vendor's own samples (``extraction Timestamp``, ``partN um``) and once lack a
letter (``dscI``): blanks are removed and that name is completed.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import EPOCH, SNAPSHOT, STREAM, TEXTS
from transforms.formats.spec import NO_FAULT, Remark, as_events, fault, moment, remarks, spelled

FLAGS_DISAGREE = Remark(
    "flags_disagree",
    "exists_flags_agree_with_operation",
    "An insert mentions no old values and a delete no new ones.",
    "The events were applied by their operation; look at how the extractor writes flags.",
)

NO_COMMITS = "whether a transaction is whole: the files carry no commits, so that gold may show a part of one."

CELL = "struct<name:string,new:string,old:string,flag:string,new_given:boolean,old_given:boolean>"
"""One column of one row: its two values as text (null for the format's null marker), and its exists flag."""

_OPERATIONS = {
    "I": "insert",
    "U": "update",
    "D": "delete",
    # Not in the document's list, but operationcount counts replaces: a whole new row.
    "R": "replace",
    "INSERT": "insert",
    "UPDATE": "update",
    "DELETE": "delete",
    "REPLACE": "replace",
}


def null_marked(text: Column, marker: str) -> Column:
    """The text, or null where it is the format's marker for null."""
    return F.when(text != F.lit(marker), text)


def to_events(parsed: DataFrame) -> DataFrame:
    """One row per source event, from rows that carry ``op``, ``cursor``, ``cells``, ``bare`` and ``fault``.

    ``bare`` marks a snapshot row without an envelope: no operation, no cursor, no flags of its own.
    """
    return as_events(
        parsed.withColumn("cursor_text", F.col("cursor"))
        .withColumn("cursor", cursor_fields(F.col("cursor_text")))
        .withColumn("snapshot", F.col("bare") | F.col("cursor").isNull())
        .withColumn("operation", operation())
        .withColumn("mysql", F.coalesce(F.map_contains_key("cursor", F.lit("log")), F.lit(False)))
        # What could not be read at all has no place.
        .withColumn("stand", F.when(F.col("fault").isNull() | ~F.col("snapshot"), position()))
        .withColumn("fault", F.coalesce("fault", operation_fault(), flag_fault(), position_fault()))
        .withColumn("before", image("old", "2", "3"))
        .withColumn("after", image("new", "1", "3"))
        .withColumn("remarks", remarks(flags_disagree=flags_disagree()))
        .withColumn("effect", effect())
        .withColumn("position", F.col("stand.position"))
        .withColumn("identity", F.col("stand.identity"))
        .withColumn("settled", F.size("identity"))
        .withColumn("segment", F.when(F.col("mysql"), F.get("position", F.lit(2))))
        .withColumn("event_at", milliseconds("timestamp"))
        .withColumn("extracted_at", milliseconds("extractionTimestamp"))
    )


def cursor_fields(text: Column) -> Column:
    """The cursor's JSON text as a map with mended names; null for a null cursor, empty for one that is no object.

    Empty also where two names are one after mending: neither can be trusted.
    """
    parsed = F.try_parse_json(text).try_cast("map<string,string>")
    names = F.transform(F.map_keys(parsed), mended)
    fields = F.when(
        F.size(F.array_distinct(names)) == F.size(names),
        F.map_from_arrays(names, F.map_values(parsed)),
    ).otherwise(F.create_map().cast("map<string,string>"))
    return F.when(text.isNotNull(), fields)


def mended(name: Column) -> Column:
    """The cursor's name without stray blanks and with its last letter."""
    whole = F.regexp_replace(name, r"\s", "")
    return F.when(whole == "dscI", F.lit("dscId")).otherwise(whole)


def operation() -> Column:
    """What the source did; null where opType is unknown. A row without a cursor was read by a snapshot."""
    known = F.create_map(*[F.lit(part) for pair in _OPERATIONS.items() for part in pair])
    streamed = F.try_element_at(known, F.upper(F.trim("op")))
    read = F.col("bare") | F.col("op").isNull() | streamed.isin("insert", "replace")
    return F.when(F.col("snapshot"), F.when(read, F.lit("read"))).otherwise(streamed)


def operation_fault() -> Column:
    """An opType that is unknown, or that a row without a cursor cannot have."""
    lost = (
        F.col("snapshot")
        & ~F.col("bare")
        & F.upper(F.trim("op")).isin("U", "D", "UPDATE", "DELETE")
    )
    no_place = " needs a cursor to be put in order, and it is null"
    unheard_of = " is not known; known: I, U, D, R"
    unknown = fault("unknown_operation", "opType ", F.col("op"), unheard_of)
    placeless = fault("missing_cursor", "opType ", F.col("op"), no_place)
    return F.when(lost, placeless).when(F.col("operation").isNull(), unknown)


def flag_fault() -> Column:
    """The first flag that is missing, outside 0 to 3, or contradicts what the images hold."""
    cells = F.col("cells")

    def contradicts(cell: Column) -> Column:
        flag = cell["flag"]
        return (
            (flag.isin("0", "2") & cell["new"].isNotNull())
            | (flag.isin("0", "1") & cell["old"].isNotNull())
            | (flag.isin("1", "3") & ~cell["new_given"])
            | (flag.isin("2", "3") & ~cell["old_given"])
        )

    strange = F.filter(
        cells, lambda cell: ~F.coalesce(cell["flag"].isin("0", "1", "2", "3"), F.lit(False))
    )
    wrong = F.filter(cells, contradicts)
    return F.when(
        F.size(strange) > 0,
        fault(
            "flag_out_of_range",
            "exists of ",
            strange[0]["name"],
            " is ",
            strange[0]["flag"],
            "; known: 0, 1, 2, 3",
        ),
    ).when(
        F.size(wrong) > 0,
        fault(
            "flag_contradicts_images",
            *("exists of ", wrong[0]["name"], " is ", wrong[0]["flag"]),
            *(
                ", but the new value is ",
                spelled(wrong[0]["new"]),
                " and the old value is ",
                spelled(wrong[0]["old"]),
            ),
        ),
    )


def image(side: str, *flags: str) -> Column:
    """The columns that one image mentions, by the exists flags alone."""
    mentioned = F.filter("cells", lambda cell: cell["flag"].isin(*flags))
    entries = F.transform(
        F.array_distinct(mentioned), lambda cell: F.struct(cell["name"], cell[side])
    )
    return F.when(F.col("fault").isNull(), F.map_from_entries(entries)).cast(TEXTS)


def flags_disagree() -> Column:
    """True where an insert mentions old values, or a delete new ones: readable, but not what the document shows."""
    return F.coalesce(
        (F.col("operation").isin("insert", "read") & (F.size("before") > 0))
        | ((F.col("operation") == "delete") & (F.size("after") > 0)),
        F.lit(False),
    )


def effect() -> Column:
    """A delete removes; an update merges; an insert puts a whole row, but in Cassandra an insert is an upsert."""
    is_upsert = (F.col("operation") == "insert") & ~F.col("mysql")
    return (
        F.when(F.col("operation") == "delete", F.lit("remove"))
        .when((F.col("operation") == "update") | is_upsert, F.lit("merge"))
        .otherwise(F.lit("put"))
    )


def number(name: str) -> Column:
    """A field of the cursor as a 64-bit number, null where it is missing or none."""
    return F.try_element_at("cursor", F.lit(name)).try_cast("bigint")


def number_or_zero(name: str) -> Column:
    """A field that a cursor may leave out: 0 where it does, null where it is no number."""
    given = F.try_element_at("cursor", F.lit(name)).isNotNull()
    return F.when(given, number(name)).otherwise(F.lit(0))


def position() -> Column:
    """Where the event stands, and what identifies it there.

    MySQL: log file number, position, logSeqNum; all three identify. Cassandra: timestamp, dscId, mutId, partNum; only
    the timestamp identifies, since each replica has its own numbers for the same mutation.
    """
    log_number = F.regexp_extract(
        F.try_element_at("cursor", F.lit("log")), r"(\d+)\s*$", 1
    ).try_cast("bigint")
    mysql_numbers = [log_number, number("position"), number_or_zero("logSeqNum")]
    mysql = F.array(F.lit(EPOCH), F.lit(STREAM), *mysql_numbers)
    of_mutation = [number(name) for name in ("timestamp", "dscId", "mutId")]
    cassandra = F.array(F.lit(EPOCH), F.lit(STREAM), *of_mutation, number_or_zero("partNum"))
    snapshot = F.array(F.lit(EPOCH), F.lit(SNAPSHOT))
    return (
        F.when(F.col("snapshot"), _stand(snapshot, snapshot))
        .when(F.col("mysql"), _stand(mysql, mysql))
        .otherwise(_stand(cassandra, F.slice(cassandra, 1, 3)))
    )


def _stand(position: Column, identity: Column) -> Column:
    return F.struct(
        position.cast("array<bigint>").alias("position"),
        identity.cast("array<string>").alias("identity"),
    )


def position_fault() -> Column:
    """A cursor that names no place in the source's log."""
    return F.when(
        F.exists("stand.position", lambda part: part.isNull()),
        fault(
            "unknown_cursor",
            *("the cursor gives no position: ", F.col("cursor_text")),
            "; known: MySQL's log, position, logSeqNum and Cassandra's timestamp, dscId, mutId, partNum",
        ),
    )


def milliseconds(name: str) -> Column:
    """A field of the cursor in milliseconds since 1970."""
    return moment(number(name))


def without_fault() -> Column:
    """No fault."""
    return F.lit(None).cast(NO_FAULT)
