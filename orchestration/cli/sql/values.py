"""What Spark makes of values, written for DuckDB: types of results, conversions, operators and functions.

Only what the tests compare with Spark is here; whatever else a question has is left to Spark. Where the two differ for
some values only (letters beyond ASCII, a division by zero, a text that is no number), DuckDB is told to fail at these,
and the question is left to Spark, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, TypeAlias

import pyarrow as pa


class LeftToSpark(Exception):
    """Something of a question that may mean to DuckDB what it does not mean to Spark."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression.

    ``sql``: it, as DuckDB takes it. ``type``: its type in Spark, as Arrow has it. ``name``: what Spark calls it where a
    question gives it no name; None where that is not known here. ``literal``: its text, where it is a literal text.
    ``whole``: the number, where it is a literal whole number.
    """

    sql: str
    type: pa.DataType
    name: str | None = None
    literal: str | None = None
    whole: int | None = None

    def named(self, name: str | None) -> Value:
        """The same as an expression of another name, which is no literal."""
        return Value(self.sql, self.type, name)


Over: TypeAlias = Callable[[str], str]
"""Adds to DuckDB's call of an aggregate over which rows it goes."""

BOOL, TEXT, BYTES, DAY = pa.bool_(), pa.string(), pa.binary(), pa.date32()
INT, LONG, REAL, DOUBLE = pa.int32(), pa.int64(), pa.float32(), pa.float64()
AT, LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
"""Spark's TIMESTAMP, which DuckDB has as the same time in UTC without a zone, and Spark's TIMESTAMP_NTZ."""

_WHOLE: Final = (pa.int8(), pa.int16(), INT, LONG)
_NAMES: Final = {
    **{BOOL: "BOOLEAN", TEXT: "VARCHAR", BYTES: "BLOB", DAY: "DATE", AT: "TIMESTAMP"},
    **{LOCAL: "TIMESTAMP", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", INT: "INTEGER"},
    **{LONG: "BIGINT", REAL: "FLOAT", DOUBLE: "DOUBLE"},
}
_IN_SPARK: Final = {
    **{BOOL: "BOOLEAN", TEXT: "STRING", DAY: "DATE", AT: "TIMESTAMP", INT: "INT"},
    **{LONG: "BIGINT", DOUBLE: "DOUBLE", pa.int8(): "TINYINT", pa.int16(): "SMALLINT"},
}
_MOST_DIGITS: Final = 38
_EXACT: Final = 1 << 53
"""Sums of whole numbers up to here are the same in floating numbers, in whatever order they are added."""


def is_whole(kind: pa.DataType) -> bool:
    """Whether it is one of Spark's whole numbers."""
    return kind in _WHOLE


def is_simple(kind: pa.DataType) -> bool:
    """Whether values of it are compared and told apart alike: none that hold others, nor floating numbers."""
    return pa.types.is_decimal128(kind) or (kind in _NAMES and kind not in (REAL, DOUBLE))


def is_ordered(kind: pa.DataType) -> bool:
    """Whether both engines order values of it alike."""
    return is_simple(kind) or kind in (REAL, DOUBLE)


def text_of(text: str) -> str:
    """A text as DuckDB takes it."""
    if "\0" in text:
        raise LeftToSpark("a text with a zero byte")
    return "'" + text.replace("'", "''") + "'"


def text_literal(text: str) -> Value:
    """A literal text."""
    return Value(text_of(text), TEXT, text, literal=text)


def number_literal(digits: str) -> Value:
    """A literal number: whole, or with digits behind a point; with an exponent Spark is asked."""
    if re.fullmatch(r"-?\d{1,38}", digits):
        number = int(digits)
        for kind, most in ((INT, 1 << 31), (LONG, 1 << 63)):
            if -most <= number < most:
                sql = f"CAST({number} AS {_NAMES[kind]})"
                return Value(sql, kind, str(number), whole=number)
        kind = pa.decimal128(len(str(abs(number))), 0)
        return Value(f"CAST('{number}' AS {named(kind)})", kind, str(number))
    if re.fullmatch(r"-?\d*\.\d+", digits):
        sign, (before, behind) = digits.startswith("-"), digits.lstrip("-").split(".")
        width = max(len(before.lstrip("0")) + len(behind), len(behind))
        if width <= _MOST_DIGITS:
            text = f"{'-' * sign}{before.lstrip('0') or '0'}.{behind}"
            kind = pa.decimal128(width, len(behind))
            return Value(f"CAST('{text}' AS {named(kind)})", kind, text)
    raise LeftToSpark(f"the number {digits}")


NULL: Final = Value("NULL", pa.null(), "NULL")
"""It takes the type of what it stands beside."""


def named(kind: pa.DataType) -> str:
    """DuckDB's name of a simple type."""
    if pa.types.is_decimal128(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if kind not in _NAMES:
        raise LeftToSpark(f"the type {kind}")
    return _NAMES[kind]


def spark_name(kind: pa.DataType) -> str | None:
    """Spark's name of a type that a question casts to."""
    if pa.types.is_decimal128(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _IN_SPARK.get(kind)


def unless(fault: str, sql: str) -> str:
    """An expression that fails where this is true, so that Spark is asked."""
    return f"CASE WHEN {fault} THEN error('left to Spark') ELSE {sql} END"


# Conversions.


def _digits(kind: pa.DataType, value: Value | None = None) -> pa.DataType:
    """The decimal that a whole number becomes beside a decimal: a literal takes as many digits as it has."""
    if pa.types.is_decimal128(kind):
        return kind
    if value is not None and value.whole is not None:
        return pa.decimal128(len(str(abs(value.whole))), 0)
    if not is_whole(kind):
        raise LeftToSpark(f"{kind} as a decimal")
    return pa.decimal128({1: 3, 2: 5, 4: 10, 8: 20}[kind.bit_width // 8], 0)


def _decimal(digits: int, scale: int) -> pa.DataType:
    """A decimal of the result; one that Spark would cut is left to it."""
    if digits > _MOST_DIGITS:
        raise LeftToSpark("a decimal of more digits than there are")
    return pa.decimal128(digits, scale)


def widest(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type that both become where they stand for one another."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if is_whole(one) and is_whole(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    kinds = {one, other}
    if kinds == {DAY, AT}:
        return AT
    if DOUBLE in kinds and all(_is_number(kind) for kind in kinds):
        return DOUBLE
    if REAL in kinds or not all(_is_number(kind) for kind in kinds):
        raise LeftToSpark(f"{one} beside {other}")
    a, b = _digits(one), _digits(other)
    scale = max(a.scale, b.scale)
    return _decimal(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def _is_number(kind: pa.DataType) -> bool:
    return is_whole(kind) or pa.types.is_decimal128(kind) or kind in (REAL, DOUBLE)


def alike(values: Sequence[Value]) -> list[Value]:
    """The values as one type."""
    found: pa.DataType = pa.null()
    for one in values:
        found = widest(found, one.type)
    return [as_type(one, found) for one in values]


def _as_moments(values: Sequence[Value]) -> list[Value]:
    """The values that are compared, of which literal texts beside a date or a time are dates or times."""
    kinds = {one.type for one in values if one.literal is None}
    if kinds not in ({DAY}, {AT}, {LOCAL}):
        return [*values]
    (kind,) = kinds
    return [one if one.literal is None else moment(one.literal, kind) for one in values]


def as_type(value: Value, kind: pa.DataType) -> Value:
    """The value as the wider type that Spark makes it, without being told."""
    if value.type == kind:
        return value
    sql = value.sql
    if pa.types.is_null(value.type):
        sql = f"CAST(NULL AS {named(kind)})"
    elif kind == DOUBLE and pa.types.is_decimal128(value.type):
        # DuckDB divides by a power of ten, which rounds twice.
        sql = f"CAST(CAST({sql} AS VARCHAR) AS DOUBLE)"
    else:
        sql = f"CAST({sql} AS {named(kind)})"
    return Value(sql, kind, value.name)


_A_DAY: Final = r"\d{4}-\d\d-\d\d"
_A_TIME: Final = _A_DAY + r"[ T]\d\d:\d\d:\d\d(\.\d{1,6})?"


def moment(text: str, kind: pa.DataType) -> Value:
    """A date or a time of a literal text, as both engines read it."""
    is_day = re.fullmatch(_A_DAY, text, re.ASCII)
    if not is_day and (kind == DAY or not re.fullmatch(_A_TIME, text, re.ASCII)):
        raise LeftToSpark(f"the time {text!r}")
    try:
        found = date.fromisoformat(text) if is_day else datetime.fromisoformat(text)
    except ValueError as fault:
        raise LeftToSpark(str(fault)) from fault
    return Value(f"CAST('{found.isoformat()}' AS {named(kind)})", kind, text)


_FITTING: Final = {
    INT: r"-?[0-9]{1,10}",
    LONG: r"-?[0-9]{1,19}",
    DOUBLE: r"-?[0-9]{1,15}(\.[0-9]{1,15})?",
    DAY: r"[0-9]{4}-[0-9][0-9]-[0-9][0-9]",
    BOOL: r"(?i:true|false)",
}
"""Texts that both engines convert alike."""


def cast(value: Value, kind: pa.DataType) -> Value:
    """What ``CAST`` makes of it."""
    named(kind)
    of, sql, is_decimal = value.type, value.sql, pa.types.is_decimal128(value.type)
    name = None if value.name is None else f"CAST({value.name} AS {spark_name(kind)})"
    if value.literal is not None and kind in (DAY, AT, LOCAL):
        return moment(value.literal, kind).named(name)
    if of == kind or pa.types.is_null(of):
        return as_type(value, kind).named(name)
    if kind == TEXT:
        if not is_simple(of) or of == BYTES:
            raise LeftToSpark(f"{of} as text")
        if of in (DAY, AT, LOCAL):
            sql = unless(f"NOT (year({sql}) BETWEEN 1 AND 9999)", sql)
    elif of == TEXT:
        pattern = _FITTING.get(kind)
        if pa.types.is_decimal128(kind) and kind.precision > kind.scale:
            behind = rf"(\.[0-9]{{1,{kind.scale}}})?" if kind.scale else ""
            pattern = rf"-?[0-9]{{1,{kind.precision - kind.scale}}}{behind}"
        if pattern is None:
            raise LeftToSpark(f"a text as {kind}")
        sql = unless(f"NOT regexp_full_match({sql}, '{pattern}')", sql)
    elif is_whole(kind) and (of == DOUBLE or is_decimal):
        sql = f"trunc({sql})"
    elif kind == DOUBLE and (is_decimal or is_whole(of) or of == REAL):
        return as_type(value, kind).named(name)
    elif pa.types.is_decimal128(kind) and (is_decimal or is_whole(of)):
        pass
    elif not (is_whole(kind) and is_whole(of)) and {of, kind} != {DAY, AT}:
        raise LeftToSpark(f"{of} as {kind}")
    return Value(f"CAST({sql} AS {named(kind)})", kind, name)


# Operators.


def compared(sign: str, one: Value, other: Value) -> Value:
    """``one = other`` and its kin, of simple values."""
    a, b = alike(_as_moments([one, other]))
    if not is_ordered(a.type):
        raise LeftToSpark(f"a comparison of {a.type}")
    sql = {"<=>": "IS NOT DISTINCT FROM", "<>": "<>"}.get(sign, sign)
    shown = "=" if sign == "<>" else sign
    name = f"({one.name} {shown} {other.name})" if one.name and other.name else None
    if sign == "<>" and name:
        name = f"(NOT {name})"
    found = f"({a.sql} {sql} {b.sql})"
    if a.type in (REAL, DOUBLE):
        # Whether the two zeros are one to Spark depends on whether Parquet looks first.
        zeros = f"{a.sql} = 0 AND {b.sql} = 0 AND signbit({a.sql}) <> signbit({b.sql})"
        found = unless(zeros, found)
    return Value(found, BOOL, name)


def arithmetic(sign: str, one: Value, other: Value) -> Value:
    """``one + other`` and its kin, of numbers."""
    if not (_is_number(one.type) and _is_number(other.type)):
        raise LeftToSpark(f"{one.type} {sign} {other.type}")
    name = f"({one.name} {sign} {other.name})" if one.name and other.name else None
    has_decimal = any(pa.types.is_decimal128(kind) for kind in (one.type, other.type))
    if has_decimal and DOUBLE not in (one.type, other.type):
        return _of_decimals(sign, one, other).named(name)
    a, b = alike([one, other])
    if sign in ("/", "div", "%"):
        if REAL in (one.type, other.type) or (sign != "/" and not is_whole(a.type)):
            raise LeftToSpark(f"{one.type} {sign} {other.type}")
        kind = {"/": DOUBLE, "div": LONG}.get(sign, a.type)
        a, b = as_type(a, kind), as_type(b, kind)
        spelled = {"div": "//"}.get(sign, sign)
        sql = unless(f"{b.sql} = 0", f"CAST({a.sql} {spelled} {b.sql} AS {named(kind)})")
        return Value(sql, kind, name)
    if REAL in (one.type, other.type):
        raise LeftToSpark("arithmetic of floats")
    return Value(f"CAST({a.sql} {sign} {b.sql} AS {named(a.type)})", a.type, name)


def _of_decimals(sign: str, one: Value, other: Value) -> Value:
    """Arithmetic of two decimals, or of one and a whole number, where all digits of the result fit."""
    p, q = _digits(one.type, one), _digits(other.type, other)
    a, b = as_type(one, p), as_type(other, q)
    match sign:
        case "+" | "-":
            scale = max(p.scale, q.scale)
            kind = _decimal(max(p.precision - p.scale, q.precision - q.scale) + scale + 1, scale)
            a, b = as_type(a, kind), as_type(b, kind)
        case "*":
            kind = _decimal(p.precision + q.precision + 1, p.scale + q.scale)
        case "/":
            scale = max(6, p.scale + q.precision + 1)
            kind = _decimal(p.precision - p.scale + q.scale + scale, scale)
            above = f"{_unscaled(a)} * {_power(scale + q.scale - p.scale)}"
            return Value(_rounded(above, _unscaled(b), kind), kind)
        case _:
            raise LeftToSpark(f"{sign} of decimals")
    return Value(f"CAST({a.sql} {sign} {b.sql} AS {named(kind)})", kind)


def _power(exponent: int) -> str:
    return f"CAST(1{'0' * exponent} AS HUGEINT)"


def _unscaled(value: Value) -> str:
    """All the digits of a decimal as a whole number."""
    return f"CAST(replace(CAST({value.sql} AS VARCHAR), '.', '') AS HUGEINT)"


def _rounded(above: str, below: str, kind: pa.DataType) -> str:
    """A fraction of whole numbers as a decimal, halves away from zero; ``above`` has the decimal's scale already."""
    half = f"((abs({above}) * 2 + abs({below})) // (abs({below}) * 2))"
    signed = f"({half} * sign({above}) * sign({below}))"
    unit = f"CAST('{'0.' + '0' * (kind.scale - 1) + '1'}' AS DECIMAL({kind.scale}, {kind.scale}))"
    sql = f"CAST(CAST({signed} AS DECIMAL(38, 0)) * {unit} AS {named(kind)})"
    return unless(f"{below} = 0", sql)


def negative(value: Value) -> Value:
    """``-value``."""
    if not (is_whole(value.type) or value.type == DOUBLE or pa.types.is_decimal128(value.type)):
        raise LeftToSpark(f"- {value.type}")
    name = value.name and f"(- {value.name})"
    return Value(f"CAST(-({value.sql}) AS {named(value.type)})", value.type, name)


# Functions of values, by the names that Spark has for them.


def _take(values: Sequence[Value], *kinds: pa.DataType) -> list[str]:
    """The values, which have to be of these types, for DuckDB."""
    if [one.type for one in values] != [*kinds]:
        raise LeftToSpark("a function of other values")
    return [one.sql for one in values]


def _text(sql: str, kind: pa.DataType, *arguments: pa.DataType) -> Callable[..., Value]:
    """A function of values of these types: DuckDB's expression, with ``{}`` where they stand."""

    def made(*values: Value) -> Value:
        return Value(f"CAST({sql.format(*_take(values, *arguments))} AS {named(kind)})", kind)

    return made


_LETTERS: Final = "\x01-\x7f\xa0-´¶-Þà-įĲ-ňŊ-žЀ-џ‐-‧぀-ヿ一-鿿가-힣"
"""Of others the capitals differ: Java has SS of ß, and looks at what stands beside a sigma."""


def _capitals(name: str) -> Callable[[Value], Value]:
    def made(value: Value) -> Value:
        (text,) = _take([value], TEXT)
        fault = f"NOT regexp_full_match({text}, '[{_LETTERS}]*')"
        return Value(unless(fault, f"{name}({text})"), TEXT)

    return made


def _part(name: str) -> Callable[[Value], Value]:
    """A part of a date or of a time."""

    def made(value: Value) -> Value:
        if value.type not in (DAY, AT, LOCAL) or (name in _OF_TIMES and value.type == DAY):
            raise LeftToSpark(f"{name} of {value.type}")
        plus = " + 1" if name == "dayofweek" else ""
        return Value(f"CAST({name}({value.sql}){plus} AS INTEGER)", INT)

    return made


_OF_TIMES: Final = ("hour", "minute")
_TRUNCATED: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def _date_trunc(unit: Value, value: Value) -> Value:
    if unit.literal is None or unit.literal.lower() not in _TRUNCATED:
        raise LeftToSpark("date_trunc of another unit")
    sql = as_type(value, AT).sql if value.type == DAY else _take([value], AT)[0]
    return Value(f"CAST(date_trunc('{unit.literal.lower()}', {sql}) AS TIMESTAMP)", AT)


def _substring(text: Value, start: Value, length: Value | None = None) -> Value:
    (sql,) = _take([text], TEXT)
    if start.whole is None or start.whole < 1:
        raise LeftToSpark("a substring from elsewhere")
    if length is None:
        return Value(f"substring({sql}, {start.whole})", TEXT)
    if length.whole is None or length.whole < 0:
        raise LeftToSpark("a substring of another length")
    return Value(f"substring({sql}, {start.whole}, {length.whole})", TEXT)


def joined(*values: Value) -> Value:
    """``concat``, which is null where one of the texts is."""
    if not values:
        raise LeftToSpark("concat of nothing")
    return Value(f"({' || '.join(_take(values, *[TEXT] * len(values)))})", TEXT)


def _first(*values: Value) -> Value:
    same = alike(values)
    return Value(f"coalesce({', '.join(one.sql for one in same)})", same[0].type)


def _nullif(one: Value, other: Value) -> Value:
    equal = compared("=", one, other)
    return Value(f"CASE WHEN {equal.sql} THEN NULL ELSE {one.sql} END", one.type)


def _extreme(name: str) -> Callable[..., Value]:
    def made(*values: Value) -> Value:
        same = alike(values)
        if not is_simple(same[0].type) or len(same) < 2:
            raise LeftToSpark(name)
        return Value(f"{name}({', '.join(one.sql for one in same)})", same[0].type)

    return made


def either(condition: Value, one: Value, other: Value) -> Value:
    """``if``."""
    a, b = alike([one, other])
    (sql,) = _take([condition], BOOL)
    parts = (condition.name, one.name, other.name)
    name = f"(IF({', '.join(map(str, parts))}))" if all(parts) else None
    return Value(f"CASE WHEN {sql} THEN {a.sql} ELSE {b.sql} END", a.type, name)


def _abs(value: Value) -> Value:
    if not (is_whole(value.type) or value.type == DOUBLE or pa.types.is_decimal128(value.type)):
        raise LeftToSpark("abs")
    return Value(f"CAST(abs({value.sql}) AS {named(value.type)})", value.type)


def _round(value: Value, places: Value | None = None) -> Value:
    scale = 0 if places is None else places.whole
    if scale is None or scale < 0:
        raise LeftToSpark("round to other places")
    if is_whole(value.type):
        return Value(value.sql, value.type)
    if not pa.types.is_decimal128(value.type):
        # DuckDB rounds the number that is stored, and Java the one that is printed.
        raise LeftToSpark("round of floating numbers")
    kept = min(scale, value.type.scale)
    kind = pa.decimal128(
        min(value.type.precision - value.type.scale + 1 + kept, _MOST_DIGITS), kept
    )
    return Value(f"CAST({value.sql} AS {named(kind)})", kind)


def whole_part(name: str, value: Value) -> Value:
    """``floor`` and ``ceil``."""
    shown = value.name and f"{name.upper()}({value.name})"
    if is_whole(value.type):
        return Value(f"CAST({value.sql} AS BIGINT)", LONG, shown)
    if value.type == DOUBLE:
        return Value(f"CAST({name}({value.sql}) AS BIGINT)", LONG, shown)
    if not pa.types.is_decimal128(value.type):
        raise LeftToSpark(name)
    kind = _decimal(value.type.precision - value.type.scale + 1, 0)
    return Value(f"CAST({name}({value.sql}) AS {named(kind)})", kind, shown)


def _size(value: Value) -> Value:
    if pa.types.is_map(value.type):
        return Value(f"CAST(cardinality({value.sql}) AS INTEGER)", INT)
    if pa.types.is_list(value.type):
        return Value(f"CAST(len({value.sql}) AS INTEGER)", INT)
    raise LeftToSpark("size")


def element(value: Value, at: Value) -> Value:
    """``array[0]``, ``map['key']``: of a map without the key null, of a shorter array a fault."""
    name = f"{value.name}[{at.name}]" if value.name and at.name else None
    if pa.types.is_map(value.type):
        if value.type.key_type != TEXT or at.literal is None:
            raise LeftToSpark("a key of a map")
        found = f"map_extract_value({value.sql}, {at.sql})"
        return Value(found, value.type.item_type, name)
    if not pa.types.is_list(value.type) or at.whole is None or at.whole < 0:
        raise LeftToSpark("an element")
    found = f"list_extract({value.sql}, {at.whole + 1})"
    return Value(unless(f"{at.whole} >= len({value.sql})", found), value.type.value_type, name)


def field(value: Value, name: str) -> Value:
    """A field of a struct."""
    if not pa.types.is_struct(value.type):
        raise LeftToSpark("a field of what has none")
    found = [one for one in value.type if same_name(one.name, name)]
    if len(found) != 1 or found[0].name != name:
        raise LeftToSpark(f"the field {name}")
    sql = f"struct_extract({value.sql}, {text_of(found[0].name)})"
    return Value(sql, found[0].type, value.name and f"{value.name}.{name}")


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same to Spark."""
    return one == other or (one.isascii() and one.lower() == other.lower())


def _map_part(name: str) -> Callable[[Value], Value]:
    def made(value: Value) -> Value:
        if not pa.types.is_map(value.type):
            raise LeftToSpark(name)
        kind = value.type.key_type if name == "map_keys" else value.type.item_type
        return Value(f"{name}({value.sql})", pa.list_(kind))

    return made


def _key_in(value: Value, key: Value) -> Value:
    if not pa.types.is_map(value.type) or value.type.key_type != TEXT:
        raise LeftToSpark("map_contains_key")
    (sql,) = _take([key], TEXT)
    return Value(f"list_contains(map_keys({value.sql}), {sql})", BOOL)


def _days(sign: str) -> Callable[[Value, Value], Value]:
    def made(day: Value, days: Value) -> Value:
        a, b = _take([day, days], DAY, INT)
        return Value(f"CAST({a} {sign} {b} AS DATE)", DAY)

    return made


def _cast_to(kind: pa.DataType) -> Callable[[Value], Value]:
    return lambda value: cast(value, kind)


FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    **{name: _capitals(name) for name in ("upper", "lower")},
    **{name: _text("length({})", INT, TEXT) for name in ("length", "len", "char_length")},
    **{name: _text(f"{name}({{}}, ' ')", TEXT, TEXT) for name in ("trim", "ltrim", "rtrim")},
    "startswith": _text("starts_with({}, {})", BOOL, TEXT, TEXT),
    "endswith": _text("ends_with({}, {})", BOOL, TEXT, TEXT),
    "contains": _text("contains({}, {})", BOOL, TEXT, TEXT),
    "replace": _text("replace({}, {}, {})", TEXT, TEXT, TEXT, TEXT),
    **{"substring": _substring, "substr": _substring, "concat": joined},
    **{"coalesce": _first, "nvl": _first, "ifnull": _first, "nullif": _nullif},
    **{"greatest": _extreme("greatest"), "least": _extreme("least")},
    **{"if": either, "abs": _abs, "round": _round},
    **{"size": _size, "cardinality": _size, "map_contains_key": _key_in},
    **{name: _map_part(name) for name in ("map_keys", "map_values")},
    **{name: _part(name) for name in ("year", "quarter", "month", "day", "dayofmonth")},
    **{name: _part(name) for name in ("dayofweek", "dayofyear", "hour", "minute")},
    "date_trunc": _date_trunc,
    **{"date_add": _days("+"), "date_sub": _days("-")},
    "datediff": _text("({} - {})", INT, DAY, DAY),
    **{"to_date": _cast_to(DAY), "to_timestamp": _cast_to(AT)},
    "mod": lambda one, other: arithmetic("%", one, other),
}

UNNAMED: Final = frozenset({"if", "contains"})
"""Functions whose name in a heading is not ``name(values)``."""


# Intervals.

_MICROSECONDS: Final = {
    **{"SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000},
}
_MONTHS: Final = {"MONTH": 1, "YEAR": 12}


def later(value: Value, sign: str, number: str, unit: str) -> Value:
    """A date or a time with an interval of one unit added or taken away."""
    unit = unit.upper().removesuffix("S")
    if value.type not in (DAY, AT, LOCAL) or not re.fullmatch(r"\d{1,6}", number, re.ASCII):
        raise LeftToSpark("an interval")
    if unit in _MONTHS:
        moved = f"{value.sql} {sign} to_months({int(number) * _MONTHS[unit]})"
        return Value(f"CAST({moved} AS {named(value.type)})", value.type)
    if unit not in _MICROSECONDS:
        raise LeftToSpark(f"an interval of {unit}")
    if value.type == DAY and unit != "DAY":
        value = as_type(value, AT)
    duration = f"to_microseconds(CAST({int(number) * _MICROSECONDS[unit]} AS BIGINT))"
    moved = f"CAST({value.sql} AS TIMESTAMP) {sign} {duration}"
    return Value(f"CAST({moved} AS {named(value.type)})", value.type)


# Aggregates. Each is given what it is of, whether of distinct values, and over which rows DuckDB's calls go.


def _count(value: Value, distinct: str, over: Over) -> Value:
    if distinct and not is_simple(value.type):
        raise LeftToSpark("distinct values")
    return Value(over(f"count({distinct}{value.sql})"), LONG)


def _sum(value: Value, distinct: str, over: Over) -> Value:
    if is_whole(value.type):
        kind = LONG
    elif pa.types.is_decimal128(value.type):
        kind = pa.decimal128(min(value.type.precision + 10, _MOST_DIGITS), value.type.scale)
    else:
        # A sum of floating numbers has other last digits in another order.
        raise LeftToSpark("a sum of floating numbers")
    return Value(f"CAST({over(f'sum({distinct}{value.sql})')} AS {named(kind)})", kind)


def _average(value: Value, distinct: str, over: Over) -> Value:
    total = over(f"sum({distinct}{value.sql})")
    number = over(f"count({distinct}{value.sql})")
    if is_whole(value.type):
        whole = over(f"sum(abs(CAST({value.sql} AS HUGEINT)))")
        average = f"CAST({total} AS DOUBLE) / {number}"
        return Value(unless(f"{whole} > {_EXACT}", average), DOUBLE)
    if not pa.types.is_decimal128(value.type):
        raise LeftToSpark("an average of floating numbers")
    kind = _decimal(value.type.precision + 4, value.type.scale + 4)
    all_digits = Value(f"CAST({total} AS DECIMAL(38, {value.type.scale}))", kind)
    above = f"{_unscaled(all_digits)} * {_power(4)}"
    some = f"nullif(CAST({number} AS HUGEINT), 0)"
    return Value(_rounded(above, some, kind), kind)


def _outermost(name: str) -> Callable[[Value, str, Over], Value]:
    def made(value: Value, distinct: str, over: Over) -> Value:
        if not is_ordered(value.type):
            raise LeftToSpark(f"{name} of {value.type}")
        found = over(f"{name}({value.sql})")
        if value.type in (REAL, DOUBLE):
            # Of the two zeros either may be found.
            found = unless(f"{found} = 0", found)
        return Value(found, value.type)

    return made


def _count_if(value: Value, distinct: str, over: Over) -> Value:
    (sql,) = _take([value], BOOL)
    if distinct:
        raise LeftToSpark("distinct values")
    return Value(over(f"count(CASE WHEN {sql} THEN 1 END)"), LONG)


def _truth(name: str) -> Callable[[Value, str, Over], Value]:
    def made(value: Value, distinct: str, over: Over) -> Value:
        return Value(over(f"{name}({_take([value], BOOL)[0]})"), BOOL)

    return made


AGGREGATES: Final[dict[str, Callable[[Value, str, Over], Value]]] = {
    **{"count": _count, "sum": _sum, "avg": _average, "mean": _average, "count_if": _count_if},
    **{"min": _outermost("min"), "max": _outermost("max")},
    **{name: _truth("bool_and") for name in ("every", "bool_and")},
    **{name: _truth("bool_or") for name in ("some", "any", "bool_or")},
}

RANKS: Final = {"row_number": INT, "rank": INT, "dense_rank": INT}
FRACTIONS: Final = {"percent_rank": DOUBLE, "cume_dist": DOUBLE}
