"""Bronze's records dealt out anew: into other windows, some of them twice, for gold to be made of them once more.

Small bronze is dealt in this process, where Spark would take seconds. Not here: what is made of it (``verify``).
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
from transforms.record import COORDINATES, OBJECT

PARTS = {
    "hour": ("1970-01-01T00", "1970-01-01T01", "1970-01-01T02", "1970-01-01T03"),
    "day": ("1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"),
}
"""The windows that records are dealt into, by the feed's size of window."""

RUNS = 2
"""The windows are brought to gold in so many runs, and the first of these once more: each takes its time."""

REPEATED = 0.1
"""The share of records that come twice."""

MOST_BYTES = 16 << 20
"""So many bytes of payloads are dealt in this process at most; more is Spark's work."""


@dataclass(frozen=True, slots=True)
class Shuffled:
    """How the records were dealt out: how many there are, how many came twice, and the runs that followed."""

    records: int
    repeated: int
    runs: tuple[tuple[str, ...], ...]
    in_own_windows: bool


def shuffle(lake: Lake, scratch: Lake, feed: Feed, seed: int) -> Shuffled:
    """Write bronze's records into the scratch warehouse, in other windows, some of them twice.

    Where the feed has epochs or columns with a ``since``, records keep their windows, for these begin with one; their
    order is another. Where a record means nothing without the others of its object, objects are dealt out whole; a
    topic's partition is in many windows, and what it has in one means nothing without the rest of that.
    """
    whole = FORMATS[feed.format].needs_whole_objects
    keep = (
        bool(feed.decisions.epochs)
        or any(table.since for table in feed.tables.values())
        or (whole and feed.landing.startswith("kafka://"))
    )
    named = OBJECT if whole else COORDINATES
    parts = () if keep else PARTS[feed.window]
    files = BronzeFiles.of(lake, feed, sorted(lake.local_table(Layer.BRONZE, feed.name).windows))
    if files.size <= MOST_BYTES and files.payload_bytes() <= MOST_BYTES:
        shuffled = _here(files, seed, named, parts)
        scratch.local_table(Layer.BRONZE, feed.name).append(shuffled.rows)
        kept, copies = shuffled.kept, shuffled.rows.num_rows
    else:
        kept, copies = _by_spark(lake, scratch, feed, seed, (named, parts))
    made = sorted(scratch.local_table(Layer.BRONZE, feed.name).windows)
    if FORMATS[feed.format].transactional:
        held = ledger.read_objects(scratch, feed)
        told = ((one.window, one.name, one.generation) for one in held)
        landed_objects.note_landed(scratch, feed, told)
    order = Random(seed).sample(made, len(made))
    runs = [tuple(order[start::RUNS]) for start in range(min(RUNS, len(order)))]
    return Shuffled(kept, copies - kept, tuple(runs), keep)


_How = tuple[Sequence[str], Sequence[str]]
"""By which columns records are dealt, and into which windows; none where they keep theirs."""


@dataclass(frozen=True, slots=True)
class _InMemory:
    """How many records there are, and the rows that they are dealt out as."""

    kept: int
    rows: pa.Table


def _here(files: BronzeFiles, seed: int, named: Sequence[str], parts: Sequence[str]) -> _InMemory:
    """Deal in this process."""
    rows = pa.Table.from_batches(files.batches(), BRONZE_ARROW)
    rows = rows.filter(pc.greater(rows["line"], 0))
    at: list[int] = []
    windows: list[str] = []
    places = zip(*(rows[name].to_pylist() for name in named), strict=True)
    for number, (own, place) in enumerate(zip(rows["window"].to_pylist(), places, strict=True)):
        draw = Random(f"{seed} {place}")
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
    """Deal by a job of Spark's; how many records there are, and how many rows were written."""
    named, parts = how
    place = [F.concat_ws("/", *named), F.lit(seed)]

    def drawn(salt: str) -> Column:
        return F.pmod(F.xxhash64(*place, F.lit(salt)), F.lit(1_000_000))

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
