"""The curves run at a tiny size, and what they time is what they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Layer
from bench.growth import windows
from bench.lines import compacting
from bench.lines.appliers import feed_of
from bench.lines.commands import watch_weir
from bench.lines.one_table import agree
from bench.lines.small_window import declare, feed_of_table
from bench.lines.wanted import wanted_lines
from bench.made import row
from bench.made.restoring import Workspace
from bench.measuring import OwnTime
from bench.sizes import Sizes
from orchestration.resources import lake_of

SIZES = Sizes(rows=400, changes=300, tables=1, repeats=1, shrunk=100_000)


def test_weir_and_the_textbook_make_the_same_of_more_and_more_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    seen = []
    for line in wanted_lines(work, replace(SIZES, shrunk=1_000_000), ["grow-rows"]):
        lakes = []
        for name in ("weir", "textbook"):
            line.competitors[name]()()
            (made,) = tmp_path.glob("run_*")
            made.rename(tmp_path / name)
            lakes.append(work.lake(name))
        agree(lakes[0], lakes[1], feed_of(tmp_path, [row.table("item")]), row.table("item"))
        seen.append((line.name, line.size))
        for name in ("weir", "textbook"):
            (tmp_path / name).rename(tmp_path / f"{name}_of_{line.name}")
    of = ("changes", "changes of the newest rows")
    assert seen == [(f"{one} into {rows} rows", 10) for rows in (10, 50) for one in of]


def test_every_table_of_a_window_gets_its_changes(spark: SparkSession, tmp_path: Path) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    (line,) = wanted_lines(work, SIZES, ["grow-tables"])
    line.competitors["weir"]()()
    (made,) = tmp_path.glob("run_*")
    lake, before = work.lake(made.name), work.lake("tables_10")
    assert (line.name, line.size) == ("10 changes each of 10 tables", 10)
    for number in range(10):
        now, then = (
            one.table(Layer.GOLD, "bench", f"small_{number:03}").read() for one in (lake, before)
        )
        assert then.count() == 100
        assert 0 < now.exceptAll(then).count() <= 10


def test_looks_at_many_windows_find_them_finished(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "AT_ONCE", 6)
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    names = []
    for line in wanted_lines(work, SIZES, ["grow-windows"]):
        # Looks raise where something is left to do.
        line.competitors["weir"]()()
        names.append(line.name)
    assert names == [
        "find nothing new, 10 windows",
        "a schedule's look, 10 windows",
        "status, 10 windows",
        "one more small window, 10 windows",
    ]
    (made,) = tmp_path.glob("run_*")
    finished = work.lake(made.name).table(Layer.PROGRESS, "bench").read()
    assert finished.count() == 11
    rows = work.lake("lake_of_10").table(Layer.BRONZE, "bench").read()
    assert rows.count() == 10 * windows.OBJECTS * windows.EVENTS


def test_a_long_history_is_compacted_but_for_a_tenth(spark: SparkSession, tmp_path: Path) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    (line,) = wanted_lines(work, replace(SIZES, shrunk=100), ["compact"])
    assert (line.name, line.size) == ("weir compact of 10 windows, 10,000 rows", 10)
    line.competitors["weir"]()()
    (made,) = tmp_path.glob("run_*")
    kept = work.lake(made.name).table(Layer.SILVER, "bench").read()
    before = work.lake("history").table(Layer.SILVER, "bench").read()
    assert 0 < kept.count() <= 2 * compacting.EVENTS < before.count()
    gold = [
        work.lake(name).table(Layer.GOLD, "bench", "item").read() for name in (made.name, "history")
    ]
    assert gold[0].count() == gold[1].count()
    assert gold[0].exceptAll(gold[1]).count() == 0


def test_a_day_of_a_landing_is_listed_without_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    sizes = Sizes(1, 1, 1, 1, shrunk=200)
    lines = {line.name: line for line in wanted_lines(work, sizes, ["grow-objects"])}
    found = {name: line.competitors["weir"]()() for name, line in lines.items()}
    assert found == {
        "list all of 50 objects": 50,
        "list one day of 50 objects": 50,
        "list all of 500 objects": 500,
        "list one day of 500 objects": 500,
        "list all of 5,000 objects": 5_000,
        # 50 hours are two days and two hours.
        "list one day of 5,000 objects": 200,
    }


def test_a_command_s_memory_is_watched(tmp_path: Path) -> None:
    declare(tmp_path / "feeds", feed_of_table(tmp_path))
    found = watch_weir("feeds", "check", "--feeds", str(tmp_path / "feeds"), settings={})
    assert isinstance(found, OwnTime)
    assert found.seconds > 0
    assert found.resident is not None
    assert found.resident > 20 * 2**20
