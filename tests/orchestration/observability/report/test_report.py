"""The report of a feed: its numbers, its page, where it lies, and the run that makes it."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.audit import feed_report
from assets.audit.feed_report import FeedReport, SizeAfterRun, WindowFacts
from assets.audit.status import status_of
from assets.control import run_history
from assets.control.decisions import Signature
from assets.control.run_history import EndedRun, TableSize
from assets.maintenance import repair
from assets.quarantine.records import quarantine_of
from assets.storage import stored_text
from assets.storage.lake import Lake, Layer
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.observability.report import html_page
from orchestration.observability.report.html_page import page_of
from orchestration.resources import lake_of
from orchestration.runs.execution import RANGE_END, RANGE_START
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import due
from tests.services.seaweed import Store, store
from tests.support.commands_here import weir
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed

__all__ = ["store"]

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NOW = datetime(2025, 11, 20, 9, tzinfo=UTC)
BEGIN = datetime.fromtimestamp(1_763_600_000, UTC)
"""When the pets' log begins: 00:53 of the day."""
FIRST, SECOND = "2025-11-20T00", "2025-11-20T01"


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """Two windows: an insert, its repeat and a broken record; then a delete, and an update of the hour before."""
    ada, bo = {"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"}
    insert = change("I", 1, after=ada)
    lay(
        tmp_path / "drops",
        "2025-11-20/00/a.json",
        drop(insert, insert, "{", change("I", 2, after=bo)),
    )
    late, in_time = change("U", 3, bo, bo | {"name": "Bob"}), change("D", 20, before=ada)
    lay(tmp_path / "drops", "2025-11-20/01/a.json", drop(late, in_time))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


class Read(html.parser.HTMLParser):
    """A page as a browser takes it: its elements are closed in turn, and its texts and addresses are noted."""

    VOID = frozenset({"meta", "path", "rect", "circle"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset")
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def test_the_facts_are_those_of_the_tables(lake: Lake, feed: Feed) -> None:
    bring(lake, feed)
    ended = EndedRun("run-1", NOW, [FIRST, SECOND])
    run_history.note_sizes(lake, feed, ended, run_history.sizes_now(lake, feed))
    found = feed_report.facts_of(lake, feed)
    assert [one.window for one in found.windows] == [FIRST, SECOND]
    first, second = found.windows
    wanted = {"events": 4, "changes": 2, "duplicates": 1, "quarantined": 1}
    assert {name: number for name, number in first.outcomes.items() if number} == wanted
    assert first.operations == {"insert": 2}
    assert (first.late, second.late) == (0, 1)
    assert second.operations == {"update": 1, "delete": 1}
    assert first.finished_at is not None
    assert found.all_windows == 2
    assert found.outcomes["events"] == 6
    assert sum(one["events"] for one in found.tables.values()) == 6
    assert found.reasons == {"damaged_record": 1}
    assert found.gold == [TableSize("pets", 1, 1)]
    assert found.growth == [SizeAfterRun(NOW, 1, 1)]
    assert (found.waiting, found.dismissed) == (1, 0)


def test_a_feed_that_was_never_read_has_a_report_that_says_so(lake: Lake, feed: Feed) -> None:
    found = feed_report.facts_of(lake, feed)
    assert (found.all_windows, found.outcomes["events"]) == (0, 0)
    page = page_of(feed, feed_report.facts_of(lake, feed), NOW)
    assert "No window has an event yet." in page
    assert "Nothing of these windows is in quarantine." in page


def test_what_waits_in_quarantine_is_counted_apart_from_what_was_dismissed(
    lake: Lake, feed: Feed
) -> None:
    lay(Path(feed.landing), "2025-11-20/02/a.json", drop("{", "["))
    bring(lake, feed)
    quarantine = quarantine_of(lake, feed)
    assert "waiting in quarantine</dt><dd>3</dd>" in page_of(
        feed, feed_report.facts_of(lake, feed), NOW
    )
    signed = Signature(NOW, "ann", "lost")
    repair.dismiss_records(lake, feed, quarantine.open[:1], signed)
    found = feed_report.facts_of(lake, feed)
    assert (found.waiting, found.dismissed) == (2, 1)
    repair.dismiss_records(lake, feed, quarantine.open, signed)
    found = feed_report.facts_of(lake, feed)
    assert (found.waiting, found.dismissed) == (0, 3)
    page = page_of(feed, found, NOW)
    assert "<div><dt>waiting in quarantine</dt><dd>0</dd>" in page
    assert "<dd class='more'>nothing waits, 3 dismissed</dd>" in page
    state = status_of(lake, feed)
    assert state is not None
    assert (state.open_records, state.dismissed) == (found.waiting, found.dismissed)


def test_windows_with_very_many_changes_are_not_looked_through(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(lake, feed)
    monkeypatch.setattr(feed_report, "MOST_CHANGES", 3)
    first, second = feed_report.facts_of(lake, feed).windows
    assert (first.operations, first.late) == (None, None)
    assert second.operations == {"update": 1, "delete": 1}
    monkeypatch.setattr(feed_report, "SHOWN", 1)
    found = feed_report.facts_of(lake, feed)
    assert [one.window for one in found.windows] == [SECOND]
    assert found.all_windows == 2
    assert found.outcomes["events"] == 6


def test_a_window_that_is_not_in_gold_has_no_lag(lake: Lake, feed: Feed) -> None:
    bring(lake, feed)
    first, _ = feed_report.facts_of(lake, feed).windows
    ended = datetime(2025, 11, 20, 1, tzinfo=UTC)
    at = replace(first, finished_at=ended + timedelta(seconds=90))
    assert feed_report.seconds_to_gold(feed, at) == 90
    assert feed_report.seconds_to_gold(feed, replace(first, finished_at=BEGIN)) == 0
    assert feed_report.seconds_to_gold(feed, replace(first, finished_at=None)) is None
    lake.in_process_table(Layer.PROGRESS, feed.name).rewrite([])
    first, _ = feed_report.facts_of(lake, feed).windows
    assert first.finished_at is None
    assert "No window is in gold yet." in page_of(feed, feed_report.facts_of(lake, feed), NOW)


def many(windows: int = 60) -> FeedReport:
    """Facts of a busy feed, with everything that a report may show."""
    begin = datetime(2025, 11, 18, tzinfo=UTC)
    moments = [begin + timedelta(hours=hour) for hour in range(windows)]
    outcomes = {"events": 130, "changes": 100, "duplicates": 9, "quarantined": 8, "held": 7}
    outcomes |= {"too_late": 5, "control": 1}
    return FeedReport(
        windows=[
            WindowFacts(
                *(f"{at:%Y-%m-%dT%H}", outcomes, at + timedelta(hours=1, minutes=7)),
                *({"insert": 60, "update": 30, "delete": 10}, 4),
            )
            for at in moments
        ],
        all_windows=12_345,
        outcomes={name: 1_000 * number for name, number in outcomes.items()},
        tables={"pets": outcomes, "keepers & <vets>": outcomes},
        reasons={"value_does_not_fit": 30, "damaged_record": 2},
        gold=[TableSize("pets", 654_321, 12), TableSize("keepers", 3, 0)],
        growth=[SizeAfterRun(at, 1_000 + at.hour, at.hour) for at in moments],
    )


def test_the_page_has_every_number_and_nothing_from_elsewhere(feed: Feed) -> None:
    page = page_of(feed, many(), NOW)
    read = Read(page)
    assert read.addresses == []
    assert "script" not in read.tags
    assert set(re.findall(r"[a-z]+://[^\s'\"<>)]*", page)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in page
    assert "url(" not in page
    text = "\n".join(read.texts)
    for said in ("12,345", "130,000", "654,324", "damaged record", "7 min", "keepers & <vets>"):
        assert said in text, said
    assert "2025-11-20T11: changes 100" in text
    assert "2025-11-20T11: in gold after 7 min" in text
    # A plot for each section that has something to draw, each of which is told to those who do not see it.
    assert read.tags.count("svg") == page.count('role="img"') == page.count('aria-label="') == 7
    assert len(page) < 200_000


def test_a_name_is_no_markup(feed: Feed) -> None:
    evil = "<script>alert(1)</script>"
    facts = replace(many(2), reasons={evil: 1}, gold=[TableSize(evil, 1, 0)])
    page = page_of(replace(feed, landing=f"/tmp/{evil}"), facts, NOW)
    assert "<script" not in page
    assert Read(page).texts.count(evil) >= 2


def ran(lake: Lake, feed: Feed, instance: dg.DagsterInstance) -> Outcome:
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    outcome = Outcome(due(lake, feed))
    tags = {RANGE_START: FIRST, RANGE_END: SECOND}
    gather(job.execute_in_process(instance=instance, raise_on_error=False, tags=tags), outcome)
    return outcome


def test_a_run_makes_the_page_and_notes_how_large_gold_is(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(html_page.REPORTS_URL, raising=False)
    outcome = ran(lake, feed, instance)
    assert not outcome.failed
    page = Path(lake.warehouse, "_reports", "zoo.html")
    shown = dict(outcome.metadata)["report", "zoo", "zoo_report"]
    assert shown["page"] == "/weir/reports/zoo.html"
    assert html_page.opened_by_browser(lake, feed) == page.as_uri()
    assert (shown["rows"], shown["tombstones"]) == (1, 1)
    of_windows = [values for path, values in outcome.metadata if "seconds_to_gold" in values]
    assert of_windows
    for values in of_windows:
        seconds = values["seconds_to_gold"]
        assert isinstance(seconds, float)
        assert seconds == round(seconds, 1)
    assert "2025-11-20T01" in page.read_text(encoding="utf-8")
    assert [path.name for path in page.parent.iterdir()] == ["zoo.html"]
    (noted,) = lake.in_process_table(Layer.RUNS, feed.name).rows()
    assert (noted["first_window"], noted["last_window"], noted["rows"]) == (FIRST, SECOND, 1)
    monkeypatch.setenv(html_page.REPORTS_URL, "https://reports.example/weir/")
    assert html_page.link_on_pages(feed) == "https://reports.example/weir/zoo.html"


def test_a_report_that_cannot_be_stored_fails_no_run(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    in_the_way = Path(lake.warehouse, "_reports")
    in_the_way.parent.mkdir()
    in_the_way.write_text("a file")
    outcome = ran(lake, feed, instance)
    assert not outcome.failed
    assert "_reports" in str(dict(outcome.metadata)["report", "zoo", "zoo_report"]["not_made"])
    assert due(lake, feed).windows == []


def test_a_repeat_makes_no_commit_and_other_windows_or_sizes_do(lake: Lake, feed: Feed) -> None:
    runs = lake.in_process_table(Layer.RUNS, feed.name)
    noted = [
        (FIRST, 1, True),
        (FIRST, 1, False),
        (SECOND, 1, True),
        (SECOND, 2, True),
        (FIRST, 1, True),
    ]
    for number, (window, rows, is_news) in enumerate(noted):
        before = runs.now().version
        ended = EndedRun(str(number), NOW + timedelta(number), [window])
        run_history.note_sizes(lake, feed, ended, [TableSize("pets", rows, 0)])
        assert (runs.now().version > before) == is_news
    assert [row["run"] for row in sorted(runs.now().rows(), key=lambda row: row["run"])] == list(
        "0234"
    )


def test_the_command_makes_it_where_it_is_asked_to(
    tmp_path: Path, lake: Lake, feed: Feed, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(lake, feed)
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(
        "format: arcion_s3_json\nlanding: ../drops\ntables:\n"
        "  pets: {key: [id], columns: {id: int, name: string}}\n"
    )
    place = ("--feeds", str(tmp_path / "feeds"), "--warehouse", lake.warehouse)
    assert weir("report", "zoo", *place) == 0
    address = capsys.readouterr().out.strip()
    assert address == str(Path(lake.warehouse, "_reports", "zoo.html"))
    assert "damaged record" in Path(address).read_text(encoding="utf-8")
    assert weir("report", "zoo", *place, "--to", str(tmp_path / "mine.html")) == 0
    assert "damaged record" in (tmp_path / "mine.html").read_text(encoding="utf-8")


@pytest.mark.services
def test_in_a_store_it_is_an_object_of_html(
    store: Store, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(html_page.REPORTS_URL, raising=False)
    store.put("reports", {})
    lake = lake_of("s3a://reports/lake")
    page = html_page.make_report(lake, feed, NOW)
    stored_text.store_text(html_page.address_of(lake, feed), page, stored_text.HTML)
    found = store.client().get_object(Bucket="reports", Key="lake/_reports/zoo.html")
    assert found["ContentType"] == "text/html; charset=utf-8"
    assert found["Body"].read().decode() == page
    assert html_page.opened_by_browser(lake, feed) == "s3a://reports/lake/_reports/zoo.html"
