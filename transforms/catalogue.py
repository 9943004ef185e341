"""What a gold table looks like in a catalogue: one entry for all of them, and the shape that each of them wants.

Where a catalogue has no place of its own for something that is known (keys in Glue, masks anywhere), it is a property
of the table under ``weir.``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlsplit

from transforms.errors import SettingMisdeclared
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, asset_name
from transforms.gold.columns import ROW_SENTENCES, VERSION_SENTENCES, what_a_row_is

# Which catalogues, and how their names are made.

CATALOGUES: Final = "WEIR_CATALOGUES"
SCHEMA: Final = "WEIR_CATALOGUE_SCHEMA"
USUAL_SCHEMA: Final = "weir_{feed}"
FORMS: Final = "hive://host:9083, unity+https://host/catalog or glue://region"

Kind = Literal["hive", "unity", "glue"]

_HIVE: Final = re.compile(
    r"hive://(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?/?", re.ASCII
)
_UNITY: Final = re.compile(
    r"unity\+(?P<url>https?://[^\s@/?#]+(?:/[^\s@/?#]+)*?)/(?P<catalog>[\w-]+)/?"
)
_GLUE: Final = re.compile(r"glue://(?P<region>[a-z0-9-]+)(?:/(?P<account>[0-9]{12}))?/?", re.ASCII)
_SCHEMA: Final = re.compile(r"(?:[a-z0-9_]|\{feed\})+", re.ASCII)
_HIVE_PORT: Final = 9083


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One place in which gold is registered, and how its schemas are named there; no secret is in it.

    ``place``: of Hive ``host:port``, of Unity the server's URL, of Glue the region. ``inner``: of Unity its catalog, of
    Glue the account, where it is not the caller's own. ``schema`` has ``{feed}`` where the feed's name stands.
    """

    kind: Kind
    place: str
    inner: str = ""
    schema: str = USUAL_SCHEMA

    def __str__(self) -> str:
        """As the setting has it."""
        scheme = f"unity+{self.place}" if self.kind == "unity" else f"{self.kind}://{self.place}"
        return f"{scheme}/{self.inner}" if self.inner else scheme

    def schema_of(self, feed: str) -> str:
        """The name of the schema, or database, that a feed's tables are in."""
        return self.schema.replace("{feed}", asset_name(feed).lower())


def catalogues_of(environment: Mapping[str, str]) -> tuple[Catalogue, ...]:
    """The catalogues that ``WEIR_CATALOGUES`` names, by blanks or commas, in its order; none where it is not set.

    Raises:
        SettingMisdeclared: one of them has no form that is known, or the schema's name cannot be one.
    """
    schema = environment.get(SCHEMA, "").strip() or USUAL_SCHEMA
    if not _SCHEMA.fullmatch(schema):
        fault = "a schema's name has a to z, 0 to 9 and _, and {feed} for the feed's name, such as weir_{feed}"
        raise SettingMisdeclared(SCHEMA, environment[SCHEMA], fault)
    texts = re.split(r"[\s,]+", environment.get(CATALOGUES, "").strip())
    return tuple(dict.fromkeys(replace(_catalogue(text), schema=schema) for text in texts if text))


def _catalogue(text: str) -> Catalogue:
    if found := _HIVE.fullmatch(text):
        return Catalogue("hive", f"{found['host']}:{found['port'] or _HIVE_PORT}")
    if found := _UNITY.fullmatch(text):
        return Catalogue("unity", found["url"], found["catalog"])
    if found := _GLUE.fullmatch(text):
        return Catalogue("glue", found["region"], found["account"] or "")
    remedy = (
        "; who asks is said by the environment alone (docs/catalogues.md)" if "@" in text else ""
    )
    raise SettingMisdeclared(CATALOGUES, text, f"this names no catalogue; write {FORMS}{remedy}")


# The entry of one table.

DeltaType = str | Mapping[str, Any]
"""A type as Delta's log has it: a name, or an object of an array, a map or a struct.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#schema-serialization-format
"""

OF_FEED, OF_TABLE, DIGEST = "weir.feed", "weir.source_table", "weir.digest"
KEY: Final = "weir.key"
_SHAPE: Final = 1
"""Counted up where the shapes below change, so that what is registered is written again."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type as Delta has it, and what it says."""

    name: str
    type: DeltaType
    comment: str | None = None
    is_nullable: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One gold table as a catalogue is to have it. ``location``: ``s3://…`` or ``file:///…``. ``tags``: all of Weir's.

    ``key``: the columns that tell its rows apart; none in a history, and in a table without a key.
    """

    schema: str
    name: str
    location: str
    comment: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    tags: Mapping[str, str]

    @property
    def full_name(self) -> str:
        """As SQL has it."""
        return f"{self.schema}.{self.name}"

    @property
    def digest(self) -> str:
        """A text that is another one as soon as anything of the entry is."""
        text = json.dumps([_SHAPE, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def properties(self) -> dict[str, str]:
        """What is written as properties of the table, with the digest by which the next run knows it."""
        return {**self.tags, DIGEST: self.digest}


@dataclass(frozen=True, slots=True)
class Gold:
    """What is known of a gold table: its own ``name``, the declared ``table``, and where it lies.

    ``fields``: its columns, as Delta's log has them.
    """

    name: str
    table: Table
    location: str
    fields: Sequence[Mapping[str, Any]]


def entry_of(feed: Feed, schema: str, gold: Gold) -> Entry:
    """The entry of one gold table, or of the history beside one."""
    table, is_history = gold.table, gold.name.endswith(HISTORY)
    described = feed.running.tables.get(table.name)
    whole = f"One row for each version of each row of {table.name}."
    now = "" if is_history else what_a_row_is(table, table.name)
    said = (described.description if described else None) or now
    sentences = {
        **(described.columns if described else {}),
        **(VERSION_SENTENCES if is_history else ROW_SENTENCES),
    }
    columns = tuple(
        Column(one["name"], one["type"], sentences.get(one["name"]), bool(one["nullable"]))
        for one in gold.fields
    )
    return Entry(
        schema=schema,
        name=asset_name(gold.name).lower(),
        location=address_of(gold.location),
        comment=" ".join(filter(None, [whole if is_history else "", said])),
        columns=columns,
        key=() if is_history else table.key,
        tags=dict(_tags(feed, table)),
    )


def _tags(feed: Feed, table: Table) -> Iterator[tuple[str, str]]:
    yield OF_FEED, feed.name
    yield OF_TABLE, table.name
    yield "weir.format", feed.format
    if table.key:
        yield KEY, ",".join(table.key)
    if feed.running.owners:
        yield "weir.owners", ",".join(feed.running.owners)
    if table.masks:
        yield "weir.masks", ",".join(f"{name}:{kind}" for name, kind in sorted(table.masks.items()))
    for name, value in feed.running.tags.items():
        yield f"weir.tag.{name}", value


def address_of(location: str) -> str:
    """Where a table lies, as an address that other programs know."""
    if location.startswith("/"):
        return f"file://{quote(location)}"
    return location.replace("s3a://", "s3://", 1)


def is_same_place(one: str, other: str) -> bool:
    """Whether two texts name one place: catalogues write `file:/x` for `file:///x`, and an `/` behind it."""
    return _place(one) == _place(other)


def _place(text: str) -> tuple[str, str]:
    parts = urlsplit(text)
    scheme = {"s3a": "s3", "s3n": "s3", "": "file"}.get(parts.scheme, parts.scheme)
    path = text.partition(":")[2] if parts.scheme else text
    path = path.removeprefix("//") if scheme == "file" else path
    return scheme, unquote(path).rstrip("/")


# The texts of types.

_SQL: Final = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}
# Hive's timestamp has no zone; its readers take it for Delta's, too. It knows no variant.
_HIVE_SQL: Final = {**_SQL, "timestamp_ntz": "timestamp", "variant": "binary"}
_UNITY_NAMES: Final = {"integer": "INT", "long": "LONG", "short": "SHORT", "byte": "BYTE"}


def spark_type(kind: DeltaType) -> str:
    """A type as Spark's SQL has it."""
    return _text(kind, _SQL, "`{}`")


def hive_type(kind: DeltaType) -> str:
    """A type as Hive has it, and so Glue."""
    return _text(kind, _HIVE_SQL, "{}")


def _text(kind: DeltaType, names: Mapping[str, str], quoted: str) -> str:
    if isinstance(kind, str):
        return names.get(kind, kind)
    match kind["type"]:
        case "array":
            return f"array<{_text(kind['elementType'], names, quoted)}>"
        case "map":
            of = (_text(kind[one], names, quoted) for one in ("keyType", "valueType"))
            return f"map<{','.join(of)}>"
        case _:
            parts = (
                f"{quoted.format(one['name'])}:{_text(one['type'], names, quoted)}"
                for one in kind["fields"]
            )
            return f"struct<{','.join(parts)}>"


# What Hive's Metastore and Glue have. Spark writes the same for a Delta table of its own: Spark and Trino know by the
# provider that it is one, and find it by ``path``; its columns they take from Delta's log, all others from here.

MOST_COMMENT: Final = 255
"""Characters of a column's comment: no more fit into Glue, and into a metastore of Hive 2 in MySQL."""
_SERDE: Final = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_INPUT: Final = "org.apache.hadoop.mapred.SequenceFileInputFormat"
_OUTPUT: Final = "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"
_OF_DELTA: Final = {
    # Else dropping the table in the catalogue would remove gold.
    "EXTERNAL": "TRUE",
    "spark.sql.sources.provider": "delta",
}


def hive_columns(entry: Entry) -> list[tuple[str, str, str]]:
    """Of each column the name, the type and the comment, as Hive's Metastore and Glue have them."""
    return [
        (one.name.lower(), hive_type(one.type), shortened(one.comment or ""))
        for one in entry.columns
    ]


def shortened(text: str, most: int = MOST_COMMENT) -> str:
    """A text that has at most so many characters, and says where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class HiveTable:
    """What a table of Hive's Metastore has, in plain values."""

    parameters: Mapping[str, str]
    columns: Sequence[tuple[str, str, str]]
    location: str
    serde: str
    serde_parameters: Mapping[str, str]
    input_format: str
    output_format: str


def hive_table(entry: Entry, others: Mapping[str, str]) -> HiveTable:
    """A table of Hive's Metastore; ``others``: the parameters that it has there, of which those of others are kept."""
    # Hadoop's own client knows S3 by this name.
    location = entry.location.replace("s3://", "s3a://", 1)
    return HiveTable(
        parameters={**kept(others), **_OF_DELTA, **entry.properties, "comment": entry.comment},
        columns=hive_columns(entry),
        location=location,
        serde=_SERDE,
        serde_parameters={"serialization.format": "1", "path": location},
        input_format=_INPUT,
        output_format=_OUTPUT,
    )


def kept(others: Mapping[str, str]) -> dict[str, str]:
    """The properties of a table that others gave it."""
    return {name: value for name, value in others.items() if not name.startswith("weir.")}


def glue_table(entry: Entry, others: Mapping[str, str]) -> dict[str, Any]:
    """What ``CreateTable`` and ``UpdateTable`` of Glue take as ``TableInput``; ``others``: as of Hive.

    https://docs.aws.amazon.com/athena/latest/ug/delta-lake-tables-syncing-metadata.html: this provider, and the place
    among the parameters of the serde, are what Athena knows such a table by.
    """
    return {
        "Name": entry.name,
        "Description": shortened(entry.comment, 2048),
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {**kept(others), **_OF_DELTA, "classification": "delta", **entry.properties},
        "StorageDescriptor": {
            "Columns": [
                {"Name": name, "Type": kind, "Comment": comment}
                for name, kind, comment in hive_columns(entry)
            ],
            "Location": entry.location,
            "InputFormat": _INPUT,
            "OutputFormat": _OUTPUT,
            "SerdeInfo": {
                "SerializationLibrary": _SERDE,
                "Parameters": {"serialization.format": "1", "path": entry.location},
            },
        },
    }


def unity_table(catalog: str, entry: Entry, others: Mapping[str, str]) -> dict[str, Any]:
    """What ``POST /tables`` of Unity Catalog takes; ``others``: as of Hive."""
    return {
        "name": entry.name,
        "catalog_name": catalog,
        "schema_name": entry.schema,
        "table_type": "EXTERNAL",
        "data_source_format": "DELTA",
        "storage_location": entry.location,
        "comment": entry.comment,
        "properties": {**kept(others), **entry.properties},
        "columns": [_unity_column(at, one) for at, one in enumerate(entry.columns)],
    }


def _unity_column(position: int, column: Column) -> dict[str, Any]:
    kind = column.type
    name = kind if isinstance(kind, str) else str(kind["type"])
    comment = {"comment": column.comment} if column.comment else {}
    field = {"name": column.name, "type": kind, "nullable": column.is_nullable, "metadata": comment}
    found = {
        "name": column.name,
        "type_text": spark_type(kind),
        "type_json": json.dumps(field, ensure_ascii=False),
        "type_name": _UNITY_NAMES.get(name, name.partition("(")[0].upper()),
        "position": position,
        "nullable": column.is_nullable,
        **comment,
    }
    if digits := re.fullmatch(r"decimal\((\d+),(\d+)\)", name):
        found |= {"type_precision": int(digits[1]), "type_scale": int(digits[2])}
    return found


# What registering comes to.

State = Literal["new", "changed", "same", "refused"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A table as a catalogue has it now: where it says that it lies, and the properties that it has."""

    location: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of one table; ``says``: why it was refused."""

    name: str
    state: State
    says: str = ""


def state_of(entry: Entry, stored: Stored | None, catalogue: Catalogue) -> Registered:
    """What is to become of a table, by what the catalogue has under its name."""
    if stored is None:
        return Registered(entry.full_name, "new")
    if not is_same_place(stored.location, entry.location):
        says = (
            f"{catalogue} has a table {entry.full_name} at {stored.location or 'no place'}, and gold is at"
            f" {entry.location}: it is somebody else's and was left as it is. Drop it there, or let {SCHEMA} give gold"
            " a schema of its own"
        )
        return Registered(entry.full_name, "refused", says)
    is_same = stored.properties.get(DIGEST) == entry.digest
    return Registered(entry.full_name, "same" if is_same else "changed")


def left_behind(feed: str, entries: Sequence[Entry], stored: Mapping[str, Stored]) -> list[str]:
    """The tables that the feed once registered, and of which it has no gold any more."""
    known = {one.name for one in entries}
    return sorted(
        name
        for name, one in stored.items()
        if name not in known and one.properties.get(OF_FEED) == feed
    )
