"""The checks of a feed's source: in a run, in a job of their own, on the page, as metrics and in `weir status`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from prometheus_client.openmetrics import parser as openmetrics

from assets.audit.feed_report import FeedReport
from assets.source import checks
from assets.storage.lake import Lake
from expectations import source
from orchestration import definitions
from orchestration.automation.jobs import health_name, job_name
from orchestration.cli import status
from orchestration.observability import last_look, metrics, source_health
from orchestration.observability.report import html_page
from orchestration.observability.run_tags import RANGE
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import CheckSetting, Feed, HealthLimits, Limit, Running
from transforms.source_health import (
    BinaryLog,
    BinaryLogs,
    Finding,
    LookFigures,
    PartitionOffsets,
    ReplicationSlot,
    SourceFacts,
    TableEvents,
    findings,
)

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T00"
NEWEST = datetime.fromtimestamp(1_763_600_000 + 60, UTC)
STRICT, LAX = Limit(warn=60), Limit(warn=3_155_760_000)
NOW = datetime(2025, 11, 20, 9, tzinfo=UTC)
ALL = SourceFacts(
    NOW,
    (TableEvents('od"d', NOW - timedelta(hours=1)), TableEvents("new", None)),
    NOW - timedelta(seconds=5),
    (PartitionOffsets("pets/0", 5, 8, 20),),
    (
        ReplicationSlot("zoo", True, "reserved", 900, 700, 400, 100),
        ReplicationSlot("old", False, "lost", 900, 300, None),
    ),
    BinaryLogs((BinaryLog("log.000007", 50), BinaryLog("log.000008", 60)), 86_400, 6, 40),
    ("the broker does not answer",),
)


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    ada = {"id": "1", "name": "Ada"}
    lay(tmp_path / "drops", "2025-11-20/00/a.json", drop(change("I", 1, after=ada)))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


def watched(feed: Feed, **limits: Limit) -> Feed:
    return replace(feed, running=Running(health=HealthLimits(**limits)))  # type: ignore[arg-type]


def ran(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, job: str = ""
) -> dg.ExecuteInProcessResult:
    found = definitions.build([feed], lake).resolve_job_def(job or job_name(feed))
    tags = {} if job else dict(zip(RANGE, (WINDOW, WINDOW), strict=True))
    return found.execute_in_process(instance=instance, raise_on_error=False, tags=tags)


def checked(result: dg.ExecuteInProcessResult) -> Mapping[str, dg.AssetCheckEvaluation]:
    names = {rule.name for rule in source.RULES}
    found = result.get_asset_check_evaluations()
    return {one.check_name: one for one in found if one.check_name in names}


def test_a_feed_that_says_nothing_of_its_source_has_no_step_for_it(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    result = ran(lake, feed, instance)
    assert result.success
    assert checked(result) == {}
    assert last_look.last_look(lake, feed) is None
    built = definitions.build([feed], lake)
    assert health_name(feed) not in {job.name for job in built.resolve_all_job_defs()}
    # What the stream tells is on its page all the same.
    page = html_page.make_report(lake, feed, NEWEST + timedelta(hours=2))
    assert "newest event at 2025-11-20 00:54:20" in page
    assert "2 h old" in page


def test_a_run_asks_the_source_once_all_else_is_done(
    tmp_path: Path,
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path / "metrics"))
    strict = watched(feed, newest_event=STRICT)
    result = ran(lake, strict, instance)
    assert result.success
    found = checked(result)
    assert {name: one.passed for name, one in found.items()} == {
        "source_keeps_what_is_unread": True,
        "source_keeps_it_a_while": True,
        "source_is_within_limits": False,
        "source_can_be_asked": True,
    }
    judged = found["source_is_within_limits"]
    assert judged.severity == dg.AssetCheckSeverity.WARN
    assert judged.asset_key == dg.AssetKey(["landing", "zoo", "zoo_landing"])
    assert "at most 1 min" in (judged.description or "")
    look = last_look.last_look(lake, strict)
    assert look is not None
    assert look.tables == (TableEvents("pets", NEWEST),)
    # The page that the run's last step makes has the look.
    page = Path(html_page.address_of(lake, strict)).read_text()
    assert "<dt>the source</dt><dd>1 found</dd>" in page
    assert "Warning: the newest event is " in page
    numbers = (tmp_path / "metrics" / "weir_zoo_source.prom").read_text()
    assert 'weir_source_findings{feed="zoo",level="warning"} 1.0' in numbers


def test_a_source_that_sends_nothing_is_seen_without_a_window(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    lax = watched(feed, newest_event=LAX)
    assert ran(lake, lax, instance).success
    before = last_look.last_look(lake, lax)
    assert before is not None
    result = ran(lake, lax, instance, health_name(lax))
    assert result.success
    assert all(one.passed for one in checked(result).values())
    assert {one.step_key for one in result.all_events if one.step_key} == {"source_health_zoo"}
    after = last_look.last_look(lake, lax)
    assert after is not None and after.looked_at > before.looked_at
    page = Path(html_page.address_of(lake, lax)).read_text()
    assert "<dt>the source</dt><dd>well</dd>" in page

    # Beyond a limit under `fail` the check is an error, as the alerts and `weir run` understand it.
    ill = watched(feed, newest_event=Limit(fail=60))
    judged = checked(ran(lake, ill, instance, health_name(ill)))["source_is_within_limits"]
    assert (judged.passed, judged.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert (
        "<dt>the source</dt><dd>1 found</dd>" in Path(html_page.address_of(lake, ill)).read_text()
    )


def test_a_schedule_asks_where_the_feed_file_says_so(lake: Lake, feed: Feed) -> None:
    lax = watched(feed, newest_event=LAX)
    on = replace(lax.running, automation=replace(lax.running.automation, health=True))
    for one, expected in ((lax, "STOPPED"), (replace(lax, running=on), "RUNNING")):
        repository = definitions.build([one], lake).get_repository_def()
        schedule = repository.get_schedule_def("zoo_health_every_quarter")
        assert schedule.default_status.name == expected
        assert schedule.job_name == "zoo_health"


def test_severities_are_those_of_the_feed_file(feed: Feed) -> None:
    found = [Finding("unasked", "warning", "the broker does not answer")]
    strict = watched(feed, newest_event=STRICT)
    settings = {
        "source_can_be_asked": CheckSetting("fail"),
        "source_keeps_it_a_while": CheckSetting("off"),
    }
    (lost, limit, asked) = checks.results(replace(strict, checks=settings), found)
    assert (lost.passed, limit.passed) == (True, True)
    assert (asked.passed, asked.severity) == (False, dg.AssetCheckSeverity.ERROR)


def test_a_feed_whose_file_asks_for_none_of_the_checks_has_no_step_for_them(
    lake: Lake, feed: Feed
) -> None:
    off = {rule.name: CheckSetting("off") for rule in source.RULES}
    silent = replace(watched(feed, newest_event=STRICT), checks=off)
    built = definitions.build([silent], lake)
    assert health_name(feed) not in {job.name for job in built.resolve_all_job_defs()}


def test_a_look_is_kept_as_it_was(lake: Lake, feed: Feed) -> None:
    strict = watched(feed, newest_event=STRICT)
    last_look.keep_look(lake, strict, ALL)
    assert last_look.last_look(lake, strict) == ALL
    # A look that began before it, and took longer, does not take its place.
    last_look.keep_look(lake, strict, SourceFacts(NOW - timedelta(minutes=1)))
    assert last_look.last_look(lake, strict) == ALL
    # Somebody no longer watches it: an old look is none.
    assert last_look.last_look(lake, feed) is None
    assert last_look.looks(lake, feed) == ()


def test_the_newest_looks_are_kept_in_few_numbers(lake: Lake, feed: Feed) -> None:
    watching = replace(feed, running=Running(health=HealthLimits(slot="zoo")))
    for late in range(last_look.LOOKS_KEPT + 5):
        moment = NOW + timedelta(minutes=15 * late)
        last_look.keep_look(lake, watching, replace(ALL, looked_at=moment))
    kept = last_look.looks(lake, watching)
    assert len(kept) == last_look.LOOKS_KEPT
    assert kept[-1].looked_at == moment
    assert kept[0].looked_at == NOW + timedelta(minutes=75)
    # The slot is 200 bytes behind, the binary log 110; the other slot is lost, and not the feed's.
    assert kept[0] == LookFigures(NOW + timedelta(minutes=75), 8_100, 12, 200, 1, 2)
    nothing = SourceFacts(moment + timedelta(minutes=15))
    last_look.keep_look(lake, watching, nothing)
    assert last_look.looks(lake, watching)[-1] == LookFigures(
        nothing.looked_at, None, None, None, 0, 0
    )


def test_looks_that_are_kept_at_the_same_moment_are_all_kept(lake: Lake, feed: Feed) -> None:
    strict = watched(feed, newest_event=STRICT)
    moments = [NOW + timedelta(seconds=late) for late in range(24)]
    with ThreadPoolExecutor(8) as threads:
        [*threads.map(lambda one: last_look.keep_look(lake, strict, SourceFacts(one)), moments)]
    assert [one.looked_at for one in last_look.looks(lake, strict)] == moments
    look = last_look.last_look(lake, strict)
    assert look is not None and look.looked_at == moments[-1]


def test_the_page_draws_what_the_looks_have_measured(lake: Lake, feed: Feed) -> None:
    watching = replace(feed, running=Running(health=HealthLimits(slot="zoo")))
    last_look.keep_look(lake, watching, ALL)
    assert "<h2>Log behind</h2>" not in html_page.make_report(lake, watching, NOW)
    later = NOW + timedelta(hours=2)
    slots = (ReplicationSlot("zoo", False, "extended", 5_000_000, 700, 400, 100),)
    last_look.keep_look(lake, watching, replace(ALL, looked_at=later, slots=slots))
    page = html_page.make_report(lake, watching, later)
    for title in ("Age of the newest event", "Unread records", "Log behind"):
        assert f"<h2>{title}</h2>" in page
    assert "<td>3 h</td>" in page
    assert "<td>4.8 MiB</td><td>2 failing, 1 warning</td>" in page


def numbers_of(text: str) -> dict[tuple[str, str | None], float]:
    """The numbers by the metric's name and its label beside the feed's."""
    found = {}
    for family in openmetrics.text_string_to_metric_families(text):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            labels = {**sample.labels}
            assert labels.pop("feed") == "zoo"
            found[sample.name.removeprefix("weir_source_"), next(iter(labels.values()), None)] = (
                sample.value
            )
    return found


def test_each_figure_is_a_metric(feed: Feed) -> None:
    limits = HealthLimits(slot="old")
    text = source_health.metrics_text(feed, ALL, findings(ALL, limits))
    assert numbers_of(text) == {
        ("look_time_seconds", None): NOW.timestamp(),
        ("findings", "warning"): 1,
        ("findings", "failing"): 3,
        ("newest_event_time_seconds", 'od"d'): NOW.timestamp() - 3600,
        ("heartbeat_time_seconds", None): NOW.timestamp() - 5,
        ("unread_records", "pets/0"): 12,
        ("slot_is_active", "zoo"): 1,
        ("slot_is_active", "old"): 0,
        ("slot_is_lost", "zoo"): 0,
        ("slot_is_lost", "old"): 1,
        ("slot_lag_bytes", "zoo"): 200,
        ("slot_lag_bytes", "old"): 600,
        ("slot_wal_kept_bytes", "zoo"): 500,
        ("slot_wal_left_bytes", "zoo"): 100,
        ("binlog_lag_bytes", None): 110,
        ("binlogs_purged_unread", None): 1,
    }
    nothing = source_health.metrics_text(feed, SourceFacts(NOW), [])
    assert {name for name, _ in numbers_of(nothing)} == {"look_time_seconds", "findings"}


def test_status_says_what_is_wrong_first(feed: Feed) -> None:
    lines = [*status.source_lines(feed, ALL, findings(ALL, HealthLimits(slot="zoo")))]
    assert lines[0] == "zoo: 3 findings"
    assert lines[1].startswith("  failed: partition pets/0: Kafka has deleted 3 offsets")
    assert lines[3] == "  warning: the broker does not answer"
    assert lines[4] == '  table od"d: newest event 1 h old, of 2025-11-20 08:00:00 UTC'
    assert lines[5] == "  table new: no event tells its time"
    assert (
        lines[7]
        == "  partition pets/0: 12 unread; read up to 5 of 20; 3 offsets were deleted unread"
    )


def test_the_details_of_a_feed_have_the_last_look(feed: Feed) -> None:
    (line,) = status.last_look_lines(feed, ALL)
    assert line.startswith("  the source, at 2025-11-20 09:00:00 UTC: partition pets/0: Kafka has")
    assert line.endswith("; the broker does not answer")
    (well,) = status.last_look_lines(feed, SourceFacts(NOW))
    assert well.endswith(": well")
    assert [*status.last_look_lines(feed, None)] == []


def test_status_ends_with_1_only_for_what_fails(
    lake: Lake, feed: Feed, capsys: pytest.CaptureFixture[str], instance: dg.DagsterInstance
) -> None:
    assert ran(lake, feed, instance).success
    assert status.put_sources(lake, [watched(feed, newest_event=STRICT)], is_json=False) == []
    assert "  warning: the newest event is " in capsys.readouterr().out
    ill = watched(feed, newest_event=Limit(fail=60))
    assert status.put_sources(lake, [ill], is_json=False) == ["zoo"]
    assert "  failed: the newest event is " in capsys.readouterr().out
    assert status.put_sources(lake, [feed, ill], is_json=True) == ["zoo"]
    well, other = json.loads(capsys.readouterr().out)
    assert (well["feed"], well["state"], well["findings"]) == ("zoo", "well", [])
    assert well["tables"] == [{"table": "pets", "newest_event_at": NEWEST.isoformat()}]
    assert other["state"] == "failing"
    (found,) = other["findings"]
    assert (found["concern"], found["level"]) == ("limit", "failing")


def test_what_follows_of_the_figures_is_told_to_programs_too(feed: Feed) -> None:
    facts = status.source_as_json(feed, ALL, findings(ALL, HealthLimits(slot="zoo")))
    shown: Any = json.loads(json.dumps(facts))
    assert shown["state"] == "failing"
    assert shown["looked_at"] == NOW.isoformat()
    (partition,) = shown["partitions"]
    assert (partition["unread"], partition["lost"]) == (12, 3)
    assert [(one["lag"], one["wal_kept"], one["is_lost"]) for one in shown["slots"]] == [
        (200, 500, False),
        (600, None, True),
    ]
    logs = shown["binary_logs"]
    assert (logs["lag"], logs["purged_unread"], len(logs["files"])) == (110, 1, 2)


def test_no_figure_of_a_source_acts_on_the_page(feed: Feed) -> None:
    evil = "<script>alert(1)</script>"
    look = replace(ALL, slots=(ReplicationSlot(evil, True, evil, 1, 1, 1),), unasked=(evil,))
    asked = html_page.AskedOfSource(look)
    page = html_page.page_of(watched(feed, newest_event=LAX), FeedReport(), NOW, asked)
    assert evil not in page
    assert "&lt;script&gt;" in page
