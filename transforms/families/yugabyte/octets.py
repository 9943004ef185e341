"""Bytes in JSON, which are base64 there, and what bytes spell: texts, uuids, addresses.

Put here what bytes can stand for. Not here: which fields and columns are bytes (``values``, ``formats``).

Vendor: https://protobuf.dev/programming-guides/json says that writers use the standard alphabet with padding. Only that
is taken for base64: what is none may be the text itself, written by a client in its own way.
"""

from __future__ import annotations

import binascii
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from transforms.event import Value


def decoded(base64: str) -> bytes | None:
    """The bytes that the base64 says; None where it is none."""
    try:
        return binascii.a2b_base64(base64, strict_mode=True)
    except ValueError:
        return None


def decoded_text(base64: str) -> str | None:
    """The text whose bytes the base64 says; None where it is none, or its bytes are no text."""
    try:
        return binascii.a2b_base64(base64, strict_mode=True).decode()
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def name(base64: str) -> str | None:
    """The same for names, of which there are few."""
    return decoded_text(base64)


def to_bytea(data: bytes) -> str:
    r"""Bytes as PostgreSQL writes a bytea: ``\xdeadbeef``."""
    return f"\\x{data.hex()}"


def from_bytea(bytea: str) -> bytes | None:
    r"""The bytes of a bytea as PostgreSQL writes it; None where the text is written in another way."""
    if not bytea.startswith("\\x"):
        return None
    try:
        # Unlike bytes.fromhex, this takes no blanks between the digits.
        return binascii.unhexlify(bytea[2:])
    except ValueError:
        return None


def value(data: bytes, column: str, text_columns: Collection[str]) -> Value:
    """Bytes as a column's value: bytes, or the text that PostgreSQL writes for a column that is declared as text."""
    return to_bytea(data) if column in text_columns else data


_UUID: Final = (slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, 32))


def uuid(data: bytes) -> str:
    """Sixteen bytes as a uuid; other numbers of bytes as their digits."""
    digits = data.hex()
    return "-".join(digits[part] for part in _UUID) if len(data) == 16 else digits


def address(data: bytes) -> str | None:
    """An internet address: four numbers, or eight groups of hexadecimal digits, none left out; None for all else."""
    if len(data) == 4:
        return ".".join(map(str, data))
    if len(data) == 16:
        return ":".join(f"{int.from_bytes(data[at : at + 2]):x}" for at in range(0, 16, 2))
    return None
