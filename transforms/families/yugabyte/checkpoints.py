"""Checkpoints: how far a response has come in its tablet, which of two is further, and the note that says so.

A checkpoint is term, index, write_id and a key. A higher term is further, whatever the index; in one term a higher
index; the write_id is the order within a transaction and says something only beside a key: then the next response goes
on in the middle of that transaction. Put here what a checkpoint is, and how two compare. Not here: what follows from
all notes of a feed (``checkpoint_names`` says what they share with the rest of Weir).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from transforms.change import EPOCH, STREAM
from transforms.event import Event
from transforms.families.yugabyte.checkpoint_names import BEHIND, CHECKPOINT, REACHED
from transforms.families.yugabyte.messages import Names, names, part
from transforms.families.yugabyte.scalars import filled, whole
from transforms.families.yugabyte.tablets import Origin
from transforms.json_values import as_text

OWN: Final[Names] = names("term", "index", "key", "write_id", "snapshot_time")
"""CDCSDKCheckpointPB."""

OLDER: Final[Names] = names("op_id")
"""CDCCheckpointPB, which both forms have: an op id alone."""

_OP_ID: Final[Names] = names("term", "index")

START: Final = (EPOCH, STREAM)
"""What the position of everything in a stream begins with."""

FIELDS: Final = ("term", "index", "write_id", "key", "snapshot_time", *REACHED, "stream_id")
"""What a note says of its checkpoint, of how far its response has come, and of its stream."""

CommittedOpId = tuple[int | None, int | None]
"""Term and index of the last committed op id: a consumer that resumes there loses nothing. Both None where there is
none."""

NOTHING: Final[CommittedOpId] = (None, None)


class Checkpoint(NamedTuple):
    """The checkpoint of a response; every field is None where the response has none.

    ``term`` and ``log_index`` are an op id of the tablet's Raft log; ``write_id`` says something only beside a ``key``.
    """

    term: int | None = None
    log_index: int | None = None
    write_id: int | None = None
    key: str | None = None
    snapshot_time: str | None = None

    @property
    def op_id(self) -> tuple[int, int] | None:
        """Its op id; None where it has none."""
        if self.term is None or self.log_index is None:
            return None
        return self.term, self.log_index


def checkpoint_of(response: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of a response: the CDC SDK's own, else the op id that both forms have."""
    own = part(response, "cdc_sdk_checkpoint", OWN)
    older = part(part(response, "checkpoint", OLDER), "op_id", _OP_ID)
    key = filled(own.get("key"))
    term, index = own.get("term"), own.get("index")
    return Checkpoint(
        whole(older.get("term") if term is None else term),
        whole(older.get("index") if index is None else index),
        None if key is None else whole(own.get("write_id")) or 0,
        key,
        as_text(own.get("snapshot_time")),
    )


def note(checkpoint: Checkpoint, committed_op_id: CommittedOpId, origin: Origin) -> Event:
    """The note of a response: it stands after all that its checkpoint covers.

    Responses that come to the same checkpoint leave one note: the images say the rest.
    """
    op_id = checkpoint.op_id
    behind = BEHIND if checkpoint.write_id is None else checkpoint.write_id
    pairs = zip(FIELDS, (*checkpoint, *committed_op_id, origin.stream_id), strict=True)
    return Event(
        operation=CHECKPOINT,
        effect="note",
        name=None,
        after={name: None if one is None else str(one) for name, one in pairs},
        stream=origin.tablet,
        derived=CHECKPOINT,
        log_position=START if op_id is None else (*START, *op_id, behind),
        dedup_prefix=len(START),
        identity=(origin.tablet, origin.stream_id),
    )
