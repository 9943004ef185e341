"""One message of TigerGraph: its fields, the declared types that it names, and why it cannot be taken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transforms.change import EPOCH, STREAM
from transforms.event import Value
from transforms.families.whole_numbers import microseconds
from transforms.fault import Fault, shown
from transforms.formats.tigergraph.declarations import (
    Attribute,
    DeclaredGraph,
    Edge,
    Reach,
    Vertex,
    edge_table,
)
from transforms.json_values import as_text, part

VERTEX, VERTEX_TYPE, EDGE = "vertex", "vertex-type", "edge"
INSERT, INSERT_ONLY, DELETE, DELETE_ALL = "insert", "insert-only", "delete", "delete-all"
INSERTS: Final = frozenset((INSERT, INSERT_ONLY))


@dataclass(slots=True)
class Message:
    """One message: a field that it does not have is None; so are an empty graph, typename and discriminator.

    ``operator`` is as it stands, ``action`` in the one spelling of ``delete`` and ``deleted``. ``stream`` is the
    partition. ``log_position`` and ``tid`` are None where the mid is none; ``event_at`` is in microseconds.
    ``vertex`` is what is known of the vertex type, of an edge that of its source; ``edge`` what is declared of the edge
    type. ``is_swapped``: it is the direction that is not shown, and its ends stand in gold the other way round.
    ``table``: the table of its type. ``identity``: what two deliveries of it agree in, for a mid may have several.
    """

    kind: str | None
    operator: str | None
    action: str | None
    mid: str | None
    graph: str | None
    typename: str | None
    uid: str | None
    discriminator: str | None
    content: Any
    has_reverse: bool
    from_type: str | None = None
    from_uid: str | None = None
    to_type: str | None = None
    to_uid: str | None = None
    stream: str | None = None
    tid: int | None = None
    log_position: tuple[int, ...] | None = None
    event_at: int | None = None
    vertex: Vertex | None = None
    edge: Edge | None = None
    is_swapped: bool = False
    table: str | None = None
    identity: tuple[str | None, ...] = ()

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The declared attributes of its type."""
        of_type = self.edge if self.kind == EDGE else self.vertex
        return {} if of_type is None else of_type.attributes

    @property
    def joined_values(self) -> dict[str, Value]:
        """The attributes that the vertex's uid, or the edge's discriminator, is made of."""
        if self.kind == EDGE:
            return {} if self.edge is None else self.edge.discriminator.values(self.discriminator)
        return {} if self.vertex is None else self.vertex.key.values(self.uid)


# The fields of a message. Vendor: TigerGraph documentation, "CDC Message Examples", message format fields.


_MID: Final = re.compile(
    r"\s*([0-9]{1,18})\|([0-9]{1,18})\|([0-9]{1,18})(?:\|([0-9]{1,18}))?\|([0-9]{1,18})\s*"
)
"""partition, timestamp, tid, split_index (of transactions only), index."""


def read_message(document: dict[str, Any], known: DeclaredGraph) -> Message:
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


def _name_edge(message: Message, document: dict[str, Any], known: DeclaredGraph) -> None:
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
    return as_text(part(given, "type")), as_text(part(given, "uid"))


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


# Why a message cannot be taken: the first fault that it has.


OPERATORS: Final[Mapping[str, tuple[str, ...]]] = {
    VERTEX: (INSERT, INSERT_ONLY, DELETE),
    VERTEX_TYPE: (DELETE,),
    EDGE: (INSERT, DELETE, DELETE_ALL),
}
"""What each type of message may ask for; ``deleted`` is delete."""

LOST: Final = "UNKNOWN"
"""What stands for an id that the source has lost."""


def first_fault(message: Message, reach: Sequence[Reach]) -> Fault | None:
    """The first that a message has, its attributes left aside."""
    lacking = _lacking(message)
    if lacking:
        return Fault("missing_field", f"the message lacks {', '.join(lacking)}")
    kind, action = message.kind, message.action
    assert kind is not None
    if kind not in OPERATORS:
        return Fault("unknown_type", f"type {shown(kind)}; known: {', '.join(OPERATORS)}")
    if action not in OPERATORS[kind]:
        unknown = f"operator {shown(message.operator)} of type {shown(kind)}"
        return Fault("unknown_operation", f"{unknown} is not known")
    if message.log_position is None:
        return Fault(
            "unknown_mid",
            f"mid is {shown(message.mid)}; known: partition|timestamp|tid|index and"
            " partition|timestamp|tid|split_index|index, all numbers",
        )
    if LOST in (message.uid, message.from_uid, message.to_uid):
        return Fault(
            "unknown_uid",
            "the uid is UNKNOWN: the source has lost its ids (a reset of its storage), and no vertex can be told",
        )
    if action == DELETE_ALL:
        return _fault_of_delete_all(message, reach)
    return _fault_of_ends(message) if kind == EDGE else None


def _lacking(message: Message) -> list[str]:
    needed = [("mid", message.mid), ("operator", message.operator), ("type", message.kind)]
    if message.kind == EDGE:
        is_all = message.action == DELETE_ALL
        if not is_all:
            needed.append(("typename", message.typename))
        needed += [("from.type", message.from_type), ("from.uid", message.from_uid)]
        if not is_all:
            needed += [("to.type", message.to_type), ("to.uid", message.to_uid)]
            # Of a type that has several edges between two vertices only this says which is meant.
            if message.edge is not None and message.edge.is_multi:
                needed.append(("discriminator", message.discriminator))
    elif message.kind == VERTEX:
        needed += [("typename", message.typename), ("uid", message.uid)]
    elif message.kind == VERTEX_TYPE:
        needed.append(("typename", message.typename))
    return [name for name, value in needed if value is None]


def _fault_of_ends(message: Message) -> Fault | None:
    """An edge between vertex types that its type is not declared for."""
    edge, source, target = message.edge, message.from_type, message.to_type
    if edge is None:
        return None
    # Of an undirected edge either end may come first; the others were turned round where they had to be.
    if not edge.is_directed:
        fits = edge.fits(source, target) or edge.fits(target, source)
    elif message.is_swapped:
        fits = edge.fits(target, source)
    else:
        fits = edge.fits(source, target)
    if fits:
        return None
    goes = f"the edge goes from {shown(source)} to {shown(target)}"
    return Fault("undeclared_end", f"{goes}, which the feed does not declare")


def _fault_of_delete_all(message: Message, reach: Sequence[Reach]) -> Fault | None:
    """A delete-all that says more than it may, or less than is needed to know what it is for."""
    more = []
    if message.to_uid is not None or message.to_type is not None:
        more.append("a target")
    if message.discriminator is not None:
        more.append("a discriminator")
    if more:
        names = " and ".join(more)
        return Fault(
            "narrowed_delete_all",
            f"delete-all is for all edges of a vertex, and this one names {names}",
        )
    if not reach:
        return Fault(
            "unknown_edges",
            "the message names no edge type, and the feed declares none that begins at"
            f" {shown(message.from_type)}",
        )
    return None
