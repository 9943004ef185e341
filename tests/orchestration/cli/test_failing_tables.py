"""One table or feed fails, for whatever reason: commands go on with the others, name it, and end as documented."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from assets.gold import apply, tables
from assets.storage.lake import Lake, Layer
from orchestration.cli import run, verify
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.support.commands_here import weir
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed

TABLES = ("keepers", "pets")


@pytest.fixture
def feeds(tmp_path: Path) -> Path:
    """Two feeds of two tables each, with a row in each."""
    folder = tmp_path / "feeds"
    shape = "{key: [id], columns: {id: int, name: string}}"
    for name in ("apes", "zoo"):
        lines = [
            change("I", at, after={"id": "1", "name": "Ada"}, table=table)
            for at, table in enumerate(TABLES, start=1)
        ]
        lay(tmp_path / name, "2025-11-20/03/a.json", drop(*lines))
        file = f"""
format: arcion_s3_json
landing: {tmp_path / name}
tables: {{keepers: {shape}, pets: {shape}}}
"""
        lay(folder, f"{name}.yaml", file.encode())
    return folder


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path, feeds: Path) -> Lake:
    """All of it in gold."""
    lake = lake_of(str(tmp_path / "warehouse"))
    for feed in load_feeds(feeds):
        bring(lake, feed)
    return lake


def without_files(lake: Lake, feed: str, table: str) -> None:
    """Lose a gold table's files, which is no error of Weir's own."""
    for file in Path(lake.path(Layer.GOLD, feed, table)).glob("*.parquet"):
        file.unlink()


def failing(work: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same, but for a feed or a table of this name, where it ends with an error that is none of Weir's."""

    def fails(*values: Any, **named: Any) -> Any:
        if any(getattr(one, "name", None) == name for one in values):
            raise RuntimeError("the moon is full")
        return work(*values, **named)

    return fails


def place(lake: Lake, feeds: Path) -> tuple[str, ...]:
    return "--feeds", str(feeds), "--warehouse", lake.warehouse


def test_compaction_goes_on_behind_a_table_and_a_feed_that_fail(
    lake: Lake,
    feeds: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_files(lake, "apes", "keepers")
    assert weir("compact", *place(lake, feeds)) == 1
    said = capsys.readouterr()
    assert reported(said.out) == ["gold.apes.pets", "gold.zoo.keepers", "gold.zoo.pets"]
    assert "error: a gold table of apes failed; the others are done:\n- keepers: " in said.err

    monkeypatch.setattr(tables, "mirrors", failing(tables.mirrors, "apes"))
    assert weir("compact", "--dry-run", *place(lake, feeds)) == 1
    said = capsys.readouterr()
    assert reported(said.out) == ["gold.zoo.keepers", "gold.zoo.pets"]
    assert "error: apes: RuntimeError: the moon is full" in said.err


def reported(out: str) -> Sequence[str]:
    return [line.split()[0] for line in out.splitlines() if line.startswith("gold.")]


def test_a_proof_goes_on_behind_a_table_and_a_feed_that_fail(
    lake: Lake,
    feeds: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_files(lake, "apes", "keepers")
    assert weir("verify", *place(lake, feeds)) == 2
    out = capsys.readouterr().out
    assert "  not proved: gold.apes.keepers: " in out
    assert [line.split(":")[0] for line in out.splitlines() if "  proved   " in line] == [
        f"  proved   gold.{name}" for name in ("apes.pets", "zoo.keepers", "zoo.pets")
    ]

    monkeypatch.setattr(verify, "not_yet", failing(verify.not_yet, "apes"))
    assert weir("verify", *place(lake, feeds)) == 2
    said = capsys.readouterr()
    assert "error: apes: RuntimeError: the moon is full" in said.err
    assert said.out.count("  proved   gold.zoo.") == 2


def test_a_rebuild_goes_on_behind_a_table_that_fails_and_leaves_its_windows_due(
    lake: Lake,
    feeds: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (zoo,) = (feed for feed in load_feeds(feeds) if feed.name == "zoo")
    with monkeypatch.context() as patched:
        patched.setattr(apply, "apply", failing(apply.apply, "keepers"))
        assert weir("rebuild", "zoo", *place(lake, feeds)) == 2
    said = capsys.readouterr()
    assert "gold.zoo.pets: 1 row" in said.out
    assert (
        "error: a gold table of zoo failed; the others are done:\n- keepers: RuntimeError: the moon is full"
        in said.err
    )
    # Where it failed is reported, too.
    assert "in fails" in said.err
    assert planning.due(lake, zoo).windows == ["2025-11-20T03"]
    assert weir("rebuild", "zoo", *place(lake, feeds)) == 0
    assert planning.due(lake, zoo).windows == []


def test_a_plan_goes_on_behind_a_feed_that_fails(
    tmp_path: Path,
    feeds: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "due", failing(planning.due, "apes"))
    lake = lake_of(str(tmp_path / "warehouse"))
    found: list[Feed] = load_feeds(feeds)
    plans, faults = run.catch_up_and_plan(lake, found)
    assert [(plan.feed.name, plan.windows) for plan in plans] == [("zoo", ["2025-11-20T03"])]
    assert faults == 1
    assert "error: apes: RuntimeError: the moon is full" in capsys.readouterr().err
