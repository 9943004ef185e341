"""OpenLineage: real runs, a real receiver, and one that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import dagster as dg
import pytest

from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from orchestration import definitions
from orchestration.automation import jobs
from orchestration.automation.jobs import job_name, wants_lineage
from orchestration.observability import lineage
from orchestration.observability.run_tags import RANGE
from tests.services.mail import free_port
from tests.services.receiver import Receiver, running_receiver
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T00"


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    line = change("I", 1, after={"id": "1", "name": "Ada"})
    lay(tmp_path / "drops", "2025-11-20/00/a.json", drop(line))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An emitter of the test's own."""
    for name in ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG", "OPENLINEAGE_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    lineage.emitter.cache_clear()
    yield
    lineage.emitter.cache_clear()


def run(lake: Lake, feed: Feed, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    tags = dict.fromkeys(RANGE, WINDOW)
    return job.execute_in_process(instance=instance, raise_on_error=False, tags=tags)


def told(receiver: Receiver) -> list[tuple[str, str]]:
    assert lineage.emitter().flush(30)
    return [(one["job"]["name"], one["eventType"]) for one in receiver.posted]


def names(datasets: list[dict[str, Any]], lake: Lake) -> list[str]:
    assert {one["namespace"] for one in datasets} == {"file"}
    return [one["name"].removeprefix(lake.warehouse) for one in datasets]


def test_each_step_says_what_it_read_and_wrote(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_receiver() as receiver:
        monkeypatch.setenv("OPENLINEAGE_URL", receiver.url.removesuffix("/hook"))
        result = run(lake, feed, instance)
        assert result.success
        assert told(receiver) == [
            (f"zoo.{layer}", state)
            for layer in ("bronze", "silver", "gold")
            for state in ("START", "COMPLETE")
        ]
    first, done = receiver.posted[-2:]
    assert first["run"]["runId"] == done["run"]["runId"] == str(UUID(done["run"]["runId"]))
    assert first["eventTime"] <= done["eventTime"]
    parent = done["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == result.run_id
    assert parent["job"]["name"] == "zoo_to_gold"
    flows = {
        one["job"]["name"]: (one["inputs"], one["outputs"])
        for one in receiver.posted
        if one["eventType"] == "COMPLETE"
    }
    ((landing,), (bronze,)) = flows["zoo.bronze"]
    assert (landing["namespace"], landing["name"]) == ("file", feed.landing)
    assert names([bronze], lake) == ["/bronze/zoo"]
    assert names(flows["zoo.silver"][0], lake) == ["/bronze/zoo"]
    assert names(flows["zoo.silver"][1], lake) == ["/silver/zoo", "/quarantine/zoo"]
    assert names(flows["zoo.gold"][0], lake) == ["/silver/zoo"]
    (gold,) = flows["zoo.gold"][1]
    assert names([gold], lake) == ["/gold/zoo/pets"]
    fields = {one["name"]: one["type"] for one in gold["facets"]["schema"]["fields"]}
    assert fields == {"id": "int", "name": "string"}
    made = gold["facets"]["columnLineage"]["fields"]["name"]["inputFields"]
    assert [one["field"] for one in made] == ["after", "effect"]
    assert names(made, lake) == ["/silver/zoo"] * 2


def test_a_step_that_fails_says_why(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_receiver() as receiver:
        monkeypatch.setenv("OPENLINEAGE_URL", receiver.url.removesuffix("/hook"))
        with writing(lake, Layer.GOLD, "zoo", "pets"):
            assert not run(lake, feed, instance).success
        assert told(receiver)[-2:] == [("zoo.gold", "START"), ("zoo.gold", "FAIL")]
    error = receiver.posted[-1]["run"]["facets"]["errorMessage"]
    assert "another run is writing" in error["message"]


def test_a_receiver_that_is_away_fails_no_run_and_is_told_of_once(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{free_port()}")
    result = run(lake, feed, instance)
    assert result.success
    # The client tries for some seconds before it gives up.
    assert lineage.emitter().flush(60)
    second = run(lake, feed, instance)
    third = run(lake, feed, instance)
    logged = [
        entry.user_message
        for made in (result, second, third)
        for entry in instance.all_logs(made.run_id)
        if "OpenLineage's receiver takes no events" in entry.user_message
    ]
    assert len(logged) == 1
    assert second.success
    assert third.success


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, False),
        ({"OPENLINEAGE_URL": ""}, False),
        ({"OPENLINEAGE_URL": "http://host"}, True),
        ({"OPENLINEAGE_CONFIG": "a.yml"}, True),
        ({"OPENLINEAGE_URL": "http://host", "OPENLINEAGE_DISABLED": "true"}, False),
    ],
)
def test_it_is_off_unless_somebody_wants_it(
    feed: Feed, settings: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wants_lineage(settings) == wanted
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    hooks = jobs.build_to_gold(feed).hooks or ()
    assert len([one for one in hooks if "lineage" in one.name]) == (2 if wanted else 0)
