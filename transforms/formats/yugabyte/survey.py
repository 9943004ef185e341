"""Collects how the DDL messages of a window describe its tables: row messages need it.

A row message does not carry its table's schema, and a DDL comes in a response of its own, once per tablet. Put here
what is collected from a window's records. Not here: what a DDL says (``schemas``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from transforms.event import StreamSchema
from transforms.families.yugabyte import declared
from transforms.families.yugabyte.messages import UnreadableResponse, message_of_record
from transforms.families.yugabyte.scalars import whole
from transforms.feed.feed import Feed
from transforms.formats.yugabyte import batches, get_changes, log_positions, schemas
from transforms.record import BronzeRecord

Facts: TypeAlias = "frozenset[tuple[object, ...]]"
Described: TypeAlias = Mapping[tuple[str | None, str | None], StreamSchema | None]
"""By the schema's and the table's name: the table as its newest DDL describes it, None where that has no key."""

MARKS: Final = (b"column_info", b"columnInfo")
"""What the payload of a record with a DDL has in it, in either spelling."""


def surveyor(feed: Feed) -> Callable[[BronzeRecord], Iterable[tuple[object, ...]]]:
    """The function that gives, of each DDL in a record: schema, name, version, position, and the description."""
    known = declared.declared_tables(feed)

    def survey(record: BronzeRecord) -> Iterable[tuple[object, ...]]:
        try:
            response = get_changes.read_response(
                message_of_record(record, get_changes.RESPONSE), known
            )
        except UnreadableResponse:
            return
        batches.count(response.messages)
        for message in response.messages:
            if message.op == "DDL":
                schema = None if message.schema is None else schemas.described(message.schema)
                log_position = log_positions.log_position(message, response.checkpoint)
                described = None if schema is None else tuple(schema)
                version = whole(message.row.get("schema_version"))
                yield message.schema_name, message.name, version, log_position, described

    return survey


def newest(facts: Facts) -> Described:
    """The tables of a window: each as its newest DDL describes it.

    The higher ``schema_version`` is newer. Several tablets send the same version; their positions do not compare, but
    their descriptions agree.
    """
    ordered = sorted(facts, key=_age)
    return {
        cast("tuple[str | None, str | None]", (schema, name)): described
        and StreamSchema(*described)
        for schema, name, _, _, described in cast("list[tuple[Any, ...]]", ordered)
    }


def _age(fact: tuple[Any, ...]) -> tuple[object, ...]:
    _, _, version, log_position, described = fact
    return (-1 if version is None else version, log_position or (), described or ())
