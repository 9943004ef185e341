"""Gold is the graph that a store has in the end, which tells what it does as TigerGraph would.

What it tells is shuffled, and some of it told twice. Not here: the store (``tests/support/tigergraph_store``).
"""

from __future__ import annotations

from random import Random

import pytest

from tests.support.tigergraph_store import FEED, Store
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario

HISTORIES, ACTIONS = 40, 30


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
