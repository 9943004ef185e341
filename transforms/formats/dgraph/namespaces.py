"""The namespace in a record's key: eight bytes, which dumps of a topic spell in several ways.

Put here how a key is read. Not here: what else an event says (``events``).

Vendor: dgraph-io/dgraph v25.3.8, worker/sink_handler.go.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import Final

from transforms.fault import Fault, shown
from transforms.formats.dgraph.canonical import unsigned

_DIGITS: Final = re.compile(r"[0-9]{1,20}")
_BASE64_OF_8_BYTES: Final = re.compile(r"[A-Za-z0-9+/]{11}=")


@lru_cache(maxsize=4_096)
def namespace(key: str | None, key_bytes: bytes | None, *, of_topic: bool) -> str | None:
    """The key as a number: eight bytes, or what a dump makes of them: digits, base64, or each byte as a character.

    Eight bytes that are all digits are taken for digits: as bytes they would be a namespace of nineteen figures.
    """
    if key is not None and _DIGITS.fullmatch(key):
        return unsigned(key)
    if of_topic:
        if key_bytes is None or len(key_bytes) != 8:
            return None
        return str(int.from_bytes(key_bytes, "big"))
    if key is None:
        return None
    if _BASE64_OF_8_BYTES.fullmatch(key):
        return str(int.from_bytes(base64.b64decode(key), "big"))
    if len(key) == 8 and max(key) <= "\xff":
        return str(int.from_bytes(key.encode("latin-1"), "big"))
    return None


def unknown_namespace(key: str | None, key_bytes: bytes | None) -> Fault:
    """The fault of a record whose key is no namespace."""
    written = key_bytes.hex().upper() if key is None and key_bytes is not None else key
    return Fault(
        "unknown_namespace",
        f"the key is {shown(written)}; known: eight bytes, as they are or in base64, or a decimal number",
    )
