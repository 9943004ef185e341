"""JSON documents that carry their schema: most of a message is a schema that the one before it carried, too.

A schema that was read before is not read again, which halves the work. Put here how documents with schemas are read
quickly. Not here: what a schema says (``schemas``).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from transforms import json_values

_BEGINS: Final = '{"schema":'
"""So Kafka Connect's JsonConverter begins, without blanks; any other spelling is read as a whole."""
_BETWEEN: Final = ',"payload":'
_ENDS: Final = "}"
_PARTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ROOM: Final = 16 << 20
"""Schemas come from outside: so many bytes of them are kept at most, and then all are forgotten."""
_EACH: Final = 1 << 10
"""What the smallest schema is counted as."""


class DocumentReader:
    """Reads documents, and keeps the schemas that it has read."""

    __slots__ = ("_kept", "_schemas")

    def __init__(self) -> None:
        self._schemas: dict[bytes, Any] = {}
        self._kept = 0

    def read(self, text: str) -> Any:
        """The document, as ``json_values`` gives it.

        Raises:
            MalformedJson: It is no JSON document that can be trusted.
        """
        if not text.startswith(_BEGINS):
            return json_values.read(text)
        raw = text.encode("utf-8", "surrogatepass")
        try:
            parts = _PARTS.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            return json_values.read(raw)
        schema, payload = bytes(parts["schema"]), bytes(parts.get("payload", b""))
        # A name that stood twice, or any other part, would make the whole longer.
        if len(raw) != len(_BEGINS) + len(schema) + len(_BETWEEN) + len(payload) + len(_ENDS):
            return json_values.read(raw)
        return {"schema": self._schema(schema), "payload": json_values.read(payload)}

    def _schema(self, raw: bytes) -> Any:
        known = self._schemas.get(raw)
        if known is None:
            known = json_values.read(raw)
            self._kept += max(len(raw), _EACH)
            if self._kept > _ROOM:
                self._schemas.clear()
                self._kept = max(len(raw), _EACH)
            self._schemas[raw] = known
        return known
