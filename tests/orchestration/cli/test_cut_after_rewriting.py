"""Cuts after a feed's tables were written again, by ``weir erase``, ``rebuild``, ``compact`` and a repaired row."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from assets.bronze import source_rows
from assets.control import progress
from assets.cuts import manifest, record
from assets.executors.choice import IN_PROCESS
from assets.gold import apply, tables
from assets.maintenance import compaction
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.automation.jobs import job_name
from orchestration.cli import rebuild, session
from orchestration.definitions import build
from orchestration.resources import lake_of
from tests.orchestration.cli.test_cut import (
    CLOSED,
    EACH,
    FEED,
    MOVED,
    OPENED,
    asked,
    bring,
    send,
)
from tests.support.bank_log import FIRST, Topics, Transfer, Write, feed_of
from tests.support.commands_here import weir
from transforms.feed.feed import Feed
from transforms.silver.source_repairs import SourceRow, position_at

OTHER = Transfer(
    504,
    (
        Write("checking", 2, None, 7, 0x16B3A00, 0x16B3A00),
        Write("savings", 2, None, 8, 0x16B3A48, 0x16B3A48),
    ),
    0x16B3A80,
    0x16B3980,
)
OPENED_AT, MOVED_AT, OTHER_AT = "0/16B3748", "0/16B3848", "0/16B3A48"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)


@pytest.fixture
def feed(tmp_path: Path, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Feed:
    declared, folder = feed_of(), tmp_path / "feeds"
    folder.mkdir()
    (folder / "bank.yaml").write_text(FEED.format(landing=declared.landing))
    monkeypatch.setenv("WEIR_FEEDS", str(folder))
    monkeypatch.setenv("WEIR_WAREHOUSE", lake.warehouse)
    monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of the tests' own")
    monkeypatch.setattr(session, "reached", lambda *_, **__: lake)
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    (loaded,) = session.choose(folder, ["bank"])
    return loaded


def shown(capfd: pytest.CaptureFixture[str], at: str = "latest-cut") -> list[tuple[object, ...]]:
    """The rows of both tables as of a cut."""
    rows, _ = asked(capfd, EACH, "--at", at)
    return sorted((row["of"], row["id"], row["cents"]) for row in rows)


def refusal(capfd: pytest.CaptureFixture[str], at: str = "latest-cut") -> str:
    """What is said to one who asks for a cut."""
    assert weir("query", EACH, "--at", at) == 2
    return " ".join(capfd.readouterr().err.split())


def brought(lake: Lake, feed: Feed) -> Topics:
    """Three transactions, each with a run and a cut of its own."""
    topics = Topics()
    for one in (OPENED, MOVED, OTHER):
        send(topics, one)
        assert bring(lake, feed, topics).held_by == ()
    return topics


def vacuum(lake: Lake, below: str = "") -> None:
    """A week later: files of older versions go."""
    for log in Path(lake.warehouse, below).rglob("_delta_log"):
        table = DeltaTable(str(log.parent))
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


def assert_is_newest(lake: Lake) -> None:
    """The cut names the tables as they are, and so does the manifest."""
    newest = record.cuts_of(lake, "bank")[-1]
    for path, version in newest.versions.items():
        layer, *rest = path.split("/")
        assert lake.newest_version(Layer(layer), *rest) == version, path
    kept = json.loads(Path(lake.warehouse, "_cuts/bank.json").read_text())
    told = {f"{one.path}": one.version for one in newest.tables}
    assert {one["path"]: one["version"] for one in kept["tables"]} == told


ALL = [("checking", 1, 50), ("checking", 2, 7), ("savings", 1, 50), ("savings", 2, 8)]


def test_after_an_erasure_every_cut_is_there_without_the_person(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    brought(lake, feed)
    assert shown(capfd) == ALL
    assert weir("erase", "bank", "savings", "1", "--yes", "--reason", "asked", "--by", "ann") == 0
    capfd.readouterr()
    assert_is_newest(lake)
    assert shown(capfd) == [one for one in ALL if one[:2] != ("savings", 1)]
    assert shown(capfd, MOVED_AT) == [("checking", 1, 50)]


def test_a_cut_whose_versions_an_erasure_removed_is_refused_until_it_is_recorded_again(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(lake, feed)
    # It ends before it comes to the cut.
    with monkeypatch.context() as ended:
        ended.setattr(manifest, "published_again", lambda *_: None)
        assert weir("erase", "bank", "savings", "1", "--yes", "--reason", "x", "--by", "ann") == 0
    capfd.readouterr()
    said = refusal(capfd)
    assert f"the cut {OTHER_AT} is made of version" in said
    assert "of silver.bank, and `weir erase` has removed it, with all older versions" in said
    assert "`weir cut bank` records the cut with the tables as they are" in said
    assert weir("cut", "bank") == 0
    capfd.readouterr()
    assert shown(capfd) == [one for one in ALL if one[:2] != ("savings", 1)]


def test_after_a_rebuild_the_cut_is_of_the_tables_that_it_made(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    brought(lake, feed)
    assert rebuild.rebuild_in(lake, feed) == 0
    assert f"bank: all tables are whole up to {OTHER_AT}" in capfd.readouterr().out
    vacuum(lake)
    lake = lake_of(lake.warehouse)
    assert shown(capfd) == ALL
    assert shown(capfd, MOVED_AT) == [("checking", 1, 50), ("savings", 1, 50)]


def test_files_that_a_vacuum_removed_are_named_with_their_table(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(lake, feed)
    before = lake.newest_version(Layer.GOLD, "bank", "checking")
    monkeypatch.setattr(manifest, "published_again", lambda *_: None)
    assert rebuild.rebuild_in(lake, feed) == 0
    capfd.readouterr()
    # The files of the version are there for a week.
    assert shown(capfd) == ALL
    vacuum(lake, "gold")
    said = refusal(capfd)
    assert f"is made of version {before} of gold.bank.checking, and" in said
    assert "of its files were removed by `weir compact` or another vacuum" in said
    assert weir("cut", "bank") == 0
    capfd.readouterr()
    assert shown(capfd) == ALL


def test_after_compaction_the_newest_cut_is_there_and_older_ones_say_what_is(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    for one, hours in ((OPENED, 0), (MOVED, 1), (OTHER, 40 * 24)):
        send(topics, one, hours=hours)
        bring(lake, feed, topics)
    done = [*compaction.compact_feed(lake, feed, tables.mirrors(lake, feed), dry_run=False)]
    assert sum(one.folded for one in done) > 0
    assert_is_newest(lake)
    vacuum(lake)
    assert shown(capfd) == ALL
    assert shown(capfd, MOVED_AT) == [("checking", 1, 50), ("savings", 1, 50)]
    said = refusal(capfd, OPENED_AT)
    assert f"as of {OPENED_AT}: the history of checking, savings is compacted beyond it" in said
    assert f"The oldest cut that can be asked for is {MOVED_AT};" in said


def test_a_dry_run_of_compaction_records_no_cut(lake: Lake, feed: Feed) -> None:
    brought(lake, feed)
    kept = Path(lake.warehouse, "_cuts/bank.json")
    assert not kept.exists()
    for _ in compaction.compact_feed(lake, feed, tables.mirrors(lake, feed), dry_run=True):
        pass
    assert not kept.exists()


def test_a_row_that_was_read_again_is_in_the_cut_behind_its_place(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    send(topics, OPENED, MOVED)
    bring(lake, feed, topics)
    row = SourceRow(
        table="bank.public.savings",
        operation="read",
        columns={"id": "1", "cents": "51"},
        log_position=position_at((0x16B3870,), 1),
        read_at=1_763_600_000_000_000,
        by="ann",
        reason="it differed",
    )
    window = source_rows.add(lake, feed, source_rows.as_bronze(feed, [row], FIRST + timedelta(1)))
    derive.derive(lake, feed, [window])
    apply.apply_tables(lake, feed, [*feed.tables.values()], [window])
    progress.finish(lake, feed, [window])
    found = manifest.published(lake, feed)
    assert found.cut is not None and found.cut.text == MOVED_AT
    assert {one.name: one.keys_ahead for one in found.cut.tables} == {"checking": 0, "savings": 1}
    assert shown(capfd) == [("checking", 1, 50), ("savings", 1, 50)]
    send(topics, OTHER)
    found = bring(lake, feed, topics)
    assert (found.late, found.held_by) == (0, ())
    assert shown(capfd) == sorted({*ALL, ("savings", 1, 51)} - {("savings", 1, 50)})
    assert CLOSED.commit > 0x16B3870


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_job_that_brings_a_repair_to_gold_records_the_cut(lake: Lake, feed: Feed) -> None:
    job = build([feed], lake).resolve_job_def(job_name(feed))
    keys = {key.path[0] for key in job.asset_layer.executable_asset_keys}
    assert "cuts" in keys
