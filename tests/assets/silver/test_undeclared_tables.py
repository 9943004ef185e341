"""Tables that wait in silver, proposed by their changes there: read by window, some rows at a time, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.columns.silver import SILVER_ARROW
from assets.silver import checks
from assets.silver.checks import lines_to_paste, proposed_from_silver
from assets.storage import in_process_table
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from transforms.feed.feed import Feed

FEED = Feed("zoo", "arcion_s3_json", "/drops")
FIRST, SECOND = "2025-11-20T03", "2025-11-20T04"


def row(
    window: str, number: int, table: str = "main.zoo.pets", **others: object
) -> dict[str, object]:
    whole = {
        **{"window": window, "feed": "zoo", "table": table.split(".")[-1], "source_table": table},
        **{
            "operation": "insert",
            "effect": "replace",
            "event_id": f"{window} {number}",
            "before": {},
        },
        **{"after": {"id": str(number), "name": "x"}, "log_position": [0, 1, number]},
        **{"dedup_prefix": 3, "object": "a.json", "generation": "1", "line": number},
        **{"byte_offset": number, "ordinal": 0, "event_at": datetime(2025, 11, 20, tzinfo=UTC)},
    }
    return {**whole, **others}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


def put(lake: Lake, *rows: dict[str, object]) -> None:
    table = pa.Table.from_pylist([*rows], schema=SILVER_ARROW)
    path = lake.path(Layer.SILVER, "zoo")
    write_deltalake(path, table, mode="append", partition_by=["window"])


def proposed(lake: Lake, *windows: str) -> list[str]:
    """The tables that are found, and what is said of each."""
    return [f"{one.name}: {one.says}" for one in proposed_from_silver(lake, FEED, windows).found]


def test_only_the_windows_that_are_asked_for_are_read(lake: Lake) -> None:
    put(lake, *[row(FIRST, number) for number in (1, 2)])
    put(lake, row(SECOND, 3, "main.zoo.keepers"))
    assert proposed(lake, FIRST) == ["pets: 2 events, 2 columns, key [id] (a guess)"]
    assert len(proposed(lake, FIRST, SECOND)) == 2
    assert proposed(lake) == []


def test_what_is_declared_or_derived_or_names_no_table_does_not_wait(lake: Lake) -> None:
    put(
        lake,
        row(FIRST, 1, declared="pets"),
        row(FIRST, 2, derived="key_change"),
        row(FIRST, 3, source_table=None),
    )
    assert proposed(lake, FIRST) == []


def test_an_event_that_came_twice_is_one(lake: Lake) -> None:
    put(lake, row(FIRST, 1), row(FIRST, 2))
    put(lake, row(SECOND, 1, event_id=f"{FIRST} 1"), row(SECOND, 4))
    (found,) = proposed(lake, FIRST, SECOND)
    assert found.endswith("key [id] (a guess)")
    note = proposed_from_silver(lake, FEED, [FIRST, SECOND]).notes[0]
    assert "no two of 3 rows" in note


def test_a_name_without_its_schema_is_the_same_table(lake: Lake) -> None:
    put(lake, row(FIRST, 1), row(FIRST, 2, "pets"))
    assert proposed(lake, FIRST) == ["pets: 2 events, 2 columns, key [id] (a guess)"]
    put(lake, row(FIRST, 3, "main.farm.pets"))
    assert len(proposed(lake, FIRST)) == 3


def test_of_a_large_window_the_first_changes_are_enough(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process_table, "_BATCH", 3)
    monkeypatch.setattr(checks, "_MOST", 5)
    put(lake, *[row(FIRST, number) for number in range(20)])
    assert proposed(lake, FIRST) == ["pets: 5 events, 2 columns, key [id] (a guess)"]


def test_graphs_are_not_declared_by_tables(lake: Lake) -> None:
    graph = Feed("social", "tigergraph", "/drops")
    assert lines_to_paste(lake, graph, [FIRST]) == [
        "# declare them under `vertices` or `edges`: `weir onboard /drops --print` proposes it"
    ]
