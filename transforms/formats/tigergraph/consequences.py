"""What a message does: its own change, and what follows from it without a message.

An edge brings its source vertex with it; a vertex, or all of a type, takes its edges along; a delete-all is for every
direction in which an edge is stored. Put here what one message changes, in its own table and in others. Not here:
reading the message (``fields``), and which graphs it is for (``reached_graphs``).

Vendor: TigerGraph documentation, "CDC Message Examples" (implicit source vertices, implicit edge deletion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from transforms.event import Image
from transforms.formats.tigergraph.contents import IF_NEW, Mentions
from transforms.formats.tigergraph.declarations import Declared
from transforms.formats.tigergraph.message import (
    DELETE,
    DELETE_ALL,
    EDGE,
    INSERT_ONLY,
    INSERTS,
    VERTEX,
    VERTEX_TYPE,
    Message,
)
from transforms.formats.tigergraph.reach import Reach
from transforms.formats.tigergraph.tables import ANY, DISCRIMINATOR, ENDS, UID

OF_SOURCE: Final = "edge_source"
OF_DELETED_VERTEX: Final = "vertex_deleted"
OF_DELETE_ALL: Final = "delete_all"


class Effect(NamedTuple):
    """One change that a message makes; ``derived`` says why, where it has no message of its own.

    The rest is as in ``transforms.event.Event``; images that are None are empty.
    """

    table: str | None
    effect: str
    derived: str | None = None
    before: Image | None = None
    after: Image | None = None
    operations: Mapping[str, str] | None = None
    scope: Image | None = None


def reached(message: Message, known: Declared) -> Sequence[Reach]:
    """Where the edges are that a delete takes along."""
    if message.action == DELETE_ALL and message.kind == EDGE:
        if message.typename is None:
            return _of_vertex_type(known.beginning_at, message.from_type)
        found = known.beginning.get(message.typename)
        if found is not None:
            return found
        # Of what nothing declares nothing is known but its name.
        return (Reach(message.table or "", "from"),)
    if message.action == DELETE and message.kind in (VERTEX, VERTEX_TYPE):
        return _of_vertex_type(known.touching, message.typename)
    return ()


def effects(
    message: Message, found: Mentions, keyed: Image, reach: Sequence[Reach]
) -> list[Effect]:
    """All that a sound message does, itself first; ``keyed``: the attributes that its uid or discriminator is of."""
    if message.kind == EDGE:
        if message.action in INSERTS:
            after = {**_edge_key(message), **keyed, **found.values}
            itself = Effect(message.table, "update", after=after, operations=found.operations)
            return [itself, _source_updated(message)]
        if message.action == DELETE:
            return [Effect(message.table, "remove", before=_edge_key(message))]
        return _all_removed(message, reach)
    if message.action in INSERTS:
        return [_vertex_updated(message, found, keyed)]
    gone = [_range_delete(message, one, OF_DELETED_VERTEX) for one in reach]
    if message.kind == VERTEX_TYPE:
        return [Effect(message.table, "remove", scope={}), *gone]
    return [Effect(message.table, "remove", before={UID: message.uid}), *gone]


def _vertex_updated(message: Message, found: Mentions, keyed: Image) -> Effect:
    """A vertex with some of its attributes; one that is there already stays as it is under an insert-only."""
    after = {UID: message.uid, **keyed, **found.values}
    operations = found.operations
    if message.action == INSERT_ONLY:
        operations = dict.fromkeys(found.values, IF_NEW)
    return Effect(message.table, "update", after=after, operations=operations)


def _source_updated(message: Message) -> Effect:
    """The vertex where an edge begins, which the source makes without a message where it is missing."""
    assert message.vertex is not None  # a sound edge names its source's type
    keyed = message.vertex.key.values(message.from_uid)
    return Effect(message.vertex.table, "update", OF_SOURCE, after={UID: message.from_uid, **keyed})


def _all_removed(message: Message, reach: Sequence[Reach]) -> list[Effect]:
    """All edges from a vertex are gone; the first of their places is the message itself."""
    first, *others = reach
    return [
        _range_delete(message, first, None),
        *[_range_delete(message, one, OF_DELETE_ALL) for one in others],
    ]


def _edge_key(message: Message) -> dict[str, str | None]:
    """The edge's key as gold has it: the other way round for the direction that is not shown."""
    begin, end = (message.from_type, message.from_uid), (message.to_type, message.to_uid)
    ends = (*end, *begin) if message.is_swapped else (*begin, *end)
    return {**dict(zip(ENDS, ends, strict=True)), DISCRIMINATOR: message.discriminator or ""}


def _range_delete(message: Message, reach: Reach, derived: str | None) -> Effect:
    """The removal of all edges that have the message's vertex, or one of its type, at an end."""
    of_type, uid = message.typename, message.uid
    if message.kind == EDGE:
        of_type, uid = message.from_type, message.from_uid
    scope = {f"{reach.end}_type": of_type}
    if message.kind != VERTEX_TYPE:
        scope[f"{reach.end}_uid"] = uid
    return Effect(reach.table, "remove", derived, scope=scope)


def _of_vertex_type(known: Mapping[str, Sequence[Reach]], of_type: str | None) -> Sequence[Reach]:
    found = None if of_type is None else known.get(of_type)
    return known[ANY] if found is None else found
