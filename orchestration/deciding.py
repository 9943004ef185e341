"""``weir epoch`` and ``weir release``: what a person decides about a feed, written down for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import functions as F

from assets.bookkeeping import bases, decisions
from assets.columns import silver_rows
from assets.lake import Lake
from assets.wording import counted
from orchestration import commands
from orchestration.epoch_texts import DeclaredEpoch, UnfitEpoch, epoch_from
from orchestration.java import check_java
from orchestration.picking import picked
from transforms.decisions import Epoch, Release
from transforms.errors import DecisionRefused
from transforms.feed import Feed
from transforms.record import COORDINATES


def open_epoch(
    feeds: Path, warehouse: str, name: str, declared: DeclaredEpoch, reason: str | None
) -> None:
    """Record that a feed's positions start again, and say what follows."""
    check_java()
    (feed,) = commands.choose(feeds, [name])
    try:
        epoch = epoch_from(declared, feed.window, feed.tables)
    except UnfitEpoch as fault:
        raise DecisionRefused(feed.name, str(fault)) from None
    lake = commands.opened(warehouse, [feed])
    known = decisions.with_recorded(lake, feed)
    if epoch in known.decisions.epochs:
        print(f"{feed.name}: that epoch is open already; nothing was recorded")
        return
    with_it = replace(known.decisions, epochs=(*known.decisions.epochs, epoch))
    try:
        bases.refuse_altered_past(lake, replace(feed, decisions=with_it))
    except DecisionRefused as fault:
        raise DecisionRefused(
            feed.name, f"{fault.fault}. Nothing was recorded: open the epoch after the rebuild"
        ) from None
    decisions.open_epoch(lake, feed, epoch, datetime.now(UTC), reason)
    if epoch.time is None:
        print(
            f"{feed.name}: without --time, all that lands in {epoch.window} or later is of the new epoch, repeats of"
            " older events included"
        )
    print(
        f"{feed.name}: recorded: {told(epoch)}.\n"
        f"The windows from {epoch.window} on are due again, and gold is made anew: `weir run --feed {feed.name}`"
    )


def list_epochs(feeds: Path, warehouse: str, name: str) -> None:
    """Print the epochs of a feed, those of its file and the recorded ones."""
    check_java()
    (feed,) = commands.choose(feeds, [name])
    lake = commands.opened(warehouse, [feed])
    found = decisions.with_recorded(lake, feed).decisions.epochs
    if not found:
        print(f"{feed.name}: one epoch, from the first window on")
    for epoch in sorted(found, key=lambda one: one.window):
        print(f"{feed.name}: {told(epoch)}")


def told(epoch: Epoch) -> str:
    """An epoch in words."""
    of = f"of table {epoch.table}" if epoch.table else "of all tables"
    since = f" for events made at {epoch.time:%Y-%m-%d %H:%M:%S} UTC or later" if epoch.time else ""
    rest = (
        "; its snapshot is complete, so older rows that it does not name go"
        if epoch.complete
        else ""
    )
    return f"an epoch {of} from window {epoch.window} on{since}{rest}"


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
    silver = lake.table("silver", feed.name)
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
    feeds: Path,
    warehouse: str,
    name: str,
    chosen: Sequence[str],
    reason: str | None,
    *,
    all_of_them: bool,
) -> None:
    """Let held deletes act, or list them where none is named."""
    check_java()
    (feed,) = commands.choose(feeds, [name])
    lake = commands.opened(warehouse, [feed])
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
