"""What a feed declares: its tables, graph types, checks, and how it is run; plain facts for every layer below."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Literal

from transforms.column_types.ranges import OutOfRange
from transforms.feed.decisions import Decisions
from transforms.feed.masks import MaskKey, MaskKind
from transforms.feed.schema_policies import Policies

CheckSeverity = Literal["block", "fail", "warn", "off"]
"""What follows from a violation: nothing downstream starts, the run ends with 1, it is reported; or it is not asked."""


@dataclass(frozen=True, slots=True)
class CheckSetting:
    """What the feed file says of one rule.

    ``severity``: None is the rule's own. ``at_most``: so many violations still pass. ``within``: how old the newest
    event may be, of a rule that asks for its age.
    """

    severity: CheckSeverity | None = None
    at_most: int = 0
    within: timedelta | None = None


ExpectationSeverity = Literal["warn", "block"]
SuiteLayer = Literal["silver", "gold"]


@dataclass(frozen=True, slots=True)
class DeclaredExpectation:
    """One expectation.

    ``check``: the name of its check. ``kind``: its name in Great Expectations (``expect_column_values_to_be_unique``).
    ``column``: the column that it stands under, if any. ``arguments``: the others, every scalar as the text that was
    written. ``key``: where it stands in the feed file.
    """

    check: str
    kind: str
    column: str | None
    arguments: Mapping[str, object]
    severity: ExpectationSeverity
    key: str


@dataclass(frozen=True, slots=True)
class DeclaredSuite:
    """The expectations of one table: a declared ``table`` in gold, or all that a feed has in silver (None).

    ``file``: the feed file, for messages.
    """

    layer: SuiteLayer
    table: str | None
    expectations: Sequence[DeclaredExpectation]
    file: str


def check_names(kinds: Sequence[tuple[str, str | None]]) -> list[str]:
    """The names of the checks of a suite's expectations, given as kinds and columns: no two are the same."""
    seen: dict[str, int] = {}
    names = []
    for kind, column in kinds:
        plain = re.sub(r"\W", "_", f"{kind}__{column}" if column else kind, flags=re.ASCII)
        seen[plain] = seen.get(plain, 0) + 1
        names.append(plain if seen[plain] == 1 else f"{plain}__{seen[plain]}")
    return names


# What the feeds of graph databases declare: predicates of Dgraph, vertex and edge types of TigerGraph.


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate of Dgraph.

    ``type``: Dgraph's name of its values' type; None where the feed file gives none. ``list``: whether a node may have
    several values of it.
    """

    name: str
    type: str | None = None
    list: bool = False


@dataclass(frozen=True, slots=True)
class VertexType:
    """One vertex type of TigerGraph: ``attributes`` with Spark SQL types, ``defaults`` as texts, ``key`` by name.

    ``graphs`` are those that have it, or ``GLOBAL``; empty where the feed file names none.
    """

    name: str
    attributes: Mapping[str, str]
    key: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    graphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeType:
    """One edge type of TigerGraph; ``sources`` and ``targets`` are the vertex types of its two ends.

    ``reverse`` is the name of the type of its mirrored edges, ``discriminator`` the attributes that tell its edges
    between two vertices apart. ``graphs``: as of vertex types.
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    attributes: Mapping[str, str]
    directed: bool = True
    reverse: str | None = None
    discriminator: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    graphs: tuple[str, ...] = ()


# How a feed is run, and what people are told of it. None of it changes what its data means or enters a digest, so that
# a new owner makes no window due.


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long after its last run a feed's tables count as late: ``warn`` and ``fail``."""

    fail: timedelta
    warn: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Automation:
    """Which of the feed's schedules and its sensor are on from the start; a switch in the UI overrides it.

    ``look_every``: seconds between two looks of the sensor.
    """

    schedule: bool = False
    sensor: bool = False
    compaction: bool = False
    look_every: int = 30
    health: bool = False
    reconcile: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """What is too much of something, or of what is left too little: from where on it is a warning, and a failure."""

    warn: float | None = None
    fail: float | None = None

    @property
    def first(self) -> float:
        """The one that is passed first of those that grow: a warning, where both are declared."""
        return min(one for one in (self.warn, self.fail) if one is not None)


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """What a feed file says of its source's health, in seconds, records and bytes; None where it says nothing.

    ``newest_event``, ``heartbeat``: how old the newest of all may be. ``silent_table``: how old the newest event of one
    table may be while others have newer ones; ``quiet_tables`` may. ``unread_records``: how many a partition of a topic
    may have. ``slot``: the feed's replication slot. ``slot_lag``: how far it may be behind; ``wal_kept``: how much log
    Postgres may keep for it; ``wal_left``: how much it has to be able to write before the slot may be lost.
    ``binlog_lag``: how much binary log may come behind what was read.
    """

    newest_event: Limit | None = None
    silent_table: Limit | None = None
    quiet_tables: frozenset[str] = frozenset()
    heartbeat: Limit | None = None
    unread_records: Limit | None = None
    slot: str | None = None
    slot_lag: Limit | None = None
    wal_kept: Limit | None = None
    wal_left: Limit | None = None
    binlog_lag: Limit | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """What a table holds, in words, and what its columns do."""

    description: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running:
    """All of it, for one feed.

    ``start``: the first window; None begins with the first drop. ``owners``: mail addresses, or ``team:<name>``.
    ``tables``: descriptions, by the declared table's name. ``windows``: those of a run that has no
    others, not even between them; empty: all since the start. ``health``: from where on its source counts as ill.
    ``source``: the address of the database that its changes come from, without credentials.
    """

    start: str | None = None
    description: str | None = None
    owners: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    freshness: Freshness | None = None
    automation: Automation = field(default_factory=Automation)
    tables: Mapping[str, Described] = field(default_factory=dict)
    windows: tuple[str, ...] = ()
    health: HealthLimits = field(default_factory=HealthLimits)
    source: str | None = None


# Schemas of messages that do not bring their own.


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """One schema: its ``text``, and what it is written in (``AVRO``, ``JSON``, ``PROTOBUF``).

    ``references``: the texts of schemas whose types it names, each behind those that it names itself. Protobuf's text
    is a set of descriptors in base64, which has those of its references.
    """

    kind: str
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schemas:
    """Where the schemas are that messages name by id: ``place`` is a registry's URL, or a folder.

    ``known``: by id, those that were had from there; what is not among them, the place does not have.
    """

    place: str
    known: Mapping[str, RegisteredSchema] = field(default_factory=dict)

    @property
    def is_registry(self) -> bool:
        """Whether they are asked for by HTTP."""
        return self.place.startswith(("http://", "https://"))


# The feed itself. By the time a ``Feed`` exists, it is known to be sound: reading and judging the YAML comes before.


WindowSize = Literal["hour", "day"]
TableNames = Literal["plain", "schema", "catalog"]
Unwrapped = Literal["drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone"]
RangeDeletePolicy = Literal["apply", "hold"]
Snapshots = Literal["heal", "replace"]
Deletes = Literal["remove", "mark"]


Header = Literal["auto", "yes", "no"]


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How CSV is written: one character each between fields, around one, and before a quote in one; "" for none.

    ``null`` is the unquoted text that stands for null. ``header``: whether files begin with one, or it shows.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    null: str = "NULL"
    header: Header = "auto"


USUAL_CSV: Final = CsvDialect()


@dataclass(frozen=True, slots=True)
class Table:
    """One declared table of the source.

    ``name`` is as the feed file writes it: ``region``, ``schema.region`` or ``catalog.schema.region``.
    ``columns`` maps each column of gold to its Spark SQL type, or ``set<type>``, in the order of a CSV snapshot row.
    A table without a ``key`` is a multiset of rows. ``defaults`` are the texts that columns begin with in a new row.
    ``cdc_columns`` is the order of the triplets in a CSV row of changes without a header.
    ``path`` is a glob over object names, for records that do not name their table.
    ``was`` are the table's earlier names, ``renamed`` maps earlier names of columns to those of today, ``since``
    columns to the first window whose events may mention them. ``added`` are columns that no declaration has and gold
    has all the same, as texts; they stand in ``columns``, too. ``history``: whether every version of its rows is kept.
    ``change_feed``: whether Delta keeps what each commit changed in gold, for others to follow.
    ``deletes``: what becomes of the row of a key that is deleted: ``remove``: it goes; ``mark``: it stays with its last
    values, marked as deleted.
    ``snapshots``: what a snapshot's rows without a place in the source's log are: ``heal``: a first snapshot, which
    stands before all changes; ``replace``: each window's are the whole table as it then was.
    ``spelled``: the source's names of columns that gold spells otherwise, each with gold's (``spelled_columns``); a
    table that the feed file declares has none. ``encoded``: the source's names of columns whose values only the
    stream's description can read (``event.StreamSchema``). ``before_added``: what columns are in rows from before they
    were added, by gold's name; a declared table has none of either. ``masks`` says what
    becomes of values from silver on, by column. ``unmasked_columns`` are ``columns`` and those that masks drop, in the
    source's order; empty where none is dropped. ``encodings``: by column, how values are written where the record does
    not say it (``column_types/encodings.py``). ``csv``: how its CSV files are written. ``document``: of a collection of
    MongoDB, the column that has the whole document as it came. ``out_of_range``: by column, what becomes of dates and
    times beyond the years 1 to 9999, where that is not as in the whole feed (``column_types/ranges.py``).
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    cdc_columns: tuple[str, ...]
    path: str | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    was: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)
    policies: Policies = field(default_factory=Policies)
    added: tuple[str, ...] = ()
    history: bool = False
    change_feed: bool = False
    deletes: Deletes = "remove"
    snapshots: Snapshots = "heal"
    spelled: Mapping[str, str] = field(default_factory=dict)
    encoded: frozenset[str] = frozenset()
    before_added: Mapping[str, str] = field(default_factory=dict)
    masks: Mapping[str, MaskKind] = field(default_factory=dict)
    unmasked_columns: Mapping[str, str] = field(default_factory=dict)
    unavailable_value: tuple[str, ...] = ()
    encodings: Mapping[str, str] = field(default_factory=dict)
    csv: CsvDialect = USUAL_CSV
    document: str | None = None
    out_of_range: Mapping[str, OutOfRange] = field(default_factory=dict)

    @property
    def marks_deletes(self) -> bool:
        """Whether a deleted row stays in gold, marked."""
        return self.deletes == "mark"

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that tell rows apart: the key, or all columns where there is none."""
        return self.key or tuple(self.columns)

    @property
    def source_columns(self) -> Mapping[str, str]:
        """Every column that the source has, in its order, with its type: gold's, and those that masks drop."""
        return self.unmasked_columns or self.columns

    def at(self, window: str) -> Table:
        """The table as a window may know it: without the columns that came later."""
        later = {name for name, first in self.since.items() if window < first}
        if not later:
            return self
        return replace(
            self,
            columns={name: kind for name, kind in self.columns.items() if name not in later},
            cdc_columns=tuple(name for name in self.cdc_columns if name not in later),
            unmasked_columns={
                name: kind for name, kind in self.unmasked_columns.items() if name not in later
            },
            since={name: first for name, first in self.since.items() if name not in later},
            encodings={
                path: one
                for path, one in self.encodings.items()
                if path.partition(".")[0] not in later
            },
        )


@dataclass(frozen=True, slots=True)
class Retention:
    """How long changes are kept before compaction folds them into base rows.

    ``kept``: at least so long, counted back from the newest landed window; None keeps them for ever. ``retired``:
    streams (partitions, tablets) that have ended, so that their silence holds no compaction watermark back.
    ``dismissed``: windows whose events in quarantine nobody will repair, so that they hold none back.
    """

    kept: timedelta | None = timedelta(days=30)
    retired: tuple[str, ...] = ()
    dismissed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LossGuard:
    """How many rows of a gold table a truncate, or a snapshot that does not name them, may remove at once.

    More than this ``share`` of the table's rows, and at least so many ``rows``, wait for a decision.
    """

    share: float = 0.5
    rows: int = 100

    def refuses(self, removed: int, of: int) -> bool:
        """Whether the removal of some of a table's rows has to wait."""
        return removed >= self.rows and removed > self.share * of


@dataclass(frozen=True, slots=True)
class Feed:
    """One configured source: what its file says, with defaults filled in.

    ``objects`` is an ``s3://bucket/prefix/`` address or an absolute folder. ``files`` is a glob over object names, or
    None for the format's usual extensions. ``encoding``: that of files without a byte order mark, where it is not
    UTF-8. ``csv``: how CSV of tables that the file does not declare is written. ``window_path`` says where the date
    stands in an object's path; None for the usual ways of writing one. ``range_deletes``: whether a range delete of a
    whole table acts at once or waits for a decision. ``loss_guard``: how many rows one may remove at once.
    ``deletes``: what becomes of deleted rows of tables that only the stream describes.
    ``retention``: how long changes are kept. ``transaction_timeout``: so long after its first landing window an open
    transaction counts as never committed. ``decisions``: those of the feed file; recorded ones are added where tables
    are at hand. ``policies``: those of tables that the file does not declare. ``predicates``, ``vertices`` and
    ``edges`` are what the feeds of graphs declare, by name; ``tables`` are then what their format makes of it.
    ``types``: the predicates that the tables of nodes have, by the type of the nodes. ``baseline``: by partition the
    last tid that a restored backup of TigerGraph holds. ``accepted_losses``: by partition of a topic (``orders/0``),
    the offset below which records that Kafka has deleted before they were read are given up. ``unavailable_value``:
    what stands for values that the source did not log; empty where that is what its connector sends by default.
    ``unwrapped``: for rows without envelopes, how the transform that unwrapped them tells deletes; None where they say
    it themselves. ``out_of_range``: what becomes of dates and times that no column can hold. ``checks``: what the file
    says of built-in checks, by the rule's name; ``suites``: the expectations that it adds. ``running``: how it is run,
    which changes no row. ``mask_key``: the secret of the masks that hash; None where no table has one. ``schemas``:
    where messages' schemas are, which a decoder has to have as values; None where messages bring them.
    ``erasure_key``: the secret by which erased keys are told; None where the environment has none.
    """

    name: str
    format: str
    landing: str
    files: str | None = None
    encoding: str | None = None
    csv: CsvDialect = USUAL_CSV
    window: WindowSize = "hour"
    window_path: str | None = None
    table_names: TableNames = "plain"
    tables: Mapping[str, Table] = field(default_factory=dict)
    range_deletes: RangeDeletePolicy = "apply"
    loss_guard: LossGuard = field(default_factory=LossGuard)
    decisions: Decisions = field(default_factory=Decisions)
    retention: Retention = field(default_factory=Retention)
    transaction_timeout: timedelta = timedelta(days=1)
    policies: Policies = field(default_factory=Policies)
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vertices: Mapping[str, VertexType] = field(default_factory=dict)
    edges: Mapping[str, EdgeType] = field(default_factory=dict)
    baseline: Mapping[str, int] = field(default_factory=dict)
    accepted_losses: Mapping[str, int] = field(default_factory=dict)
    deletes: Deletes = "remove"
    unavailable_value: tuple[str, ...] = ()
    unwrapped: Unwrapped | None = None
    out_of_range: OutOfRange = "quarantine"
    checks: Mapping[str, CheckSetting] = field(default_factory=dict)
    suites: tuple[DeclaredSuite, ...] = ()
    running: Running = field(default_factory=Running)
    mask_key: MaskKey | None = None
    schemas: Schemas | None = None
    erasure_key: MaskKey | None = None

    @property
    def masks_columns(self) -> bool:
        """True where a table masks columns: records of such a feed are shown to nobody who does not ask for them."""
        return any(table.masks for table in self.tables.values())

    @property
    def watches_source(self) -> bool:
        """Whether the feed file says how its source is to be watched, so that runs ask how it stands."""
        return self.running.source is not None or self.running.health != HealthLimits()

    def without_secret(self) -> Feed:
        """The same without its secrets: for those who only read what was landed, wherever they are."""
        return replace(self, mask_key=None, erasure_key=None)

    @property
    def reads_topics(self) -> bool:
        """True where the landing is a Kafka broker's topics and no place of objects."""
        return self.landing.startswith("kafka://")
