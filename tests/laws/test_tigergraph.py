"""Gold is the graph that a store has in the end, which writes its messages as TigerGraph would; or a delete is held.

Its messages are shuffled, and some are repeated; they come in one window, or in several in any order. With several
partitions, deletes of one reach rows of another. Where two hours pass between any two acts, times tell their order;
where fewer do, a table that is not the store's has a delete that waits for a person.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from random import Random

import pyarrow as pa
import pytest

from assets.columns import layers
from assets.columns import silver as silver_rows
from assets.control.live_rows import only_live
from assets.executors.in_process import InProcess
from assets.gold.fold import TableFold
from assets.onboarding.preview import InMemory
from tests.laws.gold.in_memory import GoldTables
from tests.support.tigergraph_store import FEED, Store
from tests.transforms.formats.folded import Folded, folded, gold_rows
from tests.transforms.formats.in_process import Scenario, outcomes
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import DELETED_AT, EVENT_AT, IS_DELETED, LOG_POSITION
from transforms.gold.fold_rows import keys_of
from transforms.silver.frames import OUTPUT


@dataclass
class Lake:
    """The rows of each window's silver, which are there so far, and the tables.

    ``in_doubt``: by table, how many rows range deletes of other streams may be for, by event.
    """

    feed: Feed
    windows: Mapping[str, Sequence[Mapping[str, object]]]
    silver: dict[str, pa.Table] = field(default_factory=dict)
    gold: dict[str, GoldTables] = field(default_factory=dict)
    in_doubt: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def __post_init__(self) -> None:
        self.gold = {name: GoldTables(table) for name, table in self.feed.tables.items()}

    def derive(self, windows: Sequence[str]) -> None:
        """Bring these windows to silver, and no further."""
        for window in windows:
            rows = pa.Table.from_pylist(list(self.windows[window]), schema=OUTPUT)
            self.silver[window] = silver_rows.written_in_process(
                rows, self.feed, layers.Silver.schema
            )

    def run(self, windows: Sequence[str]) -> None:
        """Bring these windows to all gold tables."""
        self.derive(windows)
        for name, table in self.feed.tables.items():
            self._apply(name, table, windows)

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """What gold has, of tables that have something."""
        found = {
            name: sorted(gold_rows(tables.table, only_live(tables.stored().rows)), key=str)
            for name, tables in self.gold.items()
        }
        return {name: rows for name, rows in found.items() if rows}

    def deleted(self) -> Mapping[str, Set[tuple[object, ...]]]:
        """By table the keys of deleted rows, each with the position and the time of its delete."""
        found = {}
        for name, tables in self.gold.items():
            stored = tables.stored()
            gone = (stored.tombstone_rows, stored.tombstone_keys)
            if tables.table.marks_deletes:
                assert not stored.tombstone_keys
                rows = stored.rows.filter(stored.rows[IS_DELETED])
                assert rows[DELETED_AT].equals(rows[EVENT_AT])
                gone = rows, keys_of(tables.table, rows)
            rows, keys = gone
            there = {*keys_of(tables.table, only_live(stored.rows))}
            cells = (rows[LOG_POSITION].to_pylist(), rows[EVENT_AT].to_pylist())
            found[name] = {
                (key, tuple(at), when)
                for key, at, when in zip(keys, *cells, strict=True)
                if key not in there
            }
        return found

    def _apply(self, name: str, table: Table, windows: Sequence[str]) -> None:
        silver, stored = InMemory(self.silver), self.gold[name].stored()
        plan = silver.plan_of(self.feed, table, name, windows, {})
        fold = TableFold.of(InProcess(), plan, silver.of_table(plan))
        folded = replace(fold, stored=stored).onto_gold()
        stored.put(folded)
        self.in_doubt[name] += folded.metrics.in_doubt


HISTORIES, ACTIONS = 200, 30
SEEDS = max(12, min(60, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) * 6 // 1000))
"""How many stores come in windows, each in two orders: six of them are of all partitions, and near and far in time."""
WINDOWS = [f"2026-11-20T{hour:02}" for hour in range(12)]


@pytest.fixture(scope="module")
def stores() -> dict[str, Store]:
    found = {}
    for seed in range(HISTORIES):
        partitions = seed % 3 + 1
        store = Store(Random(seed), partitions, pauses=float(partitions > 1))
        for _ in range(ACTIONS):
            store.act()
        found[str(seed)] = store
    return found


@pytest.fixture(scope="module")
def made(stores: dict[str, Store]) -> dict[str, Folded]:
    drops = {
        name: Scenario({"2026-11-20/04/a.jsonl": store.delivered()})
        for name, store in stores.items()
    }
    return folded(FEED, drops)


def test_gold_is_the_graph_that_the_store_has(
    stores: dict[str, Store], made: dict[str, Folded]
) -> None:
    assert any(store.edges["Leads"] for store in stores.values())
    wrong = {
        name: (made[name].state, store.gold())
        for name, store in stores.items()
        if made[name].state != store.gold() or made[name].quarantine
    }
    assert not wrong, next(iter(wrong.items()))


MARKING = replace(
    FEED,
    deletes="mark",
    tables={name: replace(one, deletes="mark") for name, one in FEED.tables.items()},
)
"""The same feed whose deleted vertices and edges stay, marked."""


def lake_of(lines: Mapping[str, list[bytes]], feed: Feed = FEED) -> Lake:
    scenarios = {name: Scenario({"a.jsonl": b"".join(some)}) for name, some in lines.items()}
    return Lake(feed, {name: one.rows for name, one in outcomes(feed, scenarios).items()})


def test_a_table_that_is_not_the_stores_has_a_delete_held() -> None:
    wrong: Counter[str] = Counter()
    for seed in range(80):
        store = Store(Random(f"near {seed}"), partitions=seed % 2 + 2, pauses=0.3)
        for _ in range(ACTIONS):
            store.act()
        lake = lake_of({WINDOWS[0]: [store.delivered()]})
        lake.run(WINDOWS[:1])
        rows, truth = lake.rows(), store.gold()
        for name in FEED.tables:
            if rows.get(name) != truth.get(name):
                assert lake.in_doubt[name], (seed, name)
                wrong[name] += 1
    assert set(wrong) == set(FEED.tables)
    assert wrong.total() < 80 * len(FEED.tables) / 2


@pytest.mark.parametrize("order", ["any", "the streams'"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_gold_is_the_graph_whatever_the_windows_and_the_runs(seed: int, order: str) -> None:
    rng = Random(f"{seed} {order}")
    partitions, is_near = seed % 3 + 1, seed % 2 == 1
    store = Store(rng, partitions, pauses=0.3 if is_near else 1.0)
    for _ in range(ACTIONS):
        store.act()
    lines: dict[str, list[bytes]] = {name: [] for name in WINDOWS}
    behind = {number: rng.random() for number in range(1, store.partitions + 1)}
    for at, message in enumerate(store.sent):
        # Streams come in order, but one lags behind the other, so that little is new in a run.
        lag = rng.random() if order == "any" else behind[int(str(message["mid"]).split("|")[0])]
        place = lag if order == "any" else min((at / len(store.sent) + lag) / 2, 0.999)
        for _ in range(rng.choice((1, 1, 1, 2))):
            lines[WINDOWS[int(place * len(WINDOWS))]].append(json.dumps(message).encode() + b"\n")
    # In two graphs of five deleted vertices and edges stay.
    marks = seed % 5 >= 3
    lake = lake_of(lines, MARKING if marks else FEED)
    waiting = [*WINDOWS]
    while waiting:
        several = rng.randint(1, 2)
        if rng.random() < 0.3:
            # A run that ends behind silver.
            lake.derive(waiting[-several:])
        lake.run(waiting[:several])
        # A run that ends before it is marked as done comes again, with what came since.
        waiting = waiting[0 if rng.random() < 0.2 else several :]
    if marks:
        removing = lake_of(lines)
        removing.run(WINDOWS)
        # What another table would have forgotten but for a tombstone is marked, by the same delete.
        assert lake.deleted() == removing.deleted()
    if is_near and partitions > 1:
        at_once = lake_of(lines)
        at_once.run(WINDOWS)
        assert lake.rows() == at_once.rows()
    else:
        assert lake.rows() == store.gold()
        assert not any(lake.in_doubt.values()) or partitions == 1
