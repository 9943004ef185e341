"""Protobuf messages as JSON, whichever client wrote them down: fields under protobuf's names, scalars as texts.

Go's own ``encoding/json`` writes ``row_message``, enums and 64-bit numbers as numbers, bytes as base64; protojson
writes ``row_message`` or ``rowMessage``, enums by name and 64-bit numbers as texts.

Vendor: https://protobuf.dev/programming-guides/json (ProtoJSON), https://pkg.go.dev/encoding/json.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from transforms.column_types.registry import column_type
from transforms.column_types.texts import Binary
from transforms.families.kafka_records import object_in
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed, Table
from transforms.json_values import as_text
from transforms.record import BronzeRecord


def filled(value: Any) -> str | None:
    """The scalar as text, or None where it is empty: what protobuf calls unset."""
    return (value if type(value) is str else as_text(value)) or None


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
    document, fault = object_in(record)
    if fault is not None:
        raise UnreadableResponse(fault)
    return message_fields(document, known, "the response")


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


def check_response(response: Mapping[str, Any], parts: Sequence[str]) -> None:
    """Refuse a JSON object that is no response.

    Raises:
        UnreadableResponse: It is an error, or has none of the ``parts``.
    """
    error = response.get("error")
    if error is not None:
        answer = f"the server answered with an error: {shown(as_text(error))}"
        raise UnreadableResponse(Fault("error_response", answer))
    if all(response.get(name) is None for name in parts):
        raise UnreadableResponse(Fault("missing_field", f"none of {', '.join(parts)} is there"))


class Operations:
    """What a field says that a message does: one of some names, or its number, counted from ``first``."""

    __slots__ = ("_field", "_known", "_said")

    def __init__(self, field: str, first: int, *names: str) -> None:
        self._field = field
        numbered = {str(number): name for number, name in enumerate(names, first)}
        self._known = {**numbered, **{name: name for name in names}}
        self._said = f"{', '.join(names)}, and {first} to {first + len(names) - 1}"

    def named(self, written: str | None) -> str | None:
        """The operation's name; None where it is not known."""
        if written is None:
            return None
        return self._known.get(written) or self._known.get(written.strip().upper())

    def fault(self, written: str | None, what: str) -> Fault | None:
        """Why an operation is none; ``what`` names the message."""
        if written is None:
            return Fault("missing_field", f"{what} has no {self._field}")
        if self.named(written) is not None:
            return None
        unknown = f"{self._field} {shown(written)} is not known; known: {self._said}"
        return Fault("unknown_operation", unknown)


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
