"""The laws of Weir over random histories of every kind of change: after every run gold is what the oracle expects.

Thousands of histories share one table, distinguished by their case, so that a law costs a few Spark jobs and not one
per example. A quarter of ``WEIR_LAW_HISTORIES`` is drawn, from ``WEIR_LAW_SEED`` on; the seed of a failing history is
in its case id. Many more are drawn without Spark, in ``tests/laws/gold``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from assets.bronze import from_objects
from assets.control import progress
from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.laws.crashes import killed_at
from tests.laws.drawn import model_format, model_histories
from tests.laws.model_worlds import (
    KEEP_DELETED,
    SEED,
    WINDOWS,
    WITH_HISTORY,
    Compacted,
    World,
    assert_same,
    assert_same_at_every_position,
    compact,
    found,
    versions_by_case,
    world,
)
from tests.laws.oracle.oracle import event_id
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES

HISTORIES = max(
    1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 4 // len(model_histories.KINDS)
)
KEEP_IN_PROCESS = ("item", "vertex", "account", "triple", "replica")
"""The tables whose deleted rows stay where this process does the work: those whose rows go where Spark does it."""
KEEP_HISTORY = ("account",)
"""Kinds whose history is not compacted: those with transactions."""
COMPACTION_WATERMARK = (0, 1, 12)
EVERY = 10
"""One case in this many is compared at every position, since the oracle starts from the beginning for each of them."""


@pytest.fixture(autouse=True)
def _model_format(monkeypatch: pytest.MonkeyPatch) -> None:
    model_format.register(monkeypatch)


def run(lake: Lake, feed: Feed, windows: list[str]) -> derive.Derived:
    """What a run over these windows does, without Dagster around it."""
    made = to_silver(lake, feed, windows)
    to_gold(lake, feed, windows)
    return made


def to_silver(lake: Lake, feed: Feed, windows: list[str]) -> derive.Derived:
    """The first half of a run."""
    from_objects.land(lake, feed, windows)
    return derive.derive(lake, feed, windows)


def to_gold(lake: Lake, feed: Feed, windows: list[str]) -> None:
    """The second half of a run."""
    apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)


def ends_early(
    monkeypatch: pytest.MonkeyPatch, lake: Lake, feed: Feed, order: list[str], chance: Random
) -> derive.Derived:
    """Runs that end behind gold, behind silver, and between the commits of each table; and one that does not.

    They leave the first two windows to be finished; what silver made of these. The third is in gold.
    """
    with killed_at(monkeypatch, [lake.path(Layer.PROGRESS, feed.name)]):
        run(lake, feed, [order[0]])
    # The next run sees what this one left in silver, and may receive the same events again.
    to_silver(lake, feed, [order[1]])
    # The half-finished state is found by a run for another window, or only by a repeat of the same run.
    comes_between = chance.random() < 0.5
    if not comes_between:
        run(lake, feed, [order[2]])
    torn = sorted(order[:2])
    made = to_silver(lake, feed, torn)
    for paths in between_commits(lake, feed):
        with killed_at(monkeypatch, paths):
            to_gold(lake, feed, torn)
    if comes_between:
        run(lake, feed, [order[2]])
    return made


def between_commits(lake: Lake, feed: Feed) -> Iterator[list[str]]:
    """Of each place between two commits of a table the tables that are written next, for all of the feed's."""
    layers = [[name, name + TOMBSTONES] for name in feed.tables]
    if any(table.history for table in feed.tables.values()):
        # Versions are written first of all.
        yield [lake.path(Layer.GOLD, feed.name, name) for some in layers for name in some]
    yield [lake.path(Layer.GOLD, feed.name, name) for name, _ in layers]


@pytest.mark.parametrize("is_spark", [True, False], ids=["by Spark", "in-process"])
@pytest.mark.parametrize("kind", model_histories.KINDS)
def test_gold_is_what_the_oracle_says_after_every_run(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    kind: str,
    *,
    is_spark: bool,
) -> None:
    """Laws 1 to 8: any order of runs, repeats of events and of runs, crashes between commits, compaction, one pass."""
    landing = tmp_path / "landing"
    # The fold in this process is tested over ten thousand histories in tests/laws/gold; here it works on real tables.
    histories = HISTORIES if is_spark else max(1, HISTORIES // 3)
    drawn = world(kind, landing, histories, KEEP_DELETED if is_spark else KEEP_IN_PROCESS)
    feed = drawn.feed
    deliveries = sum(len(some) for of in drawn.delivered.values() for some in of.values())
    where = "by Spark" if is_spark else "in-process"
    label = f"{kind}: {histories:,} histories from seed {SEED}, {deliveries:,} deliveries, {where}"
    record_property("laws", label)
    executor = SPARK if is_spark else IN_PROCESS
    lake = lake_of(str(tmp_path / "grown")).by(executor)
    chance = Random(f"runs {kind} {where} {SEED}")
    order = chance.sample(WINDOWS, len(WINDOWS))
    torn, last = sorted(order[:2]), sorted(order[2:])
    made = ends_early(monkeypatch, lake, feed, order, chance)
    to_gold(lake, feed, torn)
    agrees(lake, drawn, made, torn, {*order[:3]}, None)
    compacted: Compacted | None = None
    if kind not in KEEP_HISTORY:
        compact(lake, feed, COMPACTION_WATERMARK)
        compacted = Compacted.of(COMPACTION_WATERMARK, drawn.of_windows(order[:3]))
    # The last run repeats a window that an earlier one had.
    made = run(lake, feed, last)
    agrees(lake, drawn, made, last, {*WINDOWS}, compacted)

    # What is in gold comes once more: nothing of it is late, and there is nothing to write.
    before = commits(lake, feed)
    for one in apply.apply_tables(lake, feed, [*feed.tables.values()], WINDOWS):
        assert (one.table.name, one.done.metrics.keys, one.done.metrics.keys_with_late_events) == (
            one.table.name,
            0,
            0,
        )
    assert commits(lake, feed) == before

    if kind == WITH_HISTORY:
        arrived = drawn.by_case(WITH_HISTORY, compacted)
        some = {case: arrived[case] for case in sorted(arrived)[::EVERY]}
        versions = versions_by_case(lake, feed, WITH_HISTORY)
        compared = assert_same_at_every_position(versions, some, model_histories.TABLES[kind])
        record_property("laws", f"{kind}: history as of {compared:,} positions")

    rebuilt = lake_of(str(tmp_path / "rebuilt")).by(executor)
    run(rebuilt, feed, WINDOWS)
    for name in feed.tables:
        whole = drawn.expected(name, WINDOWS)
        assert_same(found(rebuilt, feed, name), whole, f"{name} in one pass")


def commits(lake: Lake, feed: Feed) -> dict[str, int]:
    """The number of the newest commit of each table of gold, of its tombstones and its versions."""
    return {
        one.name: DeltaTable(one).version()
        for one in Path(lake.path(Layer.GOLD, feed.name)).iterdir()
    }


def agrees(
    lake: Lake,
    drawn: World,
    made: derive.Derived,
    windows: list[str],
    read: set[str],
    compacted: Compacted | None,
) -> None:
    """Gold is what the oracle makes of all windows that were read; every event of those of the run is counted."""
    accounts_for_every_event(drawn, made, windows, compacted)
    for name in drawn.feed.tables:
        assert_same(
            found(lake, drawn.feed, name),
            drawn.expected(name, sorted(read), compacted),
            f"{name} after {windows}",
        )


def accounts_for_every_event(
    drawn: World, made: derive.Derived, windows: list[str], compacted: Compacted | None
) -> None:
    """Law 3: per window, source events = changes + control + duplicates + too late, counted here by hand."""
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_quarantined"] == 0
    for window in windows:
        arrived = [event for event in drawn.of_windows([window]) if not event.derived]
        distinct = {event_id(event): event for event in arrived}.values()
        control = sum(event.is_control for event in distinct)
        late = known = 0
        if compacted is not None:
            late = sum(compacted.is_too_late(event) for event in distinct)
            known = sum(compacted.is_known(event) for event in distinct)
        accounts = [account for account in made.accounts if account["window"] == window]
        assert sum(account["events"] for account in accounts) == len(arrived)
        assert sum(account["control"] for account in accounts) == control
        assert sum(account["too_late"] for account in accounts) == late
        assert (
            sum(account["changes"] for account in accounts)
            == len(distinct) - control - late - known
        )
        assert (
            sum(account["duplicates"] for account in accounts)
            == len(arrived) - len(distinct) + known
        )
