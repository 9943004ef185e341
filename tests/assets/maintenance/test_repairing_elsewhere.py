"""Repaired records of other sources than drops of JSON: of a topic, of a graph, and of windows that Spark derives."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.bronze import from_topics
from assets.control import progress
from assets.control.decisions import Signature
from assets.executors.choice import SPARK
from assets.gold import apply
from assets.maintenance import repair as repairing
from assets.maintenance.repair import Repaired
from assets.quarantine.records import QuarantinedRecord, quarantine_of
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import rebuild, verify
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.services.kafka import Broker, Sent
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table

THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""
WINDOW = "2025-11-20T03"
SIGNED = Signature(datetime(2025, 11, 21, tzinfo=UTC), "ann", "a typo")

DGRAPH = """\
format: dgraph
landing: {landing}
predicates: {{name: {{type: string}}, age: {{type: int}}}}
"""


def the_open_one(lake: Lake, feed: Feed) -> QuarantinedRecord:
    (one,) = quarantine_of(lake, feed).open
    return one


def repair(lake: Lake, feed: Feed, record: QuarantinedRecord, payload: bytes) -> None:
    repairing.repair_records(lake, feed, [Repaired(record, payload)], SIGNED)


def is_proved(lake: Lake, feed: Feed, folder: Path) -> bool:
    return verify.prove(lake, lake_of(str(folder)), feed, seed=5) == 0


def debezium(at: int, id: object, name: str) -> bytes:
    """A change of Postgres as Debezium sends it, at this log position."""
    place = {"connector": "postgresql", "name": "zoo", "db": "zoo", "schema": "public"}
    source = {**place, "table": "pets", "snapshot": "false", "ts_ms": THREE + at, "lsn": at}
    after = {"id": id, "name": name}
    value = {"before": None, "after": after, "source": source, "op": "u", "ts_ms": THREE + at}
    return json.dumps(value).encode()


@pytest.mark.services
def test_a_record_of_a_topic_is_repaired_and_the_topic_is_not_read_again(
    lake: Lake, broker: Broker, tmp_path: Path
) -> None:
    broker.create("zoo.public.pets")
    key = b'{"id": 1}'
    sent = [debezium(1, 1, "Ada"), debezium(2, "one", "Bea"), debezium(3, 2, "Cleo")]
    broker.send("zoo.public.pets", [Sent(one, key, at=THREE) for one in sent])
    landing = f"kafka://{broker.address}/zoo.public.pets"
    pets = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
    feed = Feed("zoo", "debezium", landing, tables={"pets": pets})

    def run() -> derive.Derived:
        from_topics.land(lake, feed, lambda _: None)
        windows = sorted({*planning.due(lake, feed).windows, WINDOW})
        made = derive.derive(lake, feed, windows)
        apply.apply_tables(lake, feed, [pets], windows)
        progress.finish(lake, feed, windows)
        return made

    assert run().violations["nothing_quarantined"] == 1
    record = the_open_one(lake, feed)
    assert record.where == "zoo.public.pets/0 offset 1"
    assert names(lake, feed) == {1: "Ada", 2: "Cleo"}
    repair(lake, feed, record, debezium(2, 1, "Bea"))
    made = run()
    assert (made.violations["nothing_quarantined"], made.violations["no_event_twice"]) == (0, 0)
    assert names(lake, feed) == {1: "Bea", 2: "Cleo"}
    assert [one.state for one in quarantine_of(lake, feed).records] == ["repaired"]
    bronze = lake.table(Layer.BRONZE, feed.name).read().where("line > 0")
    assert sorted(bytes(row["payload"]) for row in bronze.collect()) == sorted(sent)
    assert is_proved(lake, feed, tmp_path / "proof")


def mutation(commit: int, uid: int, attr: str, value: object, kind: str = "string") -> str:
    """A change of one predicate of one node, as Dgraph's sink writes it."""
    event = {"operation": "set", "uid": uid, "attr": attr, "value": value, "value_type": kind}
    return json.dumps(
        {"key": "0", "value": {"meta": {"commit_ts": commit}, "type": "mutation", "event": event}}
    )


def test_a_record_of_a_graph_is_repaired_where_its_neighbours_decide_what_it_means(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "zoo.yaml"
    file.write_text(DGRAPH.format(landing=folder))
    feed = load_feed(file)
    unfit = mutation(9, 3, "name", "Cleo").replace('"set"', '"incr"')
    records = (mutation(5, 3, "name", "Ann"), unfit, mutation(12, 3, "age", 7, "int"))
    lay(folder, "2025-11-20/03/sink.log", drop(*records))
    bring(lake, feed)
    record = the_open_one(lake, feed)
    assert (record.reason, record.source_location[2]) == ("unknown_operation", 2)
    assert triples(lake, feed) == {("name", "Ann"), ("age", "7")}
    payload = json.loads(unfit)["value"]
    payload["event"]["operation"] = "set"
    repair(lake, feed, record, json.dumps({"key": "0", "value": payload}).encode())
    assert planning.due(lake, feed).windows == [WINDOW]
    assert bring(lake, feed)[1].violations["nothing_quarantined"] == 0
    assert triples(lake, feed) == {("name", "Cleo"), ("age", "7")}
    assert [one.state for one in quarantine_of(lake, feed).records] == ["repaired"]
    assert is_proved(lake, feed, tmp_path / "proof")
    assert rebuild.rebuild_in(lake, feed) == 0
    assert triples(lake, feed) == {("name", "Cleo"), ("age", "7")}


def triples(lake: Lake, feed: Feed) -> set[tuple[str, str]]:
    rows = lake.table(Layer.GOLD, feed.name, "triples").read().collect()
    return {(row["predicate"], row["value"]) for row in rows}


def test_a_window_that_spark_derives_takes_a_repaired_record_as_one_that_is_derived_here(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    born = change("I", 10, after={"id": "1", "name": "Ada"})
    unfit = change("U", 20, {"id": "1"}, {"id": "one", "name": "Bea"})
    lay(folder, "2025-11-20/03/a.json", drop(born, unfit))
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 30, after={"id": "2", "name": "Cleo"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    by_spark = lake.by(SPARK)
    bring(by_spark, feed)
    repair(
        by_spark,
        feed,
        the_open_one(lake, feed),
        change("U", 20, {"id": "1"}, {"name": "Bea"}).encode(),
    )
    assert planning.due(lake, feed).windows == [WINDOW]
    made = bring(by_spark, feed)[1]
    assert (made.violations["nothing_quarantined"], made.violations["accounting_is_exact"]) == (
        0,
        0,
    )
    assert names(lake, feed) == {1: "Bea", 2: "Cleo"}
    assert [one.state for one in quarantine_of(lake, feed).records] == ["repaired"]
    # Repaired once more, in this process now, its events count already: gold is made again from all of them.
    (repaired,) = quarantine_of(lake, feed).records
    again = Signature(datetime(2025, 11, 22, tzinfo=UTC), "ann", "another name")
    payload = change("U", 20, {"id": "1"}, {"name": "Dot"}).encode()
    repairing.repair_records(lake, feed, [Repaired(repaired, payload)], again)
    bring(lake, feed)
    assert names(lake, feed) == {1: "Dot", 2: "Cleo"}
    assert is_proved(lake, feed, tmp_path / "proof")
