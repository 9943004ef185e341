"""``weir dismiss``: a person lets go what stands in quarantine and cannot be mended, so that it holds nothing up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from pyspark.sql import functions as F

from assets.bookkeeping import decisions, dismissals
from assets.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.cli.picking import picked
from orchestration.cli.session import choose
from orchestration.spark.java import check_java
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed
from transforms.record import COORDINATES

SHOWN = 50
"""So many records are listed; the table ``quarantine.<feed>`` has all of them."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record of which something is in quarantine, and what of it was refused first; ``events``: how many."""

    id: str
    window: str
    object: str
    generation: str
    line: int
    byte_offset: int
    events: int
    table: str | None
    reason: str
    detail: str


def dismiss(
    place: Place,
    name: str,
    chosen: Sequence[str],
    reason: str | None,
    *,
    all_of_them: bool,
) -> None:
    """Let records in quarantine go, or list them where none is named."""
    check_java()
    (feed,) = choose(place.feeds, [name])
    if (chosen or all_of_them) and not (reason or "").strip():
        raise DecisionRefused(
            feed.name, "say why with --reason: whoever reads decisions later wants to know it"
        )
    lake = session.opened(place.warehouse, [feed])
    for line in dismissed(lake, feed, chosen, reason, all_of_them=all_of_them):
        print(line)


def dismissed(
    lake: Lake, feed: Feed, chosen: Sequence[str], reason: str | None, *, all_of_them: bool
) -> list[str]:
    """The same in an open warehouse; what there is to be said of it."""
    found = refused(lake, decisions.with_recorded(lake, feed))
    if not (chosen or all_of_them):
        more = [f"and {len(found) - SHOWN:,} more"] if len(found) > SHOWN else []
        advice = f"; `weir dismiss {feed.name} ID --reason TEXT` or `--all` lets them go"
        sum_up = f"{feed.name}: {counted(len(found), 'record')} in quarantine" + (
            advice if found else ""
        )
        return [*[in_words(one) for one in found[:SHOWN]], *more, sum_up]
    by_id = {one.id: one for one in found}
    let_go = (
        found
        if all_of_them
        else [picked(feed, by_id, text, "record in quarantine", "dismiss") for text in chosen]
    )
    if let_go:
        decisions.dismiss(lake, feed, together(let_go), datetime.now(UTC), reason or "")
    return [
        *[f"{feed.name}: dismissed: {in_words(one)}" for one in let_go[:SHOWN]],
        f"{feed.name}: {counted(len(let_go), 'record')} dismissed; nothing waits for what was let go",
    ]


def refused(lake: Lake, feed: Feed) -> list[Refused]:
    """The records in quarantine that may yet be mended, in the order in which they came."""
    rows = dismissals.waiting(lake, feed)
    if rows is None:
        return []
    fault = F.struct("table", "reason", "detail")
    found = (
        rows.groupBy("window", *COORDINATES)
        .agg(F.count("*").alias("events"), F.min(fault).alias("fault"))
        .withColumn("id", F.sha2(F.to_json(F.struct(*COORDINATES)), 256))
        .orderBy("window", *COORDINATES)
        .select("id", "window", *COORDINATES, "events", "fault.*")
    )
    return [Refused(**row.asDict()) for row in found.collect()]


def together(let_go: Iterable[Refused]) -> list[Dismissal]:
    """One decision for all records of one object, however many these are."""

    def whose(one: Refused) -> tuple[str, str, str]:
        return one.window, one.object, one.generation

    return [
        Dismissal(*of, tuple(sorted({(one.line, one.byte_offset) for one in those})))
        for of, those in groupby(sorted(let_go, key=whose), key=whose)
    ]


def in_words(one: Refused) -> str:
    """One record in a line."""
    of = f" of {one.table}" if one.table else ""
    more = f" and {counted(one.events - 1, 'event')} more" if one.events > 1 else ""
    return f"{one.id[:12]}  {one.reason}{of}: {one.detail}{more}, {one.object} line {one.line}"
