"""What an envelope's ``source`` says: which table an event is of, and where it stands in the source's log.

Facts: Debezium's documentation, the ``source`` of its connectors for MySQL (file, pos, row) and PostgreSQL (schema,
lsn). Put here how ``source`` is read. Not here: which of several positions counts (``log_entries``, ``formats``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from transforms.families.whole_numbers import whole
from transforms.json_values import as_text

_DIGITS: Final = "0123456789"


class Source(NamedTuple):
    """An envelope's source; ``fields`` are all that it says.

    ``catalog``, ``schema``, ``name``: the table. ``log``: the number of the log file, the position in it, and the row
    of the event at that position; None where the file has no number.
    """

    fields: Mapping[str, Any]
    catalog: str | None = None
    schema: str | None = None
    name: str | None = None
    log: tuple[int, ...] | None = None

    def text(self, field: str) -> str | None:
        """A field as text."""
        return as_text(self.fields.get(field))


UNKNOWN: Final = Source({})


def read_source(fields: Any) -> Source:
    """The source; one that is no object says nothing.

    The table is the one that it names: a schema's name says less, for topics are routed and renamed.
    """
    if type(fields) is not dict:
        return UNKNOWN
    database, schema = _named(fields.get("db")), _named(fields.get("schema"))
    catalog = None if schema is None else database
    schema = database if schema is None else schema
    return Source(fields, catalog, schema, _named(fields.get("table")), _log(fields))


def _log(fields: Mapping[str, Any]) -> tuple[int, ...] | None:
    file, position = fields.get("file"), whole(fields.get("pos"))
    if position is None or type(file) is not str:
        return None
    file = file.rstrip()
    number = whole(file[len(file.rstrip(_DIGITS)) :])
    return None if number is None else (number, position, whole(fields.get("row")) or 0)


def _named(part: Any) -> str | None:
    text = as_text(part)
    return text if text and text.strip(" ") else None
