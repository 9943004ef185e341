"""Law 9: a snapshot that is proved complete heals, in whatever order and windows its rows and the stream arrive.

Each history is a table of a source: changes, changes that were lost, and snapshots of every kind anywhere. Where the
last full snapshot is whole, gold is what the source has, rows that vanished included. Where a record of it is missing,
what it names is right, and nothing vanishes by it. Some tables are compacted between runs. Stages and commits are the
product's, in this process. For each kind of source a hundredth of ``WEIR_LAW_HISTORIES`` is drawn, from
``WEIR_LAW_SEED`` on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.control import progress
from assets.executors.choice import IN_PROCESS
from assets.gold import apply
from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from expectations.silver import POSITION_RISES_WITH_SOURCE_TIME
from orchestration.resources import lake_of
from tests.laws.snapshots.source import History, Source, drawn
from tests.laws.snapshots.sources import (
    MariaDb,
    MariaDbNegative,
    MySql,
    Postgres,
    SqlServer,
    Unwrapped,
    Yugabyte,
)
from tests.support.pet_feed import lay
from transforms.errors import CompactionRefused
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import Feed, LossGuard, Retention, Table

TABLES = 10


def histories_of(histories: int) -> int:
    """How many histories of a kind are drawn where the laws of gold draw so many of each kind."""
    return max(1, histories // 100 // TABLES) * TABLES


BLOCKS = histories_of(int(os.environ.get("WEIR_LAW_HISTORIES", "10000"))) // TABLES
SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
WINDOWS = ("2026-11-20T01", "2026-11-20T02", "2026-11-20T03")
SOURCES: Mapping[str, type[Source]] = {
    "postgres": Postgres,
    "mysql": MySql,
    "mariadb": MariaDb,
    "mariadb_negative": MariaDbNegative,
    "sql_server": SqlServer,
    "yugabyte": Yugabyte,
    "unwrapped": Unwrapped,
}
WITH_LOGS = [name for name in SOURCES if name != "unwrapped"]
"""The sources whose messages stand in a log, which may begin again; where a topic does is told elsewhere."""
COLUMNS = {"id": "int", "name": "string"}


@dataclass(frozen=True, slots=True)
class World:
    """The histories of some tables in one landing.

    ``in_order``: those that each window has a part of, in order. ``is_compacted``: whether tables are compacted between
    runs, those of most histories as soon as a window is old enough.
    """

    histories: Mapping[str, History]
    in_order: frozenset[str]
    is_compacted: bool
    feed: Feed


def history_of(kind: type[Source], rng: Random) -> History:
    """A history of which all is delivered, or all but one row of one of its last snapshots."""
    source = drawn(kind, rng)
    taken = rng.choice(source.snapshots[-2:]).messages
    is_part = taken and rng.random() < 0.4
    return History.of(source, frozenset({rng.choice(taken).offset} if is_part else ()))


def world(kind: type[Source], folder: Path, rng: Random) -> World:
    histories = {f"t{number}": history_of(kind, rng) for number in range(TABLES)}
    tables = {
        # In every other table deleted rows stay.
        name: Table(name, ("id",), COLUMNS, tuple(COLUMNS), deletes=("remove", "mark")[at % 2])
        for at, name in enumerate(histories)
    }
    feed = Feed(
        *("heals", kind.format, str(folder)),
        tables=tables,
        # What the guard on loss lets pass is another matter.
        loss_guard=LossGuard(share=1.0),
        retention=Retention(kept=timedelta(hours=1)),
    )
    is_compacted = rng.random() < 0.3
    in_order = frozenset(
        name for name in histories if rng.random() < (0.9 if is_compacted else 0.4)
    )
    for table, history in histories.items():
        deliver(folder, table, history, rng, is_in_order=table in in_order)
    return World(histories, in_order, is_compacted, feed)


def deliver(folder: Path, table: str, history: History, rng: Random, *, is_in_order: bool) -> None:
    """Every message in some window, or as a topic has them, each window a part; some of them twice, in any order."""
    lines: dict[str, list[str]] = {window: [] for window in WINDOWS}
    ends = parts(history.source, rng)
    for offset, line in history.lines(table).items():
        windows = WINDOWS[sum(offset >= end for end in ends) :]
        if is_in_order:
            lines[windows[0]].append(line)
        for _ in range(rng.choice([0, 0, 0, 1]) + (not is_in_order)):
            lines[rng.choice(windows if is_in_order else WINDOWS)].append(line)
    for window, some in lines.items():
        rng.shuffle(some)
        lay(folder, object_of(window, table), "".join(one + "\n" for one in some).encode())


def parts(source: Source, rng: Random) -> list[int]:
    """The offsets with which the second and the third window begin: often within the last snapshot.

    A transaction and a chunk of rows stand at one point, and compaction takes that for decided once it has been there:
    no window ends within one. A full snapshot may go on in the next.
    """
    last, anywhere = source.snapshots[-1].messages, rng.randint(0, len(source.messages))
    begin = last[0].offset if last else 0
    within = [rng.randint(begin, begin + len(last)) for _ in range(2)]
    begins = [one.offset for one in source.messages if not one.goes_on]
    ends = rng.choice(
        [[begin, within[0]], within, within, [anywhere, within[1]], [anywhere, begin]]
    )
    return sorted(max((one for one in begins if one <= end), default=0) for end in ends)


def object_of(window: str, name: str) -> str:
    """An object of the landing."""
    return f"{window.replace('T', '/')}/{name}.jsonl"


def run(lake: Lake, feed: Feed, windows: Sequence[str]) -> bool:
    """Bring these windows to gold; False where a check stops them before it."""
    from_objects.land(lake, feed, windows)
    made = derive.derive(lake, feed, windows)
    if made.violations[POSITION_RISES_WITH_SOURCE_TIME.name]:
        return False
    apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)
    return True


def compact(lake: Lake, feed: Feed, names: frozenset[str]) -> None:
    """Compact some tables as far as their feed allows."""
    for name in sorted(names):
        plan = plan_of(lake, feed, feed.tables[name], name, [])
        try:
            compaction.with_history(lake, plan, None, dry_run=False)
        except CompactionRefused as refused:
            # A fold of the whole history is not what the runs have made.
            raise AssertionError(f"{name}: {refused}") from None


def gold_of(lake: Lake, feed: Feed, table: str) -> dict[int, Any]:
    """The rows that are not marked as deleted."""
    stored = lake.in_process_table(Layer.GOLD, feed.name, table)
    return {row["id"]: row["name"] for row in stored.rows() if not row.get("_weir_is_deleted")}


def assert_deleted_rows_stay(lake: Lake, feed: Feed, table: str, history: History) -> None:
    """Every key that was ever told of has a row, and one that is marked has a value that its key has had."""
    values: dict[int, set[str | None]] = {}
    for one in history.source.messages:
        if one.offset not in history.missing:
            values.setdefault(one.change.key, {None}).add(one.change.name)
    rows = lake.in_process_table(Layer.GOLD, feed.name, table).rows()
    assert {row["id"] for row in rows} == values.keys()
    assert all(row["name"] in values[row["id"]] for row in rows if row["_weir_is_deleted"])


@pytest.mark.parametrize("kind", SOURCES)
def test_a_snapshot_heals_whatever_the_order_the_repeats_and_the_windows(
    kind: str, tmp_path: Path
) -> None:
    for block in range(BLOCKS):
        rng = Random(f"snapshots {kind} {SEED + block}")
        place = tmp_path / str(block)
        drawn_world = world(SOURCES[kind], place / "landing", rng)
        lake = lake_of(str(place / "warehouse")).by(IN_PROCESS)
        bring(drawn_world, lake, rng)
        for name, history in drawn_world.histories.items():
            gold = gold_of(lake, drawn_world.feed, name)
            assert gold == history.expected, f"block {SEED + block}, table {name}"
            if drawn_world.feed.tables[name].marks_deletes:
                assert_deleted_rows_stay(lake, drawn_world.feed, name, history)
        shutil.rmtree(place)


def bring(drawn_world: World, lake: Lake, rng: Random) -> None:
    """Bring all windows to gold in some runs, and one of them again; in some blocks with compaction in between."""
    feed, order = drawn_world.feed, [*WINDOWS]
    if not drawn_world.is_compacted or rng.random() < 0.1:
        rng.shuffle(order)
    runs = [order] if rng.random() < 0.1 else [[one] for one in order]
    for number, windows in enumerate([*runs, [rng.choice(order)]]):
        # Neither what comes late nor what comes again looks like a log that has begun again.
        assert run(lake, feed, windows), f"a check stops {windows}"
        is_all = number >= len(runs) - 1
        if drawn_world.is_compacted and (is_all or order == [*WINDOWS]):
            # What has not come by then would come too late.
            compact(lake, feed, frozenset(feed.tables) if is_all else drawn_world.in_order)


@pytest.mark.parametrize("kind", WITH_LOGS)
def test_a_log_that_begins_again_stops_gold_until_its_epoch_is_opened(
    kind: str, tmp_path: Path
) -> None:
    for number in range(BLOCKS):
        rng = Random(f"begins again {kind} {SEED + number}")
        place = tmp_path / str(number)
        source, begun, epoch = begun_again(SOURCES[kind], rng)
        # Files tell a log that begins again although the last changes of before are in the same window.
        end = rng.choice(ends(source, begun)) if issubclass(SOURCES[kind], MySql) else begun
        before = History.of(source, frozenset(range(end, len(source.messages))))
        since = History.of(source, frozenset(range(begun)))
        for offset, line in History(source).lines("t").items():
            lay(place / "landing", object_of(WINDOWS[offset >= end], str(offset)), line.encode())
        table = Table("t", ("id",), COLUMNS, tuple(COLUMNS))
        feed = Feed("again", source.format, str(place / "landing"), tables={"t": table})
        lake = lake_of(str(place / "warehouse")).by(IN_PROCESS)
        assert run(lake, feed, [WINDOWS[0]])
        assert not run(lake, feed, [WINDOWS[1]]), f"history {SEED + number} goes on"
        assert gold_of(lake, feed, "t") == before.expected
        feed = replace(feed, decisions=Decisions(epochs=(epoch,)))
        assert run(lake, feed, [WINDOWS[1]]), f"history {SEED + number} stands still"
        assert gold_of(lake, feed, "t") == since.expected, f"history {SEED + number}"


def ends(source: Source, begun: int) -> list[int]:
    """Where a window may end before a log begins again: not where a part has been sent again and the rest has not."""
    newest: tuple[int, ...] = (0,)
    found = []
    for offset, message in enumerate(source.messages[:begun]):
        newest = max(newest, message.point)
        if message.point == newest:
            found.append(offset + 1)
    return found


def begun_again(kind: type[Source], rng: Random) -> tuple[Source, int, Epoch]:
    """A source whose log begins again, with a snapshot; the offset from which on it does, and the epoch to open."""
    source = drawn(kind, rng)
    source.live_on()
    source.moment += 1
    begun = len(source.messages)
    source.restart()
    time = datetime.fromtimestamp(source.now_ms / 1000, UTC)
    source.snapshot("initial")
    source.live(rng.randint(3, 15))
    source.live_on()
    return source, begun, Epoch(WINDOWS[1], "t", time, complete=True)
