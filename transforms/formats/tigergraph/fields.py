"""The fields of a message, as they stand, and which of the declared types it names.

Put here how a field is read. Not here: the message itself (``message``), what is wrong with a message
(``message_faults``), and what it does (``consequences``).

Vendor: TigerGraph documentation, "CDC Message Examples", message format fields.
"""

from __future__ import annotations

import re
from typing import Any, Final

from transforms.change import EPOCH, STREAM
from transforms.families.whole_numbers import microseconds
from transforms.formats.tigergraph.declarations import Declared, Edge
from transforms.formats.tigergraph.message import DELETE, EDGE, VERTEX, VERTEX_TYPE, Message
from transforms.formats.tigergraph.tables import edge_table
from transforms.json_values import as_text

_MID: Final = re.compile(
    r"\s*([0-9]{1,18})\|([0-9]{1,18})\|([0-9]{1,18})(?:\|([0-9]{1,18}))?\|([0-9]{1,18})\s*"
)
"""partition, timestamp, tid, split_index (of transactions only), index."""


def read_message(document: dict[str, Any], known: Declared) -> Message:
    """The message that a JSON object is."""
    field = document.get
    operator = as_text(field("operator"))
    message = Message(
        kind=as_text(field("type")),
        operator=operator,
        action=DELETE if operator == "deleted" else operator,
        mid=as_text(field("mid")),
        graph=as_text(field("graph")) or None,
        typename=as_text(field("typename")) or None,
        uid=as_text(field("uid")),
        discriminator=as_text(field("discriminator")) or None,
        content=field("content"),
        has_reverse=_is_true(field("hasreverseedge")),
    )
    time = _log_position(message)
    stated = microseconds(field("timestamp"))
    message.event_at = microseconds(time) if stated is None else stated
    if message.kind == EDGE:
        _name_edge(message, document, known)
    elif message.kind in (VERTEX, VERTEX_TYPE) and message.typename is not None:
        message.vertex = known.vertex(message.typename)
        message.table = message.vertex.table
    message.identity = _identity(message)
    return message


def _identity(message: Message) -> tuple[str | None, ...]:
    mid = None if message.mid is None else message.mid.strip()
    what = (message.kind, message.action, message.typename, message.uid)
    source, target = (message.from_type, message.from_uid), (message.to_type, message.to_uid)
    return (mid, *what, *source, *target, message.discriminator)


def _log_position(message: Message) -> int | None:
    """Put the message where its mid says; give the mid's time."""
    parts = None if message.mid is None else _MID.fullmatch(message.mid)
    if parts is None:
        return None
    partition, time, tid, split, index = parts.groups(default="0")
    message.stream, message.tid = str(int(partition)), int(tid)
    message.log_position = (EPOCH, STREAM, message.tid, int(split), int(index))
    return int(time)


def _name_edge(message: Message, document: dict[str, Any], known: Declared) -> None:
    """Say between which vertices the edge is, and in which table it stands."""
    message.from_type, message.from_uid = _end(document.get("from"))
    message.to_type, message.to_uid = _end(document.get("to"))
    if message.from_type is not None:
        message.vertex = known.vertex(message.from_type)
    if message.typename is None:
        return
    edge = known.edges.get(message.typename)
    if edge is None:
        # Of an edge type that nothing declares no direction is known.
        message.table = edge_table(message.typename)
        return
    message.edge = edge
    message.is_swapped = _is_swapped(message, edge)
    message.table = edge.mirror if message.is_swapped else edge.table


def _end(given: Any) -> tuple[str | None, str | None]:
    if type(given) is not dict:
        return None, None
    return as_text(given.get("type")), as_text(given.get("uid"))


def _is_swapped(message: Message, edge: Edge) -> bool:
    source, target = message.from_type, message.to_type
    if edge.is_directed:
        if edge.is_reverse or not edge.has_mirror:
            return edge.is_reverse
        # A reverse edge under its origin's name is told by its ends.
        is_whole = source is not None and target is not None
        return is_whole and not edge.fits(source, target) and edge.fits(target, source)
    ends = (source, message.from_uid, target, message.to_uid)
    return None not in ends and ends[:2] > ends[2:]


def _is_true(given: Any) -> bool:
    return given is True or (given is not None and as_text(given) in ("true", "1"))
