"""The column types that a feed file may declare: Spark SQL's, spelt one way.

``canonical_type`` checks a type and gives its one spelling, so that ``INTEGER`` and ``int`` are the same declaration.
"""

from __future__ import annotations

import re
from typing import Final

from transforms.feed.schema_policies import UNFIT_IN_COLUMN

KNOWN_TYPES: Final = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(p,s)", "string"),
    *("varchar(n)", "boolean", "date", "timestamp", "timestamp_ntz", "binary"),
    *("array<type>", "map<type,type>", "struct<name:type,...>"),
)

_SPELLINGS: Final = {
    **{name: name for name in KNOWN_TYPES if name.isidentifier()},
    **{"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"},
    **{"real": "float", "timestamp_ltz": "timestamp"},
}
_TOKEN: Final = re.compile(r"\s*(?:(`(?:[^`]|``)+`|\w+)|([<>(),:]))")
_WORDS: Final = re.compile(r"\w")
_LARGEST_PRECISION: Final = 38


class UnknownType(ValueError):
    """A text is no type; the message says why, without naming the key."""


def canonical_type(text: str) -> str:
    """Give a Spark SQL type in its one spelling: lower case, no blanks, one name per type.

    ``varchar(n)`` becomes ``string``: Spark enforces lengths in table schemas only, and a source that outgrows one
    should not stop the feed.

    Raises:
        UnknownType: It is not a type that a column can have.
    """
    reader = _TypeReader(text)
    found = reader.type()
    reader.end()
    return found


class _TypeReader:
    """Reads a type from left to right, one token at a time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        position = 0
        while text[position:].strip():
            token = _TOKEN.match(text, position)
            if token is None:
                raise UnknownType(f"{text!r} is not a type")
            self.tokens.append(token.group(1) or token.group(2))
            position = token.end()
        self.tokens.reverse()

    def type(self) -> str:
        written = self._word()
        name = written.lower()
        if name == "array":
            self._sign("<")
            inner = self.type()
            self._sign(">")
            return f"array<{inner}>"
        if name == "map":
            return self._map()
        if name == "struct":
            return f"struct<{','.join(self._fields())}>"
        if name in ("decimal", "numeric", "dec"):
            return self._decimal()
        if name == "varchar":
            self._varchar()
            return "string"
        if name not in _SPELLINGS:
            raise UnknownType(f"{written!r} is not a Spark SQL type that a column can have")
        return _SPELLINGS[name]

    def end(self) -> None:
        if self.tokens:
            raise UnknownType(f"{self.text!r} has {self.tokens[-1]!r} after the end of the type")

    def _map(self) -> str:
        self._sign("<")
        key = self.type()
        if "map<" in key:
            raise UnknownType(f"the key of {self.text!r} is a map, which Spark does not allow")
        self._sign(",")
        value = self.type()
        self._sign(">")
        return f"map<{key},{value}>"

    def _fields(self) -> list[str]:
        self._sign("<")
        fields: dict[str, str] = {}
        while True:
            name = self._word()
            if name.lower() in fields:
                raise UnknownType(f"{self.text!r} has the field {name} twice")
            if UNFIT_IN_COLUMN.search(name[1:-1] if name[0] == "`" else name):
                raise UnknownType(
                    f"{self.text!r}: a field's name cannot hold blanks or any of ,;{{}}()=.` in a Delta table"
                )
            if self._next() == ":":
                self._sign(":")
            fields[name.lower()] = f"{name}:{self.type()}"
            if self._next() != ",":
                break
            self._sign(",")
        self._sign(">")
        return list(fields.values())

    def _decimal(self) -> str:
        precision, scale = self._numbers() or (10, 0)
        if not 1 <= precision <= _LARGEST_PRECISION or not 0 <= scale <= precision:
            raise UnknownType(
                f"{self.text!r}: a decimal has 1 to {_LARGEST_PRECISION} digits, "
                "and no more of them after the point than in all"
            )
        return f"decimal({precision},{scale})"

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
