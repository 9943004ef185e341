"""Compaction: what history becomes, what comes too late for it, and that gold is the same before and after."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from deltalake import DeltaTable

from assets.audit import explain
from assets.control import compacted, progress
from assets.gold import tables
from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.maintenance.plan import CompactionPlan
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import rebuild, verify
from orchestration.cli.explain import story_lines
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import to_record
from tests.laws.oracle.event import Event, Image, Transaction
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import DecisionRefused, GoldBehind
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import Feed, Retention, Table
from transforms.feed.schema_policies import Policies

HOUR = Retention(kept=timedelta(hours=1))
BORN = change("I", 10, after={"id": "1", "name": "Ada", "age": "3"})


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_old_history_becomes_base_rows_and_gold_stays_as_it_is(
    lake: Lake, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = drop(
        BORN,
        change("I", 11, after={"id": "2", "name": "Bo"}),
        change("D", 12, {"id": "2", "name": "Bo"}),
        change("I", 13, after={"id": "3", "name": "Cy", "age": "5"}),
    )
    lay(folder, "2025-11-20/03/a.json", early)
    lay(folder, "2025-11-20/05/b.json", drop(change("U", 20, {"id": "1"}, {"name": "Ava"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, retention=HOUR)
    bring(lake, feed)
    silver = lake.table(Layer.SILVER, "zoo")

    # What a compaction that died had begun to write down drops no tombstone: no compaction watermark is drawn.
    compacted.remember_identities(lake, feed, "pets", silver.read())
    none = CompactionPlan(None, None, ())
    done = compaction.with_history(lake, plan_of(lake, feed, PETS, "pets", []), none, dry_run=True)
    assert done.expired == 0

    # A declaration that gold has not followed yet.
    aged = {**PETS.columns, "age": "int"}
    later = Table("pets", PETS.key, aged, tuple(aged), since={"age": "2025-11-21T00"})
    with pytest.raises(GoldBehind, match=r"gold\.zoo\.pets is missing, or was made under another"):
        list(compaction.compact_feed(lake, feed, {"pets": later}, dry_run=True))

    (would,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=True)
    assert (would.folded, would.kept, would.base) == (4, 1, 2)
    assert (would.superseded, would.expired, would.tombstones) == (0, 1, 0)
    assert silver.read().count() == 5
    assert compacted.compaction_watermarks(lake, feed) == {}

    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert replace(done, files_after=0) == replace(would, files_after=0)
    assert done.plan.held_back_by == ("retention: all windows since 2025-11-20T05 are kept",)
    assert [row["operation"] for row in silver.read().collect()] == ["update"]
    assert lake.table(Layer.GOLD, "zoo", "pets__tombstones").read().count() == 0
    assert names(lake, feed) == {1: "Ava", 3: "Cy"}

    # Again: nothing is left to do, but for the files of small tables.
    noted = [("2025-11-20T03", "a.json", "1"), ("2025-11-20T05", "b.json", "1")]
    for one in noted:
        progress.note_landed(lake, feed, [one])
    landed = lake.path(Layer.LANDED, "zoo")
    assert len(DeltaTable(landed).file_uris()) == 2
    (again,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert (again.plan.new, again.folded, again.base) == (None, 0, 2)
    assert len(DeltaTable(landed).file_uris()) == 1
    assert DeltaTable(landed).count() == 2

    # A repeat of what is compacted is a duplicate, an event that nobody knew comes too late, a new one counts.
    late = change("U", 12, {"id": "1"}, {"name": "Old"})
    renamed = change("U", 30, {"id": "3"}, {"name": "Cyd"})
    lay(folder, "2025-11-20/06/c.json", drop(BORN, late, renamed))
    made = bring(lake, feed)[1]
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_too_late"] == 1
    assert sum(account["duplicates"] for account in made.accounts) == 1
    assert names(lake, feed) == {1: "Ava", 3: "Cyd"}
    (refused,) = lake.table(Layer.QUARANTINE, "zoo").read().collect()
    assert (refused["reason"], refused["line"]) == ("too_late", 2)
    assert bytes(refused["payload"]).decode() == late
    assert "compacted beyond its position 0/1/" in refused["detail"]

    lines = story_lines("gold.zoo.pets", PETS, explain.explained(lake, feed, PETS, "pets", ["3"]))
    assert "are compacted; they left this row: name = 'Cy'" in "\n".join(lines)
    assert "name: 'Cy' -> 'Cyd'" in "\n".join(lines)
    # A key is found however it is written, and what came too late for it is listed.
    found = explain.explained(lake, feed, PETS, "pets", ["01"])
    assert found.key == ("1",)
    late_story = "\n".join(story_lines("gold.zoo.pets", PETS, found))
    assert "does not count (too_late): the history of pets is compacted beyond" in late_story

    # A proof needs no base: it begins at the first event.
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=5) == 0

    # The base keeps what nobody had declared, too.
    columns = {**PETS.columns, "age": "int"}
    older = Table("pets", PETS.key, columns, tuple(columns))
    bring(lake, replace(feed, tables={"pets": older}))
    rows = lake.table(Layer.GOLD, "zoo", "pets").read().select("id", "name", "age").collect()
    assert sorted(map(tuple, rows)) == [(1, "Ava", 3), (3, "Cyd", 5)]

    # An epoch among what is compacted needs a rebuild, which takes in what came too late, too.
    moved = replace(feed, decisions=Decisions(epochs=(Epoch("2025-11-20T03"),)))
    with pytest.raises(DecisionRefused, match=r"the epochs that begin there.*`weir rebuild zoo`"):
        compacted.refuse_altered_past(moved, compacted.compaction_watermark_facts(lake, moved))
    # A rebuild that dies after its first steps, and a run of one window: gold waits for all of them.
    with monkeypatch.context() as broken:
        broken.setattr(derive, "derive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rebuild.rebuild_in(lake, feed)
    bring(lake, feed, ["2025-11-20T06"])
    assert names(lake, feed) == {1: "Ava", 3: "Cyd"}
    assert rebuild.rebuild_in(lake, feed) == 0
    assert compacted.compaction_watermarks(lake, feed) == {}
    assert lake.table(Layer.QUARANTINE, "zoo").read().count() == 0
    assert sorted(row["window"][-2:] for row in silver.read().collect()) == [
        *("03", "03", "03", "03"),
        *("05", "06", "06", "06"),
    ]
    assert names(lake, feed) == {1: "Ava", 3: "Cyd"}
    assert planning.due(lake, feed).windows == []


def test_a_column_that_gold_took_up_by_itself_stays_when_its_events_come_again(
    lake: Lake, folder: Path
) -> None:
    evolves = replace(PETS, policies=Policies(add_column="evolve"))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": evolves}, retention=HOUR)
    lay(folder, "2025-11-20/03/a.json", drop(BORN))
    lay(folder, "2025-11-20/05/b.json", drop(change("U", 20, {"id": "1"}, {"name": "Ava"})))
    bring(lake, feed)
    (done,) = compaction.compact_feed(lake, feed, tables.mirrors(lake, feed), dry_run=False)
    assert done.folded == 1
    lay(folder, "2025-11-20/03/again.json", drop(BORN))
    bring(lake, feed)
    assert [
        row.asDict()["age"] for row in lake.table(Layer.GOLD, "zoo", "pets").read().collect()
    ] == ["3"]


def test_an_open_transaction_holds_the_watermark_back_and_a_compacted_one_stays_complete(
    lake: Lake, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS}, retention=HOUR)

    def laid(name: str, *events: Event) -> None:
        data = "".join(json.dumps(to_record(event)) + "\n" for event in events)
        lay(folder, f"2025-11-20/{name}.jsonl", data.encode())

    def row(at: int, number: int, of: str | None = None) -> Event:
        image: Image = {"id": str(number), "name": f"pet {number}"}
        part = None if of is None else Transaction(of)
        return Event(
            "model", "pets", "insert", (0, 1, at), None, {}, image, "replace", transaction=part
        )

    def commit(at: int, of: str, changes: int) -> Event:
        return Event(
            *("model", "pets", "commit", (0, 1, at), None, {}, {}, "commit"),
            transaction=Transaction(of, expected=changes),
        )

    # One transaction over two windows, one that stays open, and what belongs to none.
    laid("03/a", row(1, 1, "done"), row(4, 2, "open"), row(6, 3))
    laid("04/b", row(2, 4, "done"), commit(3, "done", 2), row(7, 5))
    laid("06/c", row(9, 6))
    bring(lake, feed)
    assert sorted(names(lake, feed)) == [1, 3, 4, 5, 6]
    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.plan.new is not None
    assert done.plan.new.log_position == (0, 1, 2)
    assert "a change whose transaction is open at position 0/1/4" in done.plan.held_back_by
    assert done.folded == 2

    # Read again, what is compacted is known, and its transaction is as complete as it was.
    laid("04/again", row(1, 1, "done"), commit(3, "done", 2))
    made = bring(lake, feed, ["2025-11-20T03", "2025-11-20T04"])[1]
    assert made.violations["every_transaction_is_committed"] == 1
    assert made.violations["nothing_too_late"] == 0
    assert sorted(names(lake, feed)) == [1, 3, 4, 5, 6]

    # The commit comes after all, and the compaction watermark goes on.
    laid("07/d", commit(10, "open", 1))
    assert bring(lake, feed)[1].violations["every_transaction_is_committed"] == 0
    assert sorted(names(lake, feed)) == [1, 2, 3, 4, 5, 6]
    (done,) = compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False)
    assert done.plan.new is not None
    assert done.plan.new.log_position == (0, 1, 9)
    assert sorted(names(lake, feed)) == [1, 2, 3, 4, 5, 6]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=5) == 0
