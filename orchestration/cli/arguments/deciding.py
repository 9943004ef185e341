"""The commands by which a person decides something about a feed: ``weir epoch`` and ``weir release``.

Put here the arguments and the help of a command that adds to the table ``decisions.<feed>``. Not here: what such a
command does (``orchestration/cli/decisions``), and records of quarantine (``quarantining``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from assets.bookkeeping.choice import Choice
from orchestration.cli.options import JSON, Place, in_place

REASON = "Why, for whoever reads decisions.<feed> later"


@click.group("epoch", short_help="Declare or list where a source's positions start again.")
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
@click.option("--reason", help=f"{REASON}.")
@click.option("--dry-run", is_flag=True, help="Say what it would do to gold, and record nothing.")
@click.option(
    "--yes", "is_sure", is_flag=True, help="Do not ask; without a terminal nobody is asked."
)
@in_place
def open_command(
    place: Place, feed: str, reason: str | None, *, dry_run: bool, is_sure: bool, **declared: Any
) -> None:
    """Record that positions start again in FEED. Such a decision is never undone.

    What it does to gold is said first, table by table: how many changes the new epoch has by now, and with --snapshot
    complete which rows they do not name.

    Events made at --time or later are in the new epoch. Events that carry no time are in it from --window on, and so
    are all events where --time is not given. Give --time where older events may be delivered again: without it, they
    would count as new.
    """
    from orchestration.cli.decisions import epoch
    from orchestration.console import agrees
    from orchestration.feeds.epochs import DeclaredEpoch

    def is_wanted() -> bool:
        return not dry_run and (is_sure or agrees("Record this? It is never undone"))

    epoch.open_epoch(place, feed, DeclaredEpoch(**declared), reason, is_wanted)


@epoch_command.command("list")
@click.argument("feed")
@in_place
@JSON
def list_command(place: Place, feed: str, as_json: bool) -> None:
    """List the epochs of FEED."""
    from orchestration.cli.decisions import epoch

    epoch.list_epochs(place, feed, as_json)


def with_choice(all_help: str, reason_help: str) -> Callable[..., Callable[..., None]]:
    """A command of a FEED that takes ids, ``--all`` and ``--reason``, which come as one ``choice``."""

    def declared(command: Callable[..., None]) -> Callable[..., None]:
        @click.argument("feed")
        @click.argument("ids", nargs=-1)
        @click.option("--all", "everything", is_flag=True, help=all_help)
        @click.option("--reason", help=reason_help)
        @in_place
        @wraps(command)
        def chosen(place: Place, feed: str, ids: tuple[str, ...], **others: Any) -> None:
            choice = Choice(ids, others.pop("everything"), others.pop("reason"))
            command(place, feed, choice, **others)

        return chosen

    return declared


@click.command("release", short_help="List the deletes that wait, or let them act.")
@with_choice("Let all of them act.", f"{REASON}.")
@click.option("--keep", "keeps", is_flag=True, help="Never let them act: gold keeps the rows.")
@JSON
def release_command(place: Place, feed: str, choice: Choice, keeps: bool, as_json: bool) -> None:
    """List the truncates, drops and snapshots of FEED that wait, or let those with these IDS act.

    With `range_deletes: hold` in a feed file, a delete of a whole table waits until somebody looks at it. So does what
    would remove most of a table (`loss_guard`), and what a snapshot does not name that is not known to be complete.
    Without IDS and without --all, the command lists what waits. The beginning of an id is enough. Deletes that come
    from one record act together.
    """
    from orchestration.cli.decisions import release

    release.release(place, feed, choice, as_json, keeps=keeps)
