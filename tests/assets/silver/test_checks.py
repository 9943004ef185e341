"""What silver's checks count and show: conflicts, old and late events, wrong declarations, tables that wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.bronze import from_objects
from assets.columns import layers
from assets.executors.choice import AUTO, SPARK
from assets.silver import checks, derive, undeclared_tables
from assets.silver.checks import stale_lags
from assets.silver.derive import Derived
from assets.silver.undeclared_tables import lines_to_paste, proposed_from_silver
from assets.storage import in_process_table
from assets.storage.lake import Lake, Layer
from expectations.silver import MOST_EVENTS_ARE_TAKEN
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import CheckSetting, Feed, Table

FIRST, SECOND = "2025-11-20T03", "2025-11-20T04"
FEED = Feed("zoo", "arcion_s3_json", "/drops", tables={"pets": PETS})


def derived(
    tmp_path: Path, feed: Feed, *records: str, executor: str = AUTO
) -> tuple[Lake, Derived]:
    """Silver of one window that has these records."""
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(*records))
    lake = lake_of(str(tmp_path / "warehouse")).by(executor)
    feed = replace(feed, landing=str(tmp_path / "landing"))
    from_objects.land(lake, feed, [FIRST])
    return lake, derive.derive(lake, feed, [FIRST])


ADA, AVA, ABE = ({"id": "1", "name": name} for name in ("Ada", "Ava", "Abe"))
KEY = {"id": "1"}

CONFLICTS = {
    "an altered copy of an update": ([change("U", 5, ADA, AVA), change("U", 5, ADA, ABE)], 1),
    "and another": ([change("U", 5, ADA, after) for after in (AVA, ABE, KEY | {"name": "X"})], 2),
    "an altered copy of an insert": ([change("I", 5, after=AVA), change("I", 5, after=ABE)], 1),
    "an altered copy of a delete": ([change("D", 5, AVA), change("D", 5, ABE)], 1),
    "the same event again": ([change("U", 5, ADA, AVA)] * 2, 0),
    "each at its own position": ([change("U", 5, ADA, AVA), change("U", 6, ADA, ABE)], 0),
    "one after the other": ([change("U", 5, ADA, AVA), change("U", 5, AVA, ABE)], 0),
    "nothing is known of the old values": ([change("U", 5, KEY, one) for one in (AVA, ABE)], 0),
    "different operations": ([change("I", 5, after=ADA), change("D", 5, ADA)], 0),
    "different keys": ([change("I", 5, after=ADA), change("I", 5, after=ADA | {"id": "2"})], 0),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_events_that_contradict_each_other_are_counted(
    tmp_path: Path, case: str, executor: str = AUTO
) -> None:
    records, conflicts = CONFLICTS[case]
    lake, made = derived(tmp_path, FEED, *records, executor=executor)
    assert made.violations["no_conflicting_payloads"] == conflicts
    assert made.violations["accounting_is_exact"] == 0
    seen = checks.samples(lake, made.findings)["no_conflicting_payloads"].splitlines()
    assert len(seen) == conflicts
    assert all(one.startswith("- `pets, key 1: 2025-11-20/03/a.json line ") for one in seen)


def test_they_are_counted_by_spark_too(spark: object, tmp_path: Path) -> None:
    test_events_that_contradict_each_other_are_counted(tmp_path, "and another", SPARK)


@pytest.mark.parametrize(
    ("minutes", "now", "stale"),
    [
        (0, "2026-01-01T00:00", 0),
        (60, "2026-01-01T00:00", 0),
        (61, "2026-01-01T00:00", 1),
        # Of an open window the events are as old as they are now.
        (90, "2025-11-20T03:20", 0),
        (90, "2025-11-20T03:40", 1),
    ],
)
def test_a_window_is_stale_if_its_newest_event_was_older_when_it_ended(
    minutes: int, now: str, stale: int
) -> None:
    made = datetime(2025, 11, 20, 4, tzinfo=UTC) - timedelta(minutes=minutes)
    feed = replace(FEED, checks={"is_fresh": CheckSetting(within=timedelta(hours=1))})
    accounts: list[dict[str, Any]] = [
        {"window": FIRST, "newest_event_at": one} for one in (made, made - timedelta(3), None)
    ]
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert len(stale_lags(feed, accounts, moment)) == stale
    assert stale_lags(FEED, accounts, moment) == []


@pytest.mark.parametrize(("within", "violations"), [(24, 0), (1, 1)])
def test_the_time_of_the_newest_event_is_in_the_accounts(
    tmp_path: Path, within: int, violations: int
) -> None:
    # The pet's events are made on 2025-11-20 from 00:53 on.
    records = [change("I", at, after={"id": str(at), "name": "Ada"}) for at in (1, 2, 3)]
    feed = replace(FEED, checks={"is_fresh": CheckSetting(within=timedelta(hours=within))})
    lake, made = derived(tmp_path, feed, *records)
    newest = datetime.fromtimestamp(1_763_600_000 + 180, UTC)
    assert {row["newest_event_at"] for row in made.accounts} == {newest}
    assert made.violations["is_fresh"] == violations
    assert bool(checks.samples(lake, made.findings)["is_fresh"]) == bool(violations)


@pytest.mark.parametrize(
    ("good", "bad", "violations"),
    [
        (0, 20, 20),
        (20, 20, 20),
        # Fewer than half, and fewer than twenty.
        (21, 20, 0),
        (0, 19, 0),
    ],
)
def test_a_wrong_declaration_is_told_from_a_few_bad_records(
    tmp_path: Path, good: int, bad: int, violations: int
) -> None:
    names = [*(str(at) for at in range(good)), *(f"no number {at}" for at in range(bad))]
    records = [change("I", at, after={"id": name}) for at, name in enumerate(names)]
    # What came twice is no new event.
    lake, made = derived(tmp_path, FEED, *records, *records[:good])
    rule = MOST_EVENTS_ARE_TAKEN.name
    assert made.violations[rule] == violations
    shown = checks.samples(lake, made.findings)[rule]
    assert shown == (f"- `pets: {bad} of its events`" if violations else "")
    # What a person has given up counts no longer.
    given_up = replace(made.findings, dismissed=bad)
    assert checks.count_of_rules(given_up)[rule] == 0


@pytest.mark.parametrize(
    ("case", "violations", "seen"),
    [
        ("transaction_that_lacks_an_event", 1, "1 of 2 events seen"),
        ("transaction_that_is_whole", 0, ""),
    ],
)
def test_a_transaction_with_fewer_events_than_its_end_counts_is_named(
    tmp_path: Path, root: Path, case: str, violations: int, seen: str
) -> None:
    landing = root / "tests" / "cases" / "debezium" / case / "drop"
    columns = {"id": "int", "name": "string", "email": "string"}
    customers = Table("customers", ("id",), columns, tuple(columns))
    lake = lake_of(str(tmp_path), {})
    _, made = bring(lake, Feed("shop", "debezium", str(landing), tables={"customers": customers}))
    rule = "every_transaction_is_committed"
    assert made.violations[rule] == violations
    found = checks.samples(lake, made.findings).get(rule) or ""
    assert seen in found if seen else not found


def row(
    window: str, number: int, table: str = "main.zoo.pets", **others: object
) -> dict[str, object]:
    """A row of silver whose table nobody declares."""
    return {
        **{"window": window, "feed": "zoo", "table": table.split(".")[-1], "source_table": table},
        **{"operation": "insert", "effect": "replace", "event_id": f"{window} {number}"},
        **{"before": {}, "after": {"id": str(number), "name": "x"}, "log_position": [0, 1, number]},
        **{"dedup_prefix": 3, "object": "a.json", "generation": "1", "line": number},
        **{"byte_offset": number, "ordinal": 0, "event_at": datetime(2025, 11, 20, tzinfo=UTC)},
        **others,
    }


PROPOSED = "pets: {} events, 2 columns, key [id] (a guess)"


@pytest.mark.parametrize(
    ("rows", "windows", "found"),
    [
        ([row(FIRST, 1), row(FIRST, 2), row(SECOND, 3, "main.zoo.keepers")], [FIRST], 2),
        ([row(FIRST, 1), row(FIRST, 2)], [], None),
        # What is declared or derived, or names no table, does not wait.
        (
            [
                *(row(FIRST, 1, declared="pets"), row(FIRST, 2, derived="key_change")),
                row(FIRST, 3, source_table=None),
            ],
            [FIRST],
            None,
        ),
        # A name without its schema is the same table.
        ([row(FIRST, 1), row(FIRST, 2, "pets")], [FIRST], 2),
        # Of a large window the first changes are enough.
        ([row(FIRST, number) for number in range(20)], [FIRST], 5),
    ],
)
def test_tables_that_wait_are_proposed_by_their_changes(
    tmp_path: Path,
    rows: list[dict[str, object]],
    windows: list[str],
    found: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_process_table, "_BATCH", 3)
    monkeypatch.setattr(undeclared_tables, "_MOST", 5)
    lake = lake_of(str(tmp_path / "warehouse"))
    table = pa.Table.from_pylist(rows, schema=layers.Silver.schema)
    write_deltalake(lake.path(Layer.SILVER, "zoo"), table, partition_by=["window"])
    proposed = proposed_from_silver(lake, FEED, windows).found
    expected = [] if found is None else [PROPOSED.format(found)]
    assert [f"{one.name}: {one.says}" for one in proposed] == expected


def test_an_event_that_came_twice_is_one(tmp_path: Path) -> None:
    lake = lake_of(str(tmp_path))
    rows = [row(FIRST, 1), row(FIRST, 2), row(SECOND, 1, event_id=f"{FIRST} 1"), row(SECOND, 4)]
    table = pa.Table.from_pylist(rows, schema=layers.Silver.schema)
    write_deltalake(lake.path(Layer.SILVER, "zoo"), table, partition_by=["window"])
    assert "no two of 3 rows" in proposed_from_silver(lake, FEED, [FIRST, SECOND]).notes[0]


def test_graphs_are_not_declared_by_tables(tmp_path: Path) -> None:
    graph = Feed("social", "tigergraph", "/drops")
    assert lines_to_paste(lake_of(str(tmp_path)), graph, [FIRST]) == [
        "# declare them under `vertices` or `edges`: `weir onboard /drops --print` proposes it"
    ]
