"""How a feed stands: what is in gold, what waits and why, by the tables alone.

Not here: what a run found at its time (asset checks), and how it is told (``orchestration/status.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import functions as F

from assets import (
    decisions,
    discovered_tables,
    dismissals,
    gold_tables,
    ledger,
    transactions,
)
from assets.gold_columns.current_state import EVENT_AT
from assets.lake import Lake
from assets.transactions import OpenTransaction
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import OUTCOMES
from transforms.silver.discovered_tables import told
from transforms.table_names import TOMBSTONES


@dataclass(frozen=True, slots=True)
class GoldSize:
    """One gold table: its rows and tombstones, and when the source made the newest change that stands in it."""

    name: str
    rows: int
    tombstones: int
    newest: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One feed. ``unfinished``: windows whose bronze is not in gold yet.

    ``fates``: what became of all events, with ``events`` their sum. ``reasons``: why records are in quarantine;
    ``dismissed``: how many of these a person has let go.
    ``warnings``: events with each thing that the format noticed, by the rule that it breaks. ``waiting_tables``: tables
    whose changes wait in silver, since nothing tells their key. ``open``: transactions that are not complete.
    ``stopped``: gold tables that are not made now, with the reason.
    """

    windows: int
    newest: str | None
    unfinished: tuple[str, ...]
    fates: Mapping[str, int]
    reasons: Mapping[str, int]
    dismissed: int
    warnings: Mapping[str, int]
    waiting_tables: Mapping[str, int]
    open: tuple[OpenTransaction, ...]
    gold: tuple[GoldSize, ...]
    stopped: tuple[str, ...]


def standing(lake: Lake, feed: Feed) -> Standing | None:
    """How the feed stands; None where nothing was read yet."""
    known = ledger.read_objects(lake, feed)
    if not known:
        return None
    unfinished = tuple(ledger.unfinished(lake, feed, known))
    windows = sorted({one.window for one in known} - set(unfinished))
    accounts = lake.table("accounting", feed.name)
    fates, warnings, lost = _booked(lake, feed) if accounts.exists() else ({}, {}, {})
    is_transactional = FORMATS[feed.format].transactional
    return Standing(
        windows=len(windows),
        newest=windows[-1] if windows else None,
        unfinished=unfinished,
        fates=fates,
        reasons=_reasons(lake, feed),
        dismissed=dismissals.count(lake, decisions.with_recorded(lake, feed)),
        warnings=warnings,
        waiting_tables=lost,
        open=tuple(transactions.still_open(lake, feed)) if is_transactional else (),
        gold=tuple(_sizes(lake, feed)),
        stopped=tuple(told(discovered_tables.stopped(lake, feed))),
    )


def _booked(lake: Lake, feed: Feed) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    accounts = lake.table("accounting", feed.name).read()
    sums = accounts.agg(
        *[F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in ("events", *OUTCOMES)]
    )
    row = sums.first()
    assert row is not None  # an aggregate without groups has one row
    said = accounts.select(F.explode("warnings").alias("word", "number"))
    counts = {
        one["word"]: one["n"]
        for one in said.groupBy("word").agg(F.sum("number").alias("n")).collect()
    }
    rules = {
        one.rule: counts[one.word] for one in FORMATS[feed.format].warnings if one.word in counts
    }
    lost = accounts.where("declared IS NULL AND changes > 0").groupBy("source_table")
    waiting = {
        one["source_table"]: one["n"] for one in lost.agg(F.sum("changes").alias("n")).collect()
    }
    return row.asDict(), rules, waiting


def _reasons(lake: Lake, feed: Feed) -> dict[str, int]:
    table = lake.table("quarantine", feed.name)
    if not table.exists():
        return {}
    counted = table.read().groupBy("reason").count().orderBy(F.desc("count"), "reason").collect()
    return {row["reason"]: row["count"] for row in counted}


def _sizes(lake: Lake, feed: Feed) -> list[GoldSize]:
    found = []
    for name in gold_tables.mirrors(lake, feed):
        gold = lake.table("gold", feed.name, name)
        graves = lake.table("gold", feed.name, name + TOMBSTONES)
        if not (gold.exists() and graves.exists()):
            continue
        newest = F.date_format(F.max(EVENT_AT), "yyyy-MM-dd'T'HH:mm:ssXXX").alias("newest")
        row = gold.read().agg(F.count(F.lit(1)).alias("rows"), newest).first()
        assert row is not None  # an aggregate without groups has one row
        found.append(GoldSize(name, row["rows"], graves.read().count(), row["newest"]))
    return found
