"""Which records of a damaged gzip archive are in doubt.

Put here how damage shows in records. Not here: inflating the archive and finding the damage (``gzip_stream``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from transforms.record import Record
from transforms.records.gzip_stream import CORRUPT, TRAILING


def with_damage(records: Iterable[Record], inflated: bytes, defect: str) -> Iterator[Record]:
    """The records of a damaged archive, those in doubt marked, and the damage itself never silent.

    Corrupt: the checksum vouches for nothing, so every record is marked. Truncated: what came before the cut is
    sound, so only a last record that touches the cut is marked; if none does, the damage is a record of its own.
    """
    if defect.startswith(CORRUPT):
        marked = False
        for record in records:
            marked = True
            yield _with_defect(record, defect)
        if not marked:
            yield _damage_at_end(inflated, defect)
        return
    last: Record | None = None
    for record in records:
        if last is not None:
            yield last
        last = record
    if last is not None and last.byte_offset + len(last.payload) == len(inflated):
        yield last if defect.startswith(TRAILING) else _with_defect(last, defect)
        if not defect.startswith(TRAILING):
            return
    elif last is not None:
        yield last
    yield _damage_at_end(inflated, defect)


def _with_defect(record: Record, defect: str) -> Record:
    return replace(record, defect=f"{defect}; {record.defect}" if record.defect else defect)


def _damage_at_end(inflated: bytes, defect: str) -> Record:
    return Record(inflated.count(b"\n") + 1, len(inflated), b"", defect=defect)
