"""From read envelopes to events: operations, places that several sources share, and what is no change.

Not here: reading messages (``_connect``) and images (``_connect_images``).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.formats.spec import NO_FAULT, fault, spelled

KNOWN_PLACES = (
    "known: file and pos (MySQL, MariaDB), lsn (Postgres), the record's partition and offset"
)


_ENVELOPED = ("op", "before", "after", "source")


def operation(words: Mapping[str, str]) -> Column:
    """What the source did; null where ``op`` is unknown."""
    known = F.create_map(*[F.lit(part) for pair in words.items() for part in pair])
    return F.try_element_at(known, F.lower(F.trim("envelope.op")))


def is_lone_key() -> Column:
    """True for the document of a key without its value."""
    enveloped = F.arrays_overlap("names", F.array(*[F.lit(n) for n in ("op", "source")]))
    named_key = F.col("read.schema.name").endswith("Key")
    return F.coalesce(F.col("is_wrapped") & ~enveloped & named_key, F.lit(False))


def has_log() -> Column:
    """True where the source's log file has a number."""
    return F.forall(log(), lambda number: number.isNotNull())


def log() -> Column:
    """Log file number, position in it, row of the event at that position."""
    source = F.col("envelope.source")
    return F.array(
        F.regexp_extract(source["file"], r"(\d+)\s*$", 1).try_cast("bigint"),
        source["pos"].try_cast("bigint"),
        F.coalesce(source["row"].try_cast("bigint"), F.lit(0)),
    )


def in_snapshot(numbers: Column) -> Column:
    """The place of a row that a snapshot read: ``numbers`` tell a later snapshot from an earlier one, or are null.

    Equal rows of a table without a key differ in nothing but their place in the topic.
    """
    place = stand(SNAPSHOT, F.coalesce(numbers, F.array().cast("array<bigint>")))
    is_keyless = F.col("has_no_key") & F.col("partition").isNotNull()
    identity = F.when(is_keyless, topic_identity()).otherwise(place["identity"])
    return F.struct(place["position"].alias("position"), identity.alias("identity"))


def stand(phase: int, numbers: Column) -> Column:
    """A place in the source's order, which identifies the event."""
    position = F.concat(F.array(F.lit(EPOCH), F.lit(phase)), numbers).cast("array<bigint>")
    return F.struct(position.alias("position"), position.cast("array<string>").alias("identity"))


def in_topic() -> Column:
    """The record's place in its topic; null where it has none."""
    place = F.array(F.lit(EPOCH), F.lit(STREAM), F.col("offset"), F.col("partition")).cast(
        "array<bigint>"
    )
    return F.when(
        F.col("offset").isNotNull() & F.col("partition").isNotNull(),
        F.struct(place.alias("position"), topic_identity().alias("identity")),
    )


def topic_identity() -> Column:
    """Topic, partition and offset."""
    return F.array(
        F.col("topic"), F.col("partition").cast("string"), F.col("offset").cast("string")
    )


def finished(placed: DataFrame, words: Mapping[str, str]) -> DataFrame:
    """The events, from frames with ``note``, ``operation``, ``effect``, ``stand`` and the columns of the images."""
    is_note = F.col("note").isNotNull()
    return (
        placed.withColumn(
            "fault",
            F.coalesce(
                "fault",
                strange(is_note),
                F.when(
                    ~is_note,
                    F.coalesce(operation_fault(words), "misshapen", image_fault(), place_fault()),
                ),
            ),
        )
        .withColumn("stand", F.when(is_note, note_place()).otherwise(F.col("stand")))
        .withColumn("operation", F.coalesce("note", "operation"))
        .withColumn("effect", F.when(is_note, "note").otherwise(F.col("effect")))
        .withColumn("position", F.col("stand.position"))
        .withColumn("identity", F.col("stand.identity"))
        .withColumn("settled", F.size("position"))
        .withColumn("segment", F.when(has_log() & ~F.col("is_snapshot"), log()[0]))
    )


def strange(known: Column) -> Column:
    """What an envelope lacks, or that it is none at all; ``known`` are records that need not be one."""
    enveloped = F.arrays_overlap("names", F.array(*[F.lit(name) for name in _ENVELOPED]))
    lacking = F.array_except(F.array(F.lit("source"), F.lit("op")), F.col("names"))
    return (
        F.when(known | F.col("is_tombstone") | F.col("names").isNull(), F.lit(None).cast(NO_FAULT))
        .when(
            ~enveloped,
            fault(
                "no_envelope",
                "neither op nor source, before or after: a flattened row tells neither table nor place; its fields: ",
                F.array_join("names", ", "),
            ),
        )
        .when(
            F.size(lacking) > 0,
            fault("missing_field", "the envelope lacks ", F.array_join(lacking, ", ")),
        )
    )


def operation_fault(words: Mapping[str, str]) -> Column:
    """An operation that is unknown."""
    known = ", ".join(words)
    op = spelled(F.col("envelope.op"))
    return F.when(
        F.col("operation").isNull(),
        fault("unknown_operation", "op ", op, f" is not known; known: {known}"),
    )


def image_fault() -> Column:
    """A row without an image that says what is in it."""
    makes_row = F.col("operation").isin("read", "insert", "update", "replace")
    lacks = makes_row & F.col("after_given").isNull()
    return F.when(
        lacks,
        fault("missing_image", "after is missing, and the operation is ", F.col("operation")),
    )


def place_fault() -> Column:
    """An event of the stream that nothing puts in order."""
    source = F.col("envelope.source")
    return F.when(
        F.col("stand").isNull(),
        fault(
            "unknown_position",
            *("source has file ", spelled(source["file"]), ", pos ", source["pos"]),
            *(", lsn ", source["lsn"], f"; {KNOWN_PLACES}"),
        ),
    )


def note_place() -> Column:
    """The place of what says nothing of any row; it orders nothing, and tells notes apart."""
    at_start = F.array(F.lit(EPOCH), F.lit(STREAM)).cast("array<bigint>")
    identity = F.when(F.col("partition").isNotNull(), topic_identity()).otherwise(
        F.array("object", F.col("line").cast("string"))
    )
    return F.struct(at_start.alias("position"), identity.alias("identity"))
