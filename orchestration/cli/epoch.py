"""``weir epoch``: where a source's positions start again, decided by a person and recorded for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import click

from assets.audit import epoch_effects
from assets.control import compacted, decisions, discovered_tables
from assets.storage.lake import Lake
from orchestration.cli import session
from orchestration.cli.options import JSON, WHY, Place, in_place
from orchestration.console import agrees, put, put_json
from orchestration.feeds.faults import InvalidKey
from orchestration.feeds.keys import DeclaredEpoch
from orchestration.feeds.policies import epoch_from
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Epoch
from transforms.feed.feed import Feed


@click.group("epoch")
def epoch_command() -> None:
    """Declare or list where a source's positions start again: a reset log, a restored source, a new snapshot."""


@epoch_command.command("open")
@click.argument("feed")
@click.option("--window", required=True, help="The first landing window with events of the epoch.")
@click.option(
    "--time", help="The source's time from which on events are of the epoch (ISO, in UTC)."
)
@click.option("--table", help="Only this table. By default all of them.")
@click.option(
    "--snapshot",
    type=click.Choice(["complete", "partial"]),
    default="partial",
    show_default=True,
    help="complete: rows of older epochs are removed if the new epoch does not name them.",
)
@click.option("--reason", help=f"{WHY}.")
@click.option("--dry-run", is_flag=True, help="Say what it would do to gold, and record nothing.")
@click.option(
    "--yes", "is_sure", is_flag=True, help="Do not ask; without a terminal nobody is asked."
)
@in_place
def open_epoch_command(
    place: Place, feed: str, reason: str | None, *, dry_run: bool, is_sure: bool, **declared: Any
) -> None:
    """Record that positions start again in FEED. Such a decision is never undone.

    What it does to gold is said first, table by table: how many changes the new epoch has by now, and with --snapshot
    complete which rows they do not name.

    Events made at --time or later are in the new epoch. Events that carry no time are in it from --window on, and so
    are all events where --time is not given. Give --time where older events may be delivered again: without it, they
    would count as new.
    """

    def is_wanted() -> bool:
        return not dry_run and (is_sure or agrees("Record this? It is never undone"))

    open_epoch(place, feed, DeclaredEpoch(**declared), reason, is_wanted)


@epoch_command.command("list")
@click.argument("feed")
@in_place
@JSON
def list_epochs_command(place: Place, feed: str, as_json: bool) -> None:
    """List the epochs of FEED."""
    declared, lake = session.reached_feed(place, feed)
    recorded = decisions.with_recorded(lake, declared).decisions.epochs
    epochs = sorted(recorded, key=lambda epoch: epoch.window)
    if as_json:
        put_json([asdict(epoch) for epoch in epochs], indent=None)
        return
    if not epochs:
        put(f"{feed}: one epoch, from the first window on")
    for epoch in epochs:
        put(f"{feed}: {epoch_in_words(epoch)}")


def open_epoch(
    place: Place,
    name: str,
    declared: DeclaredEpoch,
    reason: str | None,
    is_wanted: Callable[[], bool],
) -> None:
    """Say what an epoch does to gold, and record that a feed's positions start again if that ``is_wanted`` then."""
    (feed,) = session.choose(place.feeds, [name])
    lake = session.reached(place.warehouse)
    tables = feed.tables
    if declared.table is not None and declared.table not in tables:
        # The stream may describe it.
        tables = discovered_tables.tables_of(lake, feed)
    try:
        epoch = epoch_from(declared, feed.window, tables)
    except InvalidKey as fault:
        raise DecisionRefused(feed.name, str(fault)) from None
    known = decisions.with_recorded(lake, feed)
    if epoch in known.decisions.epochs:
        put(f"{feed.name}: that epoch is open already; nothing was recorded")
        return
    _refuse_altered_past(lake, known, epoch)
    put(f"{feed.name}: {epoch_in_words(epoch)}:")
    for one in epoch_effects.effects_of(lake, known, epoch):
        put(f"  {one.in_words(feed.name, epoch)}")
    if not is_wanted():
        put("nothing was recorded")
        return
    decisions.open_epoch(lake, feed, epoch, datetime.now(UTC), reason)
    if epoch.time is None:
        put(
            f"{feed.name}: without --time, everything that lands in {epoch.window} or later belongs to the new epoch,"
            " repeats of older events included"
        )
    put(f"{feed.name}: recorded.")
    put(
        f"The windows from {epoch.window} on are due again, and the next run makes gold again from its whole history:"
        f" `weir run --feed {feed.name}`"
    )


def _refuse_altered_past(lake: Lake, feed: Feed, epoch: Epoch) -> None:
    with_it = replace(feed.decisions, epochs=(*feed.decisions.epochs, epoch))
    facts = compacted.compaction_watermark_facts(lake, feed)
    try:
        compacted.refuse_altered_past(replace(feed, decisions=with_it), facts)
    except DecisionRefused as fault:
        raise DecisionRefused(
            feed.name, f"{fault.fault}. Nothing was recorded: open the epoch after the rebuild"
        ) from None


def epoch_in_words(epoch: Epoch) -> str:
    """Where an epoch begins, in a line without an end."""
    of = f"of table {epoch.table}" if epoch.table else "of all tables"
    since = f" for events made at {epoch.time:%Y-%m-%d %H:%M:%S} UTC or later" if epoch.time else ""
    removed = "; its snapshot is complete, so older rows that it does not name are removed"
    return f"an epoch {of} from window {epoch.window} on{since}{removed if epoch.complete else ''}"
