"""Bronze's records shuffled into other windows, some of them twice, so that gold can be made of them in another order.

Small bronze is shuffled in this process, where Spark would take seconds. Put here what a proof reads instead of bronze.
Not here: making gold of it (``verify``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, Observation
from pyspark.sql import functions as F

from assets.bookkeeping import ledger
from assets.bookkeeping.transactions import landed_objects
from assets.columns.bronze import BRONZE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from assets.silver.bronze_files import BronzeFiles
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import OBJECT, SOURCE_LOCATION

PARTS = {
    "hour": ("1970-01-01T00", "1970-01-01T01", "1970-01-01T02", "1970-01-01T03"),
    "day": ("1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"),
}
"""The windows that records are shuffled into, by the feed's size of window."""

RUNS = 2
"""In so many runs the windows are brought to gold, and the first run is repeated; more would take too long."""

REPEATED = 0.1
"""The share of records that are delivered twice."""


@dataclass(frozen=True, slots=True)
class Shuffled:
    """What a shuffle wrote: how many records, how many of them twice, and the windows of each run that is to follow.

    ``in_own_windows``: records kept their windows, and only their order is another.
    """

    records: int
    repeated: int
    runs: tuple[tuple[str, ...], ...]
    in_own_windows: bool


def shuffle(lake: Lake, scratch: Lake, feed: Feed, seed: int) -> Shuffled:
    """Write bronze's records into the scratch warehouse, in other windows, some of them twice, by a random ``seed``.

    Where the feed has epochs or columns with a ``since``, records keep their windows, for these begin with one; their
    order is another. Where a record means nothing without the others of its object, objects stay whole. A partition of
    a topic is in many windows; where its records mean nothing alone, they keep their windows, too.
    """
    whole = FORMATS[feed.format].needs_whole_objects
    keep = (
        bool(feed.decisions.epochs)
        or any(table.since for table in feed.tables.values())
        or (whole and feed.landing.startswith("kafka://"))
    )
    named = OBJECT if whole else SOURCE_LOCATION
    parts = () if keep else PARTS[feed.window]
    files = BronzeFiles.of(
        lake, feed, sorted(lake.in_process_table(Layer.BRONZE, feed.name).windows)
    )
    if _fits(lake, files):
        shuffled = _here(files, seed, named, parts)
        scratch.in_process_table(Layer.BRONZE, feed.name).append(shuffled.rows, ["window"])
        kept, copies = shuffled.kept, shuffled.rows.num_rows
    else:
        kept, copies = _by_spark(lake, scratch, feed, seed, (named, parts))
    made = sorted(scratch.in_process_table(Layer.BRONZE, feed.name).windows)
    if FORMATS[feed.format].transactional:
        held = ledger.read_objects(scratch, feed)
        landed = ((one.window, one.name, one.generation) for one in held)
        landed_objects.note_landed(scratch, feed, landed)
    order = Random(seed).sample(made, len(made))
    runs = [tuple(order[start::RUNS]) for start in range(min(RUNS, len(order)))]
    return Shuffled(kept, copies - kept, tuple(runs), keep)


def _fits(lake: Lake, files: BronzeFiles) -> bool:
    """Whether bronze is shuffled in this process."""
    if not lake.choice.fits_in_process(files.size, 0):
        return False
    return lake.choice.fits_in_process(files.payload_bytes(), files.records().total())


_How = tuple[Sequence[str], Sequence[str]]
"""How to shuffle: the columns by which records stay together, and the windows to draw from.

Without windows to draw from each record keeps its own.
"""


@dataclass(frozen=True, slots=True)
class _InMemory:
    """How many records there are, and the rows of bronze that they are shuffled into."""

    kept: int
    rows: pa.Table


def _here(files: BronzeFiles, seed: int, named: Sequence[str], parts: Sequence[str]) -> _InMemory:
    """Shuffle in this process."""
    rows = pa.Table.from_batches(files.batches(), BRONZE_ARROW)
    rows = rows.filter(pc.greater(rows["line"], 0))
    at: list[int] = []
    windows: list[str] = []
    source_locations = zip(*(rows[name].to_pylist() for name in named), strict=True)
    for number, (own, source_location) in enumerate(
        zip(rows["window"].to_pylist(), source_locations, strict=True)
    ):
        draw = Random(f"{seed} {source_location}")
        some = parts or (own,)
        at.append(number)
        windows.append(draw.choice(some))
        if draw.random() < REPEATED:
            at.append(number)
            windows.append(draw.choice(some))
    shuffled = rows.take(pa.array(at, pa.int64()))
    column = shuffled.column_names.index("window")
    shuffled = shuffled.set_column(column, "window", pa.array(windows, pa.string()))
    return _InMemory(rows.num_rows, shuffled)


def _by_spark(lake: Lake, scratch: Lake, feed: Feed, seed: int, how: _How) -> tuple[int, int]:
    """Shuffle by a job of Spark's; returns how many records there are, and how many rows were written."""
    named, parts = how
    source_location = [F.concat_ws("/", *named), F.lit(seed)]

    def drawn(salt: str) -> Column:
        return F.pmod(F.xxhash64(*source_location, F.lit(salt)), F.lit(1_000_000))

    def window(salt: str) -> Column:
        if not parts:
            return F.col("window")
        some = F.array(*[F.lit(part) for part in parts])
        return F.element_at(some, (F.pmod(drawn(salt), F.size(some)) + 1).cast("int"))

    again = F.when(drawn("again") < int(REPEATED * 1_000_000), window("other"))
    both = F.array_compact(F.array(window("one"), again))
    seen = Observation()
    shuffled = (
        lake.table(Layer.BRONZE, feed.name)
        .read()
        .where("line > 0")
        .withColumn("both", both)
        .observe(seen, F.count("*").alias("kept"), F.sum(F.size("both")).alias("copies"))
        .withColumn("window", F.explode("both"))
        .drop("both")
    )
    scratch.table(Layer.BRONZE, feed.name).append(shuffled, partition_by=["window"])
    return int(seen.get["kept"]), int(seen.get["copies"] or 0)
