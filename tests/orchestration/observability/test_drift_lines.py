"""Schema drift through real runs: told by the first run that meets it, and by no other."""

from __future__ import annotations

import io
from pathlib import Path

import dagster as dg
import pytest

from assets.control import run_history
from assets.storage.lake import Lake, Layer
from orchestration import definitions
from orchestration.automation import alert_sensor
from orchestration.automation.jobs import job_name
from orchestration.observability.drift_lines import NEW_DRIFT, drift_lines
from orchestration.observability.run_tags import RANGE
from orchestration.runs import summary
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import due
from orchestration.sheets import Sheet
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.display import block_lines
from transforms.feed.feed import Feed
from transforms.silver.schema_drift import Drift

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FIRST, SECOND, THIRD = "2025-11-20T00", "2025-11-20T01", "2025-11-20T02"
NEW_TABLE = "zoo: new table main.zoo.vets, first in window 2025-11-20T01"


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """A window as declared; one with a new column and a new table; one with the same again, and another column."""
    plain, older = {"id": "1", "name": "Ada"}, {"id": "1", "name": "Ada", "age": "7"}
    vet = {"vet": "9", "since": "2025-01-02"}
    lay(tmp_path / "drops", "2025-11-20/00/a.json", drop(change("I", 1, after=plain)))
    lay(
        tmp_path / "drops",
        "2025-11-20/01/a.json",
        drop(change("U", 2, plain, older), change("I", 3, after=vet, table="vets")),
    )
    lay(
        tmp_path / "drops",
        "2025-11-20/02/a.json",
        drop(
            change("U", 4, older, older | {"chip": "x"}),
            change("I", 5, after=vet | {"vet": "10"}, table="vets"),
        ),
    )
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


def ran(lake: Lake, feed: Feed, instance: dg.DagsterInstance, window: str) -> tuple[Outcome, str]:
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    outcome = Outcome(due(lake, feed))
    tags = dict.fromkeys(RANGE, window)
    result = job.execute_in_process(instance=instance, raise_on_error=False, tags=tags)
    gather(result, outcome)
    assert not outcome.failed
    return outcome, result.run_id


def drift_reported(outcome: Outcome) -> str:
    block = dict(outcome.metadata)["report", "zoo", "zoo_report"].get(NEW_DRIFT, "")
    return "\n".join(block_lines(str(block)))


def test_what_is_new_is_told_by_the_first_run_that_meets_it(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    outcome, run = ran(lake, feed, instance, FIRST)
    assert drift_reported(outcome) == ""
    assert alert_sensor.message_of(instance, run) is None
    outcome, run = ran(lake, feed, instance, SECOND)
    lines = drift_reported(outcome).splitlines()
    assert "zoo: new column age of pets, first in window 2025-11-20T01" in lines
    assert NEW_TABLE in lines
    assert "          age: bigint" in lines
    # Of a whole table the run's end proposes one declaration, and only that.
    assert "<its key>" not in drift_reported(outcome)
    assert "the check tables_are_declared has" in lines[1 + lines.index(NEW_TABLE)]
    # The summary and the message have the same lines.
    out = io.StringIO()
    summary.show_summary([outcome], Sheet(out, 200))
    assert all(line in out.getvalue() for line in lines)
    message = alert_sensor.message_of(instance, run)
    assert message is not None
    assert [*message.drift] == lines
    assert message.subject == "Weir: zoo (2025-11-20T01): the stream has something new"
    # The same window again, and the next one: only what is new in it.
    again, run = ran(lake, feed, instance, SECOND)
    assert drift_reported(again) == ""
    assert alert_sensor.message_of(instance, run) is None
    outcome, _ = ran(lake, feed, instance, THIRD)
    assert [line for line in drift_reported(outcome).splitlines() if line.startswith("zoo: ")] == [
        "zoo: new column chip of pets, first in window 2025-11-20T02"
    ]


def test_what_the_stream_describes_needs_no_line(feed: Feed) -> None:
    table = Drift("table", "vets", FIRST, {"id": "int"}, ("id",), is_described=True)
    assert [*drift_lines(feed, [table])][1:] == [
        "  It is in gold as the stream describes it. To fix its types and its key, paste:",
        "    tables:",
        "      vets: {key: [id], columns: {id: int}}",
    ]
    column = Drift("column", "vets", FIRST, {"age": "int"}, is_described=True)
    assert [*drift_lines(feed, [column])] == [
        "zoo: new column age of vets, first in window 2025-11-20T00",
        "  Gold takes it as the stream describes it, unless a check stops the table.",
    ]


def test_a_column_of_which_only_the_case_is_new_is_proposed_as_another_name(feed: Feed) -> None:
    column = Drift("column", "pets", FIRST, {"NAME": ""})
    assert [*drift_lines(feed, [column])][1:] == [
        "  Its values wait in silver. The feed file has the name in other letters; to take it as that, paste:",
        "    tables:",
        "      pets:",
        "        renamed: {NAME: name}",
    ]


def test_what_a_stream_describes_in_the_first_windows_of_a_feed_is_no_news(
    lake: Lake, feed: Feed
) -> None:
    schema = {"key": ["id"], "columns": [{"name": "id", "type": "int"}], "encoded": []}
    row = {"window": FIRST, "table": "vets", "source_table": "a.vets", "declared": "a.vets"}
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    accounts.append([row | {"changes": 1, "stream_schemas": [schema]}])
    found = run_history.unknown_drift_in(lake, feed, [FIRST])
    assert found.drift == []
    assert [one["column"] for one in found.rows] == ["", "id"]
    # Where another window was brought to gold before, it is.
    progress = lake.in_process_table(Layer.PROGRESS, feed.name)
    progress.append([{"window": SECOND, "objects": 1, "declaration": ""}])
    (drift,) = run_history.unknown_drift_in(lake, feed, [FIRST]).drift
    assert (drift.kind, drift.table, drift.key) == ("table", "a.vets", ("id",))
