"""A graph over several partitions and windows: gold is the same in every order, and the graph's checks see it whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from assets.bronze import from_objects
from assets.control import decisions, progress
from assets.gold import apply, tigergraph
from assets.gold.plan import plan_of
from assets.gold.tables import mirrors
from assets.maintenance import plan
from assets.maintenance.history_in_process import HistoryInProcess
from assets.picked_ids import PickedIds
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import release, verify
from orchestration.cli.answer import CommandAnswer
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.decisions import Release
from transforms.feed.feed import Feed

START = 1_763_600_000_000
NOW = datetime(2026, 11, 20, tzinfo=UTC)


LIKES = "Likes: {from: Person, to: Person, attributes: {weight: int}}"
KNOWS = "Knows: {from: Person, to: Person, directed: false}"


def declared(landing: Path, *edges: str, deletes: str = "remove") -> Feed:
    file = landing.parent / "social.yaml"
    file.write_text(
        f"""
format: tigergraph
landing: {landing}
deletes: {deletes}
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


def run(lake: Lake, feed: Feed) -> list[str]:
    """Bring on what is due, and say which deletes wait then."""
    windows = planning.due(lake, feed).windows
    from_objects.land(lake, feed, windows)
    derive.derive(lake, feed, windows)
    made = apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)
    return [line for one in made for line in one.done.held]


def test_deletes_of_other_partitions_wait_where_times_are_near(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = declared(folder, LIKES)
    # a is of partition 1, the others are of partition 2.
    edges = [edge(1, 1, 0, "ab", weight=1), edge(1, 2, 10_000, "ac", weight=2)]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*edges))
    assert run(lake, feed) == []
    lay(
        folder,
        "2025-11-20/04/b.jsonl",
        drop(
            person(2, 1, 0, "b", "insert-only"),
            person(2, 3, 10_000, "c", "insert-only"),
            person(2, 4, 10_600, "c", "delete"),
            person(2, 6, 20_000, "b", "delete"),
            person(2, 7, 60_000, "d", visits=7),
        ),
    )
    (line,) = run(lake, feed)
    # The edge to b is hours older than its delete; that to c is older by some minutes, and may have come after it.
    assert rows(lake, "edge_Likes") == {likes("ac", 2)}
    (waiting,) = release.held_by_gold(lake, feed)
    assert line == (
        "gold.social.edge_Likes: delete (2025-11-20/04/b.jsonl line 3, made at 2025-11-20 03:50:00) is within an hour"
        " of the last changes of 1 row in other partitions, so that nobody knows which came first, and gold keeps"
        f" them; to let it act: `weir release social {waiting.event_id[:12]}`, to keep the rows: the same with `--keep`"
    )
    found = tigergraph.check_graph(lake, feed).violations
    assert (found["no_dangling_edge"], found["no_edge_awaits_its_vertex"]) == (0, 1)
    for name, table in mirrors(lake, feed).items():
        silver = HistoryInProcess.of(lake, plan_of(lake, feed, table, name, []))
        assert "other partitions" in plan.planned(lake, silver).held_back_by[0]
    decisions.release(lake, feed, Release(waiting.event_id, waiting.windows), NOW, None)
    assert run(lake, feed) == []
    assert rows(lake, "edge_Likes") == set()
    everybody = place(1, 9, 62_000) | {"operator": "delete", "type": "vertex-type", "content": {}}
    lay(
        folder,
        "2025-11-20/05/c.jsonl",
        drop(json.dumps(everybody | {"typename": "Person"}), person(2, 8, 90_000, "e")),
    )
    (line,) = run(lake, feed)
    assert line.startswith("gold.social.vertex_Person: delete (2025-11-20/05/c.jsonl line 1")
    assert rows(lake, "vertex_Person") == {("d", 7), ("e", 0)}
    one = PickedIds([release.held_by_gold(lake, feed)[0].event_id])
    release.keep(lake, feed, one, release.held_by_gold(lake, feed), CommandAnswer(as_json=True))
    assert release.held_by_gold(lake, feed) == []
    # A delete that is kept from other partitions still acts in its own.
    assert ("a", 0) not in rows(lake, "vertex_Person")
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


@pytest.mark.parametrize("deletes", ["remove", "mark"])
def test_the_checks_name_the_edges(lake: Lake, folder: Path, deletes: str) -> None:
    feed = declared(folder, LIKES, KNOWS, deletes=deletes)
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
    # The feed file says another word, and gold waits for the windows to be derived again.
    other = "remove" if deletes == "mark" else "mark"
    waiting = declared(folder, LIKES, KNOWS, deletes=other)
    assert tigergraph.check_graph(lake, waiting).violations == found.violations
    told = "vertex_Person" if deletes == "mark" else "vertex_Person__tombstones"
    stored = lake.table(Layer.GOLD, "social", told)
    later = stored.read().withColumn("_weir_event_at", F.expr("_weir_event_at + INTERVAL 1 HOUR"))
    later.localCheckpoint().write.format("delta").mode("overwrite").save(stored.path)
    assert tigergraph.check_graph(lake, feed).violations["no_dangling_edge"] == 1
