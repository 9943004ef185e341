"""Records: one piece of an object or a topic, verbatim, with its source location; and how large one may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OBJECT = ("object", "generation")
SOURCE_LOCATION = (*OBJECT, "line", "byte_offset")
"""The columns of bronze, silver and quarantine that say which record of which object a row is from."""


@dataclass(slots=True)
class BronzeRecord:
    """One row of bronze, as a format's ``decode`` gets it.

    ``window``: the landing window, ``2026-11-20T03`` or ``2026-11-20``. ``object``: the object's name relative to the
    landing; of a topic, ``<topic>/<partition>``. ``generation``: the object's etag, or the topic's id. ``line`` counts
    from 1 and ``byte_offset`` from 0 in the decompressed object; of a topic ``byte_offset`` is the record's offset.
    ``header``: the CSV header of the object, or the key's document that stood before the value's in a file; else None.
    ``payload``: the record's bytes without its line's end, or the value of a Kafka record; None for a tombstone.
    ``defect``: why the record could not be cut out whole (truncated JSON, a damaged gzip archive); None for most.
    ``landed_at``: when the object was last modified, or the Kafka record's timestamp, in microseconds since 1970 (UTC).
    ``key``, ``headers``: of a Kafka record that was read from its topic; headers are pairs of a name and a value.
    ``path_table``: the declared table that the object's path names, or else the name that the path suggests
    (``transforms/feed/paths.py``).
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
    """One record cut out of an object, before it has a window; the fields are those of ``BronzeRecord``."""

    line: int
    byte_offset: int
    payload: bytes
    header: str | None = None
    defect: str | None = None


LONGEST_PAYLOAD_OF_A_DEFECT = 1 << 20
"""Maximum number of bytes that are kept of a record that is too long: enough to see what it is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many bytes an object may have, landed and inflated, and how many a single record of it.

    What is larger becomes a record with a defect: it is quarantined, and the run goes on.
    """

    largest_object: int = 1 << 30
    largest_record: int = 64 << 20

    @property
    def kept(self) -> int:
        """How many of its bytes a record keeps that is too long."""
        return min(self.largest_record, LONGEST_PAYLOAD_OF_A_DEFECT)

    @property
    def too_long(self) -> str:
        """The defect of a record that is too long."""
        return f"the record is longer than {self.largest_record:,} bytes"


DEFAULT_LIMITS = Limits()
