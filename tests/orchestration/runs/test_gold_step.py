"""One step brings all gold tables of a feed up to date: what happens when a table fails, and what is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from assets import retries
from assets.executors.choice import IN_PROCESS, SPARK
from assets.feed_assets import EXPLAINED, MEANINGS, OF_CHECKS
from assets.gold import apply
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from expectations import gold as rules
from orchestration import definitions
from orchestration.resources import lake_of
from orchestration.runs.execution import RANGE_END, RANGE_START
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import due
from orchestration.runs.summary import table_lines
from tests.support import pet_feed
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.errors import TableBusy
from transforms.feed.feed import Feed, Table

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW, NEXT = "2025-11-20T03", "2025-11-20T04"
ABOVE = ("bronze/zoo/zoo_bronze", "silver/zoo/zoo_silver", "quarantine/zoo/zoo_quarantine")
KEEPERS = Table("keepers", PETS.key, PETS.columns, tuple(PETS.columns))
VETS = Table("vets", PETS.key, PETS.columns, tuple(PETS.columns))
TABLES = {table.name: table for table in (PETS, KEEPERS, VETS)}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """A pet, a keeper and a vet, all of one window."""
    ada = {"id": "1", "name": "Ada"}
    lines = [change("I", at, after=ada, table=name) for at, name in enumerate(TABLES, start=1)]
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(*lines))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables=TABLES)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture(autouse=True)
def no_further_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "WAITS", ())


def run(
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    *only: str,
    last: str = WINDOW,
    check: dg.AssetCheckKey | None = None,
    tags: dict[str, str] | None = None,
) -> tuple[Outcome, dg.ExecuteInProcessResult]:
    """Run a feed's job over the windows up to the ``last``: all of it, or ``only`` these assets, or this check."""
    job = definitions.job_to_gold(feed, lake)
    if only or check:
        job = job.get_subset(
            asset_selection={dg.AssetKey(name.split("/")) for name in only},
            asset_check_selection=None if check is None else {check},
        )
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={RANGE_START: WINDOW, RANGE_END: last, **(tags or {})},
    )
    outcome = Outcome(due(lake, feed))
    gather(result, outcome)
    return outcome, result


def names(lake: Lake, feed: Feed, table: str = "pets") -> dict[int, str]:
    """What a gold table has, read without Spark: these are small."""
    found = DeltaTable(lake.path(Layer.GOLD, feed.name, table)).to_pyarrow_table()
    return dict(zip(found["id"].to_pylist(), found["name"].to_pylist(), strict=True))


def made_by(outcome: Outcome) -> set[str]:
    return {"/".join(path) for path, _ in outcome.metadata}


def test_tables_that_fail_are_reported_by_name_and_the_others_are_done(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    with writing(lake, Layer.GOLD, "zoo", "keepers"):
        outcome, _ = run(lake, feed, instance)
    assert names(lake, feed) == {1: "Ada"}
    assert {"gold/zoo/pets", "gold/zoo/vets", "gold/zoo/vets__tombstones"} < made_by(outcome)
    assert "gold/zoo/keepers" not in made_by(outcome)
    (error,) = outcome.errors
    assert error.startswith("gold.zoo.keepers: another run is writing")
    # The window is not done, and a run that finds all tables free brings what is left.
    assert due(lake, feed).windows == [WINDOW]
    assert "progress/zoo/zoo_progress" not in made_by(outcome)

    with ExitStack() as several:
        for table in ("keepers", "vets"):
            several.enter_context(writing(lake, Layer.GOLD, "zoo", table))
        outcome, _ = run(lake, feed, instance)
    (error,) = outcome.errors
    first, *each = error.splitlines()
    assert first == "2 gold tables of zoo failed; the others are done:"
    assert [line.partition(": ")[0] for line in each] == ["- keepers", "- vets"]

    outcome, _ = run(lake, feed, instance)
    assert outcome.errors == []
    assert names(lake, feed, "keepers") == {1: "Ada"}
    assert due(lake, feed).windows == []


LATER = "2025-11-20T06"


def test_a_window_in_which_nothing_landed_is_not_shown_as_made(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    """Between windows with drops, and at the end of the range; and the steps behind gold are done all the same."""
    late = change("U", 9, {"id": "1", "name": "Ada"}, {"id": "1", "name": "Ava"}, table="pets")
    lay(Path(feed.landing), "2025-11-20/05/a.json", drop(late))
    outcome, _ = run(lake, feed, instance, last=LATER)
    assert not outcome.failed
    assert names(lake, feed) == {1: "Ava"}
    made = {WINDOW, "2025-11-20T05"}
    for asset in ("pets", "pets__tombstones", "vets"):
        key = dg.AssetKey(["gold", "zoo", asset])
        assert instance.get_materialized_partitions(key) == made
    pets = dg.AssetKey(["gold", "zoo", "pets"])
    (seen,) = instance.fetch_observations(pets, limit=10).records
    assert seen.asset_observation is not None
    assert seen.asset_observation.description == (
        f"Nothing landed in 2 windows, {NEXT} .. {LATER}."
    )
    # What the run did stands with the last window that is shown, and the summary has it.
    of_run = [values for path, values in outcome.metadata if path == (*pets.path,)]
    assert [values["changes"] for values in of_run] == [1, 1]
    assert ["windows_of_run" in values for values in of_run] == [False, True]
    assert "progress/zoo/zoo_progress" in made_by(outcome)
    assert "report/zoo/zoo_report" in made_by(outcome)

    # A backfill would end as failed for want of them: there they are shown, and say that nothing landed.
    run(lake, feed, instance, last=LATER, tags={"dagster/backfill": "abc"})
    assert instance.get_materialized_partitions(pets) == {*made, NEXT, LATER}
    event = instance.get_latest_materialization_event(pets)
    assert event is not None and event.asset_materialization is not None
    assert event.asset_materialization.partition == LATER
    assert event.asset_materialization.metadata["nothing_landed"].value is True


def columns_of(instance: dg.DagsterInstance, key: dg.AssetKey) -> dict[str, dg.TableColumn]:
    """The columns that the newest materialization of a table shows; none where it says nothing of them."""
    event = instance.get_latest_materialization_event(key)
    assert event is not None and event.asset_materialization is not None
    shown = event.asset_materialization.metadata.get("dagster/column_schema")
    if shown is None:
        return {}
    assert isinstance(shown.value, dg.TableSchema)
    return {one.name: one for one in shown.value.columns}


def columns_shown(instance: dg.DagsterInstance, key: dg.AssetKey) -> dict[str, str]:
    """The same, with their types alone."""
    return {name: one.type for name, one in columns_of(instance, key).items()}


def test_the_columns_shown_are_those_that_the_newest_run_has_written(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    """Though the definitions that the UI holds were loaded before the feed file changed."""
    pets = dg.AssetKey(["gold", "zoo", "pets"])
    later = change("I", 9, after={"id": "2", "name": "Bob"}, table="pets")
    lay(Path(feed.landing), "2025-11-20/04/a.json", drop(later))
    outcome, _ = run(lake, feed, instance, last=NEXT)
    as_declared = {"id": "int", "name": "string"}
    shown = columns_shown(instance, pets)
    assert dict([*shown.items()][:2]) == as_declared
    assert shown["_weir_event_id"] == "string"
    # One window of a run has them: a range of a thousand windows does not store them a thousand times.
    of_run = [values for path, values in outcome.metadata if path == (*pets.path,)]
    assert ["dagster/column_schema" in values for values in of_run] == [False, True]

    # Nothing came for the table, so that nothing was written: it has the columns that it had.
    lay(
        Path(feed.landing),
        "2025-11-20/05/a.json",
        drop(change("I", 10, after={"id": "3"}, table="vets")),
    )
    run(lake, feed, instance, last="2025-11-20T05")
    assert columns_shown(instance, pets) == shown

    retyped = replace(PETS, columns={"id": "bigint", "name": "string"})
    # Gold keeps its columns until all windows are derived anew, and no run says before that it has others.
    changed = replace(feed, tables={**TABLES, "pets": retyped})
    run(lake, changed, instance)
    assert columns_shown(instance, pets) == {}
    run(lake, changed, instance, last="2025-11-20T05")
    assert columns_shown(instance, pets) == {**shown, "id": "bigint"}
    assert DeltaTable(lake.path(Layer.GOLD, "zoo", "pets")).schema().to_arrow().field(
        "id"
    ).type == (pa.int64())


def test_all_that_events_say_is_explained_on_the_pages(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    outcome, _ = run(lake, feed, instance)
    said = {path[0]: {*values} for path, values in outcome.metadata}
    assert {"bronze", "silver", "gold", "progress", "report"} <= {*said}
    for kind, keys in said.items():
        own = {key for key in keys if not key.startswith("dagster/")}
        assert own <= {*MEANINGS.get(kind, {})}, kind
    graph = definitions.build([feed], lake).resolve_asset_graph()
    shown = graph.get(dg.AssetKey(["gold", "zoo", "pets"])).metadata[EXPLAINED].value
    assert "| `windows_of_run` | The windows whose changes" in str(shown)
    for check in outcome.checks:
        for name in check.metadata:
            assert f"`{name}`" in OF_CHECKS


def test_a_table_that_another_run_writes_is_tried_again_and_each_event_counts_once(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "WAITS", (0.0,))
    request_again = retries.request_again
    with ExitStack() as other_run:
        other_run.enter_context(writing(lake, Layer.GOLD, "zoo", "keepers"))

        def ends_first(context: dg.AssetExecutionContext, fault: Exception) -> None:
            other_run.close()
            request_again(context, fault)

        monkeypatch.setattr(retries, "request_again", ends_first)
        outcome, result = run(lake, feed, instance)
    assert result.success
    assert outcome.errors == []
    assert names(lake, feed, "keepers") == {1: "Ada"}
    # The tables that were free have answered twice.
    checks = [(check.asset_key, check.check_name) for check in outcome.checks]
    assert len(checks) == len(set(checks)) > 5
    assert due(lake, feed).windows == []
    lines = table_lines(outcome)
    assert {
        name: (lines[name].changes, lines[name].duplicates) for name in TABLES
    } == dict.fromkeys(TABLES, (1, 0))


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
def test_a_table_whose_files_are_gone_fails_alone(
    spark: SparkSession, lake: Lake, feed: Feed, instance: dg.DagsterInstance, executor: str
) -> None:
    """The error is none of Weir's own; even so the other tables are done, and the report names the one that failed."""
    lake = lake.by(executor)
    run(lake, feed, instance)
    assert pet_feed.names(lake, feed) == pet_feed.names(lake, feed, "keepers") == {1: "Ada"}
    for file in Path(lake.path(Layer.GOLD, "zoo", "keepers")).glob("*.parquet"):
        file.unlink()
    eve = {"id": "1", "name": "Eve"}
    lines = [change("U", 10 + at, {"id": "1"}, eve, table=name) for at, name in enumerate(TABLES)]
    lay(Path(feed.landing), "2025-11-20/03/b.json", drop(*lines))
    outcome, _ = run(lake, feed, instance)
    (error,) = outcome.errors
    first, second = error.splitlines()[:2]
    assert first == "a gold table of zoo failed; the others are done:"
    assert second.startswith("- keepers: ")
    assert pet_feed.names(lake, feed) == pet_feed.names(lake, feed, "vets") == {1: "Eve"}
    assert {"gold/zoo/pets", "gold/zoo/vets"} < made_by(outcome)
    assert "gold/zoo/keepers" not in made_by(outcome)
    assert due(lake, feed).windows == [WINDOW]


def test_one_check_alone_can_be_asked_for(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    assert run(lake, feed, instance, *ABOVE)[1].success
    asked = dg.AssetCheckKey(dg.AssetKey(["gold", "zoo", "pets"]), rules.ONE_ROW_PER_KEY.name)
    outcome, result = run(lake, feed, instance, check=asked)
    assert result.success
    (evaluation,) = result.get_asset_check_evaluations()
    assert evaluation.asset_check_key == asked
    assert evaluation.passed
    # It is judged by what an apply finds, so that its table is brought up to date, and no other.
    assert names(lake, feed) == {1: "Ada"}
    assert not lake.table(Layer.GOLD, "zoo", "keepers").exists()
    assert made_by(outcome) == set()


def test_one_table_alone_can_be_brought_over_a_range_of_windows(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    bo = {"id": "2", "name": "Bo"}
    lines = [change("I", 20 + at, after=bo, table=name) for at, name in enumerate(TABLES)]
    lay(Path(feed.landing), "2025-11-20/04/b.json", drop(*lines))
    assert run(lake, feed, instance, *ABOVE, last=NEXT)[1].success
    outcome, result = run(lake, feed, instance, "gold/zoo/pets", last=NEXT)
    assert result.success
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}
    # The tombstones are written with their table.
    assert made_by(outcome) == {"gold/zoo/pets", "gold/zoo/pets__tombstones"}
    for other in ("keepers", "vets"):
        assert not lake.table(Layer.GOLD, "zoo", other).exists()
    # Neither window is done before the other tables have them, too.
    assert due(lake, feed).windows == [WINDOW, NEXT]
    made = result.get_asset_materialization_events()
    assert {event.partition for event in made} == {WINDOW, NEXT}
    run(lake, feed, instance, last=NEXT)
    assert names(lake, feed, "vets") == {1: "Ada", 2: "Bo"}
    assert due(lake, feed).windows == []


def test_each_window_of_a_range_carries_its_own_numbers_and_they_add_up(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    bo = {"id": "2", "name": "Bo"}
    quiet = "2025-11-20T05"
    lines = [change("I", at, after=bo, table="pets") for at in (21, 22, 22)]
    lay(Path(feed.landing), "2025-11-20/04/b.json", drop(*lines, "cut off"))
    lay(Path(feed.landing), "2025-11-20/04/c.json", drop(change("D", 23, before=bo)))
    ended = datetime(2025, 11, 20, 4, 1, 30, tzinfo=UTC).timestamp()
    for file in Path(feed.landing).rglob("*.json"):
        os.utime(file, (ended, ended))
    _, result = run(lake, feed, instance, last=quiet)
    assert result.success
    numbers: dict[str, dict[str | None, dict[str, Any]]] = {}
    for event in result.get_asset_materialization_events():
        made = event.step_materialization_data.materialization
        values = {name: value.value for name, value in made.metadata.items()}
        numbers.setdefault(made.asset_key.path[-1], {})[made.partition] = values

    def by_window(asset: str, name: str) -> list[object]:
        return [numbers[asset].get(one, {}).get(name) for one in (WINDOW, NEXT, quiet)]

    assert by_window("zoo_bronze", "objects") == [1, 2, 0]
    # They lay there 90 seconds after the end of 03, and before the end of 04; in 05 nothing landed.
    assert by_window("zoo_bronze", "landing_lag_seconds") == [90.0, 0.0, None]
    # The newest changes are of 00:56:20 and 01:16:20, so that all were made before their windows began.
    assert by_window("zoo_silver", "source_lag_seconds") == [11_020.0, 13_420.0, None]
    assert by_window("zoo_report", "late_changes") == [3, 3, None]
    assert by_window("zoo_silver", "events") == [3, 5, 0]
    assert by_window("zoo_silver", "changes") == [3, 3, 0]
    assert by_window("zoo_silver", "duplicates") == [0, 1, 0]
    assert by_window("zoo_quarantine", "dagster/partition_row_count") == [0, 1, 0]
    # Gold is not shown as made where nothing landed.
    assert by_window("pets", "changes") == [1, 3, None]
    assert by_window("keepers", "changes") == [1, 0, None]
    # One fold of all three windows: what it did stands once, with the last that is shown.
    assert by_window("pets", "keys_changed") == [None, 2, None]
    assert by_window("pets", "changes_applied") == [None, 1 + 3, None]
    assert by_window("pets", "dagster/row_count") == [1, 1, None]


def test_no_other_run_writes_a_table_of_the_step_until_all_are_done(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    """What another run brought meanwhile would be undone by keys that are folded from what was read before."""
    _, result = run(lake, feed, instance, *ABOVE)
    assert result.success
    tables = [*feed.tables.values()]
    step = apply.apply_all(lake, feed, tables, [WINDOW])
    assert next(step).error is None
    for table in tables:
        with pytest.raises(TableBusy):
            apply.apply(lake, feed, table, [WINDOW])
    assert [one.error for one in step] == [None, None]
    assert apply.apply(lake, feed, PETS, [WINDOW]).metrics.keys == 0
