"""A graph over several partitions and windows: gold is the same in every order, and the graph's checks see it whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from assets.gold import tigergraph
from assets.gold.plan import plan_of
from assets.gold.tables import mirrors
from assets.maintenance import plan as compaction_plans
from assets.maintenance.history_in_process import HistoryInProcess
from assets.storage.lake import Lake, Layer
from expectations import tigergraph as rules
from orchestration.cli import verify
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed

START = 1_763_600_000_000


LIKES = "Likes: {from: Person, to: Person, attributes: {weight: int}}"
KNOWS = "Knows: {from: Person, to: Person, directed: false}"


def declared(landing: Path, *edges: str) -> Feed:
    file = landing.parent / "social.yaml"
    file.write_text(
        f"""
format: tigergraph
landing: {landing}
vertices: {{Person: {{attributes: {{visits: int}}}}}}
edges: {{{", ".join(edges)}}}
"""
    )
    return load_feed(file)


def place(partition: int, tid: int, second: int) -> dict[str, object]:
    at = START + 1000 * second
    return {"mid": f"{partition}|{at}|{tid}|0", "timestamp": at}


def person(
    partition: int, tid: int, second: int, uid: str, operator: str = "insert", visits: int = 0
) -> str:
    content = {"visits": {"op": "Add", "value": visits}} if visits else {}
    vertex = {"type": "vertex", "typename": "Person", "uid": uid, "content": content}
    return json.dumps({**place(partition, tid, second), "operator": operator, **vertex})


def edge(
    partition: int, tid: int, second: int, ends: str, typename: str = "Likes", weight: int = 0
) -> str:
    content: Mapping[str, object] = (
        {"weight": {"op": "Add", "value": weight}} if typename == "Likes" else {}
    )
    source, target = ({"type": "Person", "uid": uid} for uid in ends)
    kind = {"type": "edge", "typename": typename, "from": source, "to": target}
    return json.dumps(
        {**place(partition, tid, second), "operator": "insert", **kind, "content": content}
    )


def rows(lake: Lake, table: str) -> set[tuple[object, ...]]:
    found = lake.table(Layer.GOLD, "social", table).read().collect()
    columns = [name for name in found[0].asDict() if not name.startswith("_weir_")] if found else []
    return {tuple(row[name] for name in columns) for row in found}


def likes(ends: str, weight: int) -> tuple[object, ...]:
    return ("Person", ends[0], "Person", ends[1], "", weight)


def test_deletes_reach_other_partitions_whatever_comes_when(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = declared(folder, LIKES)
    # a is of partition 1, b and c are of partition 2.
    lay(
        folder,
        "2025-11-20/03/a.jsonl",
        drop(
            person(2, 20, 20, "b", "delete"),
            edge(1, 1, 10, "ab", weight=1),
            person(2, 30, 50, "c", visits=2),
            edge(1, 2, 30, "ac", weight=2),
            person(2, 21, 30, "c", "insert-only"),
            person(2, 23, 20, "d", visits=7),
        ),
    )
    bring(lake, feed)
    # No message has landed yet that gives the edge to b a position in b's partition, so the delete wins.
    assert rows(lake, "edge_Likes") == {likes("ac", 2)}
    assert rows(lake, "vertex_Person") == {("a", 0), ("c", 2), ("d", 7)}
    lay(
        folder,
        "2025-11-20/04/b.jsonl",
        drop(
            # The edge's own message in the other partition: it was made after the delete.
            person(2, 22, 10, "b", "insert-only"),
            edge(1, 4, 60, "ab", weight=4),
            person(2, 24, 60, "b", "insert-only"),
            person(2, 30, 50, "c", visits=2),
        ),
    )
    bring(lake, feed)
    assert rows(lake, "edge_Likes") == {likes("ab", 5), likes("ac", 2)}
    everybody = {
        "mid": f"1|{START + 45_000}|9|0",
        "timestamp": START + 45_000,
        **{"operator": "delete", "type": "vertex-type", "typename": "Person", "content": {}},
    }
    lay(folder, "2025-11-20/05/c.jsonl", drop(json.dumps(everybody)))
    bring(lake, feed)
    # In partition 2 the delete stands before tid 24: the first with a time, its own or an earlier one's, after it.
    assert rows(lake, "vertex_Person") == {("b", 0), ("c", 2)}
    assert rows(lake, "edge_Likes") == set()
    # A message of another vertex, late in its own partition: from tid 5 on something is newer than the delete.
    lay(folder, "2025-11-20/06/d.jsonl", drop(person(2, 5, 70, "e", visits=1)))
    bring(lake, feed)
    assert rows(lake, "vertex_Person") == {("b", 0), ("c", 2), ("d", 7), ("e", 1)}
    assert tigergraph.check_graph(lake, feed).violations == dict.fromkeys(
        (rule.name for rule in rules.RULES), 0
    )
    for name, table in mirrors(lake, feed).items():
        silver = HistoryInProcess.of(lake, plan_of(lake, feed, table, name, []))
        plan = compaction_plans.planned(lake, silver)
        assert plan.new is None
        assert "other partitions" in plan.held_back_by[0]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


def test_the_checks_name_the_edges(lake: Lake, folder: Path) -> None:
    feed = declared(folder, LIKES, KNOWS)
    lay(
        folder,
        "2025-11-20/03/a.jsonl",
        drop(
            person(1, 1, 10, "b", "delete"),
            edge(1, 2, 20, "ab"),
            edge(1, 3, 30, "ac", "Knows"),
            edge(1, 4, 40, "cd", "Knows"),
            edge(1, 5, 40, "dc", "Knows"),
            person(2, 50, 0, "x"),
            person(2, 3, 7201, "x"),
            # One request that took long is no new beginning.
            person(1, 6, 7300, "y"),
            person(1, 7, 50, "y"),
            person(1, 8, 7301, "y"),
        ),
    )
    bring(lake, feed)
    found = tigergraph.check_graph(lake, feed)
    assert found.violations == {
        "tids_rise_with_source_time": 1,
        "no_dangling_edge": 0,
        "no_edge_awaits_its_vertex": 1,
        "mirrored_edges_agree": 1,
    }
    assert found.samples == {
        "tids_rise_with_source_time": "- `partition 2: no event from tid 50 on is later than"
        " 2025-11-20 00:53:20, but an event with a lower tid is from 2025-11-20 02:53:21`",
        "no_edge_awaits_its_vertex": "- `edge_Likes: Person a Person b `",
        "mirrored_edges_agree": "- `edge_Knows: Person a Person c `",
    }
    tombstones = lake.table(Layer.GOLD, "social", "vertex_Person__tombstones")
    later = tombstones.read().selectExpr(
        *("uid", "_weir_log_position", "_weir_event_id"),
        "_weir_event_at + INTERVAL 1 HOUR AS _weir_event_at",
    )
    later.localCheckpoint().write.format("delta").mode("overwrite").save(tombstones.path)
    assert tigergraph.check_graph(lake, feed).violations["no_dangling_edge"] == 1
