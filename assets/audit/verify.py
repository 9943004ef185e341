"""The proof on real data: gold that is made of bronze's records in another order must equal the gold that there is.

The records are shuffled into windows that have nothing to do with their own, some of them twice (``shuffle``), and the
windows are run in random order. All of it is written to a scratch warehouse, which may be thrown away. Put here how the
proof is made. Not here: comparing two tables (``comparing``), and the command (``orchestration/cli/verify.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assets.audit import comparing
from assets.audit.comparing import Certificate
from assets.bookkeeping import discovered_tables
from assets.bookkeeping.compacted import bases
from assets.gold import gold_tables
from assets.gold.apply import apply_feed
from assets.gold.table_faults import in_words
from assets.lake import Lake
from assets.silver import derive_windows
from transforms.feed.feed import Feed, Table


def make_again(
    lake: Lake, scratch: Lake, feed: Feed, runs: Sequence[Sequence[str]]
) -> dict[str, Exception]:
    """Bring the shuffled windows to gold, run by run, and the first run once more.

    History begins at the first event, without base rows; events that came too late for compacted history are left out
    of the proof, too. Returns the error of each declared table that could not be made; all others are made.

    Args:
        lake: the warehouse that is proved.
        scratch: the warehouse with shuffled bronze, where the proof is made.
        feed: the feed as its file declares it.
        runs: the windows of each run.
    """
    faults: dict[str, Exception] = {}
    wanted = discovered_tables.tables_of(lake, feed)
    for windows in [*runs, *runs[:1]]:
        derive_windows.derive(scratch, feed, windows, judged_by=lake)
        tables = {**feed.tables, **discovered_tables.everything(scratch, feed).described}
        mine = [table for name, table in tables.items() if name in wanted]
        for one in apply_feed.apply_all(scratch, feed, mine, windows):
            if one.error is not None:
                faults[one.table.name] = one.error
    return faults


@dataclass(frozen=True, slots=True)
class NotProved:
    """A gold table that could not be compared, and why."""

    table: str
    reason: str


def certificates(
    lake: Lake,
    scratch: Lake,
    feed: Feed,
    tables: Mapping[str, Table],
    faults: Mapping[str, Exception],
) -> Iterator[Certificate | NotProved]:
    """Compare every gold table of the feed with its proof.

    Args:
        lake: the warehouse that is proved.
        scratch: the warehouse with the proof.
        feed: the feed with its recorded decisions.
        tables: the declared table of each gold table.
        faults: the errors of declared tables whose proof could not be made.
    """
    for name, table in tables.items():
        if table.name in faults:
            yield NotProved(name, in_words(faults[table.name]))
            continue
        try:
            yield compared(lake, scratch, feed, name, table)
        except Exception as fault:  # whatever it is, the other tables have nothing to do with it
            yield NotProved(name, in_words(fault))


def compared(lake: Lake, scratch: Lake, feed: Feed, name: str, table: Table) -> Certificate:
    """Compare one gold table, its tombstones and its history with the proof's (``comparing.compared``).

    Raises:
        GoldBehind: the table was made under another declaration, or is missing.
    """
    gold_tables.refuse_behind(lake, feed, table, name)
    compaction_watermark = bases.compaction_watermarks(lake, feed).get(name)
    return comparing.compared((lake, scratch), feed, name, table, compaction_watermark)
