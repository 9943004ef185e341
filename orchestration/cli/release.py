"""``weir release``: deletes of whole tables that wait for a person, listed or let through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import functions as F

from assets.bookkeeping import decisions
from assets.columns import silver_rows
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.picking import picked
from orchestration.cli.session import opened_feed
from transforms.feed.decisions import Release
from transforms.feed.feed import Feed
from transforms.record import COORDINATES


@dataclass(frozen=True, slots=True)
class Held:
    """A scoped delete over a whole table that waits for a decision."""

    event_id: str
    table: str
    operation: str
    event_at: datetime | None
    windows: tuple[str, ...]
    place: str


def held(lake: Lake, feed: Feed) -> list[Held]:
    """The whole-table deletes of a feed that wait, in the order in which they came."""
    silver = lake.table(Layer.SILVER, feed.name)
    if not silver.exists():
        return []
    whole = silver.read().where(silver_rows.are_held() & (F.size("scope") == 0))
    rows = (
        whole.groupBy("event_id", "table", "operation")
        .agg(
            F.min("event_at").alias("event_at"),
            F.array_sort(F.collect_set("window")).alias("windows"),
            F.min(F.struct(*COORDINATES)).alias("place"),
        )
        .orderBy("windows", "event_id")
        .collect()
    )
    return [
        Held(
            row["event_id"],
            row["table"],
            row["operation"],
            row["event_at"],
            tuple(row["windows"]),
            f"{row['place']['object']} line {row['place']['line']}",
        )
        for row in rows
    ]


def release(
    place: Place,
    name: str,
    chosen: Sequence[str],
    reason: str | None,
    *,
    all_of_them: bool,
) -> None:
    """Let held deletes act, or list them where none is named."""
    feed, lake = opened_feed(place, name)
    waiting = held(lake, feed)
    if not (chosen or all_of_them):
        for one in waiting:
            at = f" at {one.event_at:%Y-%m-%d %H:%M:%S}" if one.event_at else ""
            print(
                f"{one.event_id[:12]}  {one.operation} of gold.{feed.name}.{one.table}{at}, {one.place}"
            )
        print(
            f"{feed.name}: {counted(len(waiting), 'held delete')}"
            + (f"; `weir release {feed.name} ID` or `--all` lets them act" if waiting else "")
        )
        return
    by_id = {one.event_id: one for one in waiting}
    named = (
        waiting
        if all_of_them
        else [picked(feed, by_id, text, "held delete", "release") for text in chosen]
    )
    released = together(waiting, named)
    now = datetime.now(UTC)
    for one in released:
        decisions.release(lake, feed, Release(one.event_id, one.windows), now, reason)
        print(
            f"{feed.name}: released: {one.operation} of gold.{feed.name}.{one.table}, {one.place}"
        )
    if released:
        print(f"It acts with the next run: `weir run --feed {feed.name}`")


def together(waiting: Sequence[Held], named: Sequence[Held]) -> list[Held]:
    """Those named, and what else their records ask for: that waits with them."""
    places = {one.place for one in named}
    return [one for one in waiting if one.place in places]
