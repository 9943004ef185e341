"""What was read of a feed, objects and offsets: derived from bronze's commits, and kept in ``ledger.<feed>``.

An object generation is read when bronze holds a row of it, an offset of a topic when bronze holds it or a later one:
the rows and the fact come in one commit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import layers
from assets.landing.kafka_offsets import Range, ReadUpTo
from assets.storage.in_process_table import DataFile, InProcessTable
from assets.storage.lake import Lake, Layer
from assets.storage.store_faults import naming_store_faults
from transforms.errors import TableBusy, WindowSizeChanged
from transforms.feed.feed import Feed
from transforms.feed.windows import WINDOW_LENGTHS


class ReadObject(NamedTuple):
    """One object generation that bronze holds, and how many records it gave."""

    window: str
    name: str
    generation: str
    records: int


def read_objects(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> list[ReadObject]:
    """The object generations in bronze, of these windows and with these names, and how many records each gave."""
    return objects_in(bronze_contents(lake, feed).rows, windows, names)


def objects_in(
    held: pa.Table, windows: Iterable[str] | None = None, names: Iterable[str] | None = None
) -> list[ReadObject]:
    """``read_objects`` of what the caller knows of bronze already (``catch_up``)."""
    for column, texts in (("window", windows), ("object", names)):
        if texts is not None:
            held = held.filter(pc.is_in(held[column], pa.array([*texts], pa.string())))
    found = merged_groups(held)
    columns = (*_OBJECT, "records")
    cells = zip(*[found[name].to_pylist() for name in columns], strict=True)
    return [*map(ReadObject._make, cells)]


def noted_objects(lake: Lake, feed: Feed, windows: Iterable[str] | None = None) -> list[ReadObject]:
    """``read_objects`` by the ledger alone (``noted_contents``): a quick answer, perhaps not all."""
    return objects_in(noted_contents(lake, feed), windows)


def read_offsets(lake: Lake, feed: Feed) -> dict[tuple[str, str], ReadUpTo]:
    """How far bronze has each partition of the feed's topics, by the partition's name and its topic's id."""
    return offsets_in(bronze_contents(lake, feed).rows)


def offsets_in(rows: pa.Table) -> dict[tuple[str, str], ReadUpTo]:
    """``read_offsets`` of what the caller knows of bronze already (``catch_up``)."""
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for row in rows.to_pylist():
        partition, reached = (row["object"], row["generation"]), (row["last_offset"], row["window"])
        last[partition] = max(last.get(partition, reached), reached)
    return {key: ReadUpTo(offset + 1, window) for key, (offset, window) in last.items()}


def records_since(
    lake: Lake, feed: Feed, ranges: Sequence[Range], seen: int, by: str = "window"
) -> dict[str, int]:
    """How many records of these ranges bronze got after its version ``seen``.

    ``by``: the column that they are counted by, the window, or ``object`` for partitions.
    """
    begun = {(one.partition.name, one.partition.topic_id): one.first for one in ranges}
    counts: Counter[str] = Counter()
    bronze = _opened(lake, feed)
    if bronze is None:
        return {}
    # If somebody removes rows from bronze meanwhile, the count is too small, and nothing else is wrong.
    with suppress(LogIncomplete):
        for version in range(seen + 1, bronze.version + 1):
            for row in brought_by(bronze, version).to_pylist():
                first = begun.get((row["object"], row["generation"]))
                if first is not None and row["first_offset"] >= first and row["records"]:
                    counts[row[by]] += row["records"]
    return dict(counts)


def amounts(feed: Feed, known: Iterable[ReadObject]) -> Counter[str]:
    """What bronze has of each window, as ``progress`` counts it: object generations, or records of topics."""
    counts: Counter[str] = Counter()
    for one in known:
        counts[one.window] += one.records if feed.reads_topics else 1
    return counts


def other_windows(held: pa.Table, feed: Feed) -> list[str]:
    """At most one window of bronze, whose size (hour or day) is not the one that the feed declares.

    ``held``: what bronze holds (``catch_up``).
    """
    windows = held["window"].unique().to_pylist()
    return [window for window in windows if len(window) != WINDOW_LENGTHS[feed.window]][:1]


def refuse_other_size(feed: Feed, windows: Iterable[str]) -> None:
    """Raise where bronze was read by the hour and the feed now says day, or the other way round.

    Raises:
        WindowSizeChanged: the same drops would be read once more, into other windows.
    """
    for window in windows:
        if len(window) != WINDOW_LENGTHS[feed.window]:
            raise WindowSizeChanged(feed.name, feed.window, window)


_OBJECT = ("window", "object", "generation")
GROUPS = layers.Ledger.some(*_OBJECT, "records", "first_offset", "last_offset")
"""One row per window and object generation: how many records of it there are, and the least and largest byte offset.

Of a topic an object is a partition, its generation the topic's id, and the byte offset the record's offset.
"""


# Bronze's own commits are the truth. The ledger is a cache of them: a question reads it, and those commits of bronze
# that it does not have yet. Where it is lost, or belongs to a bronze that was replaced, all of bronze is read once.

STEPS = 20
"""Maximum number of commits noted one by one before the ledger is rewritten as a sum: many small files take time."""


@dataclass(frozen=True, slots=True)
class BronzeContents:
    """What bronze holds at one ``version``; -1 where nothing was ever read.

    ``rows``: as ``GROUPS``; an object generation may have several. ``ledger``: as it was read. ``news``: rows that it
    does not have yet. ``steps``: how many commits are noted one by one. ``bronze``: the id of the Delta table.
    """

    version: int
    rows: pa.Table
    ledger: InProcessTable
    news: pa.Table
    steps: int = 0
    bronze: str = ""


def bronze_contents(lake: Lake, feed: Feed) -> BronzeContents:
    """What bronze holds now. Writes nothing (see ``catch_up``)."""
    # The ledger first: what it has, bronze has.
    table = lake.in_process_table(Layer.LEDGER, feed.name)
    noted = table.read()
    bronze = _opened(lake, feed)
    if bronze is None:
        return BronzeContents(-1, GROUPS.empty_table(), table, layers.Ledger.schema.empty_table())
    known, steps, rows = trusted_rows(noted, bronze.id, bronze.version)
    try:
        if known < 0:
            raise LogIncomplete
        commits = range(known + 1, bronze.version + 1)
        single = [_rows_to_note(brought_by(bronze, one), bronze.id, one) for one in commits]
        news = pa.concat_tables([layers.Ledger.schema.empty_table(), *single])
        steps += len(single)
    except LogIncomplete:
        news = _rows_to_note(everything_in(bronze), bronze.id, bronze.version, is_whole=True)
        rows, steps = GROUPS.empty_table(), 0
    brought = news.filter(pc.is_valid(news["object"])).select(GROUPS.names)
    everything = pa.concat_tables([rows, brought])
    return BronzeContents(bronze.version, everything, table, news, steps, bronze.id)


def noted_contents(lake: Lake, feed: Feed) -> pa.Table:
    """What bronze holds by the ledger alone (``GROUPS``), without the commits that it does not have yet.

    For callers with little time, as sensors: where the ledger is lost, reading all of bronze may take minutes.
    """
    noted = lake.in_process_table(Layer.LEDGER, feed.name).read()
    bronze = _opened(lake, feed)
    if bronze is None:
        return GROUPS.empty_table()
    return trusted_rows(noted, bronze.id, bronze.version)[2]


def catch_up(lake: Lake, feed: Feed) -> BronzeContents:
    """``bronze_contents``, and the ledger gets the commits that it does not have yet.

    If another writer adds them at the same time, it is left to it.
    """
    found = bronze_contents(lake, feed)
    if found.news.num_rows:
        table = found.ledger
        with suppress(TableBusy):
            if found.steps > STEPS:
                whole = merged_groups(found.rows)
                table.rewrite(_rows_to_note(whole, found.bronze, found.version, is_whole=True))
            elif found.steps == 0:
                # What it has is of another bronze, or cannot be built upon.
                table.rewrite(found.news)
            else:
                table.append(found.news)
    return found


def trusted_rows(noted: pa.Table, bronze: str, version: int) -> tuple[int, int, pa.Table]:
    """The last commit that the ledger's rows cover without a gap, how many are noted singly, and the rows (``GROUPS``).

    -1 and no rows where the ledger belongs to another Delta table than ``bronze`` (an id), or knows commits that are
    newer than ``version``, its newest.
    """
    mine = noted.filter(pc.equal(noted["bronze"], bronze))
    marks = mine.filter(pc.is_null(mine["object"]))
    whole = pc.max(marks.filter(marks["is_whole"])["version"]).as_py()
    known = -1 if whole is None else int(whole)
    steps = 0
    single = marks.filter(pc.invert(marks["is_whole"]))["version"].to_pylist()
    for step in sorted({one for one in single if one > known}):
        if step != known + 1:
            break
        known, steps = step, steps + 1
    if known > version:
        # Bronze was put back to an earlier state, and may have gone on from there.
        return -1, 0, GROUPS.empty_table()
    begun = -1 if whole is None else int(whole)
    at = mine["version"]
    of_whole = pc.and_(mine["is_whole"], pc.equal(at, begun))
    of_steps = pc.and_(
        pc.invert(mine["is_whole"]), pc.and_(pc.greater(at, begun), pc.less_equal(at, known))
    )
    rows = mine.filter(pc.and_(pc.or_(of_whole, of_steps), pc.is_valid(mine["object"])))
    if marks.num_rows > len({*single}) + (whole is not None):
        # Two writers noted one commit, or two looked at all of bronze at once.
        rows = rows.group_by(layers.Ledger.schema.names, use_threads=False).aggregate([])
    return known, steps, rows.select(GROUPS.names)


def _rows_to_note(
    groups: pa.Table, bronze: str, version: int, *, is_whole: bool = False
) -> pa.Table:
    """The ledger's rows of one commit, or of all up to it, with their mark."""
    mark = pa.Table.from_pylist([dict.fromkeys(GROUPS.names)], schema=GROUPS)
    rows = pa.concat_tables([groups, mark])
    commit = [pa.repeat(value, rows.num_rows) for value in (bronze, version, is_whole)]
    return pa.table([*commit, *rows.columns], schema=layers.Ledger.schema)


class LogIncomplete(Exception):
    """A commit's log entry does not say what bronze holds after it: all of bronze has to be read."""


def _opened(lake: Lake, feed: Feed) -> InProcessTable | None:
    """Bronze as it is now; None where nothing was ever read."""
    table = lake.in_process_table(Layer.BRONZE, feed.name)
    return table if table.exists else None


def brought_by(bronze: InProcessTable, version: int) -> pa.Table:
    """What one commit added (``GROUPS``); nothing where it only rewrote files, as compaction does.

    Raises:
        LogIncomplete: it took rows away, or its log entry or its files are gone by now.
    """
    try:
        with naming_store_faults(bronze.name, bronze.warehouse):
            text = bronze.content(f"_delta_log/{version:020}.json")
            actions = (json.loads(line) for line in text.splitlines() if line)
            return _groups_in(bronze, _added(actions))
    except FileNotFoundError:
        raise LogIncomplete from None


def everything_in(bronze: InProcessTable) -> pa.Table:
    """What all commits together added (``GROUPS``), by the files that there are now."""
    with naming_store_faults(bronze.name, bronze.warehouse):
        return _groups_in(bronze, bronze.files())


def _groups_in(bronze: InProcessTable, parts: Iterable[DataFile]) -> pa.Table:
    def read(file: DataFile) -> pa.Table:
        columns = (*_OBJECT, "line", "byte_offset")
        rows = bronze.read_file(file, columns, repeated=("object", "generation"))
        # Millions of records have a few names: as numbers they take a sixteenth of the time.
        rows = rows.unify_dictionaries()
        # Line 0 is the mark of an object without records.
        is_record = pc.greater(rows["line"], 0).cast(pa.int64())
        return merged_groups(
            rows.append_column("records", is_record)
            .append_column("first_offset", rows["byte_offset"])
            .append_column("last_offset", rows["byte_offset"])
        )

    return merged_groups(pa.concat_tables([GROUPS.empty_table(), *bronze.at_once(read, parts)]))


def merged_groups(rows: pa.Table) -> pa.Table:
    """Rows of ``GROUPS``, those of one window and object generation made one."""
    sums = [("records", "sum"), ("first_offset", "min"), ("last_offset", "max")]
    found = rows.group_by([*_OBJECT]).aggregate(sums)
    names = [*_OBJECT, *("_".join(one) for one in sums)]
    return found.select(names).rename_columns(GROUPS.names).cast(GROUPS)


def _added(actions: Iterable[Mapping[str, Any]]) -> Iterator[DataFile]:
    """The files with new records, of the actions of one commit."""
    for action in actions:
        if added := action.get("add"):
            # Compaction moves records into other files: no news.
            if not added["dataChange"]:
                continue
            if added.get("deletionVector"):
                raise LogIncomplete
            yield DataFile(unquote(added["path"]), added["size"], 0, added["partitionValues"])
        elif (removed := action.get("remove")) and removed.get("dataChange", True):
            raise LogIncomplete
