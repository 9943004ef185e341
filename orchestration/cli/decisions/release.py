"""``weir release``: deletes of whole tables that wait for a person, listed or let through.

Put here what the command lists and what it does. Not here: which deletes wait (``assets/columns/silver_rows``), and how
the decision is kept (``assets/bookkeeping/decisions``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import functions as F

from assets.bookkeeping import decisions
from assets.columns import silver_rows
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from orchestration.cli.decisions.choice import Listed
from orchestration.cli.options import Choice, Place
from orchestration.cli.session import opened_feed
from transforms.feed.decisions import Release
from transforms.feed.feed import Feed
from transforms.record import COORDINATES


@dataclass(frozen=True, slots=True)
class HeldDelete:
    """A truncate or a drop that waits for a decision: the windows that delivered it, and its place in bronze."""

    event_id: str
    table: str
    operation: str
    event_at: datetime | None
    windows: tuple[str, ...]
    place: str


def release(place: Place, name: str, choice: Choice) -> None:
    """Let the chosen deletes of a feed act, or list them where none is chosen."""
    feed, lake = opened_feed(place, name)
    for line in released(lake, feed, choice):
        print(line)


def released(lake: Lake, feed: Feed, choice: Choice) -> Iterator[str]:
    """Record the decision in an open warehouse; the lines to be printed, each as soon as it is true.

    Raises:
        DecisionRefused: an id that was typed is the beginning of none, or of more than one.
    """
    waiting = held(lake, feed)
    if not choice.is_made:
        for delete in waiting:
            at = f" at {delete.event_at:%Y-%m-%d %H:%M:%S}" if delete.event_at else ""
            yield f"{delete.event_id[:12]}  {in_words(feed, delete, at)}"
        advice = f"; `weir release {feed.name} ID` or `--all` lets them act" if waiting else ""
        yield f"{feed.name}: {counted(len(waiting), 'held delete')}{advice}"
        return
    listed = Listed(feed, "release", "held delete")
    chosen = listed.picked(choice, [(delete.event_id, delete) for delete in waiting])
    now = datetime.now(UTC)
    for delete in of_same_records(waiting, chosen):
        decision = Release(delete.event_id, delete.windows)
        decisions.release(lake, feed, decision, now, choice.reason)
        yield f"{feed.name}: released: {in_words(feed, delete)}"
    if chosen:
        yield f"The next run lets this act: `weir run --feed {feed.name}`"


def held(lake: Lake, feed: Feed) -> list[HeldDelete]:
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
        HeldDelete(
            row["event_id"],
            row["table"],
            row["operation"],
            row["event_at"],
            tuple(row["windows"]),
            f"{row['place']['object']} line {row['place']['line']}",
        )
        for row in rows
    ]


def of_same_records(
    waiting: Sequence[HeldDelete], chosen: Sequence[HeldDelete]
) -> list[HeldDelete]:
    """The chosen deletes, and the others that wait and come from the same records of bronze."""
    places = {delete.place for delete in chosen}
    return [delete for delete in waiting if delete.place in places]


def in_words(feed: Feed, delete: HeldDelete, at: str = "") -> str:
    """A delete in a line: what it does to which table, the source's time if wanted, and its place in bronze."""
    return f"{delete.operation} of gold.{feed.name}.{delete.table}{at}, {delete.place}"
