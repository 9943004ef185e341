"""A real run with the written feed files makes the gold that the preview showed, with the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assets.storage.lake import Lake, Layer
from orchestration.cli import run
from orchestration.cli.onboard import Request, onboard
from orchestration.cli.options import Place
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.onboarded import onboarded

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # The graphs' checks are Spark's work.
    pytest.mark.usefixtures("spark"),
]

DEMO = ("bank", "clinic", "films", "meters", "shop", "social", "tpch", "wallet")


def rows_of(lake: Lake, feed: str, table: str) -> list[dict[str, Any]]:
    found = lake.in_process_table(Layer.GOLD, feed, table).table
    assert found is not None, f"{feed}.{table}"
    return sorted(found.to_pyarrow_table().to_pylist(maps_as_pydicts="strict"), key=str)


def previewed(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """The rows with gold's columns, in their order."""
    return sorted(({name: row[name] for name in names} for row in rows), key=str)


def compared(lake: Lake, feeds: Path, name: str) -> Iterator[tuple[object, object]]:
    """What gold and the preview have of each table."""
    feed = load_feed(feeds / f"{name}.yaml")
    for table, rows in onboarded(feed.landing, files=feed.files).gold().items():
        gold = rows_of(lake, name, table)
        # Beside the source's columns gold has some of Weir's own.
        columns = [one for one in (rows[0] if rows else {})]
        yield previewed(gold, columns) if rows else gold, previewed(rows, columns)


def test_gold_of_a_real_run_is_what_the_preview_showed(root: Path, tmp_path: Path) -> None:
    feeds, warehouse = tmp_path / "feeds", str(tmp_path / "warehouse")
    for name in DEMO:
        assert onboard(Request(str(root / f"demo/{name}"), feeds)) == 0
    # The drops of the demo have faults on purpose; none of them ends a run.
    assert run.run(Place(feeds, warehouse), (), None) == 0
    lake = lake_of(warehouse)
    seen = 0
    for name in DEMO:
        for gold, preview in compared(lake, feeds, name):
            assert gold == preview, name
            seen += 1
    assert seen >= len(DEMO)


SAMPLES = {
    "arcion_kafka": "arcion_kafka_json/v3_2023-03-15",
    "captured": "dgraph/09_drop_data/events.jsonl",
    "customers": "debezium_reference/risingwave/debezium_log.1",
    "graph": "tigergraph/4.1.0",
    "long_script": "yugabytedb/long_script/getchanges.jsonl",
    "seatunnel": "debezium_reference/seatunnel",
}
"""Samples of five formats, of which the vendors' own tests say what must come of them."""


def test_gold_of_the_samples_is_what_the_preview_showed(
    samples_of: Callable[[str], Path], tmp_path: Path
) -> None:
    feeds, warehouse = tmp_path / "feeds", str(tmp_path / "warehouse")
    samples = samples_of("dgraph").parent
    for name, landing in SAMPLES.items():
        assert onboard(Request(str(samples / landing), feeds, name=name)) == 0
    assert run.run(Place(feeds, warehouse), (), None) == 0
    lake = lake_of(warehouse)
    for name in SAMPLES:
        pairs = [*compared(lake, feeds, name)]
        assert pairs, name
        for gold, preview in pairs:
            assert gold == preview, name
    (test,) = [gold for gold, _ in compared(lake, feeds, "long_script")]
    expected = json.loads((samples / "yugabytedb/long_script/expected_final.json").read_text())
    assert isinstance(test, list)
    assert sorted([row["a"], row["b"], row["c"]] for row in test) == sorted(expected)
