"""The job by which quarantine is worked with from Dagster's pages: what its form does, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from assets.quarantine.records import quarantine_of
from assets.storage.lake import Lake
from orchestration import definitions
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T03"
BORN = change("I", 10, after={"id": "1", "name": "Ada"})
UNFIT = change("U", 20, {"id": "1"}, {"id": "one", "name": "Bea"})
FIT = change("U", 20, {"id": "1"}, {"name": "Bea"})
OTHER = change("U", 30, {"id": "1"}, {"id": "two", "name": "Eve"})


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as one:
        yield one


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    """A warehouse of its own in the session that all tests share."""
    return lake_of(str(tmp_path / "warehouse"), {})


@pytest.fixture
def feed(lake: Lake, tmp_path: Path) -> Feed:
    """A feed in gold, with three records in quarantine."""
    folder = tmp_path / "landing"
    lay(folder, "2025-11-20/03/a.json", drop(BORN, UNFIT, OTHER, '{"cut": '))
    zoo = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, zoo)
    return zoo


def launch(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, **form: Any
) -> dg.ExecuteInProcessResult:
    """What the Launchpad does with a form that is filled in so."""
    job = definitions.build([feed], lake).resolve_job_def("zoo_quarantine")
    config = {"ops": {"quarantine_of_zoo": {"config": form}}} if form else {}
    return job.execute_in_process(instance=instance, run_config=config, raise_on_error=False)


def page_of(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [one for one in result.all_events if one.is_successful_output]
    return str(event.step_output_data.metadata["records"].value)


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [one for one in result.all_events if one.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return data.description or ""


def ids(lake: Lake, feed: Feed) -> dict[int, str]:
    return {one.source_location[2]: one.id[:12] for one in quarantine_of(lake, feed).records}


def test_the_form_says_what_each_field_is_and_does_nothing_by_default(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    job = definitions.build([feed], lake).resolve_job_def("zoo_quarantine")
    config = job.get_node_named("quarantine_of_zoo").definition
    assert isinstance(config, dg.OpDefinition)
    fields = config.config_schema.config_type.fields  # type: ignore[union-attr]
    expected = ["action", "ids", "all_of_reason", "state", "repaired_payload", "force", "later"]
    assert list(fields) == [*expected, "reason", "by"]
    assert all(one.description for one in fields.values())
    assert not any(one.is_required for one in fields.values())

    before = [*quarantine_of(lake, feed).records]
    page = page_of(launch(lake, feed, instance))
    assert page.startswith(
        "`zoo: 3 open records in quarantine`\n\n**value_does_not_fit**: 2 records"
    )
    assert all(one.id[:12] in page for one in before)
    assert '`{"cut":`' in page
    assert [*quarantine_of(lake, feed).records] == before
    # Dagster's "Scaffold all default config" writes every field as it is by default.
    empty: dict[str, Any] = {
        "action": "list",
        "ids": [],
        "all_of_reason": "",
        "repaired_payload": "",
    }
    empty |= {"state": "open", "force": False, "later": False}
    assert page_of(launch(lake, feed, instance, **empty, reason="", by="")) == page
    only = page_of(launch(lake, feed, instance, all_of_reason="damaged_record"))
    assert [one.id[:12] in only for one in before] == [False, False, True]
    one = page_of(launch(lake, feed, instance, action="show", ids=[before[0].id[:6]]))
    assert "found       id is one, which is no int" in one.splitlines()
    assert '    "id": "one",' in one.splitlines()
    assert [*quarantine_of(lake, feed).records] == before


def test_a_repaired_payload_reaches_gold_exactly_once(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    wrong = ids(lake, feed)[2]
    form = {"action": "replay", "ids": [wrong], "repaired_payload": FIT + "\n"}
    result = launch(lake, feed, instance, **form, reason="a typo", by="ann")
    assert result.success
    assert names(lake, feed) == {1: "Bea"}
    page = page_of(result)
    assert page.startswith(f"`zoo: repaired: {wrong}  {WINDOW}")
    assert f"| `{wrong}` | `repaired` |" in page
    (repaired,) = [one for one in quarantine_of(lake, feed).records if one.state == "repaired"]
    assert repaired.decided is not None
    assert (repaired.decided.by, repaired.decided.reason) == ("ann", "a typo")
    assert repaired.replacement is not None
    assert repaired.replacement.payload == FIT.encode()
    assert planning.due(lake, feed).windows == []
    # The windows' own run is in the same history.
    runs = instance.get_runs(dg.RunsFilter(job_name="zoo_to_gold"))
    assert [one.status for one in runs] == [dg.DagsterRunStatus.SUCCESS]
    # The same form once more says so, and nothing counts twice.
    again = launch(lake, feed, instance, **form, reason="a typo", by="ann")
    assert again.success
    assert names(lake, feed) == {1: "Bea"}
    assert bring(lake, feed, [WINDOW])[1].violations["no_event_twice"] == 0


def test_what_cannot_be_taken_as_it_is_fails_the_run_and_is_named(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    wrong = ids(lake, feed)[2]
    result = launch(lake, feed, instance, action="replay", ids=[wrong])
    assert not result.success
    assert failure_of(result).startswith(f"zoo: still in quarantine: {wrong}")
    (event,) = [one for one in result.all_events if one.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None
    assert wrong in str(data.metadata["records"].value)


def test_records_are_given_up_by_reason(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    form = {"action": "dismiss", "all_of_reason": "value_does_not_fit"}
    refused = launch(lake, feed, instance, **form)
    assert not refused.success
    assert "feed zoo: say why in the field reason" in failure_of(refused)
    assert len(quarantine_of(lake, feed).open) == 3
    done = launch(lake, feed, instance, **form, reason="a test of the till", by="bob")
    assert done.success
    assert page_of(done).startswith("`zoo: 2 records dismissed; nothing waits for them now`")
    states = {one.source_location[2]: one.state for one in quarantine_of(lake, feed).records}
    assert states == {2: "dismissed", 3: "dismissed", 4: "open"}


def test_a_list_shows_records_in_the_state_that_is_asked_for(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    of_line = ids(lake, feed)
    form = {"action": "dismiss", "ids": [of_line[2]], "reason": "a test of the till"}
    assert launch(lake, feed, instance, **form).success
    shown = {
        state: page_of(launch(lake, feed, instance, action="list", state=state))
        for state in ("open", "dismissed", "too_late", "all")
    }
    assert {state: page.splitlines()[0] for state, page in shown.items()} == {
        "open": "`zoo: 2 open records in quarantine`",
        "dismissed": "`zoo: 1 dismissed record in quarantine`",
        "too_late": "`zoo: 0 too late records in quarantine`",
        "all": "`zoo: 3 records in quarantine`",
    }
    assert [one in shown["open"] for one in of_line.values()] == [False, True, True]
    assert [one in shown["dismissed"] for one in of_line.values()] == [True, False, False]
    assert all(one in shown["all"] for one in of_line.values())
    only = page_of(launch(lake, feed, instance, state="all", all_of_reason="value_does_not_fit"))
    assert only.startswith("`zoo: 2 records in quarantine`")


def test_a_repaired_payload_can_be_left_to_the_next_run(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    wrong = ids(lake, feed)[2]
    form = {"action": "replay", "ids": [wrong], "repaired_payload": FIT, "reason": "a typo"}
    result = launch(lake, feed, instance, **form, later=True)
    assert result.success
    assert page_of(result).startswith("`` zoo: 1 window due: launch zoo_to_gold")
    assert names(lake, feed) == {1: "Ada"}
    assert planning.due(lake, feed).windows == [WINDOW]
    assert not instance.get_runs(dg.RunsFilter(job_name="zoo_to_gold"))


def test_a_payload_that_would_be_quarantined_again_is_recorded_by_force_alone(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    wrong = ids(lake, feed)[2]
    form = {"action": "replay", "ids": [wrong], "repaired_payload": OTHER}
    assert "say why in the field reason" in failure_of(launch(lake, feed, instance, **form))
    form["reason"] = "as it is"
    assert "would be quarantined, too: value_does_not_fit" in failure_of(
        launch(lake, feed, instance, **form)
    )
    assert planning.due(lake, feed).windows == []
    assert launch(lake, feed, instance, **form, force=True, later=True).success
    (record,) = [one for one in quarantine_of(lake, feed).open if one.id.startswith(wrong)]
    assert record.replacement is not None
    assert record.replacement.payload == OTHER.encode()


DAMAGED = {"all_of_reason": "damaged_record"}
UNFIT_ONES = {"all_of_reason": "value_does_not_fit", "reason": "x"}
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("say which records, in ids or all_of_reason", {"action": "dismiss", "reason": "x"}),
    ("no record of quarantine has an id that begins with", {"action": "show", "ids": ["zz"]}),
    ("no open record has the reason 'damaged'", {"action": "replay", "all_of_reason": "damaged"}),
    ("say ids or all_of_reason, not both", {"ids": ["a"], "all_of_reason": "b"}),
    ("a repaired_payload is for the action replay", {"action": "list", "repaired_payload": "{}"}),
    ("force goes with", {"action": "replay", **DAMAGED, "force": True}),
    ("later goes with", {"action": "replay", **DAMAGED, "later": True}),
    ("state: all is for the action list", {"action": "dismiss", **DAMAGED, "state": "all"}),
    ("state: too_late is for the action list without ids", {"ids": ["a"], "state": "too_late"}),
    ("is of one record", {"action": "replay", "repaired_payload": "{}", **UNFIT_ONES}),
]


def test_a_form_that_asks_for_nothing_that_can_be_done_is_refused(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    before = [*quarantine_of(lake, feed).records]
    for fault, form in REFUSED:
        result = launch(lake, feed, instance, **form)
        assert not result.success
        assert fault in failure_of(result)
    assert [*quarantine_of(lake, feed).records] == before
