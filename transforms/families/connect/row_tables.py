"""How the messages of each of a feed's tables are read, kept from one message of a table to the next.

Put here what is remembered of a table. Not here: how a row is read by one schema (``rows``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from transforms.families.connect.rows import Rows
from transforms.feed.feed import Feed

_MOST_TABLES: Final = 10_000
"""Names of tables come from outside: so many are kept at most, and then all are forgotten."""


class Table:
    """How the messages of one table are read: by the schema that the last one had, which the next one mostly has."""

    __slots__ = ("_key_fields", "_key_rows", "_make", "_row_fields", "_rows")

    def __init__(self, declared: Mapping[str, str], *, decimals_may_be_plain: bool) -> None:
        self._make = partial(Rows, declared=declared, decimals_may_be_plain=decimals_may_be_plain)
        self._row_fields: list[Any] | None = None
        self._rows = self._make(None)
        self._key_fields: list[Any] | None = None
        self._key_rows = self._rows

    def rows(self, fields: list[Any] | None) -> Rows:
        """How rows are read by a schema that lists these fields; None: without a schema."""
        if fields != self._row_fields:
            self._row_fields, self._rows = fields, self._make(fields)
        return self._rows

    def key_rows(self, fields: list[Any] | None, rows: Rows) -> Rows:
        """How the key's values are read: by its own schema, or else as the row's."""
        if fields != self._key_fields:
            self._key_fields, self._key_rows = fields, self._make(fields)
        return rows if self._key_rows.names is None else self._key_rows


class Tables:
    """How each table's messages are read.

    ``decimals_may_be_plain``: whether a decimal's text that reads as a number is one.
    """

    __slots__ = ("_decimals_may_be_plain", "_declared", "_tables")

    def __init__(self, feed: Feed, *, decimals_may_be_plain: bool) -> None:
        self._declared = _declared_types(feed)
        self._decimals_may_be_plain = decimals_may_be_plain
        self._tables: dict[tuple[str | None, str | None, str | None], Table] = {}

    def table(self, catalog: str | None, schema: str | None, name: str | None) -> Table:
        """How the messages of a table are read, by its name in the stream."""
        names = (catalog, schema, name)
        found = self._tables.get(names)
        if found is None:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            found = Table(self._types(*names), decimals_may_be_plain=self._decimals_may_be_plain)
            self._tables[names] = found
        return found

    def _types(self, *names: str | None) -> Mapping[str, str]:
        """The types of the table's columns as the feed declares them; it may leave out the names in front."""
        for first in range(len(names)):
            spelled = ".".join([name for name in names[first:] if name is not None])
            if spelled in self._declared:
                return self._declared[spelled]
        return {}


def _declared_types(feed: Feed) -> dict[str, Mapping[str, str]]:
    """The types of each declared table by column, under all names that tables and columns have or had."""
    found: dict[str, Mapping[str, str]] = {}
    for name, table in feed.tables.items():
        earlier = {old: table.source_columns[new] for old, new in table.renamed.items()}
        types = {**table.source_columns, **earlier}
        found.update(dict.fromkeys((name, *table.was), types))
    return found
