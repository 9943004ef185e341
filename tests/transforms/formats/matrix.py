"""Which source comes in which envelope and where from, each with the golden case that shows it, as README and docs say.

``python -m tests.transforms.formats.matrix`` prints both tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

FILES: Final = "files"
DUMP: Final = "dump"
TOPIC: Final = "topic"
LANDINGS: Final = (FILES, DUMP, TOPIC)


@dataclass(frozen=True, slots=True)
class Envelope:
    """How a source's record is packed.

    ``brief``: the name in README. ``shows``: a regular expression over an object's bytes, quotes in quotes made plain,
    that only this envelope fits; none for what the format's own marks show. ``alone``: why other sources have it not.
    ``nowhere``: by landing, why it does not come from there.
    """

    name: str
    brief: str
    alone: str
    shows: bytes = b""
    nowhere: tuple[tuple[str, str], ...] = ()


_NO_TOPIC: Final = "it is a form of whole files"
_WIRE: Final = ((FILES, "it is binary, and a plain line has no place for the schema's id"),)
_OF_FILES: Final = ((DUMP, _NO_TOPIC), (TOPIC, _NO_TOPIC))
_WRAPPED: Final = (
    (FILES, "a wrapping makes a dump of it"),
    (TOPIC, "a cloud or a tool wraps what it has taken from a topic"),
)
_IN_KAFKA: Final = "the others are not sent through Kafka or a cloud's stream"
_CONNECT: Final = "Kafka Connect's converters write it, of which the others make no use"
_DEBEZIUM: Final = "Debezium, or what imitates it, writes it"


def _wrapping(name: str, shows: bytes) -> Envelope:
    return Envelope(name, "wrapped", _IN_KAFKA, shows, _WRAPPED)


PLAIN: Final = Envelope("plain JSON", "JSON", "")
CSV: Final = Envelope("CSV", "CSV", "Arcion alone writes rows of changes so", b"^", _OF_FILES)
EXPORT: Final = Envelope(
    "an export, RDF or JSON",
    "exports",
    "Dgraph's own; other sources send a snapshot as events",
    rb"^<|\"namespace\"",
    _OF_FILES,
)
SCHEMA: Final = Envelope(
    "JSON with its schema", "with schema", _CONNECT, rb'"schema": ?\{\s*"type": ?"struct"'
)
NATIVE: Final = Envelope("NATIVE", "NATIVE", "Arcion alone writes it", rb'"tableName"')
ROWS: Final = Envelope(
    "rows without envelope", "unwrapped rows", _DEBEZIUM, rb'"(?:__|cdc_)(?:op|deleted)"'
)
AVRO: Final = Envelope(
    "Avro by a registry", "Avro", _CONNECT, rb'"value": ?"AAAA[A-Za-z0-9+/]{3}(?!7)', _WIRE
)
JSON_SCHEMA: Final = Envelope(
    "JSON Schema by a registry",
    "JSON Schema",
    _CONNECT,
    rb'"value": ?"AAAA[A-Za-z0-9+/]{3}7',
    _WIRE,
)
PROTOBUF: Final = Envelope(
    "Protobuf by a registry",
    "Protobuf",
    _CONNECT,
    # The sixth byte says that the message is the schema's first.
    rb'"value": ?"AAAA[A-Za-z0-9+/]{3}A',
    _WIRE,
)
CONTAINER: Final = Envelope("Avro container files", "Avro files", _CONNECT, b"^Obj\x01", _OF_FILES)
AVROS_JSON: Final = Envelope(
    "Avro's own JSON",
    "Avro's JSON",
    "kafka-avro-console-consumer prints it; of Arcion's messages none is known",
    rb'"after": ?\{"[\w.]+\.Value"',
    ((DUMP, "the console's consumer prints values alone"), (TOPIC, "it is made in printing")),
)
CLOUD_EVENTS: Final = Envelope("CloudEvents", "CloudEvents", _DEBEZIUM, b'"specversion"')
MATERIALIZE: Final = Envelope(
    "Materialize's images",
    "Materialize",
    _DEBEZIUM,
    b'"materialize-timestamp"',
    ((FILES, "its events have no place but their offset"),),
)
MONGODB: Final = Envelope("documents of MongoDB", "MongoDB", _DEBEZIUM, rb"\$oid")
CASSANDRA: Final = Envelope("cells of Cassandra", "Cassandra", _DEBEZIUM, b'"deletion_ts"')
YUGABYTEDB: Final = Envelope(
    "cells of YugabyteDB",
    "YugabyteDB's connectors",
    _DEBEZIUM,
    rb'"value": ?[^{}]+, ?"set": ?(?:true|false)\}',
    ((FILES, "its connector writes topics; a plain file of values has no golden case"),),
)
RISINGWAVE: Final = Envelope(
    "RisingWave's sinks",
    "RisingWave",
    _DEBEZIUM,
    b'"RisingWave\\.',
    ((FILES, "it writes topics; a plain file of values has no golden case"),),
)
WRAPPINGS: Final = (
    _wrapping("Lambda's event of MSK", b'"aws:kafka"'),
    _wrapping("Lambda's event of Kinesis", b'"kinesis"'),
    _wrapping("Firehose", b'"deliveryStreamArn"'),
    _wrapping("Pub/Sub", b'"message": ?\\{\\s*"data"'),
    _wrapping("Redpanda Console", b'"partitionID"'),
    _wrapping(
        "REST proxy", rb'^\[\s*\{"topic": ?"[^"]*", "partition": ?\d+, "offset": ?\d+, "key"'
    ),
    _wrapping("kcat", b'"tstype"'),
    _wrapping(
        "rpk", rb'^\{"topic": ?"[^"]*", (?:"partition".*)?"key".*"value".*"timestamp": ?\d{13}'
    ),
)
ENVELOPES: Final = (
    *(PLAIN, SCHEMA, CSV, NATIVE, EXPORT, ROWS, AVRO, JSON_SCHEMA, PROTOBUF, CONTAINER, AVROS_JSON),
    *(CLOUD_EVENTS, MATERIALIZE, MONGODB, CASSANDRA, YUGABYTEDB, RISINGWAVE, *WRAPPINGS),
)


class Cell(NamedTuple):
    """One source in one envelope: by landing, the scenario below ``tests/cases/<source>`` that shows it."""

    source: str
    envelope: Envelope
    files: str | None = None
    dump: str | None = None
    topic: str | None = None

    def case(self, landing: str) -> str | None:
        """The golden case of one landing; None for a dash."""
        name = {FILES: self.files, DUMP: self.dump, TOPIC: self.topic}[landing]
        return None if name is None else f"{self.source}/{name}"


def _both(source: str, envelope: Envelope, case: str, files: str | None = None) -> Cell:
    """A dump and its topic, which one case shows."""
    return Cell(source, envelope, files, case, case)


def _wrappings(source: str, case: str, **others: str) -> Iterator[Cell]:
    for one in WRAPPINGS:
        yield Cell(source, one, dump=others.get(one.name, case))


_TOOLS: Final = "wrapped_by_clouds_and_tools"
_WITHOUT_KEYS: Final = "without_keys"
CELLS: Final = (
    Cell("arcion_s3_json", PLAIN, "insert"),
    Cell("arcion_s3_csv", CSV, "insert"),
    _both("arcion_kafka", PLAIN, "messages_without_schema", _TOOLS),
    _both("arcion_kafka", SCHEMA, "insert", "line_break_in_the_query"),
    _both("arcion_kafka", NATIVE, "native_changes", "native_snapshot_rows"),
    _both("arcion_kafka", AVRO, "avro_in_the_wire_format"),
    _both("arcion_kafka", JSON_SCHEMA, "json_schema_in_the_wire_format"),
    Cell("arcion_kafka", CONTAINER, "avro_container_of_a_sink"),
    *_wrappings("arcion_kafka", _TOOLS),
    _both("debezium", PLAIN, "insert", f"bare_values_{_WITHOUT_KEYS}"),
    _both("debezium", SCHEMA, "with_schema", f"values_with_schema_and_{_WITHOUT_KEYS}"),
    _both(
        "debezium",
        ROWS,
        "unwrapped_rows_say_that_they_are_deleted",
        "unwrapped_rows_without_offsets_stand_in_the_log",
    ),
    _both("debezium", AVRO, "avro_in_the_wire_format"),
    _both("debezium", JSON_SCHEMA, "json_schema_in_the_wire_format"),
    _both("debezium", PROTOBUF, "messages_in_protobuf"),
    Cell("debezium", CONTAINER, "avro_container_of_a_sink"),
    Cell("debezium", AVROS_JSON, "avros_own_json_is_taken_out_of_its_unions"),
    _both("debezium", CLOUD_EVENTS, "cloud_events", f"cloud_events_{_WITHOUT_KEYS}"),
    _both("debezium", MATERIALIZE, "images_alone_as_materialize_sends_them"),
    _both("debezium", MONGODB, "documents_of_mongodb", f"documents_of_mongodb_{_WITHOUT_KEYS}"),
    _both(
        "debezium",
        CASSANDRA,
        "cassandra_orders_by_the_time_of_the_write",
        f"cassandra_{_WITHOUT_KEYS}",
    ),
    _both("debezium", YUGABYTEDB, "yboutput_with_replica_identity_change"),
    _both("debezium", RISINGWAVE, "risingwave_sends_no_connector"),
    *_wrappings("debezium", "wrapped_by_clouds", kcat="kcat_dump", rpk="dumps_of_other_tools"),
    Cell("yugabyte", PLAIN, "insert"),
    Cell("yugabyte_xcluster", PLAIN, "insert"),
    _both("tigergraph", PLAIN, "kafka_dump", "insert"),
    *_wrappings("tigergraph", _TOOLS),
    Cell("dgraph", PLAIN, _TOOLS, "keys_of_kafka", "insert"),
    Cell("dgraph", EXPORT, "rdf_baseline"),
    *_wrappings("dgraph", _TOOLS),
)
_PLAIN_OF_FILES: Final = {
    "arcion_s3_json": "Arcion writes these files to S3; its topics are of format arcion_kafka",
    "yugabyte": "responses of the CDC SDK are asked for, and go through no Kafka",
    "yugabyte_xcluster": "clusters ask each other for these responses, and no Kafka is between them",
}
SOURCES: Final = (
    (("arcion_s3_json", "arcion_s3_csv"), "Arcion's files of changes and snapshots", "arcion.md"),
    (
        ("arcion_kafka",),
        "Arcion's JSON CDC for Kafka, all generations, and NATIVE",
        "arcion.md#topics-of-kafka-json-cdc-and-native",
    ),
    (("debezium",), "Debezium's envelopes, and rows taken out of them", "debezium.md"),
    (("yugabyte",), "GetChanges responses of YugabyteDB's CDC SDK", "yugabyte.md"),
    (
        ("yugabyte_xcluster",),
        "YugabyteDB's records for replication between clusters",
        "yugabyte.md#the-xcluster-form",
    ),
    (("tigergraph",), "TigerGraph's messages: vertices, edges, attributes", "tigergraph.md"),
    (("dgraph",), "Dgraph's CDC events, and its exports as a baseline", "dgraph.md"),
)


def why_not(cell: Cell, landing: str) -> str:
    """Why a cell has a dash for a landing."""
    if cell.envelope is PLAIN:
        return _PLAIN_OF_FILES[cell.source]
    return dict(cell.envelope.nowhere)[landing]


def table_of_readme() -> str:
    """One line per source: where it comes from, and in which envelopes."""
    lines = [
        "| format | what it reads | files | dump | topic | in | page |",
        "|---|---|---|---|---|---|---|",
    ]
    for names, reads, page in SOURCES:
        cells = [one for one in CELLS if one.source in names]
        where = ["yes" if any(one.case(landing) for one in cells) else "–" for landing in LANDINGS]
        briefs = ", ".join(dict.fromkeys(one.envelope.brief for one in cells))
        formats = ", ".join(f"`{name}`" for name in names)
        file = page.partition("#")[0]
        lines.append(
            f"| {formats} | {reads} | {' | '.join(where)} | {briefs} | [docs/{file}](docs/{page}) |"
        )
    return "\n".join(lines)


def table_of_docs() -> str:
    """One line per source and envelope; envelopes that the same cases show stand together."""
    lines = [
        "| format | envelope | files | dump | topic |",
        "|---|---|---|---|---|",
    ]
    notes: list[str] = []
    for (source, *cases), some in groupby(CELLS, key=lambda one: (one.source, *one[2:])):
        together = [*some]
        shown = []
        for landing, case in zip(LANDINGS, cases, strict=True):
            if case is not None:
                shown.append(f"`{case}`")
                continue
            why = why_not(together[0], landing)
            notes += [] if why in notes else [why]
            shown.append(f"– ({notes.index(why) + 1})")
        names = ", ".join(one.envelope.name for one in together)
        lines.append(f"| `{source}` | {names} | {' | '.join(shown)} |")
    lines += ["", *(f"{number}. {why}" for number, why in enumerate(notes, 1))]
    return "\n".join(lines)


def reasons_of_docs() -> str:
    """One line per envelope that not every source has: who has it, and why no other."""
    lines = ["| envelope | of | not of the others, because |", "|---|---|---|"]
    for (of, why), some in groupby(ENVELOPES, key=lambda one: (sources_of(one), one.alone)):
        if why:
            names = ", ".join(one.name for one in some)
            lines.append(f"| {names} | {', '.join(f'`{name}`' for name in of)} | {why} |")
    return "\n".join(lines)


def sources_of(envelope: Envelope) -> tuple[str, ...]:
    """The sources that come in an envelope."""
    return tuple(one.source for one in CELLS if one.envelope is envelope)


if __name__ == "__main__":
    print(table_of_readme(), table_of_docs(), reasons_of_docs(), sep="\n\n")
