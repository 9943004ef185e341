"""A real run with the written feed files makes the gold that the preview showed, with the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assets.lake import Lake
from assets.layers import Layer
from orchestration.cli import run
from orchestration.cli.feed_files.onboard import Request, onboard
from orchestration.cli.options import Place
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.onboarded import onboarded

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DEMO = ("bank", "clinic", "films", "meters", "shop", "social", "tpch", "wallet")


def rows_of(lake: Lake, feed: str, table: str) -> list[dict[str, Any]]:
    found = lake.local_table(Layer.GOLD, feed, table).table
    assert found is not None, f"{feed}.{table}"
    return sorted(found.to_pyarrow_table().to_pylist(maps_as_pydicts="strict"), key=str)


def previewed(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """The rows with gold's columns, in their order."""
    return sorted(({name: row[name] for name in names} for row in rows), key=str)


def compared(lake: Lake, feeds: Path, name: str) -> Iterator[tuple[object, object]]:
    """What gold and the preview have of each table."""
    landing = load_feed(feeds / f"{name}.yaml").landing
    for table, rows in onboarded(landing).gold().items():
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
