"""The histories of the change model: what they must never do, and cheap laws over them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from random import Random

import pytest

from tests.laws.drawn.model_histories import KINDS, TABLES, deliveries, history, to_record
from tests.laws.oracle.oracle import Event, State, current, event_id, visible

SEEDS = range(120)


def drawn(kind: str, seed: int) -> list[Event]:
    return history(kind, seed, f"{kind}-{seed}", 5 + seed % 36)


def states(kind: str, events: list[Event]) -> dict[str, State]:
    return {
        name: current([event for event in events if event.table == name], TABLES[name])
        for name in KINDS[kind]
    }


@pytest.mark.parametrize("kind", KINDS)
def test_histories_are_repeatable_and_keep_to_their_case(kind: str) -> None:
    for seed in SEEDS:
        case, events = f"{kind}-{seed}", drawn(kind, seed)
        assert events == drawn(kind, seed)
        assert 5 + seed % 36 <= len(events) <= 5 + seed % 36 + (40 if kind == "graph" else 0)
        assert {event.table for event in events} <= set(KINDS[kind])
        for event in events:
            cases = [
                i["case_id"]
                for i in (event.before, event.after, event.scope or {})
                if "case_id" in i
            ]
            assert event.is_control or cases, event
            assert set(cases) <= {case}, event
            assert event.stream in (None, f"tablet-{case}/a", f"tablet-{case}/b")
            assert event.transaction is None or event.transaction.id.startswith(f"{case}/")
            assert event.scope is None or (
                event.effect in ("remove", "update") and not event.before
            )


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_says_all_that_the_oracle_uses(kind: str) -> None:
    for event in drawn(kind, 7) + drawn(kind, 30):
        record = json.loads(json.dumps(to_record(event)))
        names = "table operation before after effect attribute_ops scope stream derived event_at_ms"
        assert {name: record[name] for name in names.split()} == {
            name: getattr(event, name) for name in names.split()
        }
        assert tuple(record["log_position"]) == event.log_position
        assert record["dedup_prefix"] == len(event.log_position)
        assert record["identity"] == event.identity
        assert (record["transaction"] is None) == (event.transaction is None)


@pytest.mark.parametrize("kind", ["log", "account"])
def test_no_two_events_are_one_where_equal_ones_count(kind: str) -> None:
    for seed in SEEDS:
        events = drawn(kind, seed)
        assert len({event_id(event) for event in events}) == len(events), seed


@pytest.mark.parametrize("kind", KINDS)
def test_neither_order_nor_repeats_nor_windows_matter(kind: str) -> None:
    for seed in SEEDS:
        events = drawn(kind, seed)
        arrived = deliveries(events, seed, windows=4)
        assert {event_id(e) for e in events} == {event_id(e) for w in arrived.values() for e in w}
        expected = states(kind, visible({0: events}, [0]))
        counting = visible(arrived, [3, 1, 0, 2])
        Random(seed).shuffle(counting)
        assert states(kind, counting) == expected, seed
        for name, state in expected.items():
            assert not state.rows.keys() & state.tombstones.keys(), seed
            for row in state.rows.values():
                assert list(row.values) == list(TABLES[name].columns)
                assert row.copies == 1 or not TABLES[name].key


def test_changes_of_open_transactions_do_not_count() -> None:
    for seed in SEEDS:
        events = drawn("account", seed)
        arrived = deliveries(events, seed, windows=4)
        committed = {e.transaction.id for e in events if e.transaction and e.effect == "commit"}
        for derived in ([], [2], [0, 1], [1, 3], [0, 1, 2], [0, 1, 2, 3]):
            counting = {event_id(event) for event in visible(arrived, derived)}
            seen = [event for window in derived for event in arrived[window]]
            by_transaction: dict[str | None, set[bool]] = {}
            for event in seen:
                if not event.is_control:
                    name = event.transaction.id if event.transaction else None
                    by_transaction.setdefault(name, set()).add(event_id(event) in counting)
            # All or none of what was seen of it.
            assert by_transaction.pop(None, {True}) == {True}
            assert all(len(shown) == 1 for shown in by_transaction.values()), seed
            assert {name for name, shown in by_transaction.items() if True in shown} <= committed


def test_an_edge_in_the_end_has_both_its_vertices() -> None:
    edges = 0
    for seed in SEEDS:
        end = states("graph", drawn("graph", seed))
        for key, row in end["edge"].rows.items():
            edges += 1
            ends = {(key[0], row.values["from_id"]), (key[0], row.values["to_id"])}
            assert ends <= end["vertex"].rows.keys(), (seed, key)
    assert edges > len(SEEDS) // 2


def numbers(value: object) -> list[float | Decimal]:
    """All floats and decimals in a value."""
    if isinstance(value, Mapping):
        return [number for part in value.values() for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value] if isinstance(value, float | Decimal) else []


def test_no_sum_is_one_that_machines_disagree_about() -> None:
    found = 0
    for seed in SEEDS:
        # Shorter histories show sums that later events would hide.
        events = drawn("graph", seed)
        for end in {len(events), len(events) // 2, len(events) // 3}:
            for state in states("graph", events[:end]).values():
                for row in state.rows.values():
                    for number in numbers(row.values):
                        found += 1
                        assert math.isfinite(number)
                        assert number != 0 or math.copysign(1, number) == 1
                        assert isinstance(number, float) or abs(number) < 10**10
    assert found > 1000
