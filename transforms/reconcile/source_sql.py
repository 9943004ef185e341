"""The SQL in which each database, and DuckDB over gold, writes rows as texts, puts keys in order and compares them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.column_types.numbers import DecimalNumber
from transforms.column_types.ranges import ENDS
from transforms.column_types.registry import column_type
from transforms.reconcile.row_texts import BAR, ELEMENT, NULL, Compared, Form


class Dialect(Protocol):
    """How one database writes columns as texts; ``||`` puts texts together in each."""

    def name(self, column: Compared) -> str:
        """The column in SQL."""

    def text(self, column: Compared) -> str:
        """The text of a column in its form; null where the value is."""

    def length(self, text: str) -> str:
        """How many signs a text has, as a text."""

    def joined(self, texts: Sequence[str]) -> str:
        """Texts that are not null, one behind the other."""


def row_text(dialect: Dialect, columns: Sequence[Compared]) -> str:
    """The SQL of a whole row's text."""
    parts = []
    for column in columns:
        text = dialect.text(column)
        if column.form.needs_length:
            text = f"{dialect.length(text)} || ':' || {text}"
        parts.append(f"coalesce({text}, '{NULL}')")
    return dialect.joined([one for part in parts for one in (f"'{BAR}'", part)][1:])


class SourceDialect(Dialect, Protocol):
    """How a database that is a source says what is asked of it, beside texts.

    ``compares_rows``: whether an index on several columns serves a comparison of rows, ``(a, b) < (1, 2)``.
    """

    @property
    def compares_rows(self) -> bool:
        """See above."""

    def hashed(self, text: str) -> str:
        """The first 64 bits of the MD5 of a text's UTF-8, as a whole number, which may have a sign."""

    def keeps_order(self, column: Compared) -> bool:
        """Whether the column's own order is that of gold, so that an index on it serves."""

    def can_hold(self, column: Compared, text: str) -> bool:
        """Whether a column of the key could have the value of this text, which is one of gold's."""

    def in_order(self, column: Compared) -> str:
        """A column of the key, as its values are put in gold's order."""

    def looked_up(self, column: Compared) -> str:
        """A column of the key, as its values are looked up."""

    def literal(self, column: Compared) -> str:
        """A value of the key, of which the text stands at ``%s``, to be compared with ``in_order``."""

    def wanted(self, column: Compared) -> str:
        """The same, to be compared with ``looked_up``."""


def in_double_quotes(name: str) -> str:
    """A name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def _in_statement(name: str) -> str:
    """A name within a statement that has places for values."""
    return in_double_quotes(name).replace("%", "%%")


_IN_ORDER: Final = ("number", "truth", "day", "moment", "clock", "bytes")
"""The forms of which each database has the order of gold."""


@dataclass(frozen=True, slots=True)
class PostgresSql:
    """Postgres, from 13 on, in a session with ISO dates in UTC; ``is_utf8``: whether it keeps texts as UTF-8."""

    is_utf8: bool = True
    compares_rows: bool = True

    def name(self, column: Compared) -> str:
        """The column's name, quoted."""
        return _in_statement(column.source.name)

    def length(self, text: str) -> str:
        """How many signs a text has, as a text."""
        return f"length({text})"

    def joined(self, texts: Sequence[str]) -> str:
        """By the sign for it."""
        return " || ".join(texts)

    def text(self, column: Compared) -> str:
        """The text of a column in its form."""
        name, form = self.name(column), column.form
        if form.name == "array":
            return self._array(name, form, column.source.element or "")
        return self._text(name, form, column.source.kind)

    def _text(self, name: str, form: Form, kind: str) -> str:
        match form.name:
            case "number" if kind == "numeric":
                return f"trim_scale({name})::text"
            case "padded":
                # The cast to text cuts the blanks at the end off.
                return f"CASE WHEN {name} IS NOT NULL THEN concat({name}) END"
            case "text" if kind in _SENT_OTHERWISE:
                return f"CASE WHEN {name} IS NOT NULL THEN concat({name}) END"
            case "day" | "clock":
                return f"{_within(name, form)}::text"
            case "moment":
                in_utc = f"({name} AT TIME ZONE 'UTC')"
                return f"{_within(in_utc, form)}::text"
            case "bytes":
                return f"encode({name}, 'hex')"
            case "float32":
                return f"encode(float4send({_number(name, 'float4')}), 'hex')"
            case "float64":
                return f"encode(float8send({_number(name, 'float8')}), 'hex')"
        return f"{name}::text"

    def _array(self, name: str, form: Form, kind: str) -> str:
        of = Form(form.element or "")
        element = self._text("v", of, kind)
        if of.needs_length:
            element = f"{self.length(element)} || ':' || {element}"
        texts = f"string_agg(coalesce({element}, '{NULL}'), '{ELEMENT}' ORDER BY n)"
        rows = f"unnest({name}) WITH ORDINALITY AS e(v, n)"
        inside = f"(SELECT coalesce({texts}, '') FROM {rows})"
        return f"CASE WHEN {name} IS NOT NULL THEN '[' || {inside} || ']' END"

    def hashed(self, text: str) -> str:
        """By way of a string of bits."""
        text = text if self.is_utf8 else f"convert_to({text}, 'UTF8')"
        return f"('x' || substr(md5({text}), 1, 16))::bit(64)::bigint"

    def keeps_order(self, column: Compared) -> bool:
        """Numbers, times and bytes do, and texts whose collation is by bytes."""
        if column.source.kind in _PLAIN_TEXTS:
            return column.source.is_by_bytes
        return column.form.name in _IN_ORDER or column.source.kind == "uuid"

    def can_hold(self, column: Compared, text: str) -> bool:
        """No text has the sign of number 0, a UUID is written in one way, and whole numbers end somewhere."""
        if column.source.kind == "uuid":
            return _UUID.fullmatch(text) is not None
        if column.form.name == "number" and column.source.kind in _WHOLE:
            return _WHOLE_NUMBER.fullmatch(text) is not None and -_MOST <= int(text) < _MOST
        return "\x00" not in text

    def in_order(self, column: Compared) -> str:
        """The column itself, or its text by bytes."""
        if self.keeps_order(column):
            return self.name(column)
        return f'({self.text(column)}) COLLATE "C"'

    def looked_up(self, column: Compared) -> str:
        """The column itself, so far as equal values have equal texts."""
        if self.keeps_order(column) or column.source.kind in _PLAIN_TEXTS:
            return self.name(column)
        return self.text(column)

    def literal(self, column: Compared) -> str:
        """A value of the type that the column is compared as."""
        if column.form.name == "bytes":
            return "decode(%s, 'hex')"
        kind = _LITERALS.get(column.source.kind, "text") if self.keeps_order(column) else "text"
        return f"%s::{kind}"

    def wanted(self, column: Compared) -> str:
        """The same."""
        return self.literal(column)


_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_WHOLE: Final = ("smallint", "integer", "bigint")
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_MOST: Final = 2**63
_PLAIN_TEXTS: Final = ("text", "character varying")
_SENT_OTHERWISE: Final = ("inet", "xml")
"""Of these the cast to text says more than the server sends: ``/32`` behind a host, and how a document was encoded."""


def _number(name: str, kind: str) -> str:
    """A floating number, of which there is one zero, and one value that is no number, whatever its sign."""
    return f"CASE WHEN {name} = 'NaN' THEN 'NaN'::{kind} ELSE {name} + 0::{kind} END"


_LITERALS: Final = {
    **dict.fromkeys(_WHOLE, "bigint"),
    **{one: one for one in ("numeric", "uuid", "boolean", "date")},
    **{f"timestamp with{one} time zone": f"timestamp with{one} time zone" for one in ("", "out")},
}


def _within(column: str, form: Form) -> str:
    """A date or time as gold has it where the source's is beyond the years 1 to 9999."""
    kind = "date" if form.name == "day" else "timestamp"
    first, last = (f"{kind} '{text}'" for text in ENDS[kind])
    if form.out_of_range == "null":
        return f"CASE WHEN {column} BETWEEN {first} AND {last} THEN {column} END"
    if form.out_of_range == "clamp":
        # Postgres's pass nulls over.
        return f"CASE WHEN {column} IS NOT NULL THEN least(greatest({column}, {first}), {last}) END"
    return column


@dataclass(frozen=True, slots=True)
class MySql:
    """MySQL and MariaDB, in a session in UTC that reads SQL as ANSI has it: ``||`` and double quotes."""

    compares_rows: bool = False

    def name(self, column: Compared) -> str:
        """The column's name, quoted."""
        return _in_statement(column.source.name)

    def length(self, text: str) -> str:
        """How many signs a text has, as a text."""
        return f"char_length({text})"

    def joined(self, texts: Sequence[str]) -> str:
        """By the sign for it."""
        return " || ".join(texts)

    def text(self, column: Compared) -> str:
        """The text of a column in its form."""
        name, form, kind = self.name(column), column.form, column.source.kind
        match form.name:
            case "truth":
                return f"CASE WHEN {name} <> 0 THEN 'true' WHEN {name} = 0 THEN 'false' END"
            case "bytes":
                return f"lower(hex({name}))"
            case "day" | "moment" | "clock":
                name = _within(name, form)
            case "text" if kind != "time":
                return f"convert({name} USING utf8mb4)"
            case "number" | "exact":
                # Without the zeros in front that ZEROFILL and a YEAR are shown with.
                name = f"({name} + 0)"
        text = f"cast({name} AS char)"
        if form.name == "exact" or not column.source.has_fraction:
            return text
        # Digits are behind a point here, whatever they are.
        return f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {text}))"

    def hashed(self, text: str) -> str:
        """By way of hexadecimal digits."""
        return f"cast(conv(substr(md5({text}), 1, 16), 16, 10) AS unsigned)"

    def keeps_order(self, column: Compared) -> bool:
        """Numbers, times and bytes do; collations of texts never, for they leave blanks at the end out of account."""
        return column.form.name in _IN_ORDER

    def can_hold(self, column: Compared, text: str) -> bool:
        """A whole number has no fraction; whatever else there is, the server takes and finds nothing."""
        return column.form.name != "number" or column.source.has_fraction or "." not in text

    def in_order(self, column: Compared) -> str:
        """The column itself, or the bytes of its text."""
        return (
            self.name(column)
            if self.keeps_order(column)
            else f"cast({self.text(column)} AS binary)"
        )

    def looked_up(self, column: Compared) -> str:
        """The column itself: equal texts are equal in each collation, and what else is, is not asked for."""
        return self.name(column)

    def literal(self, column: Compared) -> str:
        """A value of the type that the column is compared as."""
        if not self.keeps_order(column):
            return "cast(%s AS binary)"
        return self.wanted(column)

    def wanted(self, column: Compared) -> str:
        """The same, and a text in the column's own signs: one that these lack becomes another text."""
        if column.form.name in ("text", "padded") and column.source.charset:
            return f"convert(%s USING {column.source.charset}) COLLATE {column.source.collation}"
        match column.form.name:
            case "number":
                return (
                    "cast(%s AS decimal(65,30))"
                    if column.source.has_fraction
                    else "cast(%s AS decimal(65))"
                )
            case "truth":
                return "(%s = 'true')"
            case "day":
                return "cast(%s AS date)"
            case "moment" | "clock":
                return "cast(%s AS datetime(6))"
            case "bytes":
                return "unhex(%s)"
        return "%s"


@dataclass(frozen=True, slots=True)
class GoldSql:
    """DuckDB, over gold's columns as ``in_plain_types`` gives them."""

    def name(self, column: Compared) -> str:
        """The column's name, quoted."""
        return in_double_quotes(column.name)

    def length(self, text: str) -> str:
        """How many signs a text has, as a text."""
        return f"length({text})"

    def joined(self, texts: Sequence[str]) -> str:
        """By the function, which writes a row's text once, where the sign writes it again for each column."""
        return f"concat({', '.join(texts)})"

    def text(self, column: Compared) -> str:
        """The text of a column in its form."""
        name, form, kind = self.name(column), column.form, column.kind
        if form.name == "array":
            return self._array(name, form, kind[len("array<") : -1])
        return self._text(name, form, kind)

    def _text(self, name: str, form: Form, kind: str) -> str:
        match form.name:
            case "number" if isinstance(of := column_type(kind), DecimalNumber) and of.scale:
                return f"rtrim(rtrim({name}::VARCHAR, '0'), '.')"
            case "bytes":
                return f"lower(hex({name}))"
            case "float32" | "float64":
                digits = 8 if form.name == "float32" else 16
                return f"lpad(lower(hex({name})), {digits}, '0')"
        return f"{name}::VARCHAR"

    def _array(self, name: str, form: Form, kind: str) -> str:
        of = Form(form.element or "")
        element = self._text("v", of, kind)
        if of.needs_length:
            element = f"{self.length(element)} || ':' || {element}"
        texts = f"list_transform({name}, lambda v: coalesce({element}, '{NULL}'))"
        inside = f"coalesce(array_to_string({texts}, '{ELEMENT}'), '')"
        return f"CASE WHEN {name} IS NOT NULL THEN '[' || {inside} || ']' END"


def in_plain_types(column: pa.ChunkedArray, form: Form) -> pa.ChunkedArray:
    """A column of gold as ``GoldSql`` takes it: moments without their zone, floating numbers as their bits."""
    if form.name == "moment" or pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us"))
    if form.name not in ("float32", "float64"):
        return column
    number, bits = ("<f4", "<u4") if form.name == "float32" else ("<f8", "<u8")
    values = np.array(pc.fill_null(column, 0).to_numpy(), number)
    # There is one zero, and one value that is no number.
    values[values == 0] = 0
    values[np.isnan(values)] = np.nan
    return pa.chunked_array([pa.array(values.view(bits), mask=np.asarray(pc.is_null(column)))])
