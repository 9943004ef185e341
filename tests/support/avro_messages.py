"""Debezium's messages as Confluent's AvroConverter writes them: schemas, and values in the wire format."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import fastavro

from transforms.feed.feed import RegisteredSchema

SOURCE = {
    "type": "record",
    "name": "Source",
    "namespace": "io.debezium.connector.postgresql",
    "connect.name": "io.debezium.connector.postgresql.Source",
    "fields": [
        {"name": "connector", "type": "string"},
        {"name": "ts_ms", "type": "long"},
        {"name": "snapshot", "type": ["null", "string"], "default": None},
        {"name": "db", "type": "string"},
        {"name": "schema", "type": "string"},
        {"name": "table", "type": "string"},
        {"name": "lsn", "type": ["null", "long"], "default": None},
    ],
}


def key_schema(table: str, *columns: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the keys of a table's messages."""
    space = f"shop.public.{table}"
    return {
        **{"type": "record", "name": "Key", "namespace": space, "fields": list(columns)},
        "connect.name": f"{space}.Key",
    }


def envelope_schema(table: str, *columns: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the messages of a table with these columns."""
    space = f"shop.public.{table}"
    row = {
        **{"type": "record", "name": "Value", "fields": list(columns)},
        "connect.name": f"{space}.Value",
    }
    return {
        **{"type": "record", "name": "Envelope", "namespace": space},
        "fields": [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": SOURCE},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
        "connect.name": f"{space}.Envelope",
    }


def change(op: str, table: str, lsn: int, **images: Any) -> dict[str, Any]:
    """A change of a row, with its images ``before`` and ``after``."""
    source = {
        **{"connector": "postgresql", "ts_ms": 1_763_611_200_000 + lsn, "snapshot": "false"},
        **{"db": "shop", "schema": "public", "table": table, "lsn": lsn},
    }
    empty = {"before": None, "after": None}
    return {**empty, **images, "source": source, "op": op, "ts_ms": 1_763_611_200_500}


def written(schema: object, value: object) -> bytes:
    """A value in Avro's bytes."""
    stream = io.BytesIO()
    # A copy: fastavro notes in a schema that it has gone through it.
    fastavro.schemaless_writer(stream, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return stream.getvalue()


def wired(number: int, schema: object, value: object) -> bytes:
    """A value in Confluent's wire format."""
    return b"\x00" + number.to_bytes(4, "big") + written(schema, value)


def registered(schema: object, *references: object) -> RegisteredSchema:
    """A schema as the driver has it from a registry."""
    return RegisteredSchema("AVRO", json.dumps(schema), tuple(map(json.dumps, references)))
