"""The sensor that tells of runs: real runs that fail, a real web server, tick after tick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from orchestration import definitions
from orchestration.automation import alert_sensor
from orchestration.observability.run_tags import RANGE
from orchestration.resources import lake_of
from tests.services.mail import free_port
from tests.services.receiver import Receiver, running_receiver
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.errors import SettingMisdeclared
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T00"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"), {})


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """A pet, and a record that cannot be read: a check warns of it."""
    line = change("I", 1, after={"id": "1", "name": "Ada"})
    lay(tmp_path / "drops", "2025-11-20/00/a.json", drop(line, "{"))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home)) as made:
        yield made


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    for name in ("WEIR_ALERT_ON", "WEIR_UI_URL"):
        monkeypatch.delenv(name, raising=False)
    with running_receiver() as running:
        monkeypatch.setenv("WEIR_ALERTS", running.url)
        yield running


class Ticks:
    """The sensor, tick after tick; ``hurry`` forgets how long it wanted to wait."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.cursor: str | None = None
        self()

    def __call__(self, *, hurry: bool = True) -> str:
        if hurry and self.cursor:
            after, waiting = alert_sensor.read_cursor(self.cursor)
            soon = {run: alert_sensor.Waiting(one.tries, 0) for run, one in waiting.items()}
            self.cursor = alert_sensor.cursor_of(after, soon)
        context = dg.build_sensor_context(instance=self.instance, cursor=self.cursor)
        tick = alert_sensor.build().evaluate_tick(context)
        self.cursor = tick.cursor or self.cursor
        return tick.skip_message or ""


def run(lake: Lake, feed: Feed, instance: dg.DagsterInstance, *, fails: bool) -> str:
    job = definitions.job_to_gold(feed, lake)
    tags = dict.fromkeys(RANGE, WINDOW)

    def ran() -> dg.ExecuteInProcessResult:
        return job.execute_in_process(instance=instance, raise_on_error=False, tags=tags)

    if not fails:
        return ran().run_id
    with writing(lake, Layer.GOLD, "zoo", "pets"):
        return ran().run_id


def test_a_run_that_failed_is_told_once_and_one_that_went_well_is_not(
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(lake, feed, instance, fails=True)
    ticks = Ticks(instance)
    # What is old when the sensor first looks is not told.
    assert receiver.posted == []
    monkeypatch.setenv("WEIR_UI_URL", "http://127.0.0.1:3000")
    failed = run(lake, feed, instance, fails=True)
    assert ticks() == "1 message sent"
    (posted,) = receiver.posted
    lines = posted["text"].splitlines()
    assert lines[0] == f"Weir: zoo ({WINDOW}): the run failed"
    assert (lines[1], lines[-2]) == ("```", "```")
    assert lines[2].startswith("error: gold.zoo.pets: another run is writing")
    assert lines[-1] == f"The run: http://127.0.0.1:3000/runs/{failed}"
    assert posted["weir"]["key"] == failed
    assert ticks() == "0 messages sent"
    run(lake, feed, instance, fails=False)
    assert ticks() == "0 messages sent"
    assert len(receiver.posted) == 1


def test_a_check_that_warns_is_told_where_that_is_asked_for(
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = Ticks(instance)
    run(lake, feed, instance, fails=False)
    ticks()
    assert receiver.posted == []
    monkeypatch.setenv("WEIR_ALERT_ON", "warning")
    run(lake, feed, instance, fails=False)
    ticks()
    (posted,) = receiver.posted
    lines = posted["text"].splitlines()
    assert lines[0].startswith(f"Weir: zoo ({WINDOW}): warning: ")
    assert "warning: silver.zoo: nothing_quarantined" in lines
    # What was found, and what to do.
    assert any(line.startswith("  1 time not so: ") for line in lines)
    assert any("weir quarantine list zoo" in line for line in lines)
    monkeypatch.setenv("WEIR_ALERT_ON", "never")
    with pytest.raises(SettingMisdeclared, match="known: failed, warning"):
        alert_sensor.warnings_count()


def test_a_hook_that_is_away_gets_the_message_later_and_no_other_gets_it_twice(
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mail = f"mailto://127.0.0.1:{free_port()}?to=a@x.org&from=weir@x.org"
    monkeypatch.setenv("WEIR_ALERTS", f"{receiver.url} {mail}")
    ticks = Ticks(instance)
    failed = run(lake, feed, instance, fails=True)
    # Mail is away: the webhook has the message, and mail is tried again, but not at once.
    assert ticks() == "1 message sent, 1 to be tried again"
    assert ticks(hurry=False) == "0 messages sent, 1 to be tried again"
    receiver.answers = 500
    assert ticks() == "0 messages sent, 1 to be tried again"
    # The webhook was told before: that it is away now matters to nobody.
    monkeypatch.setenv("WEIR_ALERTS", receiver.url)
    assert ticks() == "0 messages sent"
    assert [one["weir"]["key"] for one in receiver.posted] == [failed]
    # A second failure, with the only hook away.
    second = run(lake, feed, instance, fails=True)
    assert ticks() == "0 messages sent, 1 to be tried again"
    receiver.answers = 200
    assert ticks() == "1 message sent"
    assert [one["weir"]["key"] for one in receiver.posted] == [failed, second]
    assert ticks() == "0 messages sent"


def test_a_sensor_that_lost_its_cursor_tells_nothing_twice(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    ticks = Ticks(instance)
    before = ticks.cursor
    run(lake, feed, instance, fails=True)
    assert ticks() == "1 message sent"
    # The daemon was killed before it noted where it was.
    ticks.cursor = before
    assert ticks() == "0 messages sent"
    assert len(receiver.posted) == 1


def test_without_a_hook_the_sensor_is_off_and_says_so(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEIR_ALERTS", raising=False)
    assert alert_sensor.build().default_status == dg.DefaultSensorStatus.STOPPED
    assert Ticks(instance)() == "nobody is told: WEIR_ALERTS is not set"
    monkeypatch.setenv("WEIR_ALERTS", "http://127.0.0.1/")
    assert alert_sensor.build().default_status == dg.DefaultSensorStatus.RUNNING
