"""Which deletes of whole tables are listed as held: read without Spark, from no more windows than may have any."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from assets.columns.silver import SILVER_ARROW
from assets.control import accounting
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.cli import release
from orchestration.resources import lake_of
from transforms.feed.feed import Feed

FEED = Feed("zoo", "dgraph", "/drops")
MADE_AT = datetime(2025, 11, 20, 3, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path), {})


def change(window: str, table: str, **others: object) -> dict[str, object]:
    row: dict[str, object] = {
        "window": window,
        "table": table,
        "operation": "drop_all",
        "effect": "hold",
        "scope": [],
        "event_id": "e1",
        "event_at": MADE_AT,
        "object": "a.jsonl",
        "generation": "1",
        "line": 2,
        "byte_offset": 0,
    }
    return row | others


def lay(lake: Lake, changes: list[dict[str, object]], held: dict[str, int]) -> None:
    """Silver with these changes, and an account for each window; a window of -1 is only announced."""
    columns = pa.schema([one for one in SILVER_ARROW if one.name in changes[0]])
    silver: InProcessTable = lake.in_process_table(Layer.SILVER, FEED.name)
    silver.append(pa.Table.from_pylist(changes, schema=columns), ["window"])
    empty: dict[str, object] = {
        one.name: 0 if pa.types.is_integer(one.type) else None for one in accounting.COLUMNS
    } | {"warnings": []}
    lake.in_process_table(Layer.ACCOUNTING, FEED.name, columns=accounting.COLUMNS).append(
        [
            empty
            | {
                "window": window,
                "held": max(number, 0),
                "declaration": accounting.ANNOUNCED if number < 0 else "d",
            }
            for window, number in held.items()
        ]
    )


def test_one_event_of_several_tables_is_listed_for_each(lake: Lake) -> None:
    lay(
        lake,
        [
            change("w1", "triples"),
            change("w1", "nodes"),
            change("w2", "nodes", line=1, event_at=None),
            change("w1", "nodes", event_id="e2", scope=[("id", "1")]),
            change("w1", "nodes", event_id="e3", effect="remove"),
            change("w1", "nodes", event_id="e4", scope=None),
        ],
        {"w1": 4, "w2": 1},
    )
    found = [
        (one.event_id, one.table, one.windows, one.source_location)
        for one in release.held(lake, FEED)
    ]
    assert found == [
        ("e1", "triples", ("w1",), "a.jsonl line 2"),
        ("e1", "nodes", ("w1", "w2"), "a.jsonl line 1"),
    ]
    assert {one.event_at for one in release.held(lake, FEED)} == {MADE_AT}


def test_windows_without_any_are_not_read_and_those_not_counted_yet_are(lake: Lake) -> None:
    changes = [change(f"w{n}", "nodes", event_id=f"e{n}") for n in range(4)]
    # w0's account says that it has none, w1's that it has one; w2 is announced, and w3 has no account.
    lay(lake, changes, {"w0": 0, "w1": 1, "w2": -1})
    assert [one.event_id for one in release.held(lake, FEED)] == ["e1", "e2", "e3"]


def test_a_feed_that_was_never_read_holds_nothing(lake: Lake) -> None:
    assert release.held(lake, FEED) == []
