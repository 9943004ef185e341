"""The ledger of bronze, ``ledger.<feed>``: what each of bronze's commits added, so that nobody has to read bronze.

Bronze's own commits are the truth, for records and the fact that they were read come in one. The ledger is a cache of
them: a question reads it, and those commits of bronze that it does not have yet. Where it is lost, or belongs to a
bronze that was replaced, all of bronze is read once. Put here how the cache is kept. Not here: what one commit added
(``bronze_log``), and questions about what was read (``ledger``).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.bronze_log import GROUPS, BronzeLog, LogIncomplete, merged
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.errors import TableBusy
from transforms.feed.feed import Feed

LEDGER = pa.schema(
    [
        pa.field("bronze", pa.string()),
        pa.field("version", pa.int64()),
        pa.field("is_whole", pa.bool_()),
        *GROUPS,
    ]
)
"""One row per commit of bronze and object generation in it (``GROUPS``), and one per commit with a null ``object``.

The second marks the commit as noted, even where it added nothing.

``bronze``: the id of that Delta table, ``version``: the commit's number. ``is_whole``: the row sums up all commits up
to that one, and rows of earlier commits are superseded. Two writers that note one commit write the same rows.
"""

STEPS = 20
"""After so many commits noted one by one the ledger is rewritten as a sum: reading many small files takes time."""


@dataclass(frozen=True, slots=True)
class BronzeContents:
    """What bronze holds at one ``version``.

    ``rows``: as ``GROUPS``; an object generation may have several. ``news``: rows that the ledger table does not have
    yet. ``steps``: how many commits are noted one by one. ``bronze``: the id of the Delta table.
    """

    version: int
    rows: pa.Table
    news: pa.Table
    steps: int
    bronze: str


def held(lake: Lake, feed: Feed) -> BronzeContents | None:
    """What bronze holds now; None where nothing was ever read. Writes nothing (see ``catch_up``)."""
    # The ledger first: what it has, bronze has.
    noted = ledger_of(lake, feed).read()
    bronze = BronzeLog.opened(lake, feed)
    if bronze is None:
        return None
    known, steps, rows = trusted(noted, bronze.id, bronze.version)
    if known < 0:
        news, rows, steps = _whole(bronze), GROUPS.empty_table(), 0
    else:
        try:
            news = _one_by_one(bronze, known)
            steps += bronze.version - known
        except LogIncomplete:
            news, rows, steps = _whole(bronze), GROUPS.empty_table(), 0
    brought = news.filter(pc.is_valid(news["object"])).select(GROUPS.names)
    return BronzeContents(bronze.version, pa.concat_tables([rows, brought]), news, steps, bronze.id)


def noted(lake: Lake, feed: Feed) -> pa.Table:
    """What bronze holds by the ledger alone (``GROUPS``), without the commits that it does not have yet.

    For callers with little time, as sensors: where the ledger is lost, reading all of bronze may take minutes.
    """
    written = ledger_of(lake, feed).read()
    bronze = BronzeLog.opened(lake, feed)
    if bronze is None:
        return GROUPS.empty_table()
    return trusted(written, bronze.id, bronze.version)[2]


def catch_up(lake: Lake, feed: Feed) -> pa.Table:
    """Add the commits that the ledger does not have yet; if another writer does so at the same time, leave it to it.

    Returns what bronze holds now (``GROUPS``), so that the caller need not read it once more.
    """
    found = held(lake, feed)
    if found is None:
        return GROUPS.empty_table()
    if found.news.num_rows:
        _note(lake, feed, found)
    return found.rows


def _note(lake: Lake, feed: Feed, found: BronzeContents) -> None:
    table = ledger_of(lake, feed)
    with suppress(TableBusy):
        if found.steps > STEPS:
            table.rewrite(_noted(merged(found.rows), found.bronze, found.version, is_whole=True))
        elif found.steps == 0:
            # What it has is of another bronze, or cannot be built upon.
            table.rewrite(found.news)
        else:
            table.append(found.news)


def version(lake: Lake, feed: Feed) -> int:
    """The number of bronze's newest commit; -1 where nothing was ever read."""
    bronze = BronzeLog.opened(lake, feed)
    return -1 if bronze is None else bronze.version


def ledger_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table itself."""
    return lake.in_process_table(Layer.LEDGER, feed.name, columns=LEDGER)


def trusted(noted: pa.Table, bronze: str, version: int) -> tuple[int, int, pa.Table]:
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
        rows = rows.group_by(LEDGER.names, use_threads=False).aggregate([])
    return known, steps, rows.select(GROUPS.names)


def _one_by_one(bronze: BronzeLog, known: int) -> pa.Table:
    steps = [
        _noted(bronze.brought_by(version), bronze.id, version, is_whole=False)
        for version in range(known + 1, bronze.version + 1)
    ]
    return pa.concat_tables([LEDGER.empty_table(), *steps])


def _whole(bronze: BronzeLog) -> pa.Table:
    return _noted(bronze.everything(), bronze.id, bronze.version, is_whole=True)


def _noted(groups: pa.Table, bronze: str, version: int, *, is_whole: bool) -> pa.Table:
    """The ledger's rows of one commit, or of all up to it, with their mark."""
    mark = pa.Table.from_pylist([dict.fromkeys(GROUPS.names)], schema=GROUPS)
    rows = pa.concat_tables([groups, mark])
    size = rows.num_rows
    commit_columns = {
        "bronze": [bronze] * size,
        "version": [version] * size,
        "is_whole": [is_whole] * size,
    }
    return pa.table(
        [
            *[
                pa.array(commit_columns[one.name], one.type)
                for one in LEDGER
                if one.name in commit_columns
            ],
            *rows.columns,
        ],
        schema=LEDGER,
    )
