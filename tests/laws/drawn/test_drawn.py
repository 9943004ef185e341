"""Whether the random histories contain every kind of event often enough for the laws to mean something."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.laws.drawn.model_histories import KINDS, TABLES, deliveries, history
from tests.laws.kinds.attributes import operations
from tests.laws.oracle import oracle, values
from tests.laws.oracle.oracle import (
    Change,
    Event,
    Row,
    State,
    Table,
    changes_of,
    current,
    event_id,
    visible,
)

HISTORIES = 200
OF_ALL = {"rows": 100, "tombstones": 100, "ties": 20, "orders by text that are wrong": 50}
LEAST: dict[str, dict[str, int]] = {
    "item": {
        "range remove finds a row": 100, "range update finds a row": 100, "move of a row": 150,
        "move of none": 150, "move onto a row": 50, "tied updates": 50, "remove finds a row": 200,
        "remove finds nothing": 100, "two key changes at one position": 20,
    },
    "graph": {
        "range remove finds a row": 100, "remove finds a row": 50, "update finds a row": 1000,
        "update finds nothing": 500, "tied updates": 100, "operation on null": 50,
        "operation with null": 20, "bigint wraps": 20, "int wraps": 20, "smallint wraps": 5,
        "tinyint wraps": 5,
        **{
            f"{operation} of {type_name}": 3
            for table in (TABLES["vertex"], TABLES["edge"])
            for column, type_name in table.columns.items()
            if column not in table.key
            for operation in operations(type_name)
        },
    },
    "triple": {
        "range remove finds a row": 200, "remove_if finds a row": 50,
        "remove_if finds a row that stays": 50, "remove_if finds nothing": 50,
        "remove finds a row": 50,
    },
    "log": {
        "decrement finds a row": 500, "decrement finds nothing": 100, "several copies": 500,
        "range remove finds a row": 50, "updates that change nothing": 50,
    },
    "account": {
        "range remove finds a row": 20, "move of a row": 10, "complete": 20,
        "complete at two windows of four": 20, "never committed": 20,
        "commit that misses a change": 20, "by count": 20, "by windows, from begin": 20,
        "by windows, from the first": 20, "at commit": 20, "in no transaction": 20,
        "over two tables": 20, "over two tablets": 20,
    },
    "stock": {"update finds a row": 200, "remove finds a row": 100},
    "replica": {"tombstones": 50, "deliveries of one event at two positions": 50},
}  # fmt: skip
"""Of what kind of history at least how often something happens; what happens to a row, where the oracle applies it."""


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Stand where the oracle applies changes, and count what is seen there."""
    seen: Counter[str] = Counter()
    copies_after, values_after = oracle.copies_after, oracle.values_after
    operated, wrapped = values.operated, values.wrapped

    def copies(change: Change, row: Row | None, table: Table) -> int:
        left = copies_after(change, row, table)
        scoped = "range " if change.key is None else ""
        kept = " that stays" if row and left and "remove" in change.effect else ""
        seen[f"{scoped}{change.effect} finds {'a row' if row else 'nothing'}{kept}"] += 1
        seen["several copies"] += left > 1
        return left

    def moved(change: Change, row: Row | None, left: Row | None, table: Table) -> oracle.Values:
        if change.effect == "move":
            seen[f"move of {'a row' if left else 'none'}"] += 1
            seen["move onto a row"] += row is not None
        return values_after(change, row, left, table)

    def operation(name: str, old: object, new: object, type_name: str) -> object:
        seen[f"{name} of {type_name}"] += 1
        seen["operation on null"] += old is None
        seen["operation with null"] += new is None
        return operated(name, old, new, type_name)

    def wrapping(number: int, type_name: str) -> int:
        seen[f"{type_name} wraps"] += wrapped(number, type_name) != number
        return wrapped(number, type_name)

    monkeypatch.setattr(oracle, "copies_after", copies)
    monkeypatch.setattr(oracle, "values_after", moved)
    monkeypatch.setattr(oracle, "operated", operation)
    monkeypatch.setattr(values, "wrapped", wrapping)
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_every_difficulty_is_drawn_often(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    seen = counted(monkeypatch)
    for seed in range(HISTORIES):
        events = history(kind, seed, f"{kind}-{seed}", 5 + seed % 36)
        assert events == history(kind, seed, f"{kind}-{seed}", 5 + seed % 36)
        arrived = deliveries(events, seed, windows=4)
        ends = states(kind, visible({0: events}, [0]))
        for name, end in ends.items():
            seen["rows"] += len(end.rows)
            seen["tombstones"] += len(end.tombstones)
            seen.update(
                of_changes([event for event in events if event.table == name], TABLES[name])
            )
        positions = sorted({event.log_position for event in events})
        seen["orders by text that are wrong"] += positions != sorted(positions, key=str)
        seen.update(of_transactions(events, arrived))
    small = {
        name: seen[name] for name, least in (OF_ALL | LEAST[kind]).items() if seen[name] < least
    }
    assert not small, f"too few: {small}"


@pytest.mark.parametrize("kind", KINDS)
def test_neither_order_nor_repeats_nor_windows_matter_to_the_oracle(kind: str) -> None:
    for seed in range(0, HISTORIES, 2):
        events = history(kind, seed, f"{kind}-{seed}", 5 + seed % 36)
        late = visible(deliveries(events, seed, windows=4), [3, 1, 0, 2])
        Random(seed).shuffle(late)
        assert states(kind, late) == states(kind, visible({0: events}, [0])), seed


def states(kind: str, events: list[Event]) -> dict[str, State]:
    return {
        name: current([event for event in events if event.table == name], TABLES[name])
        for name in KINDS[kind]
    }


def of_changes(events: list[Event], table: Table) -> Counter[str]:
    """What the events of a table say of themselves."""
    seen: Counter[str] = Counter()
    told = [event for event in events if not event.is_control]
    changes = [changes_of(event, table) for event in told]
    slots = Counter((one.key, one.slot) for some in changes for one in some)
    moves = Counter(
        event.log_position for event, some in zip(told, changes, strict=True) if len(some) == 2
    )
    places: dict[str, set[tuple[int, ...]]] = {}
    for event in told:
        places.setdefault(event_id(event), set()).add(event.log_position)
    seen["ties"] = sum(count > 1 for count in slots.values())
    seen["tied updates"] = sum(count > 1 for (_, (_, rank)), count in slots.items() if rank == 2)
    seen["two key changes at one position"] = sum(count > 1 for count in moves.values())
    seen["updates that change nothing"] = sum(not some for some in changes)
    seen["deliveries of one event at two positions"] = sum(
        len(some) > 1 for some in places.values()
    )
    return seen


def of_transactions(events: list[Event], arrived: dict[int, list[Event]]) -> Counter[str]:
    """How the transactions of a history end."""
    seen: Counter[str] = Counter()
    whole = visible({0: events}, [0])
    commits = {
        event.transaction.id: event.transaction
        for event in events
        if event.transaction and event.effect == "commit"
    }
    complete, halfway, begun = (
        {event.transaction.id for event in some if event.transaction}
        for some in (whole, visible(arrived, [0, 1]), events)
    )
    seen["complete"] = len(complete)
    seen["complete at two windows of four"] = len(halfway)
    seen["never committed"] = len(begun - commits.keys())
    seen["commit that misses a change"] = sum(
        bool(terms.expected) and name not in complete for name, terms in commits.items()
    )
    seen["in no transaction"] = sum(event.transaction is None for event in whole)
    for name in complete:
        terms = commits[name]
        how = "by count" if terms.expected is not None else "by windows, from begin"
        seen[
            how if terms.expected is not None or terms.has_begin else "by windows, from the first"
        ] += 1
        seen["at commit"] += terms.at_commit
        own = [event for event in whole if event.transaction and event.transaction.id == name]
        seen["over two tables"] += len({event.table for event in own}) > 1
        seen["over two tablets"] += len({event.stream for event in own}) > 1
    return seen
