"""Gold is the graph that a store has in the end, which writes its messages as TigerGraph would.

Its messages are shuffled, and some are repeated; they come in one window, or in several in any order, so that what is
known of the streams' times and of the edges' far ends changes from run to run. Not here: the store
(``tests/support/tigergraph_store``).
"""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.laws.graph_in_memory import Lake
from tests.support.tigergraph_store import FEED, Store
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario, outcomes

HISTORIES, ACTIONS = 200, 30
WINDOWS = [f"2026-11-20T{hour:02}" for hour in range(12)]


@pytest.fixture(scope="module")
def stores() -> dict[str, Store]:
    found = {}
    for seed in range(HISTORIES):
        store = Store(Random(seed), partitions=seed % 3 + 1)
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


@pytest.mark.parametrize("order", ["any", "the streams'"])
@pytest.mark.parametrize("seed", range(60))
def test_gold_is_the_graph_whatever_the_windows_and_the_runs(seed: int, order: str) -> None:
    rng = Random(f"{seed} {order}")
    store = Store(rng, partitions=seed % 3 + 1)
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
    scenarios = {name: Scenario({"a.jsonl": b"".join(some)}) for name, some in lines.items()}
    lake = Lake(FEED, {name: one.rows for name, one in outcomes(FEED, scenarios).items()})
    waiting = [*WINDOWS]
    while waiting:
        several = rng.randint(1, 2)
        if rng.random() < 0.3:
            # A run that ends behind silver.
            lake.derive(waiting[-several:])
        lake.run(waiting[:several])
        # A run that ends before it is marked as done comes again, with what came since.
        waiting = waiting[0 if rng.random() < 0.2 else several :]
    assert lake.rows() == store.gold()


def test_windows_that_move_a_delete_together_do_so_one_after_the_other() -> None:
    """One window has reached silver but not gold when the other window is brought to gold."""

    def meaning(partition: int, tid: int, seconds: int, operator: str, **fields: object) -> bytes:
        at = 1_700_000_000_000 + 1000 * seconds
        place = {"mid": f"{partition}|{at}|{tid}|0", "timestamp": at, "operator": operator}
        return json.dumps({**place, "typename": "Person", **fields}).encode() + b"\n"

    def person(partition: int, tid: int, seconds: int, uid: str) -> bytes:
        return meaning(partition, tid, seconds, "insert", type="vertex", uid=uid, content={})

    # As far as the first window shows, partition 2 has nothing newer than the delete up to tid 6.
    gone = meaning(1, 5, 80, "delete", type="vertex-type", content={})
    lines = {
        WINDOWS[0]: [person(1, 1, 10, "1"), person(2, 1, 20, "2"), person(2, 6, 50, "é"), gone],
        WINDOWS[1]: [person(2, 4, 100, "2")],
        WINDOWS[2]: [person(2, 5, 101, "2")],
    }
    scenarios = {name: Scenario({"a.jsonl": b"".join(some)}) for name, some in lines.items()}
    lake = Lake(FEED, {name: one.rows for name, one in outcomes(FEED, scenarios).items()})
    lake.run(WINDOWS[:1])
    assert "vertex_Person" not in lake.rows()
    lake.derive(WINDOWS[1:3])
    lake.run(WINDOWS[2:3])
    lake.run(WINDOWS[1:2])
    assert [row["uid"] for row in lake.rows()["vertex_Person"]] == ["2", "é"]
