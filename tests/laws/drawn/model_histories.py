"""Histories of every kind that the change model knows, drawn from a seed, one case each."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.drawn.histories import deliveries
from tests.laws.kinds import account, graph, item, log, replica, stock, triple
from tests.laws.oracle.oracle import Event, Table

__all__ = ["KINDS", "TABLES", "deliveries", "history", "to_record"]

# The tables that each kind of source has.
KINDS: dict[str, tuple[str, ...]] = {
    "item": ("item",),
    "graph": ("vertex", "edge"),
    "triple": ("triple",),
    "log": ("log",),
    "account": ("account", "card"),
    "stock": ("stock",),
    "replica": ("replica",),
}
TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *(item.ITEM, graph.VERTEX, graph.EDGE, triple.TRIPLE, log.LOG),
        *(account.ACCOUNT, account.CARD, stock.STOCK, replica.REPLICA),
    )
}
_DRAWN_BY: dict[str, Callable[[Random, str, int], list[Event]]] = {
    "item": item.history,
    "graph": graph.history,
    "triple": triple.history,
    "log": log.history,
    "account": account.history,
    "stock": stock.history,
    "replica": replica.history,
}


def history(kind: str, seed: int, case: str, events: int) -> list[Event]:
    """A source's first events, as many as ``events`` says, in its order; in a graph a few more may come along."""
    return _DRAWN_BY[kind](Random(f"{kind} {seed}"), case, events)


def to_record(event: Event) -> dict[str, object]:
    """The event as JSON can carry it."""
    transaction = event.transaction
    stable = 3 if event.source == "cassandra" else len(event.log_position)
    return {
        "table": event.table,
        "operation": event.operation,
        "effect": event.effect,
        "before": event.before,
        "after": event.after,
        "attribute_ops": event.attribute_ops,
        "scope": event.scope,
        "stream": event.stream,
        "transaction": transaction
        and {
            "id": transaction.id,
            "expected": transaction.expected,
            "has_begin": transaction.has_begin,
            "at_commit": transaction.at_commit,
        },
        "derived": event.derived,
        "log_position": list(event.log_position),
        "identity": event.identity,
        "dedup_prefix": stable,
        "event_at_ms": event.event_at_ms,
    }
