"""A hundred keys that need their history, over more and more days of silver; and a hundred that need none.

The source sends updates of some columns only, so that a late one counts wherever no newer one mentions its columns:
gold does not know these, and the key is folded again from silver. There is no competitor, for no textbook does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.gold import apply
from assets.storage.lake import Lake, Layer
from bench.lines.bringing import bring
from bench.made import base, drops, row, silver_changes
from bench.made.changes import LATE_LOG, SCATTER, Change
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from transforms.feed.feed import Feed

TABLE = row.table("item")

DAYS = (1, 10, 30)
KEYS = 100
NAMED = ("id", "quantity", "note")
"""The columns that an update of any day has."""
LATE_NAMED = ("id", "city")
"""The columns of a late update: no newer update has ``city``, so that gold has to change."""

LATE_WINDOW, NEW_WINDOW = "2025-12-30T00", "2025-12-30T01"
_FIRST_DAY, _FIRST_LOG = date(2025, 11, 20), 10


def lines_of_late_events(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """Two lines for every number of days: late changes, and new ones."""
    feed = Feed("bench", "arcion_s3_json", str(work.folder / "late"), tables={TABLE.name: TABLE})
    _lay(work, sizes)
    for days in DAYS:
        lake = work.lake(f"days_{days}")
        say(f"writing {days} days of {_a_day(sizes):,} changes each, of {sizes.rows:,} rows")
        write(lake, feed, days, sizes)
        bring(lake, feed, [LATE_WINDOW, NEW_WINDOW])
        for name, window in (("late", LATE_WINDOW), ("new", NEW_WINDOW)):
            applied = _applies(work, f"days_{days}", feed, window)
            title = f"{KEYS} {name} keys over {days} days of silver"
            yield Line(title, _a_day(sizes) * days, "changes in silver", {"weir": applied})


def write(lake: Lake, feed: Feed, days: int, sizes: Sizes) -> None:
    """Silver of a snapshot and of so many days, each a window, and the gold table that Weir makes of them."""
    windows = {drops.SNAPSHOT_WINDOW: silver_changes.snapshot(lake.spark, TABLE, sizes.rows)}
    windows |= {
        f"{_FIRST_DAY + timedelta(days=day)}T00": _updates(lake, sizes, day) for day in range(days)
    }
    for window, changes in windows.items():
        silver = silver_changes.shaped(changes, feed, window)
        lake.table(Layer.SILVER, feed.name).append(silver, partition_by=["window"])
    counts = dict.fromkeys(windows, _a_day(sizes))
    counts[drops.SNAPSHOT_WINDOW] = sizes.rows + sizes.rows // 100
    base.write_accounts(lake, feed, TABLE, counts)
    apply.apply(lake, feed, TABLE, [*windows], full_rebuild=True)


def _updates(lake: Lake, sizes: Sizes, day: int) -> DataFrame:
    """One row per update of a day: of keys that lie scattered, other ones each day."""
    first = day * _a_day(sizes)
    numbers = silver_changes.all_keys(lake.spark, first, first + _a_day(sizes))
    log_position = (F.lit(0), F.lit(1), F.lit(_FIRST_LOG + day), F.col("number"), F.lit(1))
    texts = row.text_columns()
    pairs = [part for name in NAMED for part in (F.lit(name), texts[name])]
    return (
        numbers.withColumnRenamed("id", "number")
        .withColumn("id", F.col("number") * SCATTER % sizes.rows)
        .withColumn("version", F.lit(2 + day))
        .withColumn("operation", F.lit("update"))
        .withColumn("effect", F.lit("update"))
        .withColumn("log_position", F.array(*log_position).cast("array<bigint>"))
        .withColumn("before", silver_changes.no_texts())
        .withColumn("after", F.create_map(*pairs))
        .withColumn("event_at", F.timestamp_seconds(F.lit(drops.STARTED)))
        .transform(lambda changes: silver_changes.identified(changes, TABLE))
    )


def _lay(work: Workspace, sizes: Sizes) -> None:
    """Two windows of a hundred updates, of keys that the first day has changed: one before all days, one after them."""
    numbers = range(0, _a_day(sizes), _a_day(sizes) // KEYS)
    keys = [number * SCATTER % sizes.rows for number in numbers]
    for window, log, named in (
        (LATE_WINDOW, LATE_LOG, LATE_NAMED),
        (NEW_WINDOW, _FIRST_LOG + 100, NAMED),
    ):
        updates = [
            Change("update", id, log, 100 * number, 0, 1_000 + number)
            for number, id in enumerate(keys[:KEYS])
        ]
        drops.lay(work.folder / "late", TABLE.name, updates, window, named)


def _applies(work: Workspace, like: str, feed: Feed, window: str) -> Callable[[], Prepared]:
    def prepare() -> Prepared:
        lake = work.fresh(like)
        return lambda: apply.apply(lake, feed, TABLE, [window])

    return prepare


def _a_day(sizes: Sizes) -> int:
    """How many keys change in a day: a tenth of all."""
    return max(KEYS, sizes.rows // 10)
