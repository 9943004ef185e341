"""Why a message cannot be taken: the first fault that it has.

Put here each reason why a message cannot be taken. Not here: its attributes (``contents``), and values and operations
that the declared types cannot take (``silver``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from transforms.fault import Fault, shown
from transforms.formats.tigergraph.message import (
    DELETE,
    DELETE_ALL,
    EDGE,
    INSERT,
    INSERT_ONLY,
    VERTEX,
    VERTEX_TYPE,
    Message,
)
from transforms.formats.tigergraph.reach import Reach

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
    """What every message of its type has, and this one has not."""
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
