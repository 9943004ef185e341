"""From an envelope's images to those of an event: each column by its schema's type and the feed's declaration.

It is worked out once for each schema that a table's messages carry, and kept for the next message: schemas change
seldom, and working them out takes longer than all else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from transforms.column_types.encodings import is_base64
from transforms.column_types.numbers import TooLong
from transforms.column_types.parts import encoding_at, leaves
from transforms.column_types.registry import column_type
from transforms.event import StreamSchema, Value
from transforms.families.connect import schemas
from transforms.families.connect.envelopes import ROUTER_FIELD, Envelope, Key, Vocabulary
from transforms.families.connect.values import (
    DEFAULT_PLACEHOLDERS,
    IN_BASE64,
    IN_TEXT,
    NO_PLACEHOLDERS,
    HowRead,
    Placeholders,
    Unsent,
    reader_of,
)
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import Number, as_text, part


class Rows:
    """How the rows of one table are read, by one schema or without any.

    ``columns``: those of the schema, ``names`` theirs; None without a schema, or where two columns have one name.
    ``read_by_schema``: the columns whose values it says how to read: all but plain whole numbers and plain bytes, which
    may count or hold anything, and texts of what is declared as bytes. ``texts_for_bytes``: columns that the feed
    declares as binary and the schema as text, where nothing says how their bytes are written in it.
    """

    __slots__ = (
        *("_readers", "_stream_schemas"),
        *("columns", "names", "placeholders", "read_by_schema", "texts_for_bytes"),
    )

    def __init__(
        self,
        fields: list[Any] | None,
        how: HowRead,
    ) -> None:
        declared = how.declared
        self.placeholders = how.placeholders
        self.columns = schemas.columns_of(fields or ())
        named = None if fields is None else schemas.columns_by_name(self.columns)
        self.names = None if named is None else frozenset(named)
        self._readers = {}
        for name in {**dict.fromkeys(declared), **(named or {})}:
            column = None if named is None else named.get(name)
            reader = reader_of(name, None if column is None else column.kind, how)
            if reader is not None:
                self._readers[name] = reader
        kinds = [
            one
            for name, column in (named or {}).items()
            for one in schemas.simple_kinds(name, column.kind)
        ]
        self.read_by_schema = frozenset(
            path
            for path, kind in kinds
            # Bytes in other values are base64, which no other way of writing them may be taken for.
            if not (kind.is_open and (path in (named or {}) or kind.type != "bytes"))
            and not (kind.type == "string" and declared.get(path) in _BINARY)
        )
        self.texts_for_bytes = frozenset(
            path for path, kind in kinds if kind.type == "string" and declared.get(path) == "binary"
        )
        self._stream_schemas: dict[tuple[str, ...] | None, StreamSchema] = {}

    def values(
        self, given: Mapping[str, Any], *, with_placeholders: bool = False
    ) -> dict[str, Value]:
        """The columns' values; with Debezium's stand-ins, those that were not sent are left out.

        Raises:
            TooLong: A number has thousands of digits.
        """
        readers, placeholders = self._readers, self.placeholders
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

    def texts_of(self, names: Iterable[str]) -> ReadTexts:
        """Reads the values of images that have just these columns, as ``values`` does."""
        found = [self._readers.get(name) for name in names]
        readers = found if any(found) else None

        def texts(given: Mapping[str, Any], *, with_placeholders: bool) -> list[Value]:
            values = given.values()
            if with_placeholders or not _SCALARS.issuperset(map(type, values)):
                read = self.values(given, with_placeholders=bool(self.placeholders.texts))
                if len(read) < len(given):
                    raise Unsent
                return [*read.values()]
            if readers is None:
                return [one if one is None or type(one) is str else as_text(one) for one in values]
            return [
                one
                if one is None
                else read(one)
                if read is not None
                else one
                if type(one) is str
                else as_text(one)
                for one, read in zip(values, readers, strict=True)
            ]

        return texts

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
            types = [(str(one.field), schemas.spark_type(one.kind)) for one in self.columns]
            found = StreamSchema(key, tuple(types), tuple(sorted(self._readers)), self._defaults())
            # All messages of a table have one key; whoever writes other ones does not fill the memory.
            self._stream_schemas = {key: found}
        return found


class ReadTexts(Protocol):
    """Reads the values of an image; ``with_placeholders``: one of them may stand for a value that was not sent.

    Raises:
        Unsent: One of them does.
        TooLong: A number has thousands of digits.
    """

    def __call__(self, given: Mapping[str, Any], *, with_placeholders: bool) -> list[Value]:
        """The values, in the order of the image."""


_SCALARS: Final = frozenset({str, int, bool, Number, type(None)})
_BINARY: Final = ("binary", f"binary{IN_TEXT}")
_MOST_TABLES: Final = 10_000
"""Maximum number of tables that are kept: names come from outside, and then all are forgotten."""


class RowTable:
    """How the messages of one table are read: by the schema that the last one had, which the next one mostly has."""

    __slots__ = ("_key_fields", "_key_rows", "_make", "_row_fields", "_rows")

    def __init__(self, make: Callable[[list[Any] | None], Rows]) -> None:
        self._make = make
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


def _placeholders(feed: Feed) -> Mapping[str, Placeholders]:
    """What stands for values that were not sent, by each name that a declared table has or had."""
    of_feed = (
        Placeholders(feed.unavailable_value) if feed.unavailable_value else DEFAULT_PLACEHOLDERS
    )
    found: defaultdict[str, Placeholders] = defaultdict(lambda: of_feed)
    for name, table in feed.tables.items():
        if table.unavailable_value:
            own = Placeholders(table.unavailable_value)
            found.update(dict.fromkeys((name, *table.was), own))
    return found


def _declared_types(feed: Feed) -> dict[str, Mapping[str, str]]:
    """The types of each declared table by column, under all names that tables and columns have or had.

    A type says it where the feed file declares that its values may be base64. Beside the columns stand the simple types
    in arrays, maps and structs, by path.
    """
    found: dict[str, Mapping[str, str]] = {}
    for name, table in feed.tables.items():
        types: dict[str, str] = {}
        for column, kind in table.source_columns.items():
            own = {column: kind}
            own |= {path: one.name for path, one in leaves(column, column_type(kind))}
            for path, one in own.items():
                written = encoding_at(path, column_type(one), table.encodings)
                types[path] = one + _written(one, written)
        columns = {**types}
        for old, new in table.renamed.items():
            types |= {
                old + path.removeprefix(new): one
                for path, one in columns.items()
                if path.partition(".")[0] == new
            }
        found.update(dict.fromkeys((name, *table.was), types))
    return found


def _written(kind: str, encoding: str | None) -> str:
    if encoding is not None and kind == "binary":
        return IN_TEXT
    return IN_BASE64 if is_base64(encoding) else ""


@dataclass(slots=True)
class Images:
    """The images of an event, and the table as its schema describes it.

    ``has_after``: there is a new image, or what stands in its place. ``is_partial``: a value of it was not sent.
    ``has_texts_for_bytes``: a column of bytes came as a text of which nothing says how it is written.
    ``read_by_schema``: see ``Event``. ``fault``: an image is no object, or holds a number that no source has.
    """

    before: dict[str, Value] = field(default_factory=dict)
    after: dict[str, Value] = field(default_factory=dict)
    has_after: bool = False
    is_partial: bool = False
    has_texts_for_bytes: bool = False
    stream_schema: StreamSchema | None = None
    read_by_schema: frozenset[str] = frozenset()
    fault: Fault | None = None


class ImageReader:
    """How the images of a feed's messages are read; it keeps what it learns of tables from message to message.

    ``has_placeholders``: whether there are Debezium's for values that were not sent. ``decimals_may_be_plain``: whether
    a decimal's text that reads as a number is one, and not bytes.
    """

    __slots__ = (
        *("_decimals_may_be_plain", "_declared", "_has_placeholders", "_placeholders"),
        *("_tables", "_vocabulary"),
    )

    def __init__(
        self,
        feed: Feed,
        vocabulary: Vocabulary,
        *,
        has_placeholders: bool,
        decimals_may_be_plain: bool,
    ) -> None:
        self._vocabulary = vocabulary
        self._has_placeholders = has_placeholders
        self._decimals_may_be_plain = decimals_may_be_plain
        self._declared = _declared_types(feed)
        self._placeholders = (
            _placeholders(feed) if has_placeholders else defaultdict(lambda: NO_PLACEHOLDERS)
        )
        self._tables: dict[tuple[str | None, ...], RowTable] = {}

    def read(self, envelope: Envelope) -> Images:
        """The envelope's images.

        A key's column that neither mentions is taken from the message's key: a delete's into the old image, that of
        all else into the new one.
        """
        table = self._table(envelope.source[1:4])
        rows = table.rows(envelope.row_fields)
        found = Images(read_by_schema=rows.read_by_schema)
        try:
            found.before = self._image("before", envelope, rows, found)
            found.after = self._image("after", envelope, rows, found)
            if envelope.operation is not None and envelope.key.values:
                unsaid = unsaid_columns(envelope.key.values, found, rows)
                if unsaid:
                    image = found.before if envelope.operation == "delete" else found.after
                    of_key = table.key_rows(envelope.key.fields, rows)
                    image.update(of_key.values(unsaid))
                    found.read_by_schema |= of_key.read_by_schema & unsaid.keys()
        except TooLong as why:
            found.fault = found.fault or Fault("value_does_not_fit", str(why))
        found.stream_schema = _stream_schema(envelope, rows)
        return found

    def rows_of(self, names: tuple[str | None, ...], fields: list[Any] | None) -> Rows:
        """How the rows of a table are read, by its name in the stream and a schema that lists these fields."""
        return self._table(names).rows(fields)

    def _table(self, names: tuple[str | None, ...]) -> RowTable:
        """How the messages of a table are read, by its name in the stream."""
        found = self._tables.get(names)
        if found is None:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            spelled = self._spelled(names)
            found = self._tables[names] = RowTable(
                partial(
                    Rows,
                    how=HowRead(
                        self._declared.get(spelled, {}),
                        self._decimals_may_be_plain,
                        self._placeholders[spelled],
                    ),
                )
            )
        return found

    def _spelled(self, names: tuple[str | None, ...]) -> str:
        """The table as the feed declares it, which may leave out the names in front; empty where it does not."""
        for first in range(len(names)):
            spelled = ".".join([name for name in names[first:] if name is not None])
            if spelled in self._declared:
                return spelled
        return ""

    def _image(self, side: str, envelope: Envelope, rows: Rows, found: Images) -> dict[str, Value]:
        given = envelope.body.get(side)
        if given is None or self._vocabulary.means_nothing(given):
            return {}
        is_new = side == "after"
        found.has_after |= is_new
        if type(given) is not dict:
            detail = f"{side} is no object of columns: {shown(as_text(given))}"
            found.fault = found.fault or Fault("malformed_image", detail)
            return {}
        values = rows.values(given, with_placeholders=self._has_placeholders)
        found.is_partial |= is_new and len(values) < len(given)
        found.has_texts_for_bytes |= bool(rows.texts_for_bytes)
        return values


def unsaid_columns(key: Mapping[str, Any], found: Images, rows: Rows) -> dict[str, Any]:
    """The key's columns that neither image mentions; such as the schema does not have are none of the table's."""
    return {
        name: value
        for name, value in key.items()
        if name not in found.after
        and name not in found.before
        and name != ROUTER_FIELD
        and (rows.names is None or name in rows.names)
    }


def _stream_schema(envelope: Envelope, rows: Rows) -> StreamSchema | None:
    """The table as the schema describes it; None without a schema, and where the key is unknown or no column of it."""
    if rows.names is None:
        return None
    if envelope.operation == "truncate":
        # It has no key to tell, whether its table has one or not.
        return rows.stream_schema(None)
    if envelope.operation not in ("read", "insert", "update", "delete"):
        return None
    key = key_names(envelope.key)
    return rows.stream_schema(key) if key is not None and rows.names.issuperset(key) else None


def key_names(key: Key) -> tuple[str, ...] | None:
    """The columns of a message's key; empty where it is known to have none, None where nothing is known."""
    if key.is_none:
        return ()
    if key.fields is not None:
        named = [part(field, "field") for field in key.fields]
        return tuple([str(name) for name in named if name != ROUTER_FIELD])
    return (
        None if key.values is None else tuple([name for name in key.values if name != ROUTER_FIELD])
    )
