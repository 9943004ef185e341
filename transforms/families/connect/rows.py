"""How the rows of a table are read: each column by its type in Connect's schema and by the feed's declaration.

It is worked out once for each schema that a table's messages carry, and kept for the next message: schemas change
seldom, and working them out takes longer than all else. Not here: what one value's JSON means (``values``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from transforms.event import StreamSchema, Value
from transforms.families.connect import schemas
from transforms.families.connect.values.decimals import TooLong
from transforms.families.connect.values.stand_ins import ALONE, WORD, is_unavailable
from transforms.families.connect.values.values import reader_of
from transforms.feed.feed import Feed
from transforms.json_values import as_text

_MOST_TABLES: Final = 10_000
"""Names of tables come from outside: so many are kept at most, and then all are forgotten."""


class Rows:
    """How the rows of one table are read, by one schema or without any.

    ``columns``: those of the schema, ``names`` theirs; None without a schema, or where two columns have one name.
    """

    __slots__ = ("_readers", "_stream_schemas", "columns", "names")

    def __init__(
        self, fields: list[Any] | None, declared: Mapping[str, str], *, numbers_are_texts: bool
    ) -> None:
        self.columns = schemas.columns_of(fields or ())
        named = None if fields is None else schemas.by_name(self.columns)
        self.names = None if named is None else frozenset(named)
        self._readers = {}
        for name in {**dict.fromkeys(declared), **(named or {})}:
            column = None if named is None else named.get(name)
            reader = reader_of(column, declared.get(name), numbers_are_texts=numbers_are_texts)
            if reader is not None:
                self._readers[name] = reader
        self._stream_schemas: dict[tuple[str, ...] | None, StreamSchema] = {}

    def values(self, given: Mapping[str, Any], *, with_stand_ins: bool = False) -> dict[str, Value]:
        """The columns' values; with Debezium's stand-ins, those that were not sent are left out.

        Raises:
            TooLong: A number has thousands of digits.
        """
        readers = self._readers
        found: dict[str, Value] = {}
        name = ""
        try:
            for name, value in given.items():
                kind = type(value)
                if value is None:
                    found[name] = None
                    continue
                if with_stand_ins and kind is not int:
                    may_be = kind is not str or value in ALONE or WORD in value
                    if may_be and is_unavailable(value):
                        continue
                if name in readers:
                    found[name] = readers[name](value)
                elif kind is str:
                    found[name] = value
                else:
                    found[name] = str(value) if kind is int else as_text(value)
        except TooLong as why:
            raise TooLong(f"{name} is {why}") from None
        return found

    def stream_schema(self, key: tuple[str, ...] | None) -> StreamSchema:
        """The table as this schema tells it, with that key."""
        found = self._stream_schemas.get(key)
        if found is None:
            types = [(str(one.field), schemas.spark_type(one)) for one in self.columns]
            found = StreamSchema(key, tuple(types), tuple(sorted(self._readers)))
            # All messages of a table have one key; whoever writes other ones does not fill the memory.
            self._stream_schemas = {key: found}
        return found


class Table:
    """How the messages of one table are read: by the schema that the last one had, which the next one mostly has."""

    __slots__ = ("_key_fields", "_key_rows", "_make", "_row_fields", "_rows")

    def __init__(self, declared: Mapping[str, str], *, numbers_are_texts: bool) -> None:
        self._make = partial(Rows, declared=declared, numbers_are_texts=numbers_are_texts)
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

    ``numbers_are_texts``: whether a decimal's text that reads as a number is one.
    """

    __slots__ = ("_declared", "_numbers_are_texts", "_tables")

    def __init__(self, feed: Feed, *, numbers_are_texts: bool) -> None:
        self._declared = _declared_types(feed)
        self._numbers_are_texts = numbers_are_texts
        self._tables: dict[tuple[str | None, str | None, str | None], Table] = {}

    def table(self, catalog: str | None, schema: str | None, name: str | None) -> Table:
        """How the messages of a table are read, by its name as the stream tells it."""
        names = (catalog, schema, name)
        found = self._tables.get(names)
        if found is None:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            found = Table(self._types(*names), numbers_are_texts=self._numbers_are_texts)
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
        earlier = {old: table.columns[new] for old, new in table.renamed.items()}
        types = {**table.columns, **earlier}
        found.update(dict.fromkeys((name, *table.was), types))
    return found
