"""Random histories of a Dgraph cluster, as its file sink writes them: gold has what the cluster has in the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest

from tests.support.dgraph_cluster import Cluster, cluster_feed, files, sent
from tests.transforms.formats.folded import folded
from tests.transforms.formats.in_process import Scenario

HISTORIES = 60


@pytest.fixture(scope="module")
def seed() -> int:
    return int(os.environ.get("WEIR_LAW_SEED", "1"))


def test_gold_is_what_the_cluster_holds_however_its_stream_was_delivered(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    feed = cluster_feed()
    clusters: dict[str, Cluster] = {}
    scenarios: dict[str, Scenario] = {}
    for number in range(HISTORIES):
        rng = Random(f"{seed} {number}")
        cluster = Cluster(rng)
        for _ in range(rng.randint(3, 25)):
            cluster.drop() if rng.random() < 0.1 else cluster.transaction()
        cluster.transaction()
        clusters[str(number)] = cluster
        scenarios[str(number)] = Scenario(files(list(sent(cluster.commits, rng)), rng))
    found = folded(feed, scenarios)
    for name, cluster in clusters.items():
        outcome = found[name]
        rows = outcome.state.get("triples", [])
        names = ("namespace", "uid", "predicate", "value", "value_type")
        gold = {tuple(str(row[column]) for column in names) for row in rows}
        assert outcome.quarantine == []
        assert len(gold) == len(rows)
        assert gold == cluster.triples(), f"history {name} of seed {seed}"
        distinct = sum(map(len, cluster.commits))
        own = [change for change in outcome.changes if change["derived"] is None]
        assert len(own) == distinct, f"history {name} of seed {seed}"
    record_property("laws", f"dgraph: {HISTORIES} histories of seed {seed}")
