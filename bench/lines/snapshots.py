"""A second snapshot of a table, beside as many changes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from assets.control import progress
from assets.gold import apply as apply_feed
from assets.storage.lake import Lake
from bench.aims import AS_MANY_CHANGES
from bench.lines.appliers import restored
from bench.lines.bringing import bring
from bench.made import drops, row
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from transforms.feed.feed import Feed, Table

MOST_ROWS: Final = 1_000_000
ONE_IN_GONE: Final = 100
"""Every so many rows are not in the second snapshot."""

COLUMNS: Final = ("id", "code", "name", "city", "note")
TABLE: Final = Table("item", ("id",), {name: row.COLUMNS[name] for name in COLUMNS}, COLUMNS)
FIRST, AGAIN, CHANGES = drops.SNAPSHOT_WINDOW, drops.BASE_WINDOW, drops.WINDOW
"""The windows of the first snapshot, of the second one, and of the changes that it is compared with."""


def line_of_snapshots(work: Workspace, sizes: Sizes) -> Line:
    """A complete snapshot into a table that has all its rows already, and as many updates of the same table."""
    rows = min(sizes.rows, MOST_ROWS)
    landing = work.folder / "snapshot_landing"
    say(f"writing two snapshots of {rows:,} rows, and as many changes")
    _lay(landing, FIRST, _snapshot(0, 100, range(rows), version=0))
    still = [number for number in range(rows) if number % ONE_IN_GONE]
    _lay(landing, AGAIN, _snapshot(rows, 1_000, still, version=1))
    _lay(landing, CHANGES, _updates(2 * rows, 10_000, range(rows), version=1))
    feed = Feed("snapshots", "debezium", str(landing), tables={TABLE.name: TABLE})
    lake = work.lake("snapshots")
    for window in (FIRST, AGAIN, CHANGES):
        bring(lake, feed, [window])
        if window == FIRST:
            apply_feed.apply_tables(lake, feed, [TABLE], [FIRST])
            progress.finish(lake, feed, [FIRST])

    def applied(window: str) -> Callable[[], Prepared]:
        def apply(lake: Lake) -> object:
            return apply_feed.apply_tables(lake, feed, [TABLE], [window])

        return restored(work, "snapshots", apply)

    competitors = {"weir": applied(AGAIN), AS_MANY_CHANGES: applied(CHANGES)}
    return Line("a second snapshot", rows, "rows", competitors)


def _snapshot(offset: int, lsn: int, keys: Iterable[int], version: int) -> Iterator[str]:
    """All rows that a snapshot read at a place of Postgres's log, the first and the last of them marked."""
    known = [*keys]
    for at, key in enumerate(known):
        flag = "first" if at == 0 else "last" if at == len(known) - 1 else "true"
        yield _record("r", offset + at, lsn, (key, version), flag)


def _updates(offset: int, lsn: int, keys: Iterable[int], version: int) -> Iterator[str]:
    for at, key in enumerate(keys):
        yield _record("u", offset + at, lsn + at, (key, version))


def _record(op: str, offset: int, lsn: int, of: tuple[int, int], flag: str = "false") -> str:
    """A line of a dump of the topic; ``of``: the key, and the version of the row."""
    key, version = of
    texts = row.texts(key, version)
    after = {"id": key, **{name: texts[name] for name in COLUMNS[1:]}}
    source = {"connector": "postgresql", "table": TABLE.name, "snapshot": flag, "lsn": lsn}
    value = {
        "op": op,
        "before": None,
        "after": after,
        "source": source,
        "ts_ms": 1000 * drops.STARTED,
    }
    record = {"topic": TABLE.name, "partition": 0, "offset": offset, "key": {"id": key}}
    return json.dumps({**record, "value": value})


def _lay(landing: Path, window: str, records: Iterator[str]) -> None:
    drops.write_objects(
        landing / window.replace("T", "/") / TABLE.name, records, drops.RECORDS_PER_OBJECT
    )
