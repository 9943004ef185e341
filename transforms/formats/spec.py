"""What a source format says about itself, and the event row that it must produce.

An event is one operation of the source as a record tells it, before the feed's declarations are applied: no key, no
types, no judgement of repeats. ``silver`` does those for every format alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms.change import TEXTS, TRANSACTION
from transforms.event import Event, Pending
from transforms.feed import Feed, Table
from transforms.record import BronzeRecord, Record
from transforms.remark import Remark as Remark
from transforms.splitting.limits import DEFAULTS, Limits

EVENT_COLUMNS = (
    "window",
    "object",
    "generation",
    "line",
    "byte_offset",
    "ordinal",
    "payload",
    "catalog",
    "schema",
    "name",
    "operation",
    "effect",
    "before",
    "after",
    "attribute_ops",
    "scope",
    "stream",
    "transaction",
    "derived",
    "position",
    "identity",
    "settled",
    "segment",
    "event_at",
    "extracted_at",
    "told",
    "remarks",
    "fault",
)
"""One row per source event.

``ordinal``: the how-manyth of its record's events it is, from 0: every record has one with 0.
``catalog``, ``schema``, ``name``: the table as the stream or the object's path names it.
``operation``, ``effect``, ``before``, ``after``, ``attribute_ops`` (or null), ``scope``, ``stream``, ``transaction``,
``position``, ``event_at``, ``extracted_at``: as in ``change.CHANGE``.
``derived``: null for what the source sent; else why the row follows from another event (it is not counted as one).
``identity``: array of texts that, with table, operation and images, make two deliveries the same event.
``settled``: how many leading numbers of the position are the same in every delivery of the event.
``segment``: the number of the log file that the event stands in, null where the source has none: within a source's life
it rises with time.
``told``: what the stream itself says of the table (``TOLD``), or null.
``remarks``: array of words for what is worth knowing of an event that is taken all the same (``Remark``), or null.
``fault``: null, or a struct of ``reason`` and ``detail``: why the event cannot become a change.
"""

TOLD = T.StructType(
    [
        T.StructField("key", T.ArrayType(T.StringType()), True),
        T.StructField(
            "columns",
            T.ArrayType(
                T.StructType(
                    [
                        T.StructField("name", T.StringType(), True),
                        T.StructField("type", T.StringType(), True),
                    ]
                )
            ),
            True,
        ),
    ]
)
"""A table as its stream describes it: the key's columns (none: it has no key), and all columns with Spark SQL types.

The key is null where the event does not tell it, as that of a whole table.

Gold needs it only for tables that the feed file does not declare.
"""

_LEFT_OUT: dict[str, T.DataType] = {
    "attribute_ops": TEXTS,
    "scope": TEXTS,
    "stream": T.StringType(),
    "transaction": TRANSACTION,
    "derived": T.StringType(),
    "told": TOLD,
    "remarks": T.ArrayType(T.StringType()),
}
"""What only some sources have."""


def as_events(frame: DataFrame) -> DataFrame:
    """Exactly ``EVENT_COLUMNS``; those that only some sources have are null where the frame lacks them.

    Without ``ordinal``, every record is one event.
    """
    if "ordinal" not in frame.columns:
        frame = frame.withColumn("ordinal", F.lit(0))
    return frame.select(
        *[
            F.col(name) if name in frame.columns else F.lit(None).cast(_LEFT_OUT[name]).alias(name)
            for name in EVENT_COLUMNS
        ]
    )


def remarks(**when: Column) -> Column:
    """The words whose condition is true; null is not true."""
    found = F.array(*[F.when(condition, F.lit(word)) for word, condition in when.items()])
    return F.filter(found, lambda word: word.isNotNull()).cast("array<string>")


class Split(Protocol):
    """Cuts the bytes of an object, by the feed and the object's name, into records that keep within the limits."""

    def __call__(
        self, data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS, /
    ) -> Iterator[Record]:
        """The records, in the order of their places."""
        ...


Decode = Callable[[BronzeRecord], Iterable[Event | Pending]]
"""What a record means: its events, in order, or what its neighbours have to decide. Every record gives at least one."""

Resolve = Callable[[Sequence[Any]], Iterable[Event]]
"""What the pending ones of one group mean: takes what they ``said``, in their order, and gives one event for each."""

Survey = Callable[[BronzeRecord], Iterable[tuple[object, ...]]]
"""What a record says that others of its window need: facts, as tuples of plain values."""


def not_in_columns(bronze: DataFrame, feed: Feed) -> DataFrame:
    """Refuse: the format is read by its ``decoder`` alone."""
    raise NotImplementedError(f"feed {feed.name}: {feed.format} is read by its decoder")


def no_tables(feed: Feed) -> Mapping[str, Table]:
    """The gold tables of a feed file that declares them under ``tables``."""
    return feed.tables


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One source format: facts and plain functions.

    ``files`` are the globs of its usual objects. ``split`` cuts the bytes of one object into records.
    ``to_events`` takes bronze rows with ``object_table`` (the declared table, or the name, that the object's path
    says) and gives one row of ``EVENT_COLUMNS`` per source event. ``transactional``: whether events can be part of
    transactions. ``tables``: the gold tables of a feed, by their names; those that it declares under ``tables``, or
    what follows from ``predicates``, or from ``vertices`` and ``edges``. ``declares`` names the keys of a feed file
    that say which tables there are. ``remarks``: what it may notice. ``needs_whole_objects``: what a record becomes
    depends on others of its object. ``tells_tables``: its stream may describe tables (``TOLD``). ``reads_kafka``:
    whether its records may be those of a topic (``families/kafka_records``). ``unknowable``: sentences on what nobody
    can tell from such a stream. ``has_checkpoints``: whether it leaves notes of how far its consumer has come
    (``transforms/offsets.py``). ``decoder`` gives the function that says what a record means, for a feed and for what
    was surveyed in each window; it is called once in each process. ``resolver`` does the same for pending ones.
    ``surveyor`` reads what other records of the window need to know, of records with one of ``survey_marks`` in their
    payload. ``crosses_streams``: scoped changes reach other streams by time (``transforms/gold/streams.py``), and are
    not for their own stream only.
    """

    name: str
    files: tuple[str, ...]
    split: Split
    to_events: Callable[[DataFrame, Feed], DataFrame] = not_in_columns
    transactional: bool = False
    tables: Callable[[Feed], Mapping[str, Table]] = no_tables
    declares: tuple[str, ...] = ("tables",)
    remarks: tuple[Remark, ...] = ()
    needs_whole_objects: bool = False
    tells_tables: bool = False
    reads_kafka: bool = False
    unknowable: tuple[str, ...] = ()
    has_checkpoints: bool = False
    decoder: Callable[[Feed, Mapping[str, frozenset[tuple[object, ...]]]], Decode] | None = None
    resolver: Callable[[Feed], Resolve] | None = None
    surveyor: Callable[[Feed], Survey] | None = None
    survey_marks: tuple[bytes, ...] = ()
    crosses_streams: bool = False

    @property
    def reaches_everywhere(self) -> bool:
        """Whether an event may change what becomes of others, in windows and tables that are not its own."""
        return self.transactional or self.crosses_streams


def fault(reason: str, *detail: Column | str) -> Column:
    """A fault struct: a word for the kind, and a sentence made of texts and columns, long values cut short."""
    parts = [
        F.lit(part) if isinstance(part, str) else shown(part.cast("string")) for part in detail
    ]
    return F.struct(F.lit(reason).alias("reason"), F.concat(*parts).alias("detail"))


def shown(text: Column) -> Column:
    """A value as a sentence shows it; the whole of it stands in the record."""
    size = F.char_length(text)
    short = F.concat(
        F.substring(text, 1, 300), F.lit(" ... ("), size.cast("string"), F.lit(" characters)")
    )
    return F.coalesce(F.when(size > 320, short).otherwise(text), F.lit("null"))


def spelled(text: Column) -> Column:
    """A text in quotes, so that an empty one can be told from none."""
    return F.concat(F.lit("'"), text, F.lit("'"))


def moment(milliseconds: Column) -> Column:
    """Milliseconds since 1970 as a UTC timestamp; null outside the years 1 to 9999.

    It tells when and never orders, so that a wrong one costs no event.
    """
    return F.when(milliseconds.between(*_YEARS_1_TO_9999), F.timestamp_millis(milliseconds))


_YEARS_1_TO_9999 = (-62_135_596_800_000, 253_402_300_799_999)

NO_FAULT = "struct<reason:string,detail:string>"
"""The type of ``fault``, for frames that have none."""
