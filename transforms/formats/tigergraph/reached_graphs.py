"""Which graph's tables a message is for, and what follows from it.

Vertices and edges of one graph stay in it. A type that all graphs share (GLOBAL) is one for all of them, and edges of
any graph may touch its vertices: which ones, only the feed's ``graph`` tells.

Put here what is true where several graphs are in one feed. Not here: what a message changes (``consequences``), and the
graphs that the feed declares (``tables``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transforms.formats.tigergraph.consequences import Effect
from transforms.formats.tigergraph.declarations import Declared
from transforms.formats.tigergraph.message import DELETE_ALL, Message
from transforms.formats.tigergraph.reach import Reach
from transforms.formats.tigergraph.tables import GLOBAL

_SHARED = (GLOBAL,)


def in_graphs(
    effects: Iterable[Effect], message: Message, known: Declared
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


def own_graph(message: Message, known: Declared) -> str | None:
    """The graph of the message itself, whatever follows from it."""
    itself = Effect(message.table, "note")
    if not known.names_graphs:
        return _graph_if_not_shared(itself, message, known)
    if message.table is None:
        return None
    return GLOBAL if known.graphs.get(message.table) == _SHARED else message.graph


def is_unknown(message: Message, reach: Sequence[Reach], known: Declared) -> bool:
    """True for a message on a GLOBAL type where nothing says which graphs' edges touch it, or that it is GLOBAL."""
    if not known.names_graphs or message.graph != GLOBAL:
        return False
    if message.table is not None and message.table not in known.graphs:
        return True
    return any(one.table not in known.graphs for one in reach)


def _graph_if_not_shared(one: Effect, message: Message, known: Declared) -> str | None:
    """The graph of an effect where tables are named by type alone.

    None for shared types and for derived effects, whose rows may lie in other graphs.
    """
    graph = message.graph
    if graph is None or graph == GLOBAL or one.table is None or one.derived is not None:
        return None
    return None if known.graphs.get(one.table) == _SHARED else graph


def _reached(one: Effect, message: Message, known: Declared) -> tuple[str | None, ...]:
    """The graphs whose tables an effect is for."""
    if one.table is None:
        return (None,)
    of_table = known.graphs.get(one.table)
    if of_table == _SHARED:
        return _SHARED
    may_spread = one.derived is not None or message.action == DELETE_ALL
    if of_table is not None and may_spread and message.graph == GLOBAL:
        return of_table
    return (message.graph,)
