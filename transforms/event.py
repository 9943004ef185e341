"""An event: one operation of the source, as its record says it, and what a format may warn of in it.

Every format's ``decode`` gives events. An event has no key, its values have no types, and nobody has yet looked
whether it came before: ``silver`` does all that for every format alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from transforms.fault import Fault

Value: TypeAlias = "str | bytes | None"
"""A column's value as the source wrote it: text, bytes for binary data, None for null."""

Image: TypeAlias = Mapping[str, Value]
"""Column name to value. A column that is missing was not mentioned by the event (absent); that is not null."""


class Transaction(NamedTuple):
    """Which transaction an event is part of (docs/change_model.md).

    ``expected``: how many events the transaction has; only its commit says so, and it is None elsewhere.
    ``has_begin``: whether transactions of this source have an event that begins them. ``at_commit``: whether its
    changes take effect at the position of the commit, and not each at its own.
    """

    id: str
    expected: int | None = None
    has_begin: bool = True
    at_commit: bool = False


class StreamSchema(NamedTuple):
    """A table as its stream describes it: gold needs it only for tables that the feed file does not declare.

    ``key``: the names of the key's columns: empty for a table without a key, None where the event does not say.
    ``columns``: each column's name and its Spark SQL type; the type is None where the event does not say it.
    ``encoded``: the columns whose values cannot be read without this description (a date that is a count of days).
    ``defaults``: the texts that columns have in rows from before they were added.
    """

    key: tuple[str, ...] | None
    columns: tuple[tuple[str, str | None], ...]
    encoded: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()


SnapshotKind: TypeAlias = Literal["marked", "part", "dump", "chunks", "without_point"]
"""What shows that a snapshot is complete: ``marked``: its first and last row, in a topic. ``part``: nothing; it is of a
part of the table (``topic`` is a tablet). ``dump``: the feed file says that each window's rows are the whole table
(``topic`` is the object that they stand in). ``chunks``: nothing; it is read in pieces between changes, and
nothing says where it ends. ``without_point``: no row of a snapshot, but a change without a point in its log file
(``removes_at``), before which all snapshots in that file stand."""

MARKED: Final[SnapshotKind] = "marked"
PART: Final[SnapshotKind] = "part"
DUMP: Final[SnapshotKind] = "dump"
CHUNKS: Final[SnapshotKind] = "chunks"
WITHOUT_POINT: Final[SnapshotKind] = "without_point"


class SnapshotRow(NamedTuple):
    """What a row that a snapshot read says of the snapshot, by which it is known to be complete.

    ``removes_at``: where everything is gone that the snapshot does not name: directly before its rows. None where they
    stand as in their topic: before the first of them. ``begins``, ``ends``: whether the row is marked as the first, or
    the last, of its table. ``topic``, ``partition``, ``offset``: where the record stands. ``kind``: how the snapshot
    is known to be complete.
    """

    removes_at: tuple[int, ...] | None
    begins: bool
    ends: bool
    topic: str
    partition: int
    offset: int
    kind: SnapshotKind = MARKED


@dataclass(slots=True, kw_only=True)
class Event:
    """One operation of the source.

    ``operation``: what the source did (insert, update, delete, replace, read, truncate and so on). ``effect``: what it
    does to the current row. docs/change_model.md lists both.
    ``catalog``, ``schema``, ``name``: the table as the stream or the object's path names it.
    ``before``, ``after``: the row's images before and after the change. ``attribute_ops``: by column of ``after``, the
    operation with which its value is applied, where it does not simply overwrite.
    ``scope``: None for a change of one row. A range delete is for every row whose key columns have the values in
    ``scope``; where it is empty, for the whole table.
    ``stream``: the part of the source within which positions compare (a partition, a tablet); None where there is one.
    ``transaction``: which transaction the event is part of, if any.
    ``derived``: None for what the source sent; for an event that follows from another event of its record, why.
    ``log_position``: epoch, phase (0: a row of a snapshot that does not say where it was read, 1: all else), then the
    format's own numbers. Positions are compared number by number. None stands in place of a number that the record
    should have and has not. ``dedup_prefix``: how many leading numbers of the position are the same in every delivery
    of the event.
    ``identity``: texts that, together with table, operation and images, make two deliveries the same event.
    ``segment``: the number of the log file that holds the event, where the source has numbered log files.
    ``event_at``, ``extracted_at``: when the source made the change, and when the extractor read it, in microseconds
    since 1970 (UTC).
    ``stream_schema``: what the stream itself says of the table. ``read_by_schema``: the columns whose values the
    record's own schema has said how to read, so that the feed file's word on how they are written is not asked.
    ``snapshot``: of a row that a snapshot read, what it says of that snapshot.
    ``warnings``: the words of the format's warnings (``EventWarning``) that the event gives rise to.
    ``fault``: why the event cannot become a change; the other fields then say what could be read nevertheless.
    """

    operation: str | None
    effect: str
    name: str | None
    schema: str | None = None
    catalog: str | None = None
    before: Image = field(default_factory=dict)
    after: Image = field(default_factory=dict)
    attribute_ops: Mapping[str, str] = field(default_factory=dict)
    scope: Image | None = None
    stream: str | None = None
    transaction: Transaction | None = None
    derived: str | None = None
    log_position: tuple[int | None, ...] | None = None
    dedup_prefix: int = 0
    identity: tuple[str | None, ...] = ()
    segment: int | None = None
    event_at: int | None = None
    extracted_at: int | None = None
    stream_schema: StreamSchema | None = None
    read_by_schema: frozenset[str] = frozenset()
    snapshot: SnapshotRow | None = None
    warnings: tuple[str, ...] = ()
    fault: Fault | None = None


class Pending(NamedTuple):
    """What a record says, where other records decide what it means: the format's ``resolver`` makes an event of it.

    ``group``: the texts and numbers that all records of one group share, within one landing window. ``order``: the
    record's number in its group. ``content``: what the resolver needs of the record, in plain values that can be
    pickled.
    """

    group: tuple[str | int | None, ...]
    order: tuple[int, ...]
    content: object


class Undeclared(NamedTuple):
    """What an event mentions and the feed file does not declare, as a warning of it can name it.

    ``column``: the column of the event's images, or of its scope, whose value is the name. ``declared_under``: the key
    of the feed file that declares such names. ``operations``: those of the events that are asked for it.
    """

    column: str
    declared_under: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventWarning:
    """Something that a format notices in events that it takes all the same.

    ``word``: what an event's ``warnings`` hold. ``rule``: the name of the check that counts such events. ``says``: what
    is true of all other events, as a sentence. ``remedy``: what became of such an event, and what a person does.
    ``undeclared``: where the warning is of something that is not declared, how that is named; else None.
    """

    word: str
    rule: str
    says: str
    remedy: str
    undeclared: Undeclared | None = None
