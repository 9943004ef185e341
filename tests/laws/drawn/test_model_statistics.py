"""Whether the random histories contain every kind of event often enough for the laws to mean something.

What happens to a row is counted where the oracle applies it, so that an event without effect does not count.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.laws.drawn.model_histories import KINDS, TABLES, deliveries, history
from tests.laws.kinds.attributes import operations
from tests.laws.oracle import oracle, values
from tests.laws.oracle.oracle import Change, Event, Row, Table, Values, changes_of, current, visible
from tests.laws.oracle.values import class_of, parts_of

HISTORIES = 200
_copies_after, _values_after = oracle.copies_after, oracle.values_after
_operated, _wrapped, _rounded = values.operated, values.wrapped, values.rounded


class Seen:
    """Stands where the oracle applies changes, and counts what it sees."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self.operations: Counter[tuple[str, str]] = Counter()
        monkeypatch.setattr(oracle, "copies_after", self.copies_after)
        monkeypatch.setattr(oracle, "values_after", self.values_after)
        monkeypatch.setattr(oracle, "operated", self.operated)
        # Values that are remembered would not be seen again.
        monkeypatch.setattr(values, "scalar", values.scalar.__wrapped__)
        monkeypatch.setattr(values, "wrapped", self.wrapped)
        monkeypatch.setattr(values, "rounded", self.rounded)

    def copies_after(self, change: Change, row: Row | None, table: Table) -> int:
        copies = _copies_after(change, row, table)
        scoped = "range " if change.key is None else ""
        if change.effect in ("remove", "remove_if", "decrement", "update"):
            found = "nothing" if row is None else "a row"
            kept = " that stays" if row and copies and "remove" in change.effect else ""
            self.counts[f"{scoped}{change.effect} finds {found}{kept}"] += 1
        self.counts["several copies"] += copies > 1
        return copies

    def values_after(
        self, change: Change, row: Row | None, left: Row | None, table: Table
    ) -> Values:
        if change.effect == "move":
            is_full = table.columns.keys() <= change.event.result.keys()
            self.counts[
                f"{'full' if is_full else 'partial'} move of {'a row' if left else 'none'}"
            ] += 1
            self.counts["move onto a row"] += row is not None
        return _values_after(change, row, left, table)

    def operated(self, operation: str, old: object, new: object, type_name: str) -> object:
        self.operations[(operation, type_name)] += 1
        self.counts["operation on null"] += old is None
        self.counts["operation with null"] += new is None
        return _operated(operation, old, new, type_name)

    def wrapped(self, number: int, type_name: str) -> int:
        self.counts[f"{type_name} wraps"] += _wrapped(number, type_name) != number
        return _wrapped(number, type_name)

    def rounded(self, number: float, type_name: str) -> float:
        self.counts["float is rounded"] += _rounded(number, type_name) != number
        return _rounded(number, type_name)


def watch(seen: Seen, kind: str) -> list[list[Event]]:
    """Draw the histories of a kind and fold them; what the events say of themselves counts, too."""
    drawn = [history(kind, seed, f"{kind}-{seed}", 5 + seed % 36) for seed in range(HISTORIES)]
    for events in drawn:
        for name in KINDS[kind]:
            of_table = [e for e in visible({0: events}, [0]) if e.table == name]
            end = current(of_table, TABLES[name])
            seen.counts["rows"] += len(end.rows)
            seen.counts["tombstones"] += len(end.tombstones)
            slots = Counter(
                (change.key, change.slot)
                for event in of_table
                for change in changes_of(event, TABLES[name])
            )
            seen.counts["ties"] += sum(count > 1 for count in slots.values())
            seen.counts["tied updates"] += sum(
                count > 1 for (_, (_, rank)), count in slots.items() if rank == 2
            )
        numbers = sorted({event.log_position for event in events})
        seen.counts["orders by text that are wrong"] += numbers != sorted(numbers, key=str)
    return drawn


def at_least(seen: Seen, minimum: dict[str, int]) -> None:
    """Every count is as large as it must be; all are shown where one is not."""
    common = {"rows": 100, "tombstones": 100, "ties": 20, "orders by text that are wrong": 50}
    small = [n for n, least in (common | minimum).items() if seen.counts[n] < least]
    assert not small, f"too few of {small} in {sorted(seen.counts.items())}"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    return Seen(monkeypatch)


def test_item(seen: Seen) -> None:
    drawn = watch(seen, "item")
    at_least(seen, {
        "range remove finds a row": 100, "range update finds a row": 100,
        "partial move of a row": 100, "partial move of none": 100, "full move of a row": 50,
        "full move of none": 50, "move onto a row": 50, "tied updates": 50,
        "remove finds a row": 200, "remove finds nothing": 100,
    })  # fmt: skip
    assert sum(any(event.log_position[0] == 1 for event in events) for events in drawn) > 50
    together = Counter(
        (number, event.log_position)
        for number, events in enumerate(drawn)
        for event in events
        if len(changes_of(event, TABLES["item"])) == 2
    )
    assert sum(count > 1 for count in together.values()) > 20, "key changes at one position"


def test_graph(seen: Seen) -> None:
    watch(seen, "graph")
    at_least(seen, {
        "range remove finds a row": 100, "remove finds a row": 50, "update finds a row": 1000,
        "update finds nothing": 500, "tied updates": 100, "operation on null": 50,
        "operation with null": 20, "bigint wraps": 20, "int wraps": 20, "smallint wraps": 5,
        "tinyint wraps": 5, "float is rounded": 50,
    })  # fmt: skip
    for table in (TABLES["vertex"], TABLES["edge"]):
        for type_name in {t for c, t in table.columns.items() if c not in table.key}:
            for operation in operations(type_name):
                assert seen.operations[(operation, type_name)] >= 3, (operation, type_name)
    kinds = {class_of(part) for t in TABLES["vertex"].columns.values() for part in parts_of(t)}
    assert kinds >= {"integer", "floating", "decimal", "boolean", "string", "time"}


def test_triple(seen: Seen) -> None:
    drawn = watch(seen, "triple")
    at_least(seen, {
        "range remove finds a row": 200, "remove_if finds a row": 50,
        "remove_if finds a row that stays": 50, "remove_if finds nothing": 50,
        "remove finds a row": 50,
    })  # fmt: skip
    shared = Counter(e.log_position[:3] for e in drawn[35] if len(e.log_position) == 4)
    assert max(shared.values()) > 1
    sizes = Counter(len(event.scope or {}) for events in drawn for event in events)
    assert min(sizes[size] for size in (1, 2, 3)) > 30, sizes


def test_log(seen: Seen) -> None:
    drawn = watch(seen, "log")
    at_least(seen, {
        "decrement finds a row": 500, "decrement finds nothing": 100, "several copies": 500,
        "range remove finds a row": 50,
    })  # fmt: skip
    superseded = [e for events in drawn for e in events if not changes_of(e, TABLES["log"])]
    assert len(superseded) > 50


def test_account(seen: Seen) -> None:
    drawn = watch(seen, "account")
    at_least(seen, {"range remove finds a row": 20, "partial move of a row": 10})
    counts: Counter[str] = Counter()
    for seed, events in enumerate(drawn):
        whole, arrived = visible({0: events}, [0]), deliveries(events, seed, windows=4)
        commits = {
            e.transaction.id: e.transaction
            for e in events
            if e.transaction and e.effect == "commit"
        }
        in_the_end = {e.transaction.id for e in whole if e.transaction}
        halfway = {e.transaction.id for e in visible(arrived, [0, 1]) if e.transaction}
        begun = {e.transaction.id for e in events if e.transaction}
        counts["complete"] += len(in_the_end)
        counts["complete at two windows of four"] += len(halfway)
        counts["never committed"] += len(begun - commits.keys())
        counts["commit that misses a change"] += sum(
            terms.expected is not None and terms.expected > 0 and name not in in_the_end
            for name, terms in commits.items()
        )
        counts["by count"] += sum(commits[name].expected is not None for name in in_the_end)
        counts["by windows, from begin"] += sum(
            commits[name].expected is None and commits[name].has_begin for name in in_the_end
        )
        counts["by windows, from the first"] += sum(
            commits[name].expected is None and not commits[name].has_begin for name in in_the_end
        )
        counts["at commit"] += sum(commits[name].at_commit for name in in_the_end)
        counts["in none"] += sum(event.transaction is None for event in whole)
        for name in in_the_end:
            own = [e for e in whole if e.transaction and e.transaction.id == name]
            counts["over two tables"] += len({event.table for event in own}) > 1
            counts["over two tablets"] += len({event.stream for event in own}) > 1
    assert min(counts.values()) > 20, counts
    assert len(counts) == 11
