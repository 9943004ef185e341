"""How a feed stands: what is in gold, what waits and why; asked of the tables alone, in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from assets.control import accounting, decisions, discovered_tables, ledger, progress, transactions
from assets.control.live_rows import deleted_rows, live_rows
from assets.control.transactions import OpenTransaction
from assets.erasure import record
from assets.gold import tables
from assets.quarantine.records import totals_of
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES
from transforms.formats import FORMATS
from transforms.gold.columns import EVENT_AT
from transforms.silver.accounting import OUTCOMES
from transforms.silver.discovered_tables import stopped_in_words


@dataclass(frozen=True, slots=True)
class GoldSize:
    """One gold table: its live rows, those that are ``marked`` as deleted, and its tombstones.

    ``newest``: when the source made the newest change that stands in it.
    """

    name: str
    rows: int
    marked: int
    tombstones: int
    newest: str | None


@dataclass(frozen=True, slots=True)
class UnfinishedErasure:
    """An erasure that was begun, ``at``, and is not finished; ``table``: None where it takes out what landed again."""

    id: str
    table: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Status:
    """One feed. ``unfinished``: windows whose bronze is not in gold yet.

    ``outcomes``: what became of all events, with ``events`` their sum. ``reasons``: how many events are in quarantine,
    by the reason; ``dismissed``: how many of these a person has dismissed; ``open_records``: how many records there
    wait for somebody. ``warnings``: how many events have each of the format's warnings, by the rule that it breaks.
    ``waiting_tables``: changes that wait in silver, by their table,
    for nothing says what its key is. ``open``: transactions that are not complete. ``stopped``: a sentence for each
    gold table that is not made now. ``erasures``: those that are not finished.
    """

    windows: int
    newest: str | None
    unfinished: tuple[str, ...]
    outcomes: Mapping[str, int]
    reasons: Mapping[str, int]
    dismissed: int
    open_records: int
    warnings: Mapping[str, int]
    waiting_tables: Mapping[str, int]
    open: tuple[OpenTransaction, ...]
    gold: tuple[GoldSize, ...]
    stopped: tuple[str, ...]
    erasures: tuple[UnfinishedErasure, ...] = ()


def status_of(lake: Lake, feed: Feed) -> Status | None:
    """How the feed stands; None where nothing was read yet."""
    known = ledger.read_objects(lake, feed)
    if not known:
        return None
    unfinished = tuple(progress.unfinished(lake, feed, known))
    windows = sorted({one.window for one in known} - set(unfinished))
    outcomes, warnings, lost = _accounted(lake, feed)
    quarantined = totals_of(lake, decisions.with_recorded(lake, feed))
    is_transactional = FORMATS[feed.format].transactional
    return Status(
        windows=len(windows),
        newest=windows[-1] if windows else None,
        unfinished=unfinished,
        outcomes=outcomes,
        reasons=quarantined.reasons,
        dismissed=quarantined.dismissed,
        open_records=quarantined.open_records,
        warnings=warnings,
        waiting_tables=lost,
        open=tuple(transactions.still_open(lake, feed)) if is_transactional else (),
        gold=tuple(_sizes(lake, feed)),
        stopped=tuple(stopped_in_words(discovered_tables.made_and_stopped(lake, feed).stopped)),
        erasures=tuple(
            UnfinishedErasure(one.plan.id, one.plan.table or None, one.plan.at)
            for one in record.unfinished(lake, feed)
        ),
    )


def _accounted(lake: Lake, feed: Feed) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    names = ("events", *OUTCOMES)
    rows = accounts.read(["source_table", "declared", "warnings", *names])
    if not rows.num_rows:
        return {}, {}, {}
    outcomes = {name: pc.sum(rows[name]).as_py() or 0 for name in names}
    words = Counter[str]()
    # Few rows have any.
    for maps in rows["warnings"].chunks:
        begin, end = maps.offsets[0].as_py(), maps.offsets[-1].as_py()
        pairs = (maps.keys[begin:end].to_pylist(), maps.items[begin:end].to_pylist())
        for word, count in zip(*pairs, strict=True):
            words[word] += count
    unkeyed = rows.filter(pc.and_(pc.is_null(rows["declared"]), pc.not_equal(rows["changes"], 0)))
    waiting = {
        table: counts["changes"]
        for table, counts in accounting.summed_counts(unkeyed, "source_table", ["changes"]).items()
    }
    rules = {
        one.rule: words[one.word] for one in FORMATS[feed.format].warnings if one.word in words
    }
    return outcomes, rules, waiting


def _sizes(lake: Lake, feed: Feed) -> Iterator[GoldSize]:
    for name in tables.mirrors(lake, feed):
        gold, tombstones = (
            lake.in_process_table(Layer.GOLD, feed.name, one) for one in (name, name + TOMBSTONES)
        )
        if not (gold.exists and tombstones.exists):
            continue
        # One column of all rows: of rows that were marked as deleted, a file's statistics still tell.
        moments = [pc.max(rows[EVENT_AT]).as_py() for rows in gold.each([EVENT_AT])]
        newest = max((one for one in moments if one is not None), default=None)
        yield GoldSize(
            *(name, live_rows(gold), deleted_rows(gold), tombstones.count()),
            None if newest is None else newest.isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
