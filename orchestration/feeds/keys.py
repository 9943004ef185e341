"""The keys that a feed file may have, the shape of the value of each, and what is wrong with a shape, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from orchestration.feeds.faults import InvalidKey
from transforms.column_types.ranges import OutOfRange
from transforms.feed.feed import (
    CheckSeverity,
    Deletes,
    Header,
    LossGuard,
    RangeDeletePolicy,
    Snapshots,
    TableNames,
    Unwrapped,
    WindowSize,
)
from transforms.near_names import did_you_mean, nearest

_Text = Annotated[str, Field(min_length=1)]
# The YAML of a feed file is read as texts; these are the words of YAML 1.2 for yes and no.
_WORDS = {"true": True, "false": False}
_YesOrNo = Annotated[bool, BeforeValidator(lambda text: _WORDS.get(str(text).lower(), text))]
_Switch = Literal["on", "off"]
_Texts = Annotated[list[_Text], Field(min_length=1)]
# YAML takes the bare word ``null`` for nothing.
_Mask = Annotated[str, BeforeValidator(lambda word: "null" if word is None else word)]
_OutOfRange = Annotated[OutOfRange, BeforeValidator(lambda word: "null" if word is None else word)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class DeclaredEpoch(_Declared):
    """One entry of a feed file's ``epochs``."""

    window: _Text
    """The first window with events of the epoch."""
    table: _Text | None = None
    """The table that it is for; without it, all tables."""
    time: _Text | None = None
    """The source's time from which on events are of the epoch (ISO, in UTC); without it all of ``window``."""
    snapshot: Literal["complete", "partial"] = "partial"
    """``complete``: rows of older epochs are removed where the new epoch does not name them."""


class DeclaredCompaction(_Declared):
    """A feed file's ``compaction``."""

    retention: _Text = "30d"
    """How long changes are kept, counted back from the newest window: ``30d``, ``12h`` or ``forever``."""
    retired: list[_Text] = Field(default_factory=list)
    """Streams (partitions, tablets) that have ended, so that they no longer hold compaction back."""
    dismissed: list[_Text] = Field(default_factory=list)
    """Windows whose quarantined records will not be repaired, so that they no longer hold compaction back."""


class DeclaredTablePolicies(_Declared):
    """``schema_changes`` of a table: what is left out is as the feed has it."""

    add_column: Literal["keep", "evolve", "quarantine", "fail"] = "keep"
    """Events mention a column that the table does not declare."""
    drop_column: Literal["evolve", "keep", "hold", "fail"] = "evolve"
    """The source drops a column, or gold has one that the file no longer declares."""
    rename_column: Literal["fail", "evolve"] = "fail"
    """The file lacks a column of gold, and has a new one of the same type."""
    widen_type: Literal["evolve", "fail"] = "evolve"
    """The declared type holds every value of gold's."""
    narrow_type: Literal["fail", "quarantine"] = "fail"
    """The declared type does not hold every value of gold's."""


class DeclaredPolicies(DeclaredTablePolicies):
    """``schema_changes`` of a feed."""

    rename_table: Literal["keep", "fail"] = "keep"
    """Events of a table that the file does not declare."""


class DeclaredLossGuard(_Declared):
    """How many rows one delete may remove at once; what would remove more waits for ``weir release``."""

    share: _Text = str(LossGuard().share)
    """It waits where it would remove more than this share of the table's rows; with 1 it never does."""
    rows: _Text = str(LossGuard().rows)
    """And at least so many rows."""


class DeclaredAutomation(_Declared):
    """A feed file's ``automation``."""

    schedule: _Switch = "off"
    """The schedule that runs a window once it has ended."""
    sensor: _Switch = "off"
    """The sensor that looks for new drops."""
    compaction: _Switch = "off"
    """The schedule of compaction."""
    health: _Switch = "off"
    """The schedule that asks every quarter of an hour how the source stands."""
    reconcile: _Switch = "off"
    """The schedule that compares gold with the live source once a day."""
    look_every: str | None = None
    """How long lies between two looks of the sensor, from `1s` to `60m`: `30s` at a bucket, and else `5s`."""


class DeclaredFreshness(_Declared):
    """A feed file's ``freshness``."""

    fail: str
    """How long after their last run the tables are late: ``6h``."""
    warn: str | None = None
    """How long after it they are nearly late, as the UI shows."""


class DeclaredLimits(_Declared):
    """The limits of ``health``; those under ``fail`` end a run with 1, the others only warn."""

    newest_event: _Text | None = None
    """How old the newest event of all may be: ``15m``, ``1h``, ``2d``."""
    silent_table: _Text | None = None
    """How old the newest event of one table may be while those of others are newer: ``1d``."""
    heartbeat: _Text | None = None
    """How old the newest heartbeat of the connector may be, where its topic is read: ``5m``."""
    unread_records: _Text | None = None
    """Topics: how many records of a partition may be unread: ``100000``."""
    slot_lag: _Text | None = None
    """Postgres: how much log the slot may be behind: ``1GB``."""
    wal_kept: _Text | None = None
    """Postgres: how much log the server may keep for the slot: ``10GB``."""
    wal_left: _Text | None = None
    """Postgres: how much log has to be left before the slot may be lost, where ``max_slot_wal_keep_size`` is set."""
    binlog_lag: _Text | None = None
    """MySQL and MariaDB: how much binary log may come behind what was read: ``5GB``."""


class DeclaredHealth(DeclaredLimits):
    """A feed file's ``health``: from where on its source counts as ill."""

    fail: DeclaredLimits = Field(default_factory=DeclaredLimits)
    """The same limits, of what is no longer only a warning."""
    slot: _Text | None = None
    """Postgres: the name of the connector's replication slot (``slot.name``)."""
    quiet_tables: list[_Text] = Field(default_factory=list)
    """Tables of which silence is usual."""


class DeclaredCheck(_Declared):
    """What the file says of one rule."""

    severity: CheckSeverity | None = None
    """What follows where the check does not pass."""
    at_most: _Text | None = None
    """How many violations are let pass."""
    within: _Text | None = None
    """For ``is_fresh`` alone: how old the newest change may be, as ``2h``."""


class DeclaredCsv(_Declared):
    """``csv`` of a feed, or of a table: what is left out of a table's is as the feed has it."""

    delimiter: _Text = ","
    """What stands between two fields, one character: ``;``, ``|`` or ``tab``."""
    quote: _Text = '"'
    """What stands around a field; ``none`` where quotes are characters as any."""
    escape: _Text = "\\"
    """What stands before a quote within quotes, beside doubling; ``none`` where only doubling does."""
    null_word: str = "NULL"
    """The unquoted text that stands for null, in quotes: ``'\\N'``, ``''``."""
    header: Header = "auto"
    """Whether files begin with a header; ``auto`` tells by its names."""


class DeclaredTable(_Declared):
    """One entry of ``tables``."""

    key: list[_Text]
    """The columns that identify a row, in the source's order; ``[]``: the table has no key, and may have equal rows."""
    columns: Annotated[dict[_Text, _Text], Field(min_length=1)]
    """Each column of gold with its Spark SQL type."""
    encoded: dict[_Text, _Text] = Field(default_factory=dict)
    """How columns' values are written where neither their types nor the records say it: of a decimal ``base64`` or
    ``base64(scale)``; of a timestamp ``seconds``, ``millis``, ``micros`` or ``nanos`` since 1970, of a date ``days``;
    of a time of day, which is a string, ``millis_of_day``, ``micros_of_day`` or ``nanos_of_day``."""
    out_of_range: dict[_Text, _OutOfRange] = Field(default_factory=dict)
    """What becomes of a column's dates or times beyond the years 1 to 9999 (infinity, BC, MySQL's zero dates):
    ``quarantine``, ``null``, or ``clamp``, the first or last that the type has."""
    cdc_columns: _Texts | None = None
    """CSV only: the order of the columns in rows of changes, where it differs from that of ``columns``."""
    csv: DeclaredCsv | None = None
    """CSV only: how the table's files are written, where that differs from the feed's."""
    path: _Text | None = None
    """A glob over object names: which objects are this table's, where the records do not name their table."""
    history: _YesOrNo = False
    """Whether every version of every row is kept, in ``gold.<feed>.<table>__history``."""
    change_feed: _YesOrNo = False
    """Whether gold has Delta's change data feed. Each commit then writes what it changes twice."""
    deletes: Deletes | None = None
    """What becomes of rows that the source deletes, where that is not as in the whole feed: ``remove`` or ``mark``."""
    snapshots: Snapshots = "heal"
    """What rows of a snapshot are that do not say where it was read: ``heal``, a first snapshot, before all changes; or
    ``replace``, in every window the whole table as it then was, so that what they do not name is gone."""
    unavailable_value: Annotated[_Texts, BeforeValidator(_as_list)] | None = None
    """What stands for values that the source did not log, where it is another text than the feed's."""
    document: _Text | None = None
    """Of a collection of MongoDB, the column that has the whole document, as extended JSON."""
    was: list[_Text] = Field(default_factory=list)
    """Earlier names of the table: events under them belong to it."""
    renamed: dict[_Text, _Text] = Field(default_factory=dict)
    """Earlier names of columns, each with the name of today."""
    since: dict[_Text, _Text] = Field(default_factory=dict)
    """Columns that came later, each with the first window whose events may mention it."""
    mask: dict[_Text, _Mask] = Field(default_factory=dict)
    """Columns whose values nobody may read behind bronze, each with ``drop``, ``hash`` or ``null``."""
    schema_changes: DeclaredTablePolicies | None = None
    """Policies of this table alone, where they differ from the feed's."""
    description: _Text | None = None
    """What one row is, for whoever meets the table in the UI."""
    descriptions: dict[_Text, _Text] = Field(default_factory=dict)
    """Columns, each with a sentence that says what it holds."""


class DeclaredPredicate(_Declared):
    """One entry of ``predicates``."""

    type: _Text | None = None
    """Dgraph's type of the values; without it they are kept as they come."""
    list: _YesOrNo = False
    """Whether a node may have several values of it."""


class DeclaredVertex(_Declared):
    """One entry of ``vertices``; ``graph`` names one graph or several."""

    attributes: dict[_Text, _Text] = Field(default_factory=dict)
    """Each attribute with its type, TigerGraph's or Spark SQL's."""
    key: list[_Text] = Field(default_factory=list)
    """The parts of which the uid is made, in the schema's order."""
    defaults: dict[_Text, str] = Field(default_factory=dict)
    """What attributes are that no message has mentioned, as texts (lists, sets and maps as JSON)."""
    graph: Annotated[list[_Text], BeforeValidator(_as_list)] = Field(default_factory=list)
    """The graphs that have the type; ``GLOBAL`` where all share it."""


class DeclaredEdge(_Declared):
    """One entry of ``edges``; ``from`` and ``to`` name one vertex type or several, ``graph`` graphs."""

    sources: Annotated[_Texts, BeforeValidator(_as_list), Field(alias="from")]
    """The vertex types at which such edges begin; ``"*"`` for all."""
    targets: Annotated[_Texts, BeforeValidator(_as_list), Field(alias="to")]
    """The vertex types at which they end; ``"*"`` for all."""
    attributes: dict[_Text, _Text] = Field(default_factory=dict)
    """Each attribute with its type, TigerGraph's or Spark SQL's."""
    directed: _YesOrNo = True
    """Whether an edge has a direction."""
    reverse: _Text | None = None
    """The name of the type in which TigerGraph stores the same edges the other way round."""
    discriminator: list[_Text] = Field(default_factory=list)
    """The parts of which the discriminator is made, which tells edges between the same ends apart."""
    defaults: dict[_Text, str] = Field(default_factory=dict)
    """What attributes are that no message has mentioned, as texts (lists, sets and maps as JSON)."""
    graph: Annotated[list[_Text], BeforeValidator(_as_list)] = Field(default_factory=list)
    """The graphs that have the type; ``GLOBAL`` where all share it."""


class DeclaredSchemas(_Declared):
    """Where the schemas are that records name by id: one of the two."""

    registry: _Text | None = None
    """The URL of a schema registry: Confluent's, Karapace's or Apicurio's."""
    folder: _Text | None = None
    """A folder (relative to this file) of files ``<id>.avsc``, ``<id>.json`` (JSON Schema) and ``<id>.desc``
    (Protobuf)."""


class DeclaredFeed(_Declared):
    """The whole file."""

    format: _Text
    """What writes the drops."""
    landing: _Text
    """Where they lie: a folder (relative to this file), ``s3://bucket/prefix/`` or
    ``kafka://broker:9092/topic,topic``."""
    files: _Text | None = None
    """A glob over object names: which objects are drops. By default those with the format's usual extensions."""
    encoding: _Text | None = None
    """The encoding of files that have no byte order mark and are not UTF-8, by Python's name of it: ``latin-1``,
    ``windows-1252``, ``utf-16-le``, ``shift_jis``. It holds for files that are read from then on."""
    csv: DeclaredCsv = Field(default_factory=DeclaredCsv)
    """How CSV files are written: delimiter, quotes, null and header. It holds for files that are read from then on."""
    window: WindowSize = "hour"
    """How long a window is. It cannot change once drops were read."""
    window_path: _Text | None = None
    """Which part of an object's path says its window, such as ``dt={year}-{month}-{day}/h={hour}``. By default the
    common ways of writing a date are known; see "Windows" in docs/feeds.md."""
    table_names: TableNames = "plain"
    """What gold tables are called: ``<table>``, ``<schema>__<table>`` or ``<catalog>__<schema>__<table>``."""
    tables: dict[_Text, DeclaredTable] = Field(default_factory=dict)
    """The source's tables, each by its name: ``table``, ``schema.table`` or ``catalog.schema.table``."""
    predicates: dict[_Text, DeclaredPredicate] = Field(default_factory=dict)
    """The predicates of the graph, by name."""
    types: dict[_Text, _Texts] = Field(default_factory=dict)
    """The tables of nodes that gold gets: the type of the nodes, with the predicates that they have."""
    vertices: dict[_Text, DeclaredVertex] = Field(default_factory=dict)
    """The vertex types, by name."""
    edges: dict[_Text, DeclaredEdge] = Field(default_factory=dict)
    """The edge types, by name."""
    baseline: dict[_Text, _Text] = Field(default_factory=dict)
    """After a restored backup: by GPE partition, the ``LastTid`` of the backup's metadata."""
    deletes: Deletes = "remove"
    """What becomes of rows that the source deletes: ``remove``: they go; ``mark``: they stay with their last values,
    and say that and when they were deleted. For all tables with a key that have no word of their own."""
    range_deletes: RangeDeletePolicy = "apply"
    """Whether a truncate or drop of a whole table acts at once, or waits for ``weir release``."""
    loss_guard: DeclaredLossGuard = Field(default_factory=DeclaredLossGuard)
    """Truncates, and snapshots that do not name rows, wait where they would remove most of a table."""
    accept_loss: dict[_Text, _Text] = Field(default_factory=dict)
    """Topics only: by partition (``orders/0``), the offset below which what Kafka deleted unread is given up."""
    unavailable_value: Annotated[_Texts, BeforeValidator(_as_list)] | None = None
    """What stands for values that the source did not log: the connector's ``unavailable.value.placeholder``, as it is
    written there, or several if it was changed. By default ``__debezium_unavailable_value``."""
    schemas: DeclaredSchemas | None = None
    """Where the schemas of records in Avro or Protobuf are, which name them by id: ``{registry: http://host:8081}``,
    or ``{folder: ./schemas}``."""
    unwrapped: Unwrapped | None = None
    """Of rows that ExtractNewRecordState has taken out of their envelopes: its ``delete.tombstone.handling.mode``."""
    out_of_range: _OutOfRange = "quarantine"
    """What becomes of dates and times beyond the years 1 to 9999 where a table's own key does not say it: of the key's
    columns they go to quarantine in place of ``null``."""
    epochs: list[DeclaredEpoch] = Field(default_factory=list)
    """Where the source's positions start again; ``weir epoch open`` records the same."""
    transaction_timeout: _Text = "1d"
    """How long after its first window an open transaction is reported as never committed: ``12h``, ``1d``."""
    compaction: DeclaredCompaction = Field(default_factory=DeclaredCompaction)
    """When old changes become base rows."""
    schema_changes: DeclaredPolicies = Field(default_factory=DeclaredPolicies)
    """What happens when the source's schema changes."""
    checks: dict[_Text, DeclaredCheck] = Field(default_factory=dict)
    """Built-in checks that are to be judged otherwise than by default, each by its name."""
    expectations: dict[_Text, object] = Field(default_factory=dict)
    """What else must be true of the tables: expectations of Great Expectations, by table and column."""
    start: _Text | None = None
    """The first window; drops of earlier ones are named and left out. By default that of the first drop."""
    source: _Text | None = None
    """The database that the changes come from: ``postgresql://host:5432/shop``, or ``mysql://``, ``mariadb://``. Who
    asks it is in the environment: ``WEIR_SOURCE_USERNAME``, ``WEIR_SOURCE_PASSWORD``."""
    description: _Text | None = None
    """What the feed brings, for whoever meets it in the UI."""
    owners: list[_Text] = Field(default_factory=list)
    """Who answers for it: mail addresses, or ``team:<name>``."""
    tags: dict[_Text, _Text] = Field(default_factory=dict)
    """Labels of its assets in the UI."""
    freshness: DeclaredFreshness | None = None
    """How long after their last run the tables count as late."""
    health: DeclaredHealth = Field(default_factory=DeclaredHealth)
    """From where on its source counts as ill."""
    automation: DeclaredAutomation = Field(default_factory=DeclaredAutomation)
    """Which schedules and sensors are on from the start."""


OBJECTS: Final = ("tables", "predicates", "types", "vertices", "edges", "baseline")
"""The keys that not every format has: they declare tables, or what only one kind of source has."""

PARTS: Final[dict[str, type[BaseModel]]] = {
    "tables": DeclaredTable,
    "csv": DeclaredCsv,
    "tables.csv": DeclaredCsv,
    "predicates": DeclaredPredicate,
    "vertices": DeclaredVertex,
    "edges": DeclaredEdge,
    "epochs": DeclaredEpoch,
    "loss_guard": DeclaredLossGuard,
    "compaction": DeclaredCompaction,
    "schema_changes": DeclaredPolicies,
    "freshness": DeclaredFreshness,
    "schemas": DeclaredSchemas,
    "automation": DeclaredAutomation,
    "health": DeclaredHealth,
    "health.fail": DeclaredLimits,
    "tables.schema_changes": DeclaredTablePolicies,
    "checks": DeclaredCheck,
}
"""The parts of a file that have keys of their own, by the key that they are found under, by name or number."""

_WANTED: Final = {
    "string_type": "must be a text",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must be a mapping, such as {a: int}",
    "bool_type": "must be true or false",
    "model_type": "must be a mapping, with keys of its own",
}


def faults_in_shape(error: ValidationError) -> Iterator[InvalidKey]:
    """All that pydantic finds; a key that is missing because it is misspelt is one fault, of the misspelt key."""
    every = error.errors()
    misspelt = {
        (*one["loc"][:-1], nearest(str(one["loc"][-1]), _keys_around(one["loc"])))
        for one in every
        if one["type"] == "extra_forbidden"
    }
    for one in every:
        path = one["loc"]
        key = ".".join(map(str, path))
        if one["type"] == "extra_forbidden":
            known = _keys_around(path)
            yield InvalidKey(key, f"is not a known key{did_you_mean(str(path[-1]), known)}", known)
        elif one["type"] != "missing" or path not in misspelt:
            yield InvalidKey(key, _fault(one))


def _keys_around(path: Sequence[int | str]) -> list[str]:
    """The keys that the last key of a path stands among: of a part by name or number, or of a key's value."""
    whole, by_name = (".".join(map(str, one)) for one in (path[:-1], path[:-1:2]))
    return list((PARTS.get(whole) or PARTS.get(by_name, DeclaredFeed)).model_fields)


def _fault(details: ErrorDetails) -> str:
    kind, found = details["type"], details["input"]
    if kind == "missing":
        return "is missing"
    if kind in ("too_short", "string_too_short") or found is None:
        return "has no value; within braces a text that holds a comma needs quotes"
    if kind == "literal_error":
        return f"must be {details['ctx']['expected']}, found {found!r}"
    return f"{_WANTED.get(kind, details['msg'])}, found {found!r}"
