"""The table of all types that a column can have, and the reader of a type's name, which may be made of others.

To add a type, add an entry to ``SIMPLE``: CONTRIBUTING.md shows one. Feeds and tables hold the names
of types, and ``column_type`` says all that there is to know of one.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Collection
from datetime import date
from functools import lru_cache
from typing import Final

import pyarrow as pa

from transforms.column_types import texts, times
from transforms.column_types.column_type import ColumnType, UnknownType
from transforms.column_types.nested import array_of, map_of, struct_of
from transforms.column_types.numbers import (
    PLAIN_DOUBLE,
    FloatingNumber,
    decimal,
    double,
    single,
    whole,
)
from transforms.column_types.texts import Binary, Boolean, String
from transforms.column_types.times import Date, timestamp
from transforms.feed.schema_policies import UNFIT_IN_COLUMN

UNSIGNED: Final = "decimal(20,0)"
"""How an unsigned number of 64 bits is kept: no type of Spark's is one."""

SIMPLE: Final[dict[str, ColumnType]] = {
    one.name: one
    for one in (
        whole("tinyint", pa.int8(), "byte", "int8", bits=8),
        whole("smallint", pa.int16(), "short", "int16", bits=16),
        whole("int", pa.int32(), "integer", "int32", bits=32),
        whole("bigint", pa.int64(), "long", "int64", bits=64),
        FloatingNumber(
            *("float", pa.float32(), single, ("real",)),
            value=float,
            text=repr,
            # More bits than these have are not kept exactly.
            exact=("tinyint", "smallint"),
            connect=("float32", "float"),
            bits=32,
        ),
        FloatingNumber(
            *("double", pa.float64(), double),
            value=float,
            text=repr,
            exact=("tinyint", "smallint", "int", "float"),
            connect=("float64", "double"),
            plain=PLAIN_DOUBLE,
            bits=64,
        ),
        String(
            *("string", pa.string(), texts.text),
            arrow_reads=True,
            arrow_writes=True,
            encodings=tuple(times.OF_DAY),
            connect=("string",),
        ),
        Boolean(
            *("boolean", pa.bool_(), texts.truth),
            value=lambda text: {"true": True, "false": False}[text],
            text=lambda value: "true" if value else "false",
            arrow_reads=True,
            connect=("boolean",),
            plain="true|false",
        ),
        Date(
            *("date", pa.date32(), times.day),
            value=date.fromisoformat,
            arrow_reads=True,
            encodings=(times.DAYS,),
            plain=times.PLAIN_DAY,
        ),
        timestamp("timestamp", "timestamp_ltz", in_utc=True),
        timestamp("timestamp_ntz", "", in_utc=False),
        Binary(
            *("binary", pa.binary(), texts.base64_of),
            value=lambda text: b64decode(text, validate=True),
            text=bytes,
            connect=("bytes",),
            encodings=texts.OF_BYTES,
        ),
    )
}
"""The types that hold no others, by name; besides these there are decimals, arrays, sets, maps and structs."""

KNOWN_TYPES: Final = (
    *(*SIMPLE, "decimal(p,s)", "varchar(n)", "array<type>", "map<type,type>"),
    "struct<name:type,...>",
)
"""What a feed file may write, as a message names it."""

_ALIASES: Final = {alias: one.name for one in SIMPLE.values() for alias in one.aliases}
_TOKEN: Final = re.compile(r"\s*(?:(`(?:[^`]|``)+`|\w+)|([<>(),:]))")
_WORDS: Final = re.compile(r"\w")
_LARGEST_PRECISION: Final = 38


@lru_cache(maxsize=4096)
def column_type(name: str) -> ColumnType:
    """All that there is to know of a type, by its name.

    Raises:
        UnknownType: There is no such type.
    """
    return _TypeReader(name, is_declared=False).whole()


def canonical_type(text: str) -> str:
    """The one name of a type that a feed file declares: ``INTEGER`` and ``int`` are the same declaration.

    ``varchar(n)`` becomes ``string``: Spark enforces lengths in table schemas only, and a source that outgrows one
    should not stop the feed. A set is not among these types: only a format may have declarations of them.

    Raises:
        UnknownType: It is not a type that a column can have.
    """
    return _TypeReader(text, is_declared=True).whole().name


def widens(old: str, new: str) -> bool:
    """True where a column of the type ``new`` holds every value of the type ``old``, as Spark spells types."""
    if new in (old, "string"):
        return True
    try:
        return column_type(new).holds(column_type(old))
    except UnknownType:
        return False


def widest(names: Collection[str]) -> str:
    """The type that holds the values of all these types, at worst text, in whichever order they were said."""
    fit = [one for one in sorted(names) if all(widens(other, one) for other in names)]
    return fit[0] if fit else "string"


class _TypeReader:
    """Reads a type from left to right, one token at a time."""

    def __init__(self, text: str, *, is_declared: bool) -> None:
        self.text = text
        self.is_declared = is_declared
        self.tokens: list[str] = []
        position = 0
        while text[position:].strip():
            token = _TOKEN.match(text, position)
            if token is None:
                raise UnknownType(f"{text!r} is not a type")
            self.tokens.append(token.group(1) or token.group(2))
            position = token.end()
        self.tokens.reverse()

    def whole(self) -> ColumnType:
        """The type that the whole text names."""
        found = self.type()
        if self.tokens:
            raise UnknownType(f"{self.text!r} has {self.tokens[-1]!r} after the end of the type")
        return found

    def type(self) -> ColumnType:
        """The type that begins here."""
        written = self._word()
        name = written.lower()
        if name == "array" or (name == "set" and not self.is_declared):
            self._sign("<")
            inner = self.type()
            self._sign(">")
            return array_of(inner, is_set=name == "set")
        if name == "map":
            return self._map()
        if name == "struct":
            return struct_of(self._fields())
        if name in ("decimal", "numeric", "dec"):
            return self._decimal()
        if name == "varchar":
            self._varchar()
            return SIMPLE["string"]
        name = _ALIASES.get(name, name)
        if name not in SIMPLE:
            raise UnknownType(f"{written!r} is not a Spark SQL type that a column can have")
        return SIMPLE[name]

    def _map(self) -> ColumnType:
        self._sign("<")
        key = self.type()
        self._sign(",")
        item = self.type()
        self._sign(">")
        return map_of(key, item)

    def _fields(self) -> dict[str, ColumnType]:
        self._sign("<")
        fields: dict[str, ColumnType] = {}
        while True:
            name = self._word()
            if name.lower() in map(str.lower, fields):
                raise UnknownType(f"{self.text!r} has the field {name} twice")
            bare = name[1:-1] if name[0] == "`" else name
            if self.is_declared and UNFIT_IN_COLUMN.search(bare):
                raise UnknownType(
                    f"{self.text!r}: a field's name cannot hold blanks or any of ,;{{}}()=.` in a Delta table"
                )
            if self._next() == ":":
                self._sign(":")
            fields[name] = self.type()
            if self._next() != ",":
                break
            self._sign(",")
        self._sign(">")
        return fields

    def _decimal(self) -> ColumnType:
        precision, scale = self._numbers() or (10, 0)
        if not 1 <= precision <= _LARGEST_PRECISION or not 0 <= scale <= precision:
            raise UnknownType(
                f"{self.text!r}: a decimal has 1 to {_LARGEST_PRECISION} digits, "
                "and no more of them after the point than in all"
            )
        return decimal(precision, scale)

    def _varchar(self) -> None:
        if self._numbers() is None:
            raise UnknownType(f"{self.text!r}: a varchar needs its length, as in varchar(25)")

    def _numbers(self) -> tuple[int, int] | None:
        if self._next() != "(":
            return None
        self._sign("(")
        first, second = self._number(), 0
        if self._next() == ",":
            self._sign(",")
            second = self._number()
        self._sign(")")
        return first, second

    def _number(self) -> int:
        word = self._word()
        if not re.fullmatch(r"[0-9]{1,9}", word):
            raise UnknownType(f"{self.text!r}: {word!r} is not a whole number")
        return int(word)

    def _next(self) -> str | None:
        return self.tokens[-1] if self.tokens else None

    def _word(self) -> str:
        if not self.tokens:
            raise UnknownType(self._cut_short())
        word = self.tokens.pop()
        if word in "<>(),:":
            raise UnknownType(f"{self.text!r} has {word!r} where a name belongs")
        return word

    def _sign(self, wanted: str) -> None:
        if not self.tokens:
            raise UnknownType(self._cut_short())
        found = self.tokens.pop()
        if found != wanted:
            raise UnknownType(f"{self.text!r} has {found!r} where {wanted!r} belongs")

    def _cut_short(self) -> str:
        # YAML cuts an unquoted decimal(10,2) or map<string,int> within braces at the comma.
        if _WORDS.search(self.text) and ("<" in self.text or "(" in self.text):
            return f"{self.text!r} ends too early; within braces a type with a comma needs quotes"
        return f"{self.text!r} is not a type"
