"""The books of a window: what became of every source event, per table.

Source events = changes + control + duplicates + quarantined + held + too late, exactly. Derived changes (the delete
half of a key change) are counted apart: they are no events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms import traits
from transforms.change import CONTROL, HOLD
from transforms.formats.spec import TOLD
from transforms.silver_columns import changes, faults, repeats

SEGMENT = T.StructType(
    [
        T.StructField("epoch", T.LongType(), True),
        T.StructField("segment", T.LongType(), True),
        T.StructField("event_at", T.TimestampType(), True),
        T.StructField("extracted_at", T.TimestampType(), True),
    ]
)
"""A log file of one epoch: when the source made the newest change in it, and when the extractor first read that."""

ACCOUNTING = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("table", T.StringType(), True),
        T.StructField("source_table", T.StringType(), True),
        T.StructField("declared", T.StringType(), True),
        T.StructField("records", T.LongType(), False),
        T.StructField("events", T.LongType(), False),
        T.StructField("changes", T.LongType(), False),
        T.StructField("control", T.LongType(), False),
        T.StructField("duplicates", T.LongType(), False),
        T.StructField("quarantined", T.LongType(), False),
        T.StructField("held", T.LongType(), False),
        T.StructField("too_late", T.LongType(), False),
        T.StructField("derived", T.LongType(), False),
        T.StructField("derived_quarantined", T.LongType(), False),
        T.StructField("null_keys", T.LongType(), False),
        T.StructField("undeclared_columns", T.ArrayType(T.StringType()), True),
        T.StructField("traits", T.ArrayType(T.StringType()), True),
        T.StructField("segments", T.ArrayType(SEGMENT), True),
        T.StructField("remarks", T.MapType(T.StringType(), T.LongType()), False),
        T.StructField("told", T.ArrayType(TOLD), True),
        T.StructField("declaration", T.StringType(), False),
    ]
)
"""One row per window and table (null: events that name none). Counts are of source events, ``records`` of bronze
records (one may hold many events), ``derived`` and ``derived_quarantined`` of rows that are no events.

``undeclared_columns``: those that changes of a declared table mention and the feed file does not.
``traits``: what kinds of change the window has for the table (``transforms/traits.py``).
``segments``: the newest times seen in each of the source's log files. ``remarks``: how many events have each of the
format's. ``told``: what the stream says of a table that the feed does not declare. ``declaration``: the digest
of what the feed declared when the window was derived.
"""


FATES = ("changes", "control", "duplicates", "quarantined", "held", "too_late")
"""What can become of a source event: these add up to ``events``."""

COUNTS = (
    "records",
    "events",
    *FATES,
    "derived",
    "derived_quarantined",
    "null_keys",
)


def accounting(fated: DataFrame, remarks: Sequence[str] = ()) -> DataFrame:
    """One row per window and table (see ``ACCOUNTING``, without ``declaration``), from events with their fate.

    ``remarks`` are the words that the feed's format has.
    """
    is_event = F.col("derived").isNull()
    is_kept = F.col("fate") == repeats.CHANGE
    is_control = F.col("effect").isin(*CONTROL)
    is_held = F.col("effect") == HOLD
    is_change = is_kept & is_event & ~is_control & ~is_held
    whose = ("window", "table", "source_table", "declared")
    counts = {
        "records": F.col("ordinal") == 0,
        "events": is_event,
        "changes": is_change,
        "control": is_kept & is_event & is_control,
        "duplicates": is_event & (F.col("fate") == repeats.DUPLICATE),
        "quarantined": is_event & (F.col("fate") == repeats.QUARANTINED),
        "held": is_kept & is_event & is_held,
        "too_late": is_event & (F.col("fate") == repeats.TOO_LATE),
        "derived": is_kept & (~is_event | changes.moves()),
        "derived_quarantined": ~is_event
        & F.col("fate").isin(repeats.QUARANTINED, repeats.TOO_LATE),
        "null_keys": is_change & F.col("declared").isNotNull() & needs_key() & has_null("key"),
    }
    return (
        fated.groupBy(*whose, F.get("position", F.lit(0)).alias("epoch"), "segment")
        .agg(
            *[F.count_if(what).alias(name) for name, what in counts.items()],
            F.collect_set(F.when(is_change, faults.undeclared_columns())).alias("undeclared"),
            F.collect_set(
                F.when(is_kept, traits.words(incomplete_move=changes.is_incomplete_move()))
            ).alias("traits"),
            F.collect_set(F.when(is_kept & ~F.col("is_declared"), F.col("told"))).alias("told"),
            *[
                F.count_if(is_kept & is_event & F.array_contains("remarks", word)).alias(
                    _remarked(word)
                )
                for word in remarks
            ],
            newest(F.when(is_change, F.col("event_at")), F.col("extracted_at")).alias("newest"),
        )
        .withColumns({"event_at": F.col("newest.made"), "extracted_at": read_at("newest")})
        .groupBy(*whose)
        .agg(
            *[F.sum(name).alias(name) for name in (*counts, *map(_remarked, remarks))],
            F.array_sort(
                F.array_distinct(F.flatten(F.flatten(F.collect_list("undeclared"))))
            ).alias("undeclared_columns"),
            # Sorted, so that the same events make the same books.
            F.array_sort(F.array_distinct(F.flatten(F.flatten(F.collect_list("traits"))))).alias(
                "traits"
            ),
            F.array_sort(
                F.collect_list(
                    F.when(
                        F.col("event_at").isNotNull() & F.col("segment").isNotNull(),
                        F.struct("epoch", "segment", "event_at", "extracted_at"),
                    )
                )
            ).alias("segments"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("told")))).alias("told"),
        )
        .withColumn("remarks", counted_remarks(remarks))
        .select(*[F.col(field.name).cast(field.dataType) for field in ACCOUNTING.fields[:-1]])
    )


def counted_remarks(remarks: Sequence[str]) -> Column:
    """The counts of the remarks that there are, by their words."""
    pairs = [part for word in remarks for part in (F.lit(word), F.col(_remarked(word)))]
    return F.map_filter(
        F.create_map(*pairs).cast("map<string,bigint>"), lambda _, number: number > 0
    )


def _remarked(word: str) -> str:
    return f"remark_{word}"


def needs_key() -> Column:
    """True where a row has to have a key: scoped and control rows have none, and a keyless table's may be null."""
    return F.col("of_one_key") & ~changes.is_keyless()


def has_null(key: str) -> Column:
    """True for a key that is null or has a null part."""
    return F.col(key).isNull() | F.exists(key, lambda part: part.isNull())


def newest(made: Column, read: Column) -> Column:
    """An aggregate: when the newest change was made, and when it was first read. A repeat of it is read later."""
    return F.max(F.struct(made.alias("made"), (-F.unix_micros(read)).alias("unread")))


def read_at(newest: str) -> Column:
    """When the change of a ``newest`` was read."""
    return F.timestamp_micros(-F.col(f"{newest}.unread"))


def falls(books: DataFrame) -> DataFrame:
    """One row per table, epoch and log file whose newest change was made, and read, before one of an earlier file.

    A log that was reset starts with low numbers again while time goes on: the order of events is then unknown. Both
    times must fall. A statement that began before its log file did is a little older than the file before it says, but
    is read after that; a file that is delivered again is read later, but its changes are as old as they were.
    """
    of_file = (
        books.select("table", F.explode("segments").alias("one"))
        .groupBy("table", "one.epoch", "one.segment")
        .agg(newest(F.col("one.event_at"), F.col("one.extracted_at")).alias("last"))
        .withColumns({"newest": F.col("last.made"), "read_at": read_at("last")})
        .drop("last")
    )
    earlier = (
        Window.partitionBy("table", "epoch")
        .orderBy("segment")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    before = of_file.withColumn("newest_before", F.max("newest").over(earlier)).withColumn(
        "read_before", F.max("read_at").over(earlier)
    )
    read_falls = F.coalesce(F.col("read_at") < F.col("read_before"), F.lit(True))
    return before.where((F.col("newest") < F.col("newest_before")) & read_falls)


def collisions(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gold tables that two different source tables would share, from (table, source table) pairs.

    ``region`` and ``io_blitzz.region`` may be one table, told less and more exactly; ``a.region`` and ``b.region`` not.
    """
    by_table: dict[str, set[str]] = {}
    for table, source in sources:
        by_table.setdefault(table, set()).add(source)

    def differ(one: str, other: str) -> bool:
        return not f".{one}".endswith(f".{other}") and not f".{other}".endswith(f".{one}")

    return {
        table: sorted(names)
        for table, names in by_table.items()
        if any(differ(one, other) for one in names for other in names)
    }
