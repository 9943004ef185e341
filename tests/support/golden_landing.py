"""The drops of all golden cases of a format in one landing, each case in a window of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import dagster as dg
import pyarrow as pa
from deltalake import DeltaTable

from assets.feed_assets import feed_key
from assets.storage.lake import Lake, Layer
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.runs import execution
from orchestration.runs.outcome import reasons
from tests.transforms.formats.in_process import Outcome, Scenario, as_maps, source_location
from tests.transforms.formats.test_golden import Case, cases, feed
from transforms.feed.feed import Feed
from transforms.silver.accounting import AccountKey

Row = dict[str, object]

FIRST = datetime(2025, 11, 20, tzinfo=UTC)
"""When the first case's window begins."""


@dataclass(frozen=True)
class Laid:
    """A feed, and the objects that lie in its landing, by the window that they are of."""

    feed: Feed
    scenarios: Mapping[str, Scenario]

    @property
    def objects(self) -> dict[str, bytes]:
        """The content of every object, by its name in the landing."""
        return {name: data for one in self.scenarios.values() for name, data in one.drop.items()}


def cases_of(format_name: str) -> list[Case]:
    return [case for case in cases() if case.folder.parent.name == format_name]


def window_of(number: int) -> str:
    return f"{FIRST + timedelta(hours=number):%Y-%m-%dT%H}"


def laid(format_name: str, landing: str) -> Laid:
    """All cases of the format. Their objects keep their names, below a folder of the window.

    The tables of the cases come from several sources. So that all of them fit into one feed, gold tables have the names
    of their schema and their catalog.
    """
    scenarios = {}
    for number, case in enumerate(cases_of(format_name)):
        window = window_of(number)
        folder = window.replace("T", "/")
        drop = case.scenario().drop
        named = {f"{folder}/{name}": data for name, data in drop.items()}
        scenarios[window] = Scenario(named, "catalog")
    return Laid(replace(feed(format_name), landing=landing, table_names="catalog"), scenarios)


def materialize(lake: Lake, feed: Feed, windows: Sequence[str]) -> dict[str, int]:
    """Bronze and silver of these windows, by the job's own assets in one run; how often each check's rule is broken."""
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    layers = [feed_key(layer, feed) for layer in ("bronze", "silver", "quarantine")]
    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(
            instance=instance,
            asset_selection=layers,
            tags={execution.RANGE_START: windows[0], execution.RANGE_END: windows[-1]},
            # What a check finds in cases of disorder blocks gold, and silver is written by then.
            raise_on_error=False,
        )
    failed = [event for event in done.all_events if event.is_step_failure]
    faults = [reason for event in failed for reason in reasons(event)]
    assert not faults, faults
    return {
        check.check_name: int(str(check.metadata["violations"].value))
        for check in done.get_asset_check_evaluations()
    }


@dataclass(frozen=True)
class Made:
    """What the feed's tables have: the records of bronze without marks, and the outcome of each window."""

    bronze: list[Row]
    windows: Mapping[str, Outcome]


def made(lake: Lake, feed: Feed) -> Made:
    """Read all of the feed's tables up to silver."""
    records = [row for row in rows_of(lake, Layer.BRONZE, feed) if row["line"] != 0]
    found: dict[str, Outcome] = {str(row["window"]): Outcome() for row in records}
    for row in rows_of(lake, Layer.SILVER, feed):
        found[str(row["window"])].changes.append({**row, **as_maps(row)})
    for row in rows_of(lake, Layer.QUARANTINE, feed):
        found[str(row["window"])].quarantine.append(row)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows()
    for row in sorted(accounts, key=lambda one: [one[name] or "" for name in AccountKey._fields]):
        found[str(row["window"])].accounts.append(row)
    for outcome in found.values():
        outcome.changes.sort(key=source_location)
        outcome.quarantine.sort(key=source_location)
    return Made(records, found)


def rows_of(lake: Lake, layer: Layer, feed: Feed) -> list[Row]:
    """All rows of one of the feed's tables, times in microseconds since 1970."""
    table: pa.Table = DeltaTable(lake.path(layer, feed.name)).to_pyarrow_table()
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            moments = table[field.name].cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
            table = table.set_column(at, field.name, moments)
    found: list[Row] = table.to_pylist()
    return found
