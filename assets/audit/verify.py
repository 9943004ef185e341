"""The proof on real data: gold made of bronze's records in another order must equal the gold that there is.

The records are shuffled into other windows, some of them twice, and the windows are run in random order. All of it is
written to a scratch warehouse, which may be thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from assets.columns import gold as digests
from assets.columns import layers
from assets.control import compacted, discovered_tables, ledger, progress
from assets.gold import apply, stored_by_spark, stored_in_process, tables
from assets.gold.stored_in_process import Digests, StoredInProcess
from assets.maintenance.history_by_spark import is_expired
from assets.silver import derive
from assets.silver.plan import BronzeFiles
from assets.storage.lake import Lake, Layer
from assets.storage.step_faults import fault_in_words
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.formats import FORMATS
from transforms.gold.columns import (
    BEGAN_BY,
    EVENT_AT,
    EVENT_ID,
    LOG_POSITION,
    VALID_FROM,
    tombstone_columns,
)
from transforms.record import OBJECT, SOURCE_LOCATION


def make_again(
    lake: Lake, scratch: Lake, feed: Feed, runs: Sequence[Sequence[str]]
) -> dict[str, Exception]:
    """Bring the shuffled windows to gold, run by run, and the first run once more.

    History begins at the first event, without base rows; events that came too late for compacted history are left out
    of the proof, too. Returns the error of each declared table that could not be made; all others are made.
    """
    faults: dict[str, Exception] = {}
    wanted = discovered_tables.tables_of(lake, feed)
    for windows in [*runs, *runs[:1]]:
        derive.derive(scratch, feed, windows, judged_by=lake)
        tables = {**feed.tables, **discovered_tables.without_limit(scratch, feed).discovered}
        mine = [table for name, table in tables.items() if name in wanted]
        for one in apply.apply_all(scratch, feed, mine, windows):
            if one.error is not None:
                faults[one.table.name] = one.error
    return faults


@dataclass(frozen=True, slots=True)
class NotProved:
    """A gold table that could not be compared, and why."""

    table: str
    reason: str


def certificates(
    both: tuple[Lake, Lake],
    feed: Feed,
    mirrors: Mapping[str, Table],
    faults: Mapping[str, Exception],
) -> Iterator[Certificate | NotProved]:
    """Compare every gold table (``tables``) with its proof; ``faults``: of declared tables without a proof."""
    watermarks = compacted.compaction_watermarks(both[0], feed)
    for name, table in mirrors.items():
        if table.name in faults:
            yield NotProved(name, fault_in_words(faults[table.name]))
            continue
        try:
            tables.refuse_behind(both[0], feed, table, name)
            yield compared(both, feed, name, table, watermarks.get(name))
        except Exception as fault:  # whatever it is, the other tables have nothing to do with it
            yield NotProved(name, fault_in_words(fault))


SHOWN = 10
"""Maximum number of keys that differ and are named."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose row in gold is not the proof's: it is in one of the two only, or both have it with other values."""

    key: str
    in_gold: bool
    in_proof: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of comparing one gold table with its proof.

    ``rows``, ``tombstones``: how many gold has. ``digest``: of all rows of gold. ``differing``: how many keys differ,
    and ``differences`` the first of them.
    """

    table: str
    rows: int
    tombstones: int
    digest: str
    differing: int
    differences: tuple[Difference, ...]


def compared(
    both: tuple[Lake, Lake],
    feed: Feed,
    name: str,
    table: Table,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare one gold table (``name``), its tombstones and its history in both warehouses, the second the proof's.

    Tombstones and versions at or below the watermark are not compared, for compaction has dropped some.
    """
    ours, theirs = (
        StoredInProcess.of(lake, feed, table, name, compaction_watermark) for lake in both
    )
    sizes = ours.size + theirs.size, ours.count + theirs.count
    if ours.exists and theirs.exists and both[0].choice.fits_in_process(*sizes):
        return compared_in_process(ours, theirs, name, compaction_watermark)
    return compared_by_spark(both, feed, name, table, compaction_watermark)


def compared_in_process(
    ours: StoredInProcess,
    theirs: StoredInProcess,
    name: str,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare two tables in this process."""
    rows, proof_rows = (
        stored_in_process.row_digests_of(one.table, one.rows) for one in (ours, theirs)
    )
    tombstones, proof_tombstones = (
        _tombstones(one, compaction_watermark) for one in (ours, theirs)
    )
    pairs = [
        (rows, proof_rows),
        (tombstones, proof_tombstones),
        (_versions(ours), _versions(theirs)),
    ]
    found = sorted((one for pair in pairs for one in _differing(*pair)), key=str)
    return Certificate(
        *(name, rows.total(), tombstones.total(), stored_in_process.whole_digest(rows)),
        *(len(found), tuple(found[:SHOWN])),
    )


def _tombstones(
    files: StoredInProcess, compaction_watermark: CompactionWatermark | None
) -> Digests:
    own = tombstone_columns(files.table)
    there = set(files.keys)
    positions = [tuple(one) for one in files.tombstone_rows[LOG_POSITION].to_pylist()]
    left = [
        key not in there
        and not (
            compaction_watermark is not None
            and compaction_watermark.covers(position, len(position))
        )
        for key, position in zip(files.tombstone_keys, positions, strict=True)
    ]
    rows = files.tombstone_rows.filter(pa.array(left, pa.bool_()))
    return stored_in_process.row_digests(rows.select([*own, LOG_POSITION, EVENT_ID, EVENT_AT]), own)


def _versions(files: StoredInProcess) -> Digests:
    own = (*files.table.key, VALID_FROM, BEGAN_BY)
    return stored_in_process.row_digests(files.versions_above(), own)


def _differing(ours: Digests, theirs: Digests) -> list[Difference]:
    more, less = {key for key, _ in ours - theirs}, {key for key, _ in theirs - ours}
    return [Difference(key, key in more, key in less) for key in more | less]


def compared_by_spark(
    both: tuple[Lake, Lake],
    feed: Feed,
    name: str,
    table: Table,
    compaction_watermark: CompactionWatermark | None,
) -> Certificate:
    """Compare two tables by Spark, history included; see ``compared``."""
    gold, tombstones = (
        [one.table(Layer.GOLD, feed.name, part).read() for one in both]
        for part in (name, name + TOMBSTONES)
    )
    ours, theirs = (digests.digests_of_rows(one, table) for one in gold)
    tombstones_ours, tombstones_theirs = (
        digests.digests_of_tombstones(
            tombstone.where(~is_expired(compaction_watermark)), row, table
        )
        for tombstone, row in zip(tombstones, gold, strict=True)
    )
    pairs = {"rows": (ours, theirs), "tombstones": (tombstones_ours, tombstones_theirs)}
    if table.history:
        versions, proof_versions = (
            stored_by_spark.versions_above(
                one.table(Layer.GOLD, feed.name, name + HISTORY).read(), compaction_watermark
            )
            for one in both
        )
        pairs["versions"] = (
            digests.digests_of_versions(versions, table),
            digests.digests_of_versions(proof_versions, table),
        )
    mine, proof = _sums(pairs)
    sizes = (mine["rows"][0], mine["tombstones"][0], mine["rows"][1])
    if mine == proof:
        return Certificate(name, *sizes, 0, ())
    differ = reduce(
        DataFrame.unionByName, (digests.differing_keys(*pair) for pair in pairs.values())
    )
    differ = differ.localCheckpoint()
    some = [
        Difference(row["key"], row["ours"], row["theirs"])
        for row in differ.orderBy("key").limit(SHOWN).collect()
    ]
    return Certificate(name, *sizes, differ.count(), tuple(some))


def _sums(
    pairs: Mapping[str, tuple[DataFrame, DataFrame]],
) -> tuple[dict[str, tuple[int, str]], dict[str, tuple[int, str]]]:
    """By kind of row how many there are and their digest, of either side; in one query, since most tables are small."""
    every = [
        digests.digest_of_table(one).select(
            F.lit(what).alias("what"), F.lit(side).alias("side"), "*"
        )
        for what, pair in pairs.items()
        for side, one in enumerate(pair)
    ]
    found: tuple[dict[str, tuple[int, str]], dict[str, tuple[int, str]]] = ({}, {})
    for row in reduce(DataFrame.unionByName, every).collect():
        found[row["side"]][row["what"]] = row["rows"], row["digest"]
    return found


# Bronze's records shuffled into other windows, in this process where they are few.

PARTS = {
    "hour": tuple(f"1970-01-01T{number:02}" for number in range(4)),
    "day": tuple(f"1970-01-{number:02}" for number in range(1, 5)),
}
"""The windows that records are shuffled into, by the feed's size of window."""

RUNS = 2
"""Number of runs that bring the windows to gold, of which the first is repeated; more would take too long."""

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
    fits = lake.choice.fits_in_process
    if fits(files.size, 0) and fits(files.payload_bytes(), files.records().total()):
        rows = pa.Table.from_batches(files.batches(), layers.Bronze.schema)
        rows = rows.filter(pc.greater(rows["line"], 0))
        shuffled = _in_process(rows, seed, named, parts)
        scratch.in_process_table(Layer.BRONZE, feed.name).append(shuffled, ["window"])
        kept, copies = rows.num_rows, shuffled.num_rows
    else:
        bronze = lake.table(Layer.BRONZE, feed.name).read().where("line > 0")
        seen = Observation()
        rows_by_spark = _by_spark(bronze, seed, named, parts, seen)
        scratch.table(Layer.BRONZE, feed.name).append(rows_by_spark, partition_by=["window"])
        kept, copies = int(seen.get["kept"]), int(seen.get["copies"] or 0)
    made = sorted(scratch.in_process_table(Layer.BRONZE, feed.name).windows)
    if FORMATS[feed.format].transactional:
        held = ledger.read_objects(scratch, feed)
        landed = ((one.window, one.name, one.generation) for one in held)
        progress.note_landed(scratch, feed, landed)
    order = Random(seed).sample(made, len(made))
    runs = [tuple(order[start::RUNS]) for start in range(min(RUNS, len(order)))]
    return Shuffled(kept, copies - kept, tuple(runs), keep)


def _in_process(rows: pa.Table, seed: int, named: Sequence[str], parts: Sequence[str]) -> pa.Table:
    """These rows of bronze in windows drawn from ``parts``, or in their own; equal ``named`` columns stay together."""
    at: list[int] = []
    windows: list[str] = []
    names = zip(*(rows[name].to_pylist() for name in named), strict=True)
    own_windows = rows["window"].to_pylist()
    for number, (own, source_location) in enumerate(zip(own_windows, names, strict=True)):
        draw = Random(f"{seed} {source_location}")
        some = parts or (own,)
        at.append(number)
        windows.append(draw.choice(some))
        if draw.random() < REPEATED:
            at.append(number)
            windows.append(draw.choice(some))
    shuffled = rows.take(pa.array(at, pa.int64()))
    column = shuffled.column_names.index("window")
    return shuffled.set_column(column, "window", pa.array(windows, pa.string()))


def _by_spark(
    rows: DataFrame, seed: int, named: Sequence[str], parts: Sequence[str], seen: Observation
) -> DataFrame:
    """``_in_process`` by Spark; ``seen`` counts how many records are ``kept``, and their ``copies``."""
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
    counted = rows.withColumn("both", both).observe(
        seen, F.count("*").alias("kept"), F.sum(F.size("both")).alias("copies")
    )
    return counted.withColumn("window", F.explode("both")).drop("both")
