"""From a record to its events: what the message in it does, and what follows from it without a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from transforms.event import Event, EventWarning, Image
from transforms.families.kafka_records import kafka_message
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.tigergraph import declarations, messages
from transforms.formats.tigergraph.declarations import (
    ANY,
    DISCRIMINATOR,
    ENDS,
    GLOBAL,
    IF_NEW,
    UID,
    DeclaredGraph,
    Mentions,
    Reach,
    declared_graph,
)
from transforms.formats.tigergraph.messages import (
    DELETE,
    DELETE_ALL,
    EDGE,
    INSERT_ONLY,
    INSERTS,
    VERTEX,
    VERTEX_TYPE,
    Message,
)
from transforms.record import BronzeRecord
from transforms.source_format import Surveyed

KEY_NOT_SPLIT = EventWarning(
    "key_not_split",
    "joined_keys_can_be_split",
    "A composite key or discriminator has as many parts as the feed declares.",
    "A value with a comma (in a discriminator a colon) was joined to others: uid and discriminator are whole in gold,"
    " the key's own columns are null in these rows.",
)
DELETE_ALL_OF_OTHERS = EventWarning(
    "delete_all_of_others",
    "delete_all_is_for_plain_edges",
    "A delete-all is for an edge type with one target type, without discriminator and reverse type.",
    "The vendor rules such a message out; all edges of the named type from that vertex were deleted all the same. Look"
    " at the source.",
)
GRAPH_NOT_DECLARED = EventWarning(
    "graph_not_declared",
    "graphs_of_global_types_are_declared",
    "Where tables are named by graph, a GLOBAL type and the edge types that touch it say which graphs have them.",
    "Declare `graph: GLOBAL` at the vertex type, and the graphs at the edge types: until then an edge brings a vertex"
    " of its own graph, and a delete of a GLOBAL vertex takes no edge of another graph along.",
)
REVERSE_NOT_DECLARED = EventWarning(
    "reverse_not_declared",
    "reverse_types_are_declared",
    "An edge type of which a message says that it has a reverse type has one in the feed file.",
    "Declare it under `reverse`: the messages of the other direction are taken for edges of their own until then.",
)


# What a message does. An edge brings its source vertex with it; a vertex, or all of a type, takes its edges along; a
# delete-all is for every direction in which an edge is stored.
# Vendor: TigerGraph documentation, "CDC Message Examples" (implicit source vertices, implicit edge deletion).

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


def reached_edges(message: Message, known: DeclaredGraph) -> Sequence[Reach]:
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


def effects_of(
    message: Message, found: Mentions, keyed: Image, reach: Sequence[Reach]
) -> list[Effect]:
    """All that a sound message does, itself first; ``keyed``: the attributes that its uid or discriminator is of."""
    if message.action in INSERTS:
        return _inserted(message, found, keyed)
    if message.action == DELETE_ALL:
        # The first place of the edges is the message itself.
        first, *others = reach
        rest = [_range_delete(message, one, OF_DELETE_ALL) for one in others]
        return [_range_delete(message, first, None), *rest]
    if message.kind == EDGE:
        return [Effect(message.table, "remove", before=_edge_key(message))]
    gone = [_range_delete(message, one, OF_DELETED_VERTEX) for one in reach]
    if message.kind == VERTEX_TYPE:
        return [Effect(message.table, "remove", scope={}), *gone]
    return [Effect(message.table, "remove", before={UID: message.uid}), *gone]


def _inserted(message: Message, found: Mentions, keyed: Image) -> list[Effect]:
    """A vertex with some of its attributes, or an edge with the vertex where it begins.

    A vertex that is there already stays as it is under an insert-only; an edge's source is made without a message where
    it is missing.
    """
    if message.kind != EDGE:
        is_only = message.action == INSERT_ONLY
        operations = dict.fromkeys(found.values, IF_NEW) if is_only else found.operations
        after = {UID: message.uid, **keyed, **found.values}
        return [Effect(message.table, "update", after=after, operations=operations)]
    after = {**_edge_key(message), **keyed, **found.values}
    itself = Effect(message.table, "update", after=after, operations=found.operations)
    assert message.vertex is not None  # a sound edge names its source's type
    source = {UID: message.from_uid, **message.vertex.key.values(message.from_uid)}
    return [itself, Effect(message.vertex.table, "update", OF_SOURCE, after=source)]


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


# Which graph's tables a message is for. Vertices and edges of one graph stay in it. A type that all graphs share
# (GLOBAL) is one for all of them, and edges of any graph may touch its vertices: which ones, only the feed tells.

_SHARED = (GLOBAL,)


def in_graphs(
    effects: Iterable[Effect], message: Message, known: DeclaredGraph
) -> list[tuple[Effect, str | None]]:
    """The effects, each with its graph; one of a GLOBAL type is there for every graph that it reaches."""
    if not known.names_graphs:
        return [(one, _graph_if_not_shared(one, message, known)) for one in effects]
    found: list[tuple[Effect, str | None]] = []
    for one in effects:
        for at, graph in enumerate(_reached(one, message, known)):
            # An event is one; the others follow from it.
            follows = at > 0 and one.derived is None
            found.append((one._replace(derived=message.action) if follows else one, graph))
    return found


def own_graph(message: Message, known: DeclaredGraph) -> str | None:
    """The graph of the message itself, whatever follows from it."""
    itself = Effect(message.table, "note")
    if not known.names_graphs:
        return _graph_if_not_shared(itself, message, known)
    if message.table is None:
        return None
    return GLOBAL if known.graphs.get(message.table) == _SHARED else message.graph


def is_unknown(message: Message, reach: Sequence[Reach], known: DeclaredGraph) -> bool:
    """True for a message on a GLOBAL type where nothing says which graphs' edges touch it, or that it is GLOBAL."""
    if not known.names_graphs or message.graph != GLOBAL:
        return False
    if message.table is not None and message.table not in known.graphs:
        return True
    return any(one.table not in known.graphs for one in reach)


def _graph_if_not_shared(one: Effect, message: Message, known: DeclaredGraph) -> str | None:
    """The graph of an effect where tables are named by type alone.

    None for shared types and for derived effects, whose rows may lie in other graphs.
    """
    graph = message.graph
    if graph is None or graph == GLOBAL or one.table is None or one.derived is not None:
        return None
    return None if known.graphs.get(one.table) == _SHARED else graph


def _reached(one: Effect, message: Message, known: DeclaredGraph) -> tuple[str | None, ...]:
    if one.table is None:
        return (None,)
    of_table = known.graphs.get(one.table)
    if of_table == _SHARED:
        return _SHARED
    may_spread = one.derived is not None or message.action == DELETE_ALL
    if of_table is not None and may_spread and message.graph == GLOBAL:
        return of_table
    return (message.graph,)


# From a record to its events.

_NONE_MENTIONED: Final = Mentions({}, {})


def decoder(feed: Feed, surveyed: Surveyed) -> Callable[[BronzeRecord], list[Event]]:
    """What reads the feed's records: an event for each message, and one for each change that follows from it."""
    known = declared_graph(feed)

    def decode(record: BronzeRecord) -> list[Event]:
        document, fault = kafka_message(record, feed).object()
        message = messages.read_message(document, known)
        reach = reached_edges(message, known)
        fault = fault or messages.first_fault(message, reach)
        found: Mentions | Fault = _NONE_MENTIONED
        if fault is None and message.action in INSERTS:
            found = declarations.mentions_of(message.content, message.attributes)
        if fault is None and not isinstance(found, Fault):
            return _events(message, found, reach, known)
        # What cannot be taken, with what could be read of it.
        event = _event(message, Effect(message.table, "note"), own_graph(message, known))
        event.fault = fault or (found if isinstance(found, Fault) else None)
        return [event]

    return decode


def _events(
    message: Message, found: Mentions, reach: Sequence[Reach], known: DeclaredGraph
) -> list[Event]:
    """A sound message, and what follows from it; what a restored backup holds already changes nothing."""
    keyed = message.joined_values
    last = known.baseline.get(message.stream or "")
    placed: list[tuple[Effect, str | None]]
    if last is not None and message.tid is not None and message.tid <= last:
        placed = [(Effect(None, "note"), None)]
    else:
        placed = in_graphs(effects_of(message, found, keyed, reach), message, known)
    words = []
    if message.action in INSERTS and None in keyed.values():
        words.append(KEY_NOT_SPLIT.word)
    words += _words(message, reach, known)
    events = []
    for one, graph in placed:
        event = _event(message, one, graph)
        if one.derived is None:
            event.warnings = tuple(words)
        events.append(event)
    return events


def _words(message: Message, reach: Sequence[Reach], known: DeclaredGraph) -> list[str]:
    words = []
    edge = message.edge
    is_restricted = edge is not None and edge.is_restricted
    if message.action == DELETE_ALL and (is_restricted or message.has_reverse):
        words.append(DELETE_ALL_OF_OTHERS.word)
    if is_unknown(message, reach, known):
        words.append(GRAPH_NOT_DECLARED.word)
    if message.has_reverse and edge is not None and not edge.has_mirror:
        words.append(REVERSE_NOT_DECLARED.word)
    return words


def _event(message: Message, one: Effect, graph: str | None) -> Event:
    return Event(
        operation=message.action,
        effect=one.effect,
        name=one.table,
        schema=graph,
        before=one.before or {},
        after=one.after or {},
        attribute_ops=one.operations or {},
        scope=one.scope,
        stream=message.stream,
        derived=one.derived,
        log_position=message.log_position,
        dedup_prefix=0 if message.log_position is None else len(message.log_position),
        identity=message.identity,
        event_at=message.event_at,
    )
