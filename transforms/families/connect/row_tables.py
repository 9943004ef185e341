"""How the messages of each of a feed's tables are read, kept from one message of a table to the next.

Put here what is remembered of a table. Not here: how a row is read by one schema (``rows``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from transforms.families.connect.rows import Rows
from transforms.families.connect.values.placeholders import DEFAULT, NONE, Placeholders
from transforms.families.connect.values.values import IN_BASE64
from transforms.feed.feed import Feed
from transforms.value_types.encodings import is_base64

_MOST_TABLES: Final = 10_000
"""Names of tables come from outside: so many are kept at most, and then all are forgotten."""


class Table:
    """How the messages of one table are read: by the schema that the last one had, which the next one mostly has."""

    __slots__ = ("_key_fields", "_key_rows", "_make", "_row_fields", "_rows")

    def __init__(
        self,
        declared: Mapping[str, str],
        *,
        decimals_may_be_plain: bool,
        placeholders: Placeholders,
    ) -> None:
        self._make = partial(
            Rows,
            declared=declared,
            decimals_may_be_plain=decimals_may_be_plain,
            placeholders=placeholders,
        )
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

    ``has_placeholders``: whether there are Debezium's for values that were not sent. ``decimals_may_be_plain``: whether
    a decimal's text that reads as a number is one.
    """

    __slots__ = ("_decimals_may_be_plain", "_declared", "_placeholders", "_tables")

    def __init__(self, feed: Feed, *, has_placeholders: bool, decimals_may_be_plain: bool) -> None:
        self._declared = _declared_types(feed)
        self._placeholders = _placeholders(feed) if has_placeholders else defaultdict(lambda: NONE)
        self._decimals_may_be_plain = decimals_may_be_plain
        self._tables: dict[tuple[str | None, str | None, str | None], Table] = {}

    def table(self, catalog: str | None, schema: str | None, name: str | None) -> Table:
        """How the messages of a table are read, by its name in the stream."""
        names = (catalog, schema, name)
        found = self._tables.get(names)
        if found is None:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            spelled = self._spelled(*names)
            found = Table(
                self._declared.get(spelled, {}),
                decimals_may_be_plain=self._decimals_may_be_plain,
                placeholders=self._placeholders[spelled],
            )
            self._tables[names] = found
        return found

    def _spelled(self, *names: str | None) -> str:
        """The table as the feed declares it, which may leave out the names in front; empty where it does not."""
        for first in range(len(names)):
            spelled = ".".join([name for name in names[first:] if name is not None])
            if spelled in self._declared:
                return spelled
        return ""


def _placeholders(feed: Feed) -> Mapping[str, Placeholders]:
    """What stands for values that were not sent, by each name that a declared table has or had."""
    of_feed = Placeholders(feed.unavailable_value) if feed.unavailable_value else DEFAULT
    found: defaultdict[str, Placeholders] = defaultdict(lambda: of_feed)
    for name, table in feed.tables.items():
        if table.unavailable_value:
            own = Placeholders(table.unavailable_value)
            found.update(dict.fromkeys((name, *table.was), own))
    return found


def _declared_types(feed: Feed) -> dict[str, Mapping[str, str]]:
    """The types of each declared table by column, under all names that tables and columns have or had.

    A type says it where the feed file declares that its values may be base64.
    """
    found: dict[str, Mapping[str, str]] = {}
    for name, table in feed.tables.items():
        columns = {
            column: kind + (IN_BASE64 if is_base64(table.encodings.get(column)) else "")
            for column, kind in table.source_columns.items()
        }
        types = {**columns, **{old: columns[new] for old, new in table.renamed.items()}}
        found.update(dict.fromkeys((name, *table.was), types))
    return found
