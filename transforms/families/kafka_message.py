"""One Kafka record as formats see it: key and value, each as text or as a JSON document, and where it stood.

Put here what every record has, however it came. Not here: reading one from bronze (``kafka_records``), and what a
message means (``connect``, ``formats``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transforms import json_values
from transforms.json_values import MalformedJson


class KafkaMessage:
    """What one record says of itself; ``read`` and ``text`` give its value, ``read_key`` and ``key`` its key.

    ``topic``, ``partition``, ``offset`` say where it stood and ``sent_at`` when it was written, in microseconds since
    1970 (UTC); each is None where it is unknown, as for a bare value.
    ``is_null``: a record whose value is known to be null. ``is_keyless``: one that is known to have no key; a bare
    value's key is unknown. ``is_utf8``: False where a value is there and is no UTF-8; it has no text then.
    """

    __slots__ = (
        *("_key", "_raw_key", "_value", "is_keyless", "is_null", "is_utf8"),
        *("offset", "partition", "sent_at", "topic"),
    )

    def __init__(self, value: Json, key: Json, raw_key: bytes | None = None) -> None:
        self._value = value
        self._key = key
        self._raw_key = raw_key
        self.topic: str | None = None
        self.partition: int | None = None
        self.offset: int | None = None
        self.sent_at: int | None = None
        self.is_null = False
        self.is_keyless = False
        self.is_utf8 = True

    @property
    def text(self) -> str | None:
        """The value as text; None where it is null or no UTF-8.

        A JSON document that stands in a dump's line is given as its JSON text.
        """
        return self._value.text()

    def read(self, reader: Callable[[str], Any] = json_values.read) -> Any:
        """The value's JSON document, as ``json_values`` gives it: what was read once is not read again.

        Raises:
            MalformedJson: The value is no JSON document, is null or no UTF-8.
        """
        return self._value.read(reader)

    @property
    def key(self) -> str | None:
        """The key as text; None where there is none, or it is no UTF-8."""
        return self._key.text()

    @property
    def key_bytes(self) -> bytes | None:
        """The key as it is; None where there is none."""
        if self._raw_key is None and (text := self._key.text()) is not None:
            self._raw_key = text.encode()
        return self._raw_key

    def read_key(self, reader: Callable[[str], Any] = json_values.read) -> Any:
        """The key's JSON document.

        Raises:
            MalformedJson: The key is no JSON document, is null or no UTF-8.
        """
        return self._key.read(reader)


class Json:
    """A text that may be JSON, or JSON that was read already; each is made of the other when somebody asks."""

    __slots__ = ("_document", "_is_read", "_text")

    def __init__(self, text: str | None, document: Any = None) -> None:
        self._text = text
        self._document = document
        self._is_read = document is not None

    def text(self) -> str | None:
        """The text; a document is written as JSON the first time."""
        if self._text is None and self._is_read:
            self._text = json_values.written(self._document)
        return self._text

    def read(self, reader: Callable[[str], Any]) -> Any:
        """The document; a text is read the first time.

        Raises:
            MalformedJson: It is no JSON document, or there is no text.
        """
        if not self._is_read:
            if self._text is None:
                raise MalformedJson("there is no text")
            self._document = reader(self._text)
            self._is_read = True
        return self._document
