"""How the rows of a table are read: each column by its type in Connect's schema and by the feed's declaration.

It is worked out once for each schema that a table's messages carry, and kept for the next message: schemas change
seldom, and working them out takes longer than all else. Put here what is worked out for one schema. Not here: what one
value's JSON means (``values``), and what is kept from message to message (``row_tables``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transforms.event import StreamSchema, Value
from transforms.families.connect import logical_types, schemas
from transforms.families.connect.values.placeholders import NONE, Placeholders
from transforms.families.connect.values.values import Unsent, reader_of
from transforms.json_values import as_text
from transforms.value_types.decimals import TooLong


class Rows:
    """How the rows of one table are read, by one schema or without any.

    ``columns``: those of the schema, ``names`` theirs; None without a schema, or where two columns have one name.
    ``read_by_schema``: the columns whose values it says how to read: all but plain whole numbers and plain bytes, which
    may count or hold anything. ``texts_for_bytes``: columns that the feed declares as binary and the schema as text:
    nothing says how their bytes are written in it.
    """

    __slots__ = (
        *("_placeholders", "_readers", "_stream_schemas"),
        *("columns", "names", "read_by_schema", "texts_for_bytes"),
    )

    def __init__(
        self,
        fields: list[Any] | None,
        declared: Mapping[str, str],
        *,
        decimals_may_be_plain: bool,
        placeholders: Placeholders = NONE,
    ) -> None:
        self._placeholders = placeholders
        self.columns = schemas.columns_of(fields or ())
        named = None if fields is None else schemas.by_name(self.columns)
        self.names = None if named is None else frozenset(named)
        self._readers = {}
        for name in {**dict.fromkeys(declared), **(named or {})}:
            column = None if named is None else named.get(name)
            reader = reader_of(column, declared.get(name), decimals_may_be_plain, placeholders)
            if reader is not None:
                self._readers[name] = reader
        self.read_by_schema = frozenset(
            name for name, column in (named or {}).items() if not column.kind.is_open
        )
        self.texts_for_bytes = frozenset(
            name
            for name, column in (named or {}).items()
            if column.kind.type == "string" and declared.get(name) == "binary"
        )
        self._stream_schemas: dict[tuple[str, ...] | None, StreamSchema] = {}

    def values(
        self, given: Mapping[str, Any], *, with_placeholders: bool = False
    ) -> dict[str, Value]:
        """The columns' values; with Debezium's stand-ins, those that were not sent are left out.

        Raises:
            TooLong: A number has thousands of digits.
        """
        readers, placeholders = self._readers, self._placeholders
        found: dict[str, Value] = {}
        name = ""
        try:
            for name, value in given.items():
                kind = type(value)
                if value is None:
                    found[name] = None
                    continue
                if with_placeholders and kind is not int:
                    may_be = kind is not str or placeholders.may_be_in(value)
                    if may_be and placeholders.has(value):
                        continue
                if name in readers:
                    try:
                        found[name] = readers[name](value)
                    except Unsent:
                        continue
                elif kind is str:
                    found[name] = value
                else:
                    found[name] = str(value) if kind is int else as_text(value)
        except TooLong as why:
            raise TooLong(f"{name} is {why}") from None
        return found

    def _defaults(self) -> tuple[tuple[str, str], ...]:
        """What columns have in rows from before they were added, where the schema says it."""
        given = {str(one.field): one.default for one in self.columns if one.default is not None}
        try:
            texts = self.values(given)
        except TooLong:
            return ()
        return tuple((name, text) for name, text in texts.items() if type(text) is str)

    def stream_schema(self, key: tuple[str, ...] | None) -> StreamSchema:
        """The table as this schema describes it, with this key."""
        found = self._stream_schemas.get(key)
        if found is None:
            types = [(str(one.field), logical_types.spark_type(one)) for one in self.columns]
            found = StreamSchema(key, tuple(types), tuple(sorted(self._readers)), self._defaults())
            # All messages of a table have one key; whoever writes other ones does not fill the memory.
            self._stream_schemas = {key: found}
        return found
