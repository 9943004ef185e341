"""The laws of gold over random histories of every kind of change, by the stages that both executors run.

``WEIR_LAW_HISTORIES`` says how many there are of each kind (10,000 by default), ``WEIR_LAW_SEED`` which. The oracle
shares no code with the product. The seed of a failing history is in its case id.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random

import pyarrow as pa
import pytest

from tests.laws.drawn import model_format, model_histories
from tests.laws.events.product import uncollected
from tests.laws.gold.in_memory import GoldTables, Lake
from tests.laws.model_worlds import Outcome, assert_same, assert_same_at_every_position
from tests.laws.model_worlds import Version as OfCase
from tests.laws.oracle.oracle import Event, Key, current, visible
from tests.laws.oracle.oracle import Table as Shape
from tests.laws.oracle.values import typed
from transforms.column_types.registry import column_type
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import (
    BEGAN_BY,
    DELETED_AT,
    EVENT_AT,
    EVENT_ID,
    IS_DELETED,
    LOG_POSITION,
    PARTS,
    VALID_FROM,
    VALID_TO,
)

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = int(os.environ.get("WEIR_LAW_HISTORIES", "10000"))
LONG = 6
"""One history in this many is long: most faults show within a few events, and ten short cost as much as a long."""
CHUNK = 500
"""How many histories share one table."""
AT_ONCE = ("account",)
"""Kinds with transactions: as of a position the oracle does not know which of them will be complete."""
EVERY = 10
"""One case in this many is compared at every position, since the oracle starts from the beginning for each of them."""
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]


@pytest.mark.parametrize("kind", model_histories.KINDS)
def test_gold_is_what_the_oracle_says_after_every_run(
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    kind: str,
) -> None:
    model_format.register(monkeypatch)
    deliveries = 0
    # In every other lake deleted rows stay.
    chunk = min(CHUNK, -(-HISTORIES // 2))
    for number, start in enumerate(range(SEED, SEED + HISTORIES, chunk)):
        count = min(chunk, SEED + HISTORIES - start)
        with uncollected():
            deliveries += follows(kind, start, count, keeps_deleted=number % 2 == 1)
    record_property(
        "laws", f"{kind}: {HISTORIES:,} histories from seed {SEED}, {deliveries:,} deliveries"
    )


def follows(kind: str, first: int, count: int, *, keeps_deleted: bool) -> int:
    """Laws 1 to 8 over the given number of histories, in one lake; returns how many deliveries they had."""
    numbers = range(first, first + count)
    lake, cases = drawn(kind, numbers, length, keeps_deleted=keeps_deleted)
    tables = lake.feed.tables
    shapes = {name: shape_of(table) for name, table in tables.items()}
    order = Random(f"runs {kind} {first}").sample(WINDOWS, len(WINDOWS))
    read: set[str] = set()
    expected: dict[str, Outcome] = {}
    for windows, ends in runs(order):
        lake.run(windows, ends)
        if ends:
            continue
        if not read.issuperset(windows):
            read |= set(windows)
            # What silver has of a run that ended there may be in gold already, of some keys and not of others.
            if not read.issuperset(lake.silver.windows):
                continue
            expected = {name: oracle(cases, one, sorted(read)) for name, one in shapes.items()}
        for name in shapes:
            where = f"{name} after {windows}"
            assert_same(found(lake.gold[name]), expected[name], where)
    lake.run(WINDOWS)
    for name, done in lake.done.items():
        # All of it once more: gold has it, so that nothing came late, and there is nothing to write.
        assert (name, done.keys_with_late_events, done.keys) == (name, 0, 0)
    for name, table in tables.items():
        assert_same(found(lake.rebuilt(name)), expected[name], f"{name} in one pass")
        if table.key and kind not in AT_ONCE:
            some_cases = {
                case: [event for some in of.values() for event in some if event.table == name]
                for case, of in [*cases.items()][::EVERY]
            }
            versions = of_cases(lake.versions(name), table)
            assert_same_at_every_position(versions, some_cases, shapes[name])
    return sum(map(len, lake.records.values()))


def drawn(
    kind: str, numbers: Iterable[int], length: Callable[[int], int], *, keeps_deleted: bool = False
) -> tuple[Lake, dict[str, dict[str, list[Event]]]]:
    """A lake that has these histories in four windows, and each history by itself.

    ``keeps_deleted``: deleted rows stay in its tables, but for those without a key.
    """
    cases: dict[str, dict[str, list[Event]]] = {}
    records: dict[str, list[Event]] = {window: [] for window in WINDOWS}
    for seed in numbers:
        events = model_histories.history(kind, seed, f"{kind}-{seed}", length(seed))
        arrived = model_histories.deliveries(events, seed, windows=len(WINDOWS))
        cases[f"{kind}-{seed}"] = {WINDOWS[at]: some for at, some in arrived.items()}
        for at, some in arrived.items():
            records[WINDOWS[at]] += some
    shapes = [model_histories.TABLES[name] for name in model_histories.KINDS[kind]]
    tables = {
        one.name: Table(
            *(one.name, one.key, one.columns, tuple(one.columns)),
            defaults=one.defaults,
            deletes="mark" if keeps_deleted and one.key else "remove",
        )
        for one in shapes
    }
    return Lake(Feed(f"laws_{kind}", "model", "/nowhere", tables=tables), records), cases


def length(seed: int) -> int:
    """How many events the history of this number has."""
    return 5 + seed // LONG % 36 if seed % LONG == 0 else 2 + seed % 7


def runs(order: Sequence[str]) -> list[tuple[list[str], str]]:
    """The windows of each run, and behind what it ends early: each comes again, alone or with others."""
    first, second, third, last = order
    return [
        ([first], ""),
        # The next run sees what this one left in silver, and may receive the same events again.
        ([second], "silver"),
        ([third], ""),
        ([second], ""),
        ([last], "tombstones"),
        (sorted([third, last]), ""),
        (sorted([third, last]), ""),
    ]


def of_cases(versions: pa.Table, table: Table) -> dict[str, list[OfCase]]:
    """The versions in the oracle's values, by case."""
    at = table.identity.index("case_id")
    found: dict[str, list[OfCase]] = defaultdict(list)
    rows = values_of(versions, table)
    cells = (versions[name].to_pylist() for name in (PARTS, VALID_FROM, VALID_TO, BEGAN_BY))
    for values, key, began, ended, event_id in zip(rows, *cells, strict=True):
        until = None if ended is None else tuple(ended)
        standing = (*values, began, event_id)
        found[str(key[at])].append((tuple(key), tuple(began), until, standing))
    return found


def values_of(rows: pa.Table, table: Table) -> list[tuple[object, ...]]:
    """The declared columns of each row in the oracle's values."""
    columns = [
        [typed(text, kind) for text in column_type(kind).texts(rows[name])]
        for name, kind in table.columns.items()
    ]
    return [*zip(*columns, strict=True)]


def shape_of(table: Table) -> Shape:
    """The table as the oracle knows it."""
    shape = model_histories.TABLES[table.name]
    return dataclasses.replace(shape, keeps_deleted=table.marks_deletes)


def oracle(cases: dict[str, dict[str, list[Event]]], shape: Shape, windows: list[str]) -> Outcome:
    """What the oracle makes of what these windows brought, case by case."""
    rows: dict[Key, tuple[object, ...]] = {}
    tombstones: dict[Key, tuple[object, ...]] = {}
    for delivered in cases.values():
        counting = visible(delivered, windows)
        state = current([event for event in counting if event.table == shape.name], shape)
        for of, is_deleted in ((state.rows, False), (state.deleted, True)):
            for key, row in of.items():
                values = tuple(row.values[column] for column in shape.columns)
                mark = (is_deleted, row.event_at_ms if is_deleted else None)
                rows[key] = (
                    *(row.copies, *values, row.log_position, row.event_id, row.event_at_ms),
                    *(mark if shape.keeps_deleted else ()),
                )
        for key, (log_position, last) in state.tombstones.items():
            tombstones[key] = (log_position, last)
    return rows, tombstones


def found(tables: GoldTables) -> Outcome:
    """Rows and tombstones in the oracle's values; tombstones of keys that came back are none."""
    stored = tables.stored()
    copies = Counter(stored.keys)
    rows = {
        key: (copies[key], *values, *stamp, *mark)
        for key, values, stamp, mark in zip(
            *(stored.keys, values_of(stored.rows, tables.table), stamps(stored.rows)),
            marks(stored.rows, tables.table),
            strict=True,
        )
    }
    stones = {
        key: stamp[:2]
        for key, stamp in zip(stored.tombstone_keys, stamps(stored.tombstone_rows), strict=True)
        if key not in rows
    }
    return rows, stones


def marks(rows: pa.Table, table: Table) -> list[tuple[object, ...]]:
    """Of each row whether and when it was deleted; nothing where deleted rows go."""
    if not table.marks_deletes:
        return [()] * rows.num_rows
    at = rows[DELETED_AT].cast(pa.int64()).to_pylist()
    pairs = zip(rows[IS_DELETED].to_pylist(), at, strict=True)
    return [(mark, None if one is None else one // 1000) for mark, one in pairs]


def stamps(rows: pa.Table) -> list[tuple[object, ...]]:
    """Position, identity and time of the last change of each row."""
    at = rows[EVENT_AT].cast(pa.int64()).to_pylist()
    cells = zip(rows[LOG_POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), at, strict=True)
    return [(tuple(one), name, None if at is None else at // 1000) for one, name, at in cells]
