"""``weir release``: deletes of whole tables that wait for a person, listed, let through, or kept from acting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import click
import pyarrow.compute as pc

from assets.control import accounting, decisions
from assets.gold import held_losses, tables
from assets.gold.plan import FeedPlan
from assets.picked_ids import Listed, PickedIds
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer, Facts
from orchestration.cli.options import JSON, Place, with_picked_ids
from transforms.change import HOLD
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Hold, Release
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION


@click.command("release")
@with_picked_ids("Let all of them act.")
@click.option("--keep", "keeps", is_flag=True, help="Never let them act: gold keeps the rows.")
@JSON
def release_command(place: Place, feed: str, picked: PickedIds, keeps: bool, as_json: bool) -> None:
    """List the deletes of FEED that wait, or let those with these IDS act.

    With `range_deletes: hold` in a feed file, a delete of a whole table waits until somebody looks at it. So does what
    would remove most of a table (`loss_guard`), what a snapshot does not name that is not known to be complete, and
    what a delete of one TigerGraph partition does to rows of others that changed at about its time.
    Without IDS and without --all, the command lists what waits. The beginning of an id is enough. Deletes that come
    from one record act together.
    """
    declared, lake = session.reached_feed(place, feed)
    answer = CommandAnswer(as_json)
    waiting = [*held(lake, declared), *held_by_gold(lake, declared)]
    if picked.has_any:
        done = (keep if keeps else let_act)(lake, declared, picked, waiting, answer)
    else:
        list_held(declared, waiting, answer)
        done = []
    left = [delete for delete in waiting if delete not in done]
    released, kept = ([], done) if keeps else (done, [])
    answer.of(feed).update(
        held=[*map(held_facts, left)],
        released=[*map(held_facts, released)],
        kept=[*map(held_facts, kept)],
    )
    answer.end_of_one(feed)


@dataclass(frozen=True, slots=True)
class HeldDelete:
    """A truncate or a drop that waits for a decision, and the windows that delivered it.

    ``hold``: what gold has recorded of it; None where the feed file makes all such deletes wait.
    """

    event_id: str
    table: str
    operation: str
    event_at: datetime | None
    windows: tuple[str, ...]
    source_location: str
    hold: Hold | None = None


def list_held(feed: Feed, waiting: Sequence[HeldDelete], answer: CommandAnswer) -> None:
    """Say which deletes wait, and how they are let through."""
    for delete in waiting:
        at = f" at {delete.event_at:%Y-%m-%d %H:%M:%S}" if delete.event_at else ""
        answer.line(f"{delete.event_id[:12]}  {in_words(feed, delete, at)}")
    advice = f"; `weir release {feed.name} ID` or `--all` lets them act" if waiting else ""
    if any(one.hold for one in waiting):
        advice += ", and `--keep` keeps the rows for good"
    answer.line(f"{feed.name}: {counted(len(waiting), 'held delete')}{advice}")


def let_act(
    lake: Lake, feed: Feed, picked: PickedIds, waiting: Sequence[HeldDelete], answer: CommandAnswer
) -> list[HeldDelete]:
    """Record the decision in an open warehouse, and say so of each delete as soon as it is true; returns them."""
    listed = Listed(feed, "release", "held delete")
    chosen = listed.picked(picked, [(delete.event_id, delete) for delete in waiting])
    now = datetime.now(UTC)
    of_records = of_same_records(waiting, chosen)
    for delete in of_records:
        decision = Release(delete.event_id, delete.windows)
        decisions.release(lake, feed, decision, now, picked.reason)
        answer.line(f"{feed.name}: released: {in_words(feed, delete)}")
    if chosen:
        answer.line(f"The next run lets this act: `weir run --feed {feed.name}`")
    return of_records


def keep(
    lake: Lake, feed: Feed, picked: PickedIds, waiting: Sequence[HeldDelete], answer: CommandAnswer
) -> list[HeldDelete]:
    """Record that the chosen deletes never act, so that gold keeps the rows; returns them."""
    listed = Listed(feed, "release", "held delete")
    chosen = listed.picked(picked, [(delete.event_id, delete) for delete in waiting])
    for delete in chosen:
        if delete.hold is None:
            raise DecisionRefused(
                feed.name,
                f"{in_words(feed, delete)}, waits because the feed file says so; it does nothing until it is released",
            )
    holds = [delete.hold.kept for delete in chosen if delete.hold is not None]
    signed = decisions.Signature(datetime.now(UTC), None, picked.reason)
    decisions.hold(lake, feed, holds, signed)
    for delete in chosen:
        answer.line(f"{feed.name}: never acts: {in_words(feed, delete)}")
    return chosen


def held_facts(delete: HeldDelete) -> Facts:
    """A delete for programs: its id is the one that ``weir release`` takes."""
    known = asdict(replace(delete, hold=None))
    del known["hold"]
    return {"id": known.pop("event_id"), **known, "windows": [*delete.windows]}


def held(lake: Lake, feed: Feed) -> list[HeldDelete]:
    """The whole-table deletes of a feed that wait, in the order in which they came; needs no Spark session."""
    # One event may be of several tables: a graph's drop of everything is.
    deliveries = defaultdict[tuple[str, str], list[Mapping[str, Any]]](list)
    silver = lake.in_process_table(Layer.SILVER, feed.name)
    for rows in silver.each(_READ, {"window": silver.windows - _without_any(lake, feed)}):
        for row in rows.filter(pc.equal(rows["effect"], HOLD)).to_pylist(maps_as_pydicts="strict"):
            if row["scope"] == {}:
                deliveries[row["event_id"], row["table"]].append(row)
    found = map(_held_delete, deliveries.values())
    return sorted(found, key=lambda one: (one.windows, one.event_id, one.table))


_READ = (
    "window",
    "table",
    "operation",
    "effect",
    "scope",
    "event_id",
    "event_at",
    *SOURCE_LOCATION,
)


def held_by_gold(lake: Lake, feed: Feed) -> list[HeldDelete]:
    """The deletes that gold has not applied, since they would remove too much or are not known to be meant."""
    held = {one.table for one in decisions.with_recorded(lake, feed).decisions.held()}
    if not held:
        return []
    plan = FeedPlan.read(lake, feed, [])
    waiting = [
        one
        for name, table in tables.mirrors(lake, plan.feed).items()
        if name in held
        for one in held_losses.outstanding(plan.of_table(table, name))
    ]
    return [
        HeldDelete(
            one.event_id,
            one.table,
            one.operation,
            None,
            one.windows,
            one.source_location,
            one,
        )
        for one in waiting
    ]


def _without_any(lake: Lake, feed: Feed) -> set[str]:
    """The windows whose accounting says that they hold no delete: their silver need not be read."""
    counts = defaultdict[str, int](int)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    for row in accounts.rows(["window", "held", "declaration"]):
        if row["declaration"] != accounting.ANNOUNCED:
            counts[row["window"]] += row["held"]
    return {window for window, count in counts.items() if not count}


def _held_delete(deliveries: Sequence[Mapping[str, Any]]) -> HeldDelete:
    first = min(deliveries, key=lambda row: tuple(row[name] for name in SOURCE_LOCATION))
    times = [row["event_at"] for row in deliveries if row["event_at"] is not None]
    return HeldDelete(
        first["event_id"],
        first["table"],
        first["operation"],
        min(times, default=None),
        tuple(sorted({row["window"] for row in deliveries})),
        f"{first['object']} line {first['line']}",
    )


def of_same_records(
    waiting: Sequence[HeldDelete], chosen: Sequence[HeldDelete]
) -> list[HeldDelete]:
    """The chosen deletes, and the others that wait and come from the same records of bronze."""
    source_locations = {delete.source_location for delete in chosen}
    return [delete for delete in waiting if delete.source_location in source_locations]


def in_words(feed: Feed, delete: HeldDelete, at: str = "") -> str:
    """A delete in a line: what it does to which table, the source's time if wanted, and its source location."""
    rows = f": {counted(delete.hold.rows, 'row')}" if delete.hold else ""
    return (
        f"{delete.operation} of gold.{feed.name}.{delete.table}{at}, {delete.source_location}{rows}"
    )
