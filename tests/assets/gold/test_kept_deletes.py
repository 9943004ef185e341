"""Deleted rows that stay in gold's tables: with Spark's commits and this process's, and when the feed file changes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assets.audit.status import status_of
from assets.control import decisions
from assets.executors.choice import IN_PROCESS, SPARK
from assets.maintenance import compaction
from assets.storage.lake import Lake, Layer
from orchestration.cli import verify
from orchestration.resources import lake_of
from tests.laws.drawn import model_format, model_histories
from tests.laws.oracle.event import Event, Image
from tests.support.pet_feed import PETS, applied, bring, change, drop, lay
from transforms.feed.feed import Feed, LossGuard, Retention, Table

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


def pets(lake: Lake, feed: Feed) -> list[Row]:
    """Id, name, and the minute (``pet_feed.change``) of the delete of every row."""
    stored = lake.in_process_table(Layer.GOLD, feed.name, "pets").rows()
    found: list[Row] = []
    for row in stored:
        at = row["_weir_deleted_at"]
        assert row["_weir_is_deleted"] == (at is not None)
        minute = None if at is None else (int(at.timestamp()) - 1_763_600_000) // 60
        found.append((row["id"], row["name"], minute))
    return sorted(found)


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
    feed = replace(feed_of(folder, KEPT), retention=Retention(kept=timedelta(hours=1)))
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ADA), change("D", 9, ADA)))
    lay(folder, "2025-11-20/06/b.json", drop(change("I", 30, after=BO)))
    bring(here, feed)
    (done,) = compaction.compact_feed(here, feed, {"pets": KEPT}, dry_run=False)
    assert (done.plan.new is not None, done.base, done.folded) == (True, 1, 2)
    assert pets(here, feed) == [(1, "Ada", 9), (2, "Bo", None)]
    # What comes for the marked row is folded onto its base row.
    lay(folder, "2025-11-20/07/c.json", drop(change("D", 40, ADA), change("D", 41, BO)))
    bring(here, feed)
    assert pets(here, feed) == [(1, "Ada", 40), (2, "Bo", 41)]
    assert verify.prove(here, lake_of(str(tmp_path / "proof")), feed, seed=2) == 0


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
