"""The bronze row: one record of a drop, verbatim, with the place where it stood.

Not here: what a record means (``formats``), and how objects are found (``assets/landing/objects.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OBJECT = ("object", "generation")
COORDINATES = (*OBJECT, "line", "byte_offset")


@dataclass(slots=True)
class BronzeRecord:
    """One row of bronze, as formats read it: see ``BRONZE`` for the fields.

    ``path_table`` is the declared table, or else the name, that the object's path says
    (``transforms/feed/object_paths.py``). ``landed_at`` is in microseconds since 1970 (UTC). ``headers`` are pairs of a
    name and a value.
    """

    window: str
    object: str
    generation: str
    line: int
    byte_offset: int
    header: str | None
    payload: bytes | None
    defect: str | None
    landed_at: int
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] | None = None
    path_table: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One record cut out of an object, before it has a window: see ``BRONZE`` for the fields."""

    line: int
    byte_offset: int
    payload: bytes
    header: str | None = None
    defect: str | None = None
