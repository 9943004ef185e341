"""The columns of every table but gold's: of what type each is, and a sentence on it for whoever queries the tables.

Of gold a feed declares the columns; Weir's own are in ``transforms/gold/columns.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, TypeAlias, get_type_hints

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from transforms.column_types.map_columns import IMAGE, NUMBERS, TEXTS
from transforms.gold.stages import BASE_ROWS
from transforms.silver.frames import OUTPUT

_TEXT, _NUMBER, _MOMENT = pa.string(), pa.int64(), pa.timestamp("us", "UTC")
_NEVER_NULL: Final = "never null"

Text: TypeAlias = Annotated[str, _TEXT]
Number: TypeAlias = Annotated[str, _NUMBER]
SmallNumber: TypeAlias = Annotated[str, pa.int32()]
Truth: TypeAlias = Annotated[str, pa.bool_()]
Moment: TypeAlias = Annotated[str, _MOMENT]
Bytes: TypeAlias = Annotated[str, pa.binary()]
Texts: TypeAlias = Annotated[str, TEXTS]
Numbers: TypeAlias = Annotated[str, NUMBERS]
Image: TypeAlias = Annotated[str, IMAGE]
"""The types of columns: a column is declared by its name and type, and its value is the sentence on it."""


class Columns:
    """The columns of one table, as this process reads and writes them (``schema``) and as Spark does (``spark``).

    Its docstring says what one row is.
    """

    schema: ClassVar[pa.Schema]
    spark: ClassVar[StructType]
    sentences: ClassVar[Mapping[str, str]]

    def __init_subclass__(cls) -> None:
        """Read the declaration."""
        kinds = get_type_hints(cls, include_extras=True)
        cls.sentences = {name: getattr(cls, name) for name in cls.__annotations__}
        declared = [(name, *kinds[name].__metadata__) for name in cls.sentences]
        cls.schema = pa.schema(
            [pa.field(name, kind, _NEVER_NULL not in how) for name, kind, *how in declared]
        )
        cls.spark = from_arrow_schema(cls.schema)

    @classmethod
    def some(cls, *names: str) -> pa.Schema:
        """Some of the columns, with their types."""
        return pa.schema([cls.schema.field(name) for name in names])


_OBJECT: Final = "The object's name relative to the landing; of a topic `<topic>/<partition>`."
_GENERATION: Final = (
    "The object's etag, or in a folder its size and time of change; of a topic its id."
)
_LINE: Final = "The record's number in the object, from 1."
_BYTE_OFFSET: Final = (
    "Where the record begins in the decompressed object, from 0; of a topic its offset."
)


_HEADER = pa.struct([pa.field("key", _TEXT, nullable=False), ("value", pa.binary())])


class Bronze(Columns):
    """One row per record of a landed object.

    An object that holds no record leaves one row with ``line`` 0 and no payload, so that it counts as read. So do
    offsets without a record at the end of what was read of a partition: ``byte_offset`` is the last of them. Of a topic
    ``line`` is one more than the offset, and ``payload`` is the value, null for a tombstone.
    """

    window: Annotated[Text, _NEVER_NULL] = (
        "The landing window, such as `2026-11-20T03`, by which the table is cut."
    )
    object: Annotated[Text, _NEVER_NULL] = _OBJECT
    generation: Annotated[Text, _NEVER_NULL] = _GENERATION
    line: Annotated[Number, _NEVER_NULL] = _LINE
    byte_offset: Annotated[Number, _NEVER_NULL] = _BYTE_OFFSET
    header: Text = "The CSV header line of the object, where it has one."
    payload: Bytes = (
        "The record's bytes, without the line's end; null where the object holds no record."
    )
    defect: Text = "Why the record could not be cut out whole, or that `weir erase` has taken it out; else null."
    landed_at: Annotated[Moment, _NEVER_NULL] = (
        "When the object was last modified; of a topic the record's time."
    )
    key: Bytes = "The key of a record of a topic."
    headers: Annotated[str, pa.list_(pa.field("element", _HEADER))] = (
        "The headers of a record of a topic."
    )


KEY_TEXT: Final = "key_text"


class Silver(Columns):
    """One row per change of one key, per range delete, or per control row. docs/change_model.md is the reference.

    An image tells absent from null: a name that is missing was not mentioned. ``transaction.commit``: where its commit
    stands, if this window alone holds all of it; else null, and ``transactions.<feed>`` says whether it is complete.
    ``log_position``: epoch, phase (0 snapshot, 1 stream), then the format's own numbers. Replicas of a Cassandra
    mutation differ in those behind ``dedup_prefix``, and the smallest position counts. ``object`` to ``ordinal`` are
    provenance, never order. By ``key_text`` a reader of a few keys skips most of a file (``silver.may_be_of``); it is
    null where a part of the key is.
    """

    window: Text = "The landing window of the record that the change was read from."
    feed: Text = "The feed's name."
    table: Text = "The gold table; null on control rows."
    source_table: Text = "The table as the stream names it, `catalog.schema.table`."
    declared: Text = (
        "The feed file's name for the table; else the stream's, where it tells key and types."
    )
    operation: Text = "What the source did, in its own words: insert, update, delete and so on."
    effect: Text = "What it does to the current row: `replace`, `update`, `remove` and so on (docs/change_model.md)."
    key: Texts = (
        "The key's values as canonical text, in declared order; null where a row is of no one key."
    )
    moved_from: Texts = "The old key, on the second half of a key change."
    derived: Text = "Why a change exists that is no event of its own (`key_change`); else null."
    before: Image = "The columns that the event mentions of the row before it, as texts."
    after: Image = "The columns that the event mentions of the row after it, as texts."
    attribute_ops: Image = "What is done to columns in `after` that are not plainly overwritten."
    scope: Image = (
        "Of a delete of many rows, the values that these have (empty: the whole table); else null."
    )
    stream: Text = "The part of the source within which positions compare, such as a partition."
    transaction: Annotated[str, OUTPUT.field("transaction").type] = (
        "Which transaction of the source the change is part of."
    )
    log_position: Numbers = (
        "Where the event stands in its source, as numbers that are compared one by one."
    )
    dedup_prefix: SmallNumber = (
        "How many numbers of the position are the same in every delivery of the event."
    )
    event_id: Text = "The same for every delivery of one event."
    event_at: Moment = "When the source made the change (UTC)."
    extracted_at: Moment = "When the extractor read it (UTC)."
    object: Text = _OBJECT
    generation: Text = _GENERATION
    line: Number = _LINE
    byte_offset: Number = _BYTE_OFFSET
    ordinal: SmallNumber = "Which of its record's events this is."
    key_text: Text = "The key's parts as one text, by which the rows of a file are sorted."


class Quarantine(Columns):
    """One row per source event that could not become a change."""

    window: Text = "The landing window of the record."
    feed: Text = "The feed's name."
    table: Text = "The table, where the record names it."
    reason: Text = "The kind of fault in one word, such as `unknown_operation`."
    detail: Text = "A sentence with what was found."
    key: Texts = "The key, where the record says it whole."
    log_position: Numbers = "The position, where the record says it whole."
    object: Text = _OBJECT
    generation: Text = _GENERATION
    line: Number = _LINE
    byte_offset: Number = _BYTE_OFFSET
    payload: Bytes = "The record itself, verbatim."


# The small tables in which Weir keeps account.


_STREAM_SCHEMA = pa.struct(
    [
        ("key", TEXTS),
        ("columns", pa.list_(pa.struct([("name", _TEXT), ("type", _TEXT)]))),
        ("encoded", TEXTS),
        ("defaults", pa.list_(pa.struct([("name", _TEXT), ("value", _TEXT)]))),
    ]
)
"""A table as its stream describes it: the key's columns (none: it has no key; null: the event does not say it, as one
about a whole table), all columns with Spark SQL types, and what some of them are in rows from before they were added.
"""
_SEGMENT = pa.struct(
    [("epoch", _NUMBER), ("segment", _NUMBER), ("event_at", _MOMENT), ("extracted_at", _MOMENT)]
)
"""A log file of one epoch: when the source made the newest change in it, and when the extractor first read that."""


class Accounting(Columns):
    """One row per window and table.

    Counts are of source events, but for ``records`` (one may hold many events), and for ``derived`` and
    ``derived_quarantined``, which are of rows that are no events.
    ``change_kinds``: where range deletes may reach other streams, one of the labels lists the streams of the changes.
    """

    window: Text = "The landing window."
    table: Text = "The gold table; null for events that name none."
    source_table: Text = "The table as the stream names it."
    declared: Text = "The feed file's name for the table."
    records: Number = "How many records bronze has of the window."
    events: Number = "How many source events they hold."
    changes: Number = "How many of the events are changes."
    control: Number = (
        "How many change no row: begins and commits, and what a source says beside its changes."
    )
    duplicates: Number = "How many are repeats within the window, or of events that were compacted."
    quarantined: Number = "How many are in quarantine."
    held: Number = "How many wait for a decision."
    too_late: Number = "How many came after the history that they belong to had been compacted."
    erased: Number = "How many are of keys that `weir erase` has erased; they are in no table."
    derived: Number = "How many rows of silver are no events (the delete half of a key change)."
    derived_quarantined: Number = "How many such rows went to quarantine."
    null_keys: Number = "How many changes of a declared table lack a part of the key."
    undeclared_columns: Texts = (
        "The columns that changes mention and the feed file does not declare."
    )
    change_kinds: Texts = "Labels of the kinds of change that the window has for the table."
    segments: Annotated[str, pa.list_(_SEGMENT)] = (
        "The newest times that were seen in each of the source's log files."
    )
    newest_event_at: Moment = (
        "When the source made the newest of the changes; null where none has a time."
    )
    stream: Text = "The stream that the changes came from; null where there are several, or none."
    first_position: Numbers = (
        "Where the oldest of the changes stands; of several streams epoch and phase."
    )
    last_position: Numbers = "Where the newest of them stands."
    snapshots: Texts = "Which stretches of which snapshots the window holds, by which a complete snapshot is known."
    trails: Texts = "Of each part of the source (a partition, a tablet): the changes that stand highest and lowest."
    falls: Texts = "Changes that stand below such as were made and read before them, by which a reset is known."
    warnings: Annotated[str, pa.map_(_TEXT, _NUMBER)] = (
        "How many events have each of the format's warnings."
    )
    stream_schemas: Annotated[str, pa.list_(_STREAM_SCHEMA)] = (
        "What the stream says of the key and the types of a table that is not declared."
    )
    declaration: Text = "A digest of what the feed file declared when the window was derived."


class Progress(Columns):
    """One row per window that is in gold."""

    window: Text = "A window that is in gold."
    objects: Number = "How many object generations or records of it had been read."
    declaration: Text = "A digest of what the feed file declared."
    finished_at: Moment = "When gold had all of the window (UTC)."


class Transactions(Columns):
    """One row per event of a transaction that its window does not hold whole."""

    window: Text = "The window that the event landed in."
    id: Text = "The transaction."
    event_id: Text = "The event, as in silver."
    effect: Text = "What it does, as in silver."
    is_derived: Truth = "Whether it is no event of its own."
    expected: Number = "On the commit: how many changes there are, where the source says so."
    has_begin: Truth = "Whether its source marks where transactions begin."
    log_position: Numbers = "Where the event stands, as in silver."
    event_at: Moment = "When the source made it (UTC)."


class Offsets(Columns):
    """One row per stream and tablet: the checkpoint; all null where nothing of the tablet is committed yet."""

    stream: Text = "The CDC stream."
    tablet: Text = "The tablet."
    consumer: Text = "Who reads the stream: the feed's name."
    term: Number = "The term of the checkpoint."
    index: Number = "The index of the checkpoint."
    write_id: SmallNumber = "The write id of the checkpoint."
    window: Text = "The window that brought the checkpoint."


class Decisions(Columns):
    """One row per decision; ``table`` is of a hold gold's name."""

    decided_at: Moment = "When it was decided (UTC)."
    kind: Text = "What kind it is: epoch, release, hold, dismissal, replacement or erasure."
    table: Text = "The table that it is for, by its name in the feed file; null for all."
    meaning: Text = "What was decided, as JSON."
    reason: Text = "What the person who decided it wrote."
    decided_by: Text = "Who decided it, where that is known."


class Schemas(Columns):
    """One row per schema that records name by id."""

    id: Text = "What records call it: a number, or what their headers say (`globalId/7`, `contentId/7`, `guid/…`)."
    kind: Text = "What it is written in: AVRO, JSON or PROTOBUF."
    text: Text = (
        "The schema itself; of Protobuf a set of descriptors in base64, references included."
    )
    references: Texts = "The texts of the schemas whose types it names."
    place: Text = "The registry or folder that it was had from."
    kept_at: Moment = "When that was (UTC)."


class Repaired(Columns):
    """One row per record that left quarantine, with its first fault; one that left it several times has several.

    It is a history for people: no table is made of it.
    """

    window: Text = Quarantine.window
    object: Text = _OBJECT
    generation: Text = _GENERATION
    line: Number = _LINE
    byte_offset: Number = _BYTE_OFFSET
    table: Text = Quarantine.table
    reason: Text = Quarantine.reason
    detail: Text = Quarantine.detail
    events: Number = "How many events of the record were in quarantine."
    how: Text = "`payload` where a person gave another payload; else `window derived again`."
    repaired_at: Moment = "When the window was derived that took it (UTC)."


_WATERMARK = pa.struct(
    [
        *[("log_position", NUMBERS), ("drawn_at", _MOMENT)],
        *[(name, _TEXT) for name in ("newest_window", "declared", "judged_by")],
        ("added", TEXTS),
    ]
)
"""``log_position``: up to where history is compacted. ``drawn_at``: when that was decided. ``newest_window``: the
newest landing window that had a change of the base. ``declared``: the feed file's name of the table. ``judged_by``:
what the feed said that the base depends on, as JSON (``digest.compacted_meaning``). ``added``: columns of gold that it
had not declared."""


class Base(Columns):
    """One row per key that has a row at the compaction watermark, and one per table that has the watermark.

    What a key is after all changes up to there stands in place of these changes. ``state``: ``replace`` (a row of
    exactly these columns) or ``remove`` (such a row that is marked as deleted), its copies in a table without a key,
    and the last change that counted.
    """

    table: Text = "The gold table."
    key: Texts = "The key as texts; null on the row that has the table's compaction watermark."
    streams: Texts = "The streams that the key's changes came from."
    state: Annotated[str, BASE_ROWS.field("state").type] = (
        "What the key is at the watermark, with every column that was ever mentioned."
    )
    compaction_watermark: Annotated[str, _WATERMARK] = (
        "On one row per table: up to where its history is compacted, when, by which declaration."
    )


class Compacted(Columns):
    """One row per event that is part of some base."""

    table: Text = "The gold table."
    identity: Bytes = "The first 16 bytes of the `event_id` of an event that is in the base."


class Ledger(Columns):
    """One row per commit of bronze and object generation in it, and one per commit with a null ``object``.

    The second marks the commit as noted, even where it added nothing. Rows of commits before one that ``is_whole`` are
    superseded. Two writers that note one commit write the same rows.
    """

    bronze: Text = "The id of the Delta table that bronze is."
    version: Number = "The number of bronze's commit."
    is_whole: Truth = "Whether the row sums up all commits up to that one."
    window: Text = "The window of what the commit brought."
    object: Text = "The object; null on the row that marks the commit as noted."
    generation: Text = "Its generation."
    records: Number = "How many records the commit brought of it."
    first_offset: Number = (
        "The least byte offset of these records; of a topic the first of their offsets."
    )
    last_offset: Number = (
        "The largest byte offset of these records; of a topic the last of their offsets."
    )


class Landed(Columns):
    """One row per object generation that was in the landing and not in bronze when a run looked."""

    window: Text = "The window that the object landed in."
    object: Text = "The object's name."
    generation: Text = "Its generation."


class Runs(Columns):
    """One row per run that came to its end, unless it says the same as the one before: a repeat makes no commit."""

    run: Text = "Dagster's id of the run."
    ended_at: Moment = "When it came to its end."
    first_window: Text = "The first of its windows."
    last_window: Text = "The last of its windows."
    tables: Number = "How many tables gold had then."
    rows: Number = "How many rows they had."
    tombstones: Number = "How many tombstones they had."


class Drift(Columns):
    """One row per table, or column and type of a table, that the feed file does not declare."""

    table: Text = "The table as the stream or the feed file names it."
    column: Text = "The column that was new; empty where the table was."
    type: Text = "Its type, where the stream says it; else empty."
    first_window: Text = "The first window of the run that met it first."


class Erasures(Columns):
    """One row per step of an erasure that is done: the first is its plan, and the last its end (docs/erase.md)."""

    erasure: Text = "The erasure."
    step: Text = "What is done: `planned`, the name of a table, `pages` or `finished`."
    done_at: Moment = "When it was done (UTC)."
    meaning: Text = "What was found or done, as JSON; keys stand in it as keyed hashes."


class Cuts(Columns):
    """One row per cut: a position of the source up to which all tables of the feed are whole (docs/cuts.md)."""

    cut: Text = "The position as its source writes it."
    log_position: Numbers = "The newest change in it."
    recorded_at: Moment = "When it was recorded first (UTC)."
    seen_at: Moment = "When a run last found it to be the newest (UTC)."
    tables: Text = "The gold tables at that time, with their versions, as JSON."
    state: Text = "What the next run goes on from, as JSON."
    late_events: Number = "How many events at or below it came after it was recorded."
    broken_by: Text = "Why it can no longer be asked for; else null."
