"""Protobuf messages as JSON, whichever client wrote them down: fields under protobuf's names, scalars as texts.

Go's own ``encoding/json`` writes ``row_message``, enums and 64-bit numbers as numbers, bytes as base64; protojson
writes ``row_message`` or ``rowMessage``, enums by name and 64-bit numbers as texts.

Vendor: https://protobuf.dev/programming-guides/json (ProtoJSON), https://pkg.go.dev/encoding/json.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from transforms import json_values
from transforms.column_types.registry import column_type
from transforms.column_types.texts import Binary
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed, Table
from transforms.record import BronzeRecord


def filled(value: Any) -> str | None:
    """The scalar as text, or None where it is empty: what protobuf calls unset."""
    return (value if type(value) is str else json_values.as_text(value)) or None


def whole(value: Any) -> int | None:
    """A signed 64-bit number, however it is written; None for all else."""
    number = _integer(value)
    return number if number is not None and -(2**63) <= number < 2**63 else None


def unsigned(value: Any) -> int | None:
    """An unsigned 64-bit number, however it is written; None for all else."""
    number = _integer(value)
    return number if number is not None and 0 <= number < 2**64 else None


_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")


def _integer(value: Any) -> int | None:
    if type(value) is int:
        return value
    if type(value) is str and _INTEGER.fullmatch(value):
        return int(value)
    return None


class Names(NamedTuple):
    """The fields of one kind of message: every spelling of each, to protobuf's name, and those that are not its own."""

    of_spelled: Mapping[str, str]
    other_spellings: frozenset[str]


class UnreadableResponse(ValueError):
    """A record is no response that can be read; ``fault`` says why. Nothing of it can be taken."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


def camel_case(name: str) -> str:
    """A field's name as protojson writes it by default."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


def field_names(*known: str) -> Names:
    """The fields of one kind of message, in both spellings."""
    others = {camel_case(name): name for name in known if camel_case(name) != name}
    return Names({**others, **{name: name for name in known}}, frozenset(others))


ADDED: Final = ("tablet", "tablet_id", "stream", "stream_id", "db_stream_id")
"""Fields that no response has, and that a client may add to it."""


def message_of_record(record: BronzeRecord, known: Names) -> Mapping[str, Any]:
    """The message that a record of bronze is.

    Raises:
        UnreadableResponse: The record was damaged, is no JSON object, or has other bytes than UTF-8.
    """
    if record.defect is not None:
        raise UnreadableResponse(Fault("damaged_record", shown(record.defect)))
    payload = record.payload or b""
    try:
        document = json_values.read(payload)
    except json_values.MalformedJson as fault:
        raise UnreadableResponse(_unread(payload, str(fault))) from None
    if type(document) is not dict:
        raise UnreadableResponse(
            Fault("malformed_json", f"no JSON object: {shown(json_values.as_text(document))}")
        )
    return message_fields(document, known, "the response")


def _unread(payload: bytes, why: str) -> Fault:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return Fault("invalid_utf8", "the record is not valid UTF-8")
    return Fault("malformed_json", why)


def message_fields(message: object, known: Names, what: str) -> Mapping[str, Any]:
    """The fields of a message under protobuf's names; one that is null has no value. Those of no concern may be left.

    Raises:
        UnreadableResponse: It is no message, or says one field in both spellings. ``what`` names it then.
    """
    if type(message) is not dict:
        raise other_shape(f"{what} is no object")
    if message.keys().isdisjoint(known.other_spellings):
        return message
    found: dict[str, Any] = {}
    for spelled, value in message.items():
        name = known.of_spelled.get(spelled)
        if name is not None and value is not None:
            if name in found:
                raise other_shape(f"{what} has {name} in two spellings")
            found[name] = value
    return found


def message_part(message: Mapping[str, Any], name: str, known: Names) -> Mapping[str, Any]:
    """The fields of the message that a field holds; none where the field has no value."""
    inside = message.get(name)
    return {} if inside is None else message_fields(inside, known, name)


def response_fault(response: Mapping[str, Any], parts: Sequence[str], lacking: str) -> Fault | None:
    """Why a JSON object is no response that can be read: it is an error, or has none of the ``parts``."""
    error = response.get("error")
    if error is not None:
        answer = shown(json_values.as_text(error))
        return Fault("error_response", f"the server answered with an error: {answer}")
    if all(response.get(name) is None for name in parts):
        return Fault("missing_field", lacking)
    return None


def repeated_field(value: object, what: str) -> list[Any]:
    """The messages of a repeated field; one that is not there has none.

    Raises:
        UnreadableResponse: It is no list. ``what`` names it then.
    """
    if value is None:
        return []
    if type(value) is not list:
        raise other_shape(f"{what} is no list")
    return value


def other_shape(what: str) -> UnreadableResponse:
    """The error for a field that its message cannot have so; ``what`` says which, and how it is wrong."""
    return UnreadableResponse(
        Fault("malformed_json", f"a field has another shape than its message: {what}")
    )


# The feed's declared tables, by the names that messages have for them.


class DeclaredTable(NamedTuple):
    """A declared table, and its columns that are declared as something else than binary, under all their names."""

    table: Table
    text_columns: frozenset[str]


NOT_DECLARED: frozenset[str] = frozenset()
"""The text columns of a table that is not declared: bytes stay bytes there."""


def declared_tables(feed: Feed) -> Mapping[str, DeclaredTable]:
    """The declared tables by their names, those of earlier times included."""
    found = {name: _declared(table) for name, table in feed.tables.items()}
    return found | {old: found[name] for name, table in feed.tables.items() for old in table.was}


def declared_table_of(
    known: Mapping[str, DeclaredTable], schema: str | None, name: str | None
) -> DeclaredTable | None:
    """The declared table that a message is of: the most exact name counts."""
    if name is None:
        return None
    return (schema is not None and known.get(f"{schema}.{name}")) or known.get(name)


def _declared(table: Table) -> DeclaredTable:
    today = {
        name
        for name, kind in table.source_columns.items()
        if not isinstance(column_type(kind), Binary)
    }
    earlier = {old for old, new in table.renamed.items() if new in today}
    return DeclaredTable(table, frozenset(today | earlier))
