"""What snapshots and truncates may remove, and what waits until somebody has looked at it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.control import decisions
from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold import apply
from assets.gold.checks import samples_of, violations_of
from assets.gold.fold import Applied
from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.maintenance import plan as compaction_plans
from assets.maintenance.compaction import Compacted
from assets.maintenance.history_by_spark import HistoryBySpark
from assets.maintenance.history_in_process import HistoryInProcess
from assets.picked_ids import PickedIds
from assets.storage.lake import Lake, Layer
from expectations.gold import NO_LOSS_IS_HELD, SNAPSHOTS_NAME_EVERY_ROW
from orchestration.cli import release
from orchestration.cli.answer import CommandAnswer
from orchestration.resources import lake_of
from tests.support.pet_feed import applied, lay
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.decisions import Release
from transforms.feed.feed import Feed, LossGuard, Retention, Table

ITEM = Table("item", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def event(op: str, offset: int, lsn: int, key: int | None = None, flag: str = "false") -> str:
    """A line of a dump of one of Postgres's topics."""
    after = None if key is None else {"id": key, "name": f"n{key}"}
    source = {"connector": "postgresql", "table": "item", "snapshot": flag, "lsn": lsn}
    value = {"op": op, "before": None, "after": after, "source": source, "ts_ms": 1}
    record = {"topic": "item", "partition": 0, "offset": offset, "value": value}
    return json.dumps({**record, "key": {"id": key}})


def snapshot(offset: int, lsn: int, keys: Iterable[int], *, is_whole: bool = True) -> list[str]:
    """A snapshot of these rows; one that is not whole has no last mark."""
    rows = [*keys]
    flags = ["first", *["true"] * (len(rows) - 2), "last" if is_whole else "true"]
    return [event("r", offset + at, lsn, key, flags[at]) for at, key in enumerate(rows)]


class Shop:
    """A feed of one table, brought on window by window."""

    def __init__(self, lake: Lake, folder: Path, rows: int) -> None:
        self.lake, self.folder = lake, folder
        guard = LossGuard(rows=rows)
        self.feed = Feed(
            *("shop", "debezium", str(folder)), tables={"item": ITEM}, loss_guard=guard
        )

    def bring(self, hour: int, lines: list[str]) -> Applied:
        """Land these lines in a window, and run it."""
        window = f"2026-11-20T{hour:02}"
        lay(self.folder, f"2026-11-20/{hour:02}/item.jsonl", "\n".join([*lines, ""]).encode())
        return self.run([window])

    def run(self, windows: list[str]) -> Applied:
        return applied(self.lake, self.feed, windows)

    def release(self, text: str) -> Applied:
        """Let what waits act, as ``weir release`` does, and run the windows that are due again."""
        (held,) = release.held_by_gold(self.lake, self.feed)
        assert held.event_id.startswith(text)
        decisions.release(
            self.lake, self.feed, Release(held.event_id, held.windows), NOW, "looked at"
        )
        return self.run([*held.windows])

    def compact(self) -> Compacted:
        """Compact the table as far as that is allowed."""
        plan = plan_of(self.lake, self.feed, ITEM, "item", [])
        return compaction.with_history(self.lake, plan, None, dry_run=False)

    @property
    def keys(self) -> list[int]:
        stored = self.lake.in_process_table(Layer.GOLD, self.feed.name, "item")
        return sorted(row["id"] for row in stored.rows(["id"]))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)


def shown(done: Applied) -> str:
    return samples_of(done)[NO_LOSS_IS_HELD.name]


def test_a_snapshot_that_is_not_proved_removes_nothing_until_it_is_released(
    lake: Lake, tmp_path: Path
) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=100)
    assert not shop.bring(1, snapshot(0, 100, range(5))).held
    done = shop.bring(2, snapshot(10, 200, [0, 1, 2], is_whole=False))
    assert violations_of(done)[NO_LOSS_IS_HELD.name] == 1
    assert "gold has 2 rows that it does not name (key 3; 4)" in shown(done)
    assert shop.keys == [0, 1, 2, 3, 4]
    # It goes on waiting while other windows are brought, until somebody lets it act.
    assert len(shop.bring(3, [event("u", 20, 300, 1)]).held) == 1
    text = done.held[0].partition("weir release shop ")[2].partition("`")[0]
    assert not shop.release(text).held
    assert shop.keys == [0, 1, 2]


def test_spark_removes_what_a_snapshot_does_not_name_and_holds_what_is_not_proved(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(lake_of(str(tmp_path / "warehouse")).by(SPARK), tmp_path / "landing", rows=5)
    shop.bring(1, snapshot(0, 100, range(10)))
    assert not shop.bring(2, snapshot(20, 200, range(7))).held
    assert shop.keys == [*range(7)]
    done = shop.bring(3, snapshot(40, 300, range(4), is_whole=False))
    assert "gold has 3 rows that it does not name (key 4; 5; 6)" in shown(done)
    done = shop.bring(4, snapshot(60, 400, [0, 1]))
    # Seven rows are left; those that Spark has only marked as deleted do not count.
    assert any("would remove 5 rows" in line for line in done.held)
    assert shop.keys == [*range(7)]


def test_a_snapshot_that_becomes_whole_acts_by_itself(lake: Lake, tmp_path: Path) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=100)
    shop.bring(1, snapshot(0, 100, range(5)))
    rows = snapshot(10, 200, [0, 1, 2])
    assert shop.bring(2, rows[:2]).held
    done = shop.bring(3, rows[2:])
    assert (done.held, shop.keys) == ((), [0, 1, 2])
    assert release.held_by_gold(lake, shop.feed) == []


@pytest.mark.parametrize(("rows", "is_whole"), [(100, False), (3, True)])
def test_compaction_goes_no_further_than_what_waits_which_then_acts(
    lake: Lake, tmp_path: Path, rows: int, is_whole: bool
) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=rows)
    shop.feed = replace(shop.feed, retention=Retention(kept=timedelta(hours=1)))
    shop.bring(1, snapshot(0, 100, range(7)))
    text = shop.bring(2, snapshot(10, 200, [0, 1, 2], is_whole=is_whole)).held[0]
    for hour in (3, 4):
        shop.bring(hour, [event("u", 20 + hour, 300 + hour, 1)])
    done = shop.compact()
    assert done.plan.new == CompactionWatermark((0, 1, 100, 0, 0))
    assert "a held delete" in done.plan.held_back_by[-1]
    assert not shop.release(text.partition("weir release shop ")[2].partition("`")[0]).held
    assert shop.keys == [0, 1, 2]
    assert shop.compact().plan.new == CompactionWatermark((0, 1, 303, 1, 303))


def test_what_would_remove_most_of_a_table_waits(lake: Lake, tmp_path: Path) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=3)
    shop.bring(1, snapshot(0, 100, range(10)))
    done = shop.bring(2, snapshot(20, 200, [0, 1, 2]))
    assert "would remove 7 rows; to let it act: `weir release shop " in shown(done)
    assert shop.keys == [*range(10)]
    # Half of the rows, and less than three of them, may go.
    other = Shop(lake, tmp_path / "other", rows=8)
    other.feed = replace(other.feed, name="other")
    other.bring(1, snapshot(0, 100, range(10)))
    assert not other.bring(2, snapshot(20, 200, [0, 1, 2])).held
    assert other.keys == [0, 1, 2]
    text = done.held[0].partition("weir release shop ")[2].partition("`")[0]
    assert not shop.release(text).held
    assert shop.keys == [0, 1, 2]


def test_a_truncate_waits_too_and_a_rebuild_leaves_it_out(lake: Lake, tmp_path: Path) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=3)
    shop.bring(1, snapshot(0, 100, range(10)))
    done = shop.bring(2, [event("t", 20, 200), event("c", 21, 201, 11)])
    assert "truncate (2026-11-20/02/item.jsonl line 1) would remove 10 rows" in shown(done)
    assert shop.keys == [*range(10), 11]
    windows = ["2026-11-20T01", "2026-11-20T02"]
    apply.apply(lake, shop.feed, ITEM, windows, full_rebuild=True)
    assert shop.keys == [*range(10), 11]
    text = done.held[0].partition("weir release shop ")[2].partition("`")[0]
    assert not shop.release(text).held
    assert shop.keys == [11]


@pytest.mark.parametrize("history", [HistoryInProcess, HistoryBySpark])
def test_what_is_kept_never_acts_and_compaction_waits_for_the_decision(
    lake: Lake,
    spark: SparkSession,
    tmp_path: Path,
    history: type[HistoryBySpark] | type[HistoryInProcess],
) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=3)
    shop.feed = replace(shop.feed, retention=Retention(kept=timedelta(hours=1)))
    shop.bring(1, snapshot(0, 100, range(10)))
    shop.bring(2, [event("t", 20, 200), event("c", 21, 201, 11)])
    shop.bring(3, [event("u", 22, 301, 1)])
    assert shop.bring(6, [event("u", 23, 401, 1)]).held

    def planned() -> compaction_plans.CompactionPlan:
        known = decisions.with_recorded(lake, shop.feed)
        plan = plan_of(lake, known, ITEM, "item", [])
        return compaction_plans.planned(lake, history.of(lake, plan))

    before = planned()
    (held,) = release.held_by_gold(lake, shop.feed)
    release.keep(
        lake, shop.feed, PickedIds((held.event_id[:6],)), [held], CommandAnswer(as_json=True)
    )
    assert release.held_by_gold(lake, shop.feed) == []
    after = planned()
    assert [one.new and one.new.log_position[2] for one in (before, after)] == [100, 301]
    assert before.held_back_by[-1].startswith("a held delete at position 0/1/200/")
    assert len(after.held_back_by) == len(before.held_back_by) - 1
    assert not shop.run(["2026-11-20T02"]).held
    windows = [f"2026-11-20T{hour:02}" for hour in (1, 2, 3, 6)]
    apply.apply(lake, shop.feed, ITEM, windows, full_rebuild=True)
    assert shop.keys == [*range(10), 11]


def chunk(offset: int, commit: int, keys: Iterable[int]) -> list[str]:
    """A piece of an incremental snapshot, which was sent behind a commit."""
    rows = []
    for at, key in enumerate(keys):
        one = json.loads(event("r", offset + at, 0, key, "incremental"))
        one["value"]["source"] |= {"lsn": None, "sequence": json.dumps([str(commit), None])}
        rows.append(json.dumps(one))
    return rows


def unnamed(done: Applied) -> tuple[int, str]:
    rule = SNAPSHOTS_NAME_EVERY_ROW.name
    return violations_of(done)[rule], samples_of(done)[rule]


def test_what_an_incremental_snapshot_does_not_name_is_told_and_stays(
    lake: Lake, tmp_path: Path
) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=100)
    assert unnamed(shop.bring(1, snapshot(0, 100, range(6))))[0] == 0
    assert unnamed(shop.bring(2, [event("u", 10, 150, 5)]))[0] == 0
    done = shop.bring(3, [*chunk(20, 200, [0, 1]), event("u", 22, 210, 4)])
    line = "- `gold.shop.item: 3 rows from before the incremental snapshot in 2026-11-20T03, and not in it"
    # The row that the stream has changed since is there.
    assert unnamed(done) == (1, f"{line} (key 2; 3; 5)`")
    done = shop.bring(4, chunk(23, 220, [2, 5]))
    line = line.replace("3 rows", "1 row").replace("T03", "T03 .. 2026-11-20T04")
    assert unnamed(done) == (1, f"{line} (key 3)`")
    assert shop.keys == [*range(6)]
    # It is told by the runs that bring it. A later one begins anew.
    assert unnamed(shop.bring(5, [event("u", 30, 300, 1)]))[0] == 0
    assert unnamed(shop.bring(6, chunk(31, 400, range(6))))[0] == 0


def test_spark_tells_what_an_incremental_snapshot_does_not_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(lake_of(str(tmp_path / "warehouse")).by(SPARK), tmp_path / "landing", rows=5)
    # What nothing is older than has nothing that could be missing.
    assert unnamed(shop.bring(1, chunk(0, 100, range(4))))[0] == 0
    assert unnamed(shop.bring(2, [event("u", 9, 150, 1)]))[0] == 0
    assert "1 row from" in unnamed(shop.bring(3, chunk(10, 200, range(3))))[1]


def test_a_first_snapshot_removes_nothing_and_tells_of_nothing(lake: Lake, tmp_path: Path) -> None:
    shop = Shop(lake, tmp_path / "landing", rows=1)
    done = shop.bring(1, [*snapshot(0, 100, range(5)), event("d", 9, 150, 4)])
    assert (done.held, done.tables[0].range_deletes) == ((), ())
