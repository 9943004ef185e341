"""Repaired records: gold is that of the repaired set of events, whatever the order, and every proof agrees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assets.audit.explain import explained
from assets.bronze import from_topics
from assets.control import progress
from assets.control.decisions import Signature
from assets.executors.choice import SPARK
from assets.gold import apply
from assets.maintenance import compaction
from assets.maintenance import repair as repairing
from assets.maintenance.repair import Repaired
from assets.picked_ids import PickedIds
from assets.quarantine.records import QuarantinedRecord, quarantine_of
from assets.quarantine.words import advice_of, landed_again
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import explain, rebuild, verify
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.services.kafka import Broker, Sent
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed, Retention, Table

WINDOW, LATER = "2025-11-20T03", "2025-11-20T04"
BORN = change("I", 10, after={"id": "1", "name": "Ada"})
UNFIT = change("U", 20, {"id": "1"}, {"id": "one", "name": "Bea"})
FIT = change("U", 20, {"id": "1"}, {"name": "Bea"}).encode()
NEWER = change("U", 30, {"id": "1"}, {"name": "Cleo"})


def signed(minute: int = 0, reason: str = "a typo") -> Signature:
    return Signature(datetime(2025, 11, 21, 0, minute, tzinfo=UTC), "ann", reason)


def a_feed(folder: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})


def brought(lake: Lake, folder: Path, *records: str) -> Feed:
    """A feed with these records in one file of its first window, in gold."""
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    feed = a_feed(folder)
    bring(lake, feed)
    return feed


def the_open_one(lake: Lake, feed: Feed) -> QuarantinedRecord:
    (one,) = quarantine_of(lake, feed).open
    return one


def repair(lake: Lake, feed: Feed, payload: bytes, minute: int = 0) -> Sequence[QuarantinedRecord]:
    return repairing.repair_records(
        lake, feed, [Repaired(the_open_one(lake, feed), payload)], signed(minute)
    )


def is_proved(lake: Lake, feed: Feed, folder: Path) -> bool:
    return verify.prove(lake, lake_of(str(folder)), feed, seed=5) == 0


def test_a_repaired_record_goes_through_its_window_once(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(BORN, UNFIT))
    feed = a_feed(folder)
    assert bring(lake, feed)[1].violations["nothing_quarantined"] == 1
    record = the_open_one(lake, feed)
    assert planning.due(lake, feed).windows == []

    repair(lake, feed, FIT)
    assert planning.due(lake, feed).windows == [WINDOW]
    made = bring(lake, feed)[1]
    assert made.violations["nothing_quarantined"] == made.violations["accounting_is_exact"] == 0
    assert names(lake, feed) == {1: "Bea"}
    assert planning.due(lake, feed).windows == []
    # Its row of quarantine is gone, and its history is there.
    (now,) = quarantine_of(lake, feed).records
    assert (now.id, now.state, now.reason) == (record.id, "repaired", "value_does_not_fit")
    assert now.decided == signed()
    assert now.left_at is not None
    # The same once more is no decision and makes nothing due.
    again = repairing.repair_records(lake, feed, [Repaired(now, FIT)], signed(1))
    assert (again, planning.due(lake, feed).windows) == ([], [])
    assert bring(lake, feed, [WINDOW])[1].violations["no_event_twice"] == 0
    assert names(lake, feed) == {1: "Bea"}

    assert is_proved(lake, feed, tmp_path / "proof")
    assert rebuild.rebuild_in(lake, feed) == 0
    assert names(lake, feed) == {1: "Bea"}
    assert [one.state for one in quarantine_of(lake, feed).records] == ["repaired"]
    story = explained(lake, feed, PETS, "pets", ["1"])
    _, step = story.steps
    assert step.row == {"id": "1", "name": "Bea"}
    named = "the record was repaired by ann at 2025-11-21 00:00 UTC: a typo; its original:"
    named += f" `weir quarantine show zoo {record.id[:12]}`"
    assert [one.deliveries[0].repaired for one in story.steps] == ["", named]
    assert f"      {named}" in explain.story_lines("gold.zoo.pets", PETS, story)


def test_a_run_that_dies_anywhere_leaves_a_repair_to_the_next(
    lake: Lake, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = brought(lake, folder, BORN, UNFIT)
    record = the_open_one(lake, feed)
    repair(lake, feed, FIT)
    # It dies before anything, then with silver and quarantine written, then with gold written, too.
    derive.derive(lake, feed, [WINDOW])
    assert planning.due(lake, feed).windows == [WINDOW]
    assert names(lake, feed) == {1: "Ada"}
    derive.derive(lake, feed, [WINDOW])
    apply.apply_tables(lake, feed, [PETS], [WINDOW])
    assert planning.due(lake, feed).windows == [WINDOW]
    bring(lake, feed)
    assert names(lake, feed) == {1: "Bea"}
    (now,) = quarantine_of(lake, feed).records
    assert (now.id, now.state) == (record.id, "repaired")
    assert is_proved(lake, feed, tmp_path / "proof")


def test_a_repair_can_be_repaired_and_takes_back_what_it_did(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = brought(lake, folder, BORN, UNFIT)
    other = change("I", 20, after={"id": "2", "name": "Bea"}).encode()
    repair(lake, feed, other)
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ada", 2: "Bea"}
    (wrong,) = quarantine_of(lake, feed).records
    repairing.repair_records(lake, feed, [Repaired(wrong, FIT)], signed(1, "it was the first pet"))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Bea"}
    (now,) = quarantine_of(lake, feed).records
    assert now.decided is not None
    assert (now.state, now.decided.reason) == ("repaired", "it was the first pet")
    assert is_proved(lake, feed, tmp_path / "proof")
    # And back again.
    repairing.repair_records(lake, feed, [Repaired(now, other)], signed(2))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ada", 2: "Bea"}
    assert is_proved(lake, feed, tmp_path / "proof2")


def test_what_would_be_quarantined_again_is_not_recorded(lake: Lake, folder: Path) -> None:
    feed = brought(lake, folder, BORN, UNFIT)
    worse = change("U", 20, {"id": "1"}, {"id": "two", "name": "Bea"}).encode()
    with pytest.raises(DecisionRefused, match="would be quarantined, too: value_does_not_fit"):
        repair(lake, feed, worse)
    assert planning.due(lake, feed).windows == []
    record = the_open_one(lake, feed)
    repairing.repair_records(lake, feed, [Repaired(record, worse)], signed(), unseen=True)
    bring(lake, feed)
    (still,) = quarantine_of(lake, feed).open
    assert still.detail.startswith("id is two")
    repair(lake, feed, FIT, minute=1)
    bring(lake, feed)
    assert names(lake, feed) == {1: "Bea"}


def test_events_that_may_be_compacted_are_not_repaired(lake: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(BORN, UNFIT))
    lay(folder, "2025-11-20/05/b.json", drop(NEWER))
    feed = replace(a_feed(folder), retention=Retention(timedelta(hours=1)))
    bring(lake, feed)
    repair(lake, feed, FIT)
    bring(lake, feed)
    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.folded == 2
    (repaired,) = quarantine_of(lake, feed).records
    other = change("U", 20, {"id": "1"}, {"name": "Dot"}).encode()
    with pytest.raises(DecisionRefused, match="`weir rebuild zoo` first"):
        repairing.repair_records(lake, feed, [Repaired(repaired, other)], signed(1))
    assert rebuild.rebuild_in(lake, feed) == 0
    repairing.repair_records(lake, feed, [Repaired(repaired, other)], signed(1))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Cleo"}
    steps = explained(lake, feed, PETS, "pets", ["1"]).steps
    assert [(one.row or {})["name"] for one in steps] == ["Ada", "Dot", "Cleo"]


def test_a_repaired_feed_file_takes_records_as_they_are(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    heavy = change("I", 40, after={"id": "4000000000", "name": "Eve"})
    feed = brought(lake, folder, BORN, heavy, '{"cut": ')
    assert len(quarantine_of(lake, feed).open) == 2
    wide = replace(PETS, columns={"id": "bigint", "name": "string"})
    repaired = replace(feed, tables={"pets": wide})
    bring(lake, repaired)
    assert names(lake, repaired) == {1: "Ada", 4000000000: "Eve"}
    states = {one.reason: (one.state, one.how) for one in quarantine_of(lake, repaired).records}
    assert states == {
        "value_does_not_fit": ("repaired", "window derived again"),
        "damaged_record": ("open", ""),
    }
    # By the first feed file it is in quarantine again, and nobody says otherwise.
    derive.derive(lake, feed, [WINDOW])
    assert [one.state for one in quarantine_of(lake, feed).records] == ["open", "open"]


def test_a_file_that_grew_has_the_end_whole_that_was_cut_and_nobody_has_to_decide(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = brought(lake, folder, BORN, FIT.decode()[:-9])
    cut = the_open_one(lake, feed)
    lay(folder, "2025-11-20/03/a.json", drop(BORN, FIT.decode(), '{"cut": '))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Bea"}
    closed, still = quarantine_of(lake, feed).records
    assert (closed.id, closed.state) == (cut.id, "dismissed")
    assert closed.decided is not None
    assert closed.decided.reason == "its object landed again, longer, and has the record whole"
    # The new end is cut, too, and the file grows on.
    assert (still.state, still.source_location[2]) == ("open", 3)
    lay(folder, "2025-11-20/03/a.json", drop(BORN, FIT.decode(), '{"cut": ', BORN))
    bring(lake, feed)
    records = quarantine_of(lake, feed).records
    assert sorted(one.state for one in records) == ["dismissed", "open", "open"]
    assert is_proved(lake, feed, tmp_path / "proof")


BROKEN = '{"cut": }'


def decided_and_landed_again(lake: Lake, folder: Path, *again: str) -> Feed:
    """A feed whose file is written over after its second record was repaired and its third dismissed."""
    feed = brought(lake, folder, BORN, UNFIT, BROKEN)
    unfit, broken = quarantine_of(lake, feed).open
    repairing.repair_records(lake, feed, [Repaired(unfit, FIT)], signed())
    given_up = quarantine_of(lake, feed).picked(PickedIds((broken.id,)))
    repairing.dismiss_records(lake, feed, given_up, signed(1, "lost"))
    bring(lake, feed)
    assert not quarantine_of(lake, feed).open
    lay(folder, "2025-11-20/03/a.json", drop(*again))
    return feed


def test_what_was_decided_of_a_record_is_not_asked_again_where_its_file_has_grown(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = decided_and_landed_again(lake, folder, BORN, UNFIT, BROKEN, NEWER, '{"other": }')
    made = bring(lake, feed)[1]
    found = quarantine_of(lake, feed)
    assert [one.source_location[2] for one in found.open] == [5]
    # Of the two records that were decided, and of the two that are the same.
    assert made.violations["nothing_quarantined"] == 1
    same = "the same record of an earlier landing of this object was"
    reasons = {(one.source_location[2], one.decided.reason) for one in found.records if one.decided}
    assert reasons == {
        *((2, "a typo"), (2, f"{same} repaired by ann: a typo")),
        *((3, "lost"), (3, f"{same} dismissed by ann: lost")),
    }
    # The repaired record's event is in gold by the payload that was given for the first landing.
    assert names(lake, feed) == {1: "Cleo"}
    steps = explained(lake, feed, PETS, "pets", ["1"]).steps
    assert [(one.row or {})["name"] for one in steps] == ["Ada", "Bea", "Cleo"]
    assert is_proved(lake, feed, tmp_path / "proof")
    # It grows on, and a rebuild decides nothing anew.
    again = (BORN, UNFIT, BROKEN, NEWER, '{"other": }', BROKEN)
    lay(folder, "2025-11-20/03/a.json", drop(*again))
    bring(lake, feed)
    assert [one.source_location[2] for one in quarantine_of(lake, feed).open] == [5, 5, 6]
    assert rebuild.rebuild_in(lake, feed) == 0
    assert names(lake, feed) == {1: "Cleo"}


def test_only_the_same_record_in_the_same_place_was_decided(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    """Other bytes where the repaired one was, and the dismissed one a line further on."""
    other = change("U", 20, {"id": "1"}, {"id": "two", "name": "Bea"})
    feed = decided_and_landed_again(lake, folder, BORN, other, NEWER, BROKEN)
    bring(lake, feed)
    assert [one.source_location[2] for one in quarantine_of(lake, feed).open] == [2, 4]
    assert names(lake, feed) == {1: "Cleo"}
    assert is_proved(lake, feed, tmp_path / "proof")


def test_a_repair_that_is_refused_itself_decides_nothing_of_the_next_landing(
    lake: Lake, folder: Path
) -> None:
    feed = brought(lake, folder, BORN, UNFIT)
    worse = change("U", 20, {"id": "1"}, {"id": "two", "name": "Bea"}).encode()
    repairing.repair_records(
        lake, feed, [Repaired(the_open_one(lake, feed), worse)], signed(), unseen=True
    )
    lay(folder, "2025-11-20/03/a.json", drop(BORN, UNFIT, NEWER))
    bring(lake, feed)
    assert [one.source_location[2] for one in quarantine_of(lake, feed).open] == [2, 2]


def test_a_record_stays_open_where_its_object_landed_again_until_somebody_decides(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = brought(lake, folder, BORN, FIT.decode()[:-9])
    cut = the_open_one(lake, feed)
    assert landed_again(lake, feed, cut) == []
    # In another order: what stands in the cut one's place is another record.
    lay(folder, "2025-11-20/03/a.json", drop(FIT.decode(), BORN))
    made = bring(lake, feed)[1]
    assert names(lake, feed) == {1: "Bea"}
    # Both generations count: their records are told apart, and which is which nobody says.
    assert made.violations["no_event_twice"] == 1
    assert the_open_one(lake, feed) == cut
    (other,) = landed_again(lake, feed, cut)
    assert (other.records, other.generation != cut.source_location[1]) == (2, True)
    advice = advice_of(feed, cut, [other])
    assert advice.startswith("Another version of this object was read, too (generation ")
    assert f"`weir quarantine dismiss zoo {cut.id[:12]} --reason TEXT`" in advice
    # Repaired to what landed whole it is a repeat, and changes nothing.
    repair(lake, feed, FIT)
    assert bring(lake, feed)[1].violations["no_event_twice"] == 2
    assert names(lake, feed) == {1: "Bea"}
    assert not quarantine_of(lake, feed).open
    assert is_proved(lake, feed, tmp_path / "proof")


# Records of other sources than drops of JSON, and of windows that Spark derives.

THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""
DGRAPH = """\
format: dgraph
landing: {landing}
predicates: {{name: {{type: string}}, age: {{type: int}}}}
"""


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
    repair(lake, feed, debezium(2, 1, "Bea"))
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
    repair(lake, feed, json.dumps({"key": "0", "value": payload}).encode())
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
    lay(folder, "2025-11-20/03/a.json", drop(BORN, UNFIT))
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 30, after={"id": "2", "name": "Cleo"})))
    feed = a_feed(folder)
    by_spark = lake.by(SPARK)
    bring(by_spark, feed)
    repair(by_spark, feed, FIT)
    assert planning.due(lake, feed).windows == [WINDOW]
    made = bring(by_spark, feed)[1]
    assert made.violations["nothing_quarantined"] == made.violations["accounting_is_exact"] == 0
    assert names(lake, feed) == {1: "Bea", 2: "Cleo"}
    assert [one.state for one in quarantine_of(lake, feed).records] == ["repaired"]
    # Repaired once more, in this process now, its events count already: gold is made again from all of them.
    (repaired,) = quarantine_of(lake, feed).records
    payload = change("U", 20, {"id": "1"}, {"name": "Dot"}).encode()
    repairing.repair_records(lake, feed, [Repaired(repaired, payload)], signed(1, "another name"))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Dot", 2: "Cleo"}
    assert is_proved(lake, feed, tmp_path / "proof")
