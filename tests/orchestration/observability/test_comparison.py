"""Gold compared with its source as an asset: where it is, what of it is kept, and what the page and the checks say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from assets.audit.feed_report import FeedReport
from assets.erasure import record
from assets.erasure.search import Found, KeyToErase
from assets.reconcile.compare import Behind, Compared, Reconciled
from assets.storage.lake import Lake
from orchestration import definitions
from orchestration.automation.jobs import job_name, reconcile_name
from orchestration.observability import comparison, last_comparison
from orchestration.observability.report import html_page
from tests.support.pet_feed import PETS
from transforms.feed.feed import CheckSetting, Feed, Running
from transforms.feed.masks import MaskKey
from transforms.reconcile.judgement import Difference, LogPlace
from transforms.reconcile.row_texts import Columns

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
EVIL = "<script>alert(1)</script>"
ROW = {"id": "1", "name": "Ada"}


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    running = Running(source="postgresql://db/zoo")
    return Feed("zoo", "debezium", str(tmp_path), tables={"pets": PETS}, running=running)


def compared(*different: Difference, table: str = "pets", behind: int = 0) -> Compared:
    return Compared(
        table,
        columns=Columns((), (), {}),
        in_source=5,
        in_gold=4,
        different=[*different],
        behind=[Behind((str(one),), None, ROW) for one in range(behind)],
    )


def made(feed: Feed, *tables: Compared) -> last_comparison.Comparison:
    return last_comparison.noted(feed, Reconciled(LogPlace((7,), "0/7"), None, tables), NOW)


def test_no_key_is_kept_of_a_comparison_during_which_a_key_was_erased(
    lake: Lake, feed: Feed
) -> None:
    feed = replace(feed, erasure_key=MaskKey("a secret of the tests' own"))
    found = made(feed, compared(Difference(("1",), "extra", (), None, ROW)))

    def published(began: datetime) -> last_comparison.Comparison:
        kept = comparison.published(lake, feed, found, began)
        assert last_comparison.last_comparison(lake, feed) == kept
        return kept

    assert published(NOW) == found
    what = KeyToErase(PETS, "pets", ("1",))
    plan = record.planned(feed, what, Found(frozenset({("1",)}), (), (), {}), ("ann", "asked"))
    record.note(lake, feed, plan.id, record.PLANNED, plan)
    # It is under way, or was interrupted.
    assert [one.explain for one in published(datetime.now(UTC)).tables] == [()]
    began = datetime.now(UTC)
    record.note(lake, feed, plan.id, record.FINISHED, None)
    kept = published(began)
    assert [one.explain for one in kept.tables] == [()]
    assert kept.differing == 1
    assert published(datetime.now(UTC)) == found


def test_it_stands_beside_gold_and_in_no_run_to_gold(lake: Lake, feed: Feed) -> None:
    built = definitions.build([feed], lake)
    own = comparison.key_of(feed)
    graph = built.resolve_asset_graph()
    assert graph.get(own).group_name == "zoo_maintenance"
    assert own not in graph.get(dg.AssetKey(["gold", "zoo", "pets"])).parent_keys
    jobs = {one.name: one for one in built.resolve_all_job_defs()}
    assert own not in jobs[job_name(feed)].asset_layer.executable_asset_keys
    assert [*jobs[reconcile_name(feed)].asset_layer.executable_asset_keys] == [own]
    schedule = built.get_repository_def().get_schedule_def("zoo_reconcile_every_day")
    assert schedule.default_status.name == "STOPPED"
    on = replace(feed.running, automation=replace(feed.running.automation, reconcile=True))
    again = definitions.build([replace(feed, running=on)], lake).get_repository_def()
    assert again.get_schedule_def("zoo_reconcile_every_day").default_status.name == "RUNNING"


def test_a_feed_whose_source_is_not_said_has_none(lake: Lake, feed: Feed) -> None:
    built = definitions.build([replace(feed, running=Running())], lake)
    assert not built.resolve_asset_graph().has(comparison.key_of(feed))
    assert reconcile_name(feed) not in {one.name for one in built.resolve_all_job_defs()}


def test_the_last_one_is_kept_without_values(lake: Lake, feed: Feed) -> None:
    assert last_comparison.last_comparison(lake, feed) is None
    many = [Difference((str(one),), "extra", (), None, ROW) for one in range(50)]
    first = made(feed, compared(*many), compared(table="birds", behind=2))
    last_comparison.keep_comparison(lake, feed, made(feed))
    last_comparison.keep_comparison(lake, feed, first)
    kept = last_comparison.last_comparison(lake, feed)
    assert kept == first
    assert (first.differing, first.tables[0].kinds) == (50, {"extra": 50})
    assert first.tables[0].explain[:2] == ("weir explain zoo pets 0", "weir explain zoo pets 1")
    assert len(first.tables[0].explain) == last_comparison.KEYS_KEPT
    assert [one.state for one in first.tables] == ["differs", "behind"]
    assert "Ada" not in Path(last_comparison.place_of(lake, feed)).read_text()
    # Nobody says where the source is any more: an old comparison is none.
    assert last_comparison.last_comparison(lake, replace(feed, running=Running())) is None


def test_its_checks_name_what_differs_and_what_is_open(feed: Feed) -> None:
    one = Difference(("1",), "extra", (), None, ROW)
    found = made(feed, compared(one), Compared("birds", "it has no key"))
    differs, is_open = comparison.results(feed, found)
    assert (differs.check_name, differs.passed) == ("gold_is_what_the_source_holds", False)
    assert differs.severity == dg.AssetCheckSeverity.ERROR
    assert "pets: weir explain zoo pets 1" in (differs.description or "")
    assert "`weir reconcile zoo`" in (differs.description or "")
    assert (is_open.passed, is_open.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "birds: it has no key" in (is_open.description or "")
    assert all(each.passed for each in comparison.results(feed, made(feed, compared())))
    lax = replace(feed, checks={"gold_is_what_the_source_holds": CheckSetting("warn", at_most=1)})
    assert next(iter(comparison.results(lax, found))).passed


def test_the_page_shows_it_and_nothing_of_it_acts(feed: Feed) -> None:
    evil = Difference((EVIL,), "missing", (), ROW, None)
    found = made(feed, compared(evil), compared(table=EVIL))
    page = html_page.page_of(feed, FeedReport(), NOW, html_page.AskedOfSource(None, found))
    assert "<h2>Compared with the source</h2>" in page
    assert "<dt>compared with the source</dt><dd>1 differ</dd>" in page
    assert EVIL not in page
    same = html_page.page_of(
        feed, FeedReport(), NOW, html_page.AskedOfSource(None, made(feed, compared()))
    )
    assert "<dt>compared with the source</dt><dd>the same</dd>" in same
    assert "Compared with the source" not in html_page.page_of(feed, FeedReport(), NOW)
