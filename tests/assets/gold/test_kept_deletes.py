"""Deleted rows that stay in gold's tables: with Spark's commits and this process's, and when the feed file changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assets.audit.status import status_of
from assets.control import decisions
from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold.plan import plan_of
from assets.gold.tables import mirrors
from assets.maintenance import compaction
from assets.maintenance.plan import CompactionPlan
from assets.storage.lake import Lake, Layer
from orchestration.cli import rebuild, verify
from orchestration.resources import lake_of
from tests.assets.gold.test_discovered_tables import put
from tests.laws.drawn import model_format, model_histories
from tests.laws.oracle.event import Event, Image
from tests.support import bringing
from tests.support.pet_feed import PETS, applied, bring, change, drop, lay
from transforms.compaction_watermarks import CompactionWatermark
from transforms.errors import DecisionRefused
from transforms.feed.feed import Deletes, Feed, LossGuard, Retention, Table
from transforms.feed.masks import MaskKey, MaskKind

KEPT = replace(PETS, deletes="mark")
ADA, BO = {"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"}
Row = tuple[int, str | None, int | None]


@pytest.fixture(params=[pytest.param(SPARK, marks=pytest.mark.spark), IN_PROCESS])
def here(tmp_path: Path, request: pytest.FixtureRequest) -> Lake:
    """A warehouse whose work one executor does."""
    if request.param == SPARK:
        request.getfixturevalue("spark")
    return lake_of(str(tmp_path / "warehouse")).by(request.param)


def feed_of(folder: Path, table: Table) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": table})


def compacting(folder: Path, table: Table) -> Feed:
    """A feed that keeps an hour of events, and an older window in which a row is inserted and deleted."""
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ADA), change("D", 9, ADA)))
    lay(folder, "2025-11-20/06/b.json", drop(change("I", 30, after=BO)))
    return replace(feed_of(folder, table), retention=Retention(kept=timedelta(hours=1)))


def pets(lake: Lake, feed: Feed) -> list[Row]:
    """Id, name, and the minute (``pet_feed.change``) of the delete of every row."""
    stored = lake.in_process_table(Layer.GOLD, feed.name, "pets").rows()
    found: list[Row] = []
    for row in stored:
        assert row["_weir_is_deleted"] == (row["_weir_deleted_at"] is not None)
        found.append((row["id"], row["name"], minute_of(row["_weir_deleted_at"])))
    return sorted(found)


def minute_of(at: datetime | None) -> int | None:
    return None if at is None else (int(at.timestamp()) - 1_763_600_000) // 60


def shown(lake: Lake, feed: Feed) -> list[Any]:
    """The same of a table that marks, and of another one its rows, of which none is deleted."""
    if feed.tables["pets"].marks_deletes:
        return pets(lake, feed)
    stored = lake.in_process_table(Layer.GOLD, feed.name, "pets")
    assert not any("delete" in name for name in stored.schema.names)
    return [(row["id"], row["name"], None) for row in stored.rows()]


def ended_versions(lake: Lake) -> list[Row]:
    """Id, name, and the minute in which each version ended."""
    versions = lake.in_process_table(Layer.GOLD, "zoo", "pets__history").rows()
    return sorted((one["id"], one["name"], minute_of(one["_weir_valid_to_at"])) for one in versions)


@pytest.mark.parametrize(
    ("here", "change_feed"),
    [
        pytest.param(SPARK, True, marks=pytest.mark.spark, id="spark-merged"),
        pytest.param(SPARK, False, marks=pytest.mark.spark, id="spark-replaced"),
        pytest.param(IN_PROCESS, False, id="in-process"),
    ],
    indirect=["here"],
)
def test_rows_are_marked_come_late_and_come_back(
    here: Lake, folder: Path, tmp_path: Path, *, change_feed: bool
) -> None:
    feed = feed_of(folder, replace(KEPT, history=True, change_feed=change_feed))
    first = [change("I", 1, after=ADA), change("I", 2, after=BO), change("D", 9, ADA)]
    lay(folder, "2025-11-20/03/a.json", drop(*first))
    bring(here, feed)
    assert pets(here, feed) == [(1, "Ada", 9), (2, "Bo", None)]
    # A delete without anything before it, of a row that is in gold already, and a late update.
    second = [
        change("D", 12, {"id": "3"}),
        change("D", 11, BO),
        change("U", 5, ADA, {"name": "Ava"}),
    ]
    lay(folder, "2025-11-20/05/b.json", drop(*second))
    bring(here, feed)
    assert pets(here, feed) == [(1, "Ava", 9), (2, "Bo", 11), (3, None, 12)]
    (gold,) = (status_of(here, feed) or pytest.fail("nothing was read")).gold
    assert (gold.rows, gold.marked, gold.tombstones) == (0, 3, 0)
    lay(folder, "2025-11-20/06/c.json", drop(change("I", 20, after={"id": "1", "name": "Zoe"})))
    bring(here, feed)
    assert pets(here, feed) == [(1, "Zoe", None), (2, "Bo", 11), (3, None, 12)]
    history = here.in_process_table(Layer.GOLD, "zoo", "pets__history").rows()
    assert sorted((row["id"], row["name"]) for row in history) == [
        (1, "Ada"), (1, "Ava"), (1, "Zoe"), (2, "Bo"),
    ]  # fmt: skip
    assert verify.prove(here, lake_of(str(tmp_path / "proof")), feed, seed=2) == 0


def test_compaction_keeps_marked_rows_and_their_values(
    here: Lake, folder: Path, tmp_path: Path
) -> None:
    kept = replace(KEPT, history=True)
    feed = compacting(folder, kept)
    bring(here, feed)
    (done,) = compaction.compact_feed(here, feed, {"pets": kept}, dry_run=False)
    assert (done.plan.new is not None, done.base, done.folded) == (True, 1, 2)
    assert pets(here, feed) == [(1, "Ada", 9), (2, "Bo", None)]
    # Its tombstones stay empty, and its versions are those that changes made.
    assert here.in_process_table(Layer.GOLD, "zoo", "pets__tombstones").count() == 0
    assert ended_versions(here) == [(1, "Ada", 9), (2, "Bo", None)]
    # What comes for the marked row is folded onto its base row.
    lay(folder, "2025-11-20/07/c.json", drop(change("D", 40, ADA), change("D", 41, BO)))
    bring(here, feed)
    assert pets(here, feed) == [(1, "Ada", 40), (2, "Bo", 41)]
    assert ended_versions(here) == [(1, "Ada", 9), (2, "Bo", 41)]
    assert verify.prove(here, lake_of(str(tmp_path / "proof")), feed, seed=2) == 0
    # Behind the marked base row an insert is a live row, and compaction keeps that.
    lay(folder, "2025-11-20/09/d.json", drop(change("I", 90, after={**ADA, "name": "Zoe"})))
    bring(here, feed)
    lay(folder, "2025-11-20/12/e.json", drop(change("U", 150, BO, {**BO, "name": "Bob"})))
    bring(here, feed)
    assert list(compaction.compact_feed(here, feed, {"pets": kept}, dry_run=False))
    assert pets(here, feed) == [(1, "Zoe", None), (2, "Bob", None)]


@pytest.mark.parametrize(
    ("first", "then"), [("mark", "remove"), ("remove", "mark")], ids=["to remove", "to mark"]
)
def test_a_feed_file_that_changes_its_mind_behind_a_compaction_asks_for_a_rebuild(
    here: Lake, folder: Path, first: Deletes, then: Deletes
) -> None:
    before = compacting(folder, replace(PETS, deletes=first))
    after = replace(before, tables={"pets": replace(PETS, deletes=then)})
    bring(here, before)
    (done,) = compaction.compact_feed(here, before, before.tables, dry_run=False)
    assert done.plan.new is not None
    known = here.in_process_table(Layer.GOLD, "zoo", "pets").rows()
    lay(folder, "2025-11-20/07/c.json", drop(change("D", 41, BO)))
    asks = r"table pets: history up to window .* whether deleted rows stay\. `weir rebuild zoo`.* or undo"
    with pytest.raises(DecisionRefused, match=asks):
        bring(here, after)
    assert here.in_process_table(Layer.GOLD, "zoo", "pets").rows() == known
    # Back again, the run goes on as if nothing had been.
    bring(here, before)
    found = {"mark": [(1, "Ada", 9), (2, "Bo", 41)], "remove": []}
    assert shown(here, before) == found[first]
    # Or all of it is read in bronze again, what is compacted, too.
    assert rebuild.rebuild_in(here, after) == 0
    assert shown(here, after) == found[then]
    assert rebuild.rebuild_in(here, before) == 0
    assert shown(here, before) == found[first]


def test_marked_rows_are_masked_as_all_others(here: Lake, folder: Path) -> None:
    """The delete names its row by the masked key, and the values that stay are masked ones."""
    key, columns = MaskKey("a secret of enough length"), {"id": "string", "name": "string"}
    masks: Mapping[str, MaskKind] = {"id": "hash", "name": "hash"}
    masked = replace(KEPT, columns=columns, unmasked_columns=columns, masks=masks)
    feed = replace(feed_of(folder, masked), mask_key=key)
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ADA), change("I", 2, after=BO)))
    bring(here, feed)
    late = change("U", 5, ADA, {**ADA, "name": "Ava"})
    lay(folder, "2025-11-20/04/b.json", drop(change("D", 9, ADA)))
    bring(here, feed)
    lay(folder, "2025-11-20/05/c.json", drop(late))
    bring(here, feed)
    bo = (key.hashed("2"), key.hashed("Bo"), None)
    assert sorted(shown(here, feed)) == sorted([(key.hashed("1"), key.hashed("Ava"), 9), bo])
    # Under another secret all rows are made again, the marked ones among them.
    another = MaskKey("another secret of enough length")
    feed = replace(feed, mask_key=another)
    bring(here, feed)
    bo = (another.hashed("2"), another.hashed("Bo"), None)
    assert sorted(shown(here, feed)) == sorted(
        [(another.hashed("1"), another.hashed("Ava"), 9), bo]
    )


def test_a_feed_file_that_changes_its_mind_makes_gold_again(here: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ADA), change("D", 9, ADA)))
    removing = feed_of(folder, PETS)
    bring(here, removing)
    assert here.in_process_table(Layer.GOLD, "zoo", "pets").count() == 0
    marking = feed_of(folder, KEPT)
    bring(here, marking)
    assert pets(here, marking) == [(1, "Ada", 9)]
    assert here.in_process_table(Layer.GOLD, "zoo", "pets__tombstones").count() == 0
    bring(here, removing)
    gold, stones = (
        here.in_process_table(Layer.GOLD, "zoo", name) for name in ("pets", "pets__tombstones")
    )
    assert (gold.count(), stones.count()) == (0, 1)
    assert "_weir_is_deleted" not in gold.schema.names


def test_tables_that_only_the_stream_describes_mark_too(
    here: Lake, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A marked row goes along when the stream gives its table a column and its key another type."""
    model_format.register(monkeypatch)
    feed = Feed("zoo", "telling", str(folder), deletes="mark")
    visit = {"id": "7", "name": "x"}
    records = [
        *(put(1, {"id": "1", "name": "Ada"}), put(2, {"id": "2", "name": "Bo"})),
        put(3, {"id": "1"}, effect="remove"),
        *(put(4, visit, key=(), table="visits"), put(5, visit, key=(), table="visits")),
        put(6, visit, key=(), table="visits", effect="remove"),
    ]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*records))
    bringing.run(here, feed)
    assert described(here, "pets") == [(1, "Ada", None, True), (2, "Bo", None, False)]
    # Of a table without a key nothing can be marked.
    visits = here.in_process_table(Layer.GOLD, "zoo", "visits")
    assert (visits.count(), "_weir_is_deleted" in visits.schema.names) == (1, False)
    wider = {"id": "bigint", "name": "string", "age": "int"}
    cleo = {"id": "3000000000", "name": "Cleo", "age": "4"}
    late = put(2, {"id": "1", "name": "Ava"}, effect="update")
    gone = put(8, {"id": "2"}, wider, effect="remove")
    lay(folder, "2025-11-20/04/b.jsonl", drop(put(7, cleo, wider), late, gone))
    bringing.run(here, feed)
    assert described(here, "pets") == [
        (1, "Ava", None, True),
        (2, "Bo", None, True),
        (3_000_000_000, "Cleo", 4, False),
    ]
    assert verify.prove(here, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


def test_of_a_table_that_the_stream_describes_compacted_history_keeps_its_marks(
    here: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its mark the base row would be a live one: a feed file that changes its mind asks for a rebuild."""
    model_format.register(monkeypatch)
    marking = Feed("zoo", "telling", str(folder), deletes="mark")
    records = [put(1, {"id": "1", "name": "Ada"}), put(2, {"id": "1"}, effect="remove")]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*records, put(3, {"id": "2", "name": "Bo"})))
    bringing.run(here, marking)
    (table,) = mirrors(here, marking).values()
    plan = CompactionPlan(None, CompactionWatermark((0, 1, 3)), ())
    done = compaction.with_history(
        here, plan_of(here, marking, table, "pets", []), plan, dry_run=False
    )
    assert done.base == 2
    lay(folder, "2025-11-20/04/b.jsonl", drop(put(7, {"id": "3", "name": "Cleo"})))
    asks = r"table pets: .* whether deleted rows stay\. `weir rebuild zoo`"
    removing = replace(marking, deletes="remove")
    with pytest.raises(DecisionRefused, match=asks):
        bringing.run(here, removing)
    bringing.run(here, marking)
    live = [(2, "Bo", None, False), (3, "Cleo", None, False)]
    assert described(here, "pets") == [(1, "Ada", None, True), *live]
    assert rebuild.rebuild_in(here, removing) == 0
    stored = here.in_process_table(Layer.GOLD, "zoo", "pets").rows()
    assert sorted(row["id"] for row in stored) == [2, 3]


def described(lake: Lake, name: str) -> list[tuple[object, ...]]:
    """Of each row its id, name and age, and whether it is deleted."""
    rows = lake.in_process_table(Layer.GOLD, "zoo", name).rows()
    cells = ("id", "name", "age", "_weir_is_deleted")
    return sorted(tuple(row.get(cell) for cell in cells) for row in rows)


def test_a_truncate_that_would_mark_most_live_rows_waits(
    here: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    guard = LossGuard(share=0.5, rows=2)
    tables = {"pets": KEPT}
    feed = Feed("zoo", "model", str(folder), tables=tables, loss_guard=guard)
    # Two of four rows are live: a guard that counted the marked ones would let the truncate through.
    born = [said("replace", at, after={"id": f"{at}", "name": "Ada"}) for at in (1, 2, 3, 4)]
    gone = [said("remove", 10 + at, {"id": f"{at}"}) for at in (3, 4)]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*born, *gone))
    bring(here, feed)
    lay(folder, "2025-11-20/04/b.jsonl", drop(said("remove", 30, scope={})))
    (done,) = applied(here, feed, ["2025-11-20T04"]).tables
    assert (done.rows, done.marked) == (2, 2)
    (held,) = decisions.with_recorded(here, feed).decisions.held("pets")
    assert held.rows == 2


def test_a_row_that_is_marked_already_is_not_removed_once_more(
    here: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late change alters what the row says, and the truncate that marked it has done nothing new."""
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": KEPT})
    born = [said("replace", at, after={"id": f"{at}", "name": "Ada"}) for at in (1, 2)]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*born, said("remove", 30, scope={})))
    (done,) = applied(here, feed, ["2025-11-20T03"]).tables
    assert [(one.removed, one.changed) for one in done.range_deletes] == [(2, 0)]
    late = said("update", 10, after={"id": "1", "name": "Ava"})
    lay(folder, "2025-11-20/04/b.jsonl", drop(late))
    (done,) = applied(here, feed, ["2025-11-20T04"]).tables
    assert (done.rows, done.marked, done.metrics.keys, done.range_deletes) == (0, 2, 1, ())
    stored = here.in_process_table(Layer.GOLD, "zoo", "pets").rows()
    assert {row["name"] for row in stored} == {"Ava", "Ada"}


def said(
    effect: str,
    at: int,
    before: Image | None = None,
    after: Image | None = None,
    scope: Image | None = None,
) -> str:
    """A record of the tests' own format."""
    images = (before or {}, after or {})
    event = Event("model", "pets", effect, (0, 1, at), 0, *images, effect=effect, scope=scope)
    return json.dumps(model_histories.to_record(event))
