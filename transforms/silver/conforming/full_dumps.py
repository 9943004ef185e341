"""Tables of which every window brings the whole: a job writes all rows again, an hour or a day later.

The feed file says so (``snapshots: replace``). A dump stands at its landing window, and within it at the time at which
its object was written, since a job may write over its own file. What a later dump does not name is gone
(``transforms/silver/snapshots.py``).
"""

from __future__ import annotations

from typing import Final

from transforms.change import CONTROL, EPOCH, SNAPSHOT, STREAM
from transforms.event import DUMP, Event, SnapshotRow
from transforms.fault import Fault
from transforms.record import BronzeRecord

_DIGITS_OF_HOUR: Final = len("2026112003")


def place(event: Event, record: BronzeRecord) -> None:
    """Put a row of a dump to its place; anything else that would change a row is a fault."""
    if event.fault is not None or event.effect in CONTROL or event.log_position is None:
        return
    if event.log_position[1] != SNAPSHOT or event.scope is not None:
        event.fault = Fault(
            "not_of_a_dump",
            f"the feed file says that each window has the whole table (snapshots: replace), and this is a change"
            f" ({event.operation}) of one row; leave the key out where a table has changes beside its snapshots",
        )
        return
    at = (EPOCH, STREAM, number_of(record.window), record.landed_at)
    event.log_position = (*at, record.line)
    event.dedup_prefix = len(event.log_position)
    # Equal rows of a table without a key are told apart by where they stand.
    event.identity = (record.window, record.object, record.generation, str(record.line))
    event.snapshot = SnapshotRow(
        removes_at=at,
        begins=False,
        ends=False,
        topic=record.object,
        partition=0,
        offset=0,
        kind=DUMP,
    )


def number_of(window: str) -> int:
    """A window as a number that rises with time: ``2026-11-20T03`` is 2026112003."""
    digits = "".join(character for character in window if character.isdigit())
    return int(digits.ljust(_DIGITS_OF_HOUR, "0"))
