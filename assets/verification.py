"""The proof on real data: gold made anew from bronze in another order must be the gold that there is, row for row.

Bronze's records are dealt out anew: into windows that have nothing to do with their own, some of them twice, and the
windows are run in an order of their own. Everything is done in a warehouse of its own, which may be thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pyspark.sql import Column
from pyspark.sql import functions as F

from assets import (
    bases,
    discovered_tables,
    feed_gold,
    gold_tables,
    ledger,
    silver,
    transactions,
    versions,
)
from assets import tombstones as tombstones_of
from assets.gold_columns import digests
from assets.lake import Lake
from transforms.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import COORDINATES, OBJECT
from transforms.table_names import HISTORY, TOMBSTONES

PARTS = {
    "hour": ("1970-01-01T00", "1970-01-01T01", "1970-01-01T02", "1970-01-01T03"),
    "day": ("1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"),
}
"""The windows that records are dealt into, by the feed's size of window."""

RUNS = 2
"""The windows are brought to gold in so many runs, and the first of these once more: each takes its time."""

REPEATED = 0.1
"""The share of records that come twice."""

SHOWN = 10
"""So many keys of those that differ are named."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose row in gold is not what its events make of it: missing there, missing here, or another row."""

    key: str
    in_gold: bool
    in_proof: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """What one table's proof came to."""

    table: str
    rows: int
    tombstones: int
    digest: str
    differing: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Dealt:
    """How the records were dealt out: how many there are, how many came twice, and the runs that followed."""

    records: int
    repeated: int
    runs: tuple[tuple[str, ...], ...]
    in_own_windows: bool


def deal(lake: Lake, scratch: Lake, feed: Feed, seed: int) -> Dealt:
    """Write bronze's records into the scratch warehouse, in other windows, some of them twice.

    Where the feed has epochs or columns with a ``since``, records keep their windows, for these begin with one; their
    order is another. Where a record means nothing without the others of its object, objects are dealt out whole; a
    topic's partition is in many windows, and what it has in one means nothing without the rest of that.
    """
    records = lake.table("bronze", feed.name).read().where("line > 0")
    whole = FORMATS[feed.format].needs_whole_objects
    place = [F.concat_ws("/", *(OBJECT if whole else COORDINATES)), F.lit(seed)]
    keep = (
        bool(feed.decisions.epochs)
        or any(table.since for table in feed.tables.values())
        or (whole and feed.landing.startswith("kafka://"))
    )

    def drawn(salt: str) -> Column:
        return F.pmod(F.xxhash64(*place, F.lit(salt)), F.lit(1_000_000))

    def window(salt: str) -> Column:
        if keep:
            return F.col("window")
        parts = F.array(*[F.lit(part) for part in PARTS[feed.window]])
        return F.element_at(parts, (F.pmod(drawn(salt), F.size(parts)) + 1).cast("int"))

    again = F.when(drawn("again") < int(REPEATED * 1_000_000), window("other"))
    both = F.array_compact(F.array(window("one"), again))
    dealt = records.withColumn("window", F.explode(both))
    bronze = scratch.table("bronze", feed.name)
    bronze.append(dealt, partition_by=["window"])
    windows = sorted(row["window"] for row in bronze.read().select("window").distinct().collect())
    if FORMATS[feed.format].transactional:
        held = ledger.read_objects(scratch, feed)
        told = ((one.window, one.name, one.generation) for one in held)
        transactions.note_landed(scratch, feed, told)
    total, kept = bronze.read().count(), records.count()
    order = Random(seed).sample(windows, len(windows))
    runs = [tuple(order[start::RUNS]) for start in range(min(RUNS, len(order)))]
    return Dealt(kept, total - kept, tuple(runs), keep)


def rebuild(lake: Lake, scratch: Lake, feed: Feed, runs: Sequence[Sequence[str]]) -> None:
    """Bring the dealt windows to gold, run by run, and the first of them once more.

    From the first event on, without base rows; but what came too late for compacted history is left out here, too.
    """
    wanted = discovered_tables.tables_of(lake, feed)
    for windows in [*runs, *runs[:1]]:
        silver.derive(scratch, feed, windows, judged_by=lake)
        tables = {**feed.tables, **discovered_tables.everything(scratch, feed).described}
        mine = [table for name, table in tables.items() if name in wanted]
        feed_gold.apply_tables(scratch, feed, mine, windows)


def certificates(
    lake: Lake, scratch: Lake, feed: Feed, tables: Mapping[str, Table]
) -> Iterator[Certificate]:
    """Compare every gold table of the feed with its proof."""
    for name, table in tables.items():
        yield compared(lake, scratch, feed, name, table)


def compared(lake: Lake, scratch: Lake, feed: Feed, name: str, table: Table) -> Certificate:
    """Compare one gold table, its tombstones and its history, with the proof's."""
    gold_tables.refuse_behind(lake, feed, table, name)
    gold, graves = (
        [one.table("gold", feed.name, part).read() for one in (lake, scratch)]
        for part in (name, name + TOMBSTONES)
    )
    horizon = bases.drawn(lake, feed).get(name)
    ours, theirs = (digests.of_rows(one, table) for one in gold)
    graves_ours, graves_theirs = (
        digests.of_tombstones(grave.where(~tombstones_of.is_expired(horizon)), row, table)
        for grave, row in zip(graves, gold, strict=True)
    )
    rows = digests.of_table(ours).first()
    tombstones = digests.of_table(graves_ours).first()
    assert rows is not None  # an aggregate without groups has one row
    assert tombstones is not None
    differ = digests.differing(ours, theirs).unionByName(
        digests.differing(graves_ours, graves_theirs)
    )
    if table.history:
        told, made = (
            versions.above(one.table("gold", feed.name, name + HISTORY).read(), horizon)
            for one in (lake, scratch)
        )
        of_both = (digests.of_versions(one, table) for one in (told, made))
        differ = differ.unionByName(digests.differing(*of_both))
    differ = differ.localCheckpoint()
    some = [
        Difference(row["key"], row["ours"], row["theirs"])
        for row in differ.orderBy("key").limit(SHOWN).collect()
    ]
    return Certificate(
        name, rows["rows"], tombstones["rows"], rows["digest"], differ.count(), tuple(some)
    )
