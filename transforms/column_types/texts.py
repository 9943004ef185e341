"""Texts, bytes and truths."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import b2a_base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from transforms import json_values
from transforms.column_types.column_type import ColumnType, Judge, judged, words

_TRUTHS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
_BLANKS: Final = "".join(map(chr, range(0x21))) + "\x7f"
"""The blank and all control signs of ASCII, which Spark trims around a boolean."""

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {
    **{sign: f"\\u{sign:04X}" for sign in range(0x20)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)},
}


@dataclass(frozen=True, slots=True, eq=False)
class String(ColumnType):
    """A text, whatever it says."""

    def holds(self, other: ColumnType) -> bool:
        """The canonical text of every value is one."""
        return True

    def are_plain(self, texts: Iterable[str]) -> bool:
        """Whether UTF-8 can write them all."""
        return text("".join(texts)) is not None

    def json_text(self, part: Any) -> str:
        """A text; in place of it anything may stand, and is its JSON."""
        return quoted(part if type(part) is str else json_values.written(part))


OF_BYTES: Final = ("base64", "base64-url-safe", "hex")
"""The ways in which a text may stand for bytes, as Debezium's ``binary.handling.mode`` calls them."""


@dataclass(frozen=True, slots=True, eq=False)
class Binary(ColumnType):
    """Bytes, which are base64 as texts. A text stands for its UTF-8: the judge must not see its own canonical text."""

    @property
    def key_judge(self) -> Judge:
        """The judge of bytes as JSON has them."""

        def judge(value: str | bytes) -> str | None:
            try:
                # Some writers leave out the padding.
                padding = ("=" if isinstance(value, str) else b"=") * (-len(value) % 4)
                return self.judge(b64decode(value + padding, validate=True))  # type: ignore[operator]
            except ValueError:
                return None

        return judge

    def json_text(self, part: Any) -> str:
        """Their base64."""
        return f'"{judged(words(part), self.key_judge)}"'

    def to_json(self, value: Any) -> Any:
        """Their base64."""
        return b64encode(value).decode()

    def order(self, part: Any) -> Any:
        """The bytes."""
        return b64decode(part)


@dataclass(frozen=True, slots=True, eq=False)
class Boolean(ColumnType):
    """True or false."""

    def json_text(self, part: Any) -> str:
        """The same words, bare."""
        return judged(json_values.written(part) if type(part) is bool else None, self.judge)

    def from_json(self, part: Any) -> Any:
        """The truth."""
        return part

    def to_json(self, value: Any) -> Any:
        """The truth."""
        return value


def text(value: str | bytes) -> str | None:
    """Every text is a string, if UTF-8 can write it: half of a surrogate pair it cannot."""
    try:
        if isinstance(value, bytes):
            return value.decode("utf-8")
        if not value.isascii():
            value.encode("utf-8")
    except UnicodeError:
        return None
    return value


def base64_of(value: str | bytes) -> str | None:
    """The judge of bytes."""
    try:
        raw = value.encode("utf-8") if isinstance(value, str) else value
    except UnicodeEncodeError:
        return None
    return b2a_base64(raw, newline=False).decode("ascii")


def truth(value: str | bytes) -> str | None:
    """The judge of booleans."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    return _TRUTHS.get(text) or _TRUTHS.get(text.strip(_BLANKS).lower())


def quoted(text: str) -> str:
    """A text in JSON as Jackson writes it."""
    return f'"{text.translate(_ESCAPES) if _ESCAPED.search(text) else text}"'
