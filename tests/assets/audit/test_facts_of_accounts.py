"""Arrow adds up for a report and the status what plain Python adds up, and a report reads only what it shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from assets.audit import feed_report, status
from assets.columns import layers
from assets.storage.in_process_table import DataFile, InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS
from transforms.feed.feed import Feed
from transforms.feed.windows import windows_between
from transforms.silver.accounting import OUTCOMES

FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})
NAMES = ("events", *OUTCOMES)
WINDOWS = windows_between("2025-11-01T00", "2025-11-04T23", "hour")


def drawn(rng: Random, window: str) -> dict[str, Any]:
    """An account of a window, of a table that may have no name."""
    counts = {
        one.name: rng.randrange(3) for one in layers.Accounting.schema if one.type == pa.int64()
    }
    table = rng.choice(["pets", "", None])
    warnings = {
        word: rng.randrange(5) for word in rng.sample(["odd", "far", "old"], rng.choice([0, 2]))
    }
    return {
        "window": window,
        "table": table,
        "source_table": rng.choice(["zoo.pets", "", None]),
        "declared": table or None,
        "warnings": [*warnings.items()],
        "declaration": "",
        **counts,
    }


def written(lake: Lake, windows: list[str]) -> list[dict[str, Any]]:
    rng = Random(17)
    rows = [drawn(rng, window) for window in windows for _ in range(3)]
    table = lake.in_process_table(Layer.ACCOUNTING, "zoo")
    table.append(rows[::2])
    table.append(rows[1::2])
    return rows


def test_sums_are_those_of_plain_python(tmp_path: Path) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    rows = written(lake, WINDOWS)
    windows: dict[str, Counter[str]] = {}
    tables: dict[str, Counter[str]] = {}
    for row in rows:
        counts = {name: row[name] for name in NAMES}
        windows.setdefault(row["window"], Counter()).update(counts)
        if row["events"]:
            name = row["table"] or row["source_table"] or "(no table)"
            tables.setdefault(name, Counter()).update(counts)
    found = feed_report.facts_of(lake, FEED)
    assert found.all_windows == len(WINDOWS)
    assert [(one.window, one.outcomes) for one in found.windows] == [
        (one, windows[one]) for one in WINDOWS[-feed_report.SHOWN :]
    ]
    total = {name: sum(row[name] for row in rows) for name in NAMES}
    assert found.outcomes == total
    assert found.tables == tables
    assert {"pets", "zoo.pets", "(no table)"} == {*found.tables}

    outcomes, _, waiting = status._accounted(lake, FEED)
    assert outcomes == total
    expected = Counter[str]()
    for row in rows:
        if row["declared"] is None and row["changes"]:
            expected[row["source_table"]] += row["changes"]
    assert waiting == expected


@pytest.mark.parametrize("windows", [WINDOWS[-60:], WINDOWS])
def test_a_report_opens_as_many_files_of_silver_as_it_shows_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: list[str]
) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    written(lake, windows)
    rows = [{"window": window, "operation": "insert"} for window in windows]
    lake.in_process_table(Layer.SILVER, "zoo").append(
        pa.Table.from_pylist(rows, schema=layers.Silver.schema), ["window"]
    )
    opened: list[str] = []
    read = InProcessTable.read_file

    def counted(table: InProcessTable, file: DataFile, columns: Any, repeated: Any = ()) -> Any:
        opened.append(file.path)
        return read(table, file, columns, repeated)

    monkeypatch.setattr(InProcessTable, "read_file", counted)
    found = feed_report.facts_of(lake, FEED)
    assert [one.operations for one in found.windows] == [{"insert": 1}] * feed_report.SHOWN
    assert sum("window=" in name for name in opened) == feed_report.SHOWN
