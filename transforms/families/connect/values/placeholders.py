"""Debezium's stand-in for a value that the database did not log, because it is large and did not change.

It is a text that the connector's setting names, and comes in the type of the column: as the text, as its bytes, or in
an array as one of these or as a number for each byte. Put here in which forms the stand-in comes. Not here: what
becomes of a column whose value was not sent (``families/connect/images``).

Vendor: Debezium documentation, connector for PostgreSQL, ``unavailable.value.placeholder``;
https://github.com/debezium/debezium, ``UnchangedToastedPlaceholder`` and ``PostgresValueConverter`` of
debezium-connector-postgres, ``PostgresConnectorConfig.getUnavailableValuePlaceholder`` (``hex:``).
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Final

from transforms.json_values import MalformedJson, as_text, read

PLACEHOLDER: Final = "__debezium_unavailable_value"
"""What Debezium sends unless it is told otherwise."""

_HEXADECIMAL: Final = "hex:"


class Placeholders:
    """The stand-ins of some tables, by what the connector's setting says or said.

    ``texts``: as they stand in a column of text, each with the forms of its bytes that come as a text. ``numbers``: the
    stand-ins as a number for each byte, as texts.
    """

    __slots__ = ("_in_lists", "_maps", "_words", "numbers", "texts")

    def __init__(self, settings: Iterable[str] = (PLACEHOLDER,)) -> None:
        spelled = [one for setting in settings for one in _spelled(setting)]
        words = {octets.decode("utf-8", "replace") for octets in spelled}
        as_bytes = {form for octets in spelled for form in _bytes_as_texts(octets)}
        self.texts = frozenset(words | as_bytes)
        self._words = tuple(words)
        self._in_lists = self.texts | {_uuid(octets) for octets in spelled}
        self._maps = tuple({word: word} for word in words)
        self.numbers = tuple(
            # Java's bytes have a sign.
            [str(one - 256 if one > _LARGEST else one) for one in octets]
            for octets in spelled
        )

    def may_be_in(self, text: str) -> bool:
        """Whether a text may be a stand-in: quickly asked, for few are."""
        # Every text of every row is asked.
        for word in self._words:
            if word in text:
                return True
        return text in self.texts

    def has(self, value: Any) -> bool:
        """Whether a JSON value is a stand-in, in the column's type.

        That is a text, bytes, a list of one of these or of a UUID, a list of the bytes' numbers, or an object; or the
        JSON of a list or an object in a text, as columns of hstore have it.
        """
        if type(value) is str:
            return value in self.texts or self._has_written(value)
        if type(value) is dict:
            return value in self._maps
        if type(value) is not list:
            return False
        if len(value) == 1 and type(value[0]) is str and value[0] in self._in_lists:
            return True
        return self.has_numbers([as_text(one) for one in value])

    def has_numbers(self, texts: Sequence[str | None]) -> bool:
        """Whether numbers are those of a stand-in's bytes; of floating point they have a fraction."""
        return bool(texts) and [(one or "").removesuffix(".0") for one in texts] in self.numbers

    def _has_written(self, text: str) -> bool:
        if text[:1] not in ("[", "{") or not self.may_be_in(text):
            return False
        try:
            value = read(text)
        except MalformedJson:
            return False
        return type(value) is not str and self.has(value)


_LARGEST: Final = 127


def _spelled(setting: str) -> list[bytes]:
    """The bytes that a setting stands for; where it spells them in hexadecimal, not every connector reads it so."""
    found = [setting.encode("utf-8", "surrogatepass")]
    if setting.startswith(_HEXADECIMAL):
        try:
            found.append(bytes.fromhex(setting.removeprefix(_HEXADECIMAL)))
        except ValueError:
            return found
    return [octets for octets in found if octets]


def _bytes_as_texts(octets: bytes) -> list[str]:
    """Bytes as JSON has them, and as the modes of ``binary.handling.mode`` write them.

    Postgres's connector writes them as the text itself where the mode is ``hex``.
    """
    return [
        base64.b64encode(octets).decode(),
        base64.urlsafe_b64encode(octets).decode(),
        octets.hex(),
    ]


def _uuid(octets: bytes) -> str:
    """What stands in an array of UUIDs: Java's ``UUID.nameUUIDFromBytes``."""
    digest = hashlib.md5(octets, usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


DEFAULT: Final = Placeholders()
NONE: Final = Placeholders(())
