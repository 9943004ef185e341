"""The commands by which a person decides something about a feed: ``weir epoch``, ``weir release``, ``weir dismiss``."""

from __future__ import annotations

from typing import Any

import click

from orchestration.cli.options import Place, in_place


@click.group()
def epoch() -> None:
    """Say where a source's positions start again: a reset log, a restored source, a new snapshot."""


@epoch.command("open")
@click.argument("feed")
@click.option("--window", required=True, help="The first landing window with events of the epoch.")
@click.option("--time", help="The source's time from which events are of the epoch (ISO, UTC).")
@click.option("--table", help="Only this table of the feed file; all by default.")
@click.option(
    "--snapshot",
    type=click.Choice(["complete", "partial"]),
    default="partial",
    show_default=True,
    help="complete: rows of older epochs that the epoch does not name are gone.",
)
@click.option("--reason", help="Why, for whoever reads decisions.<feed> later.")
@in_place
def open_epoch(place: Place, feed: str, reason: str | None, **declared: Any) -> None:
    """Record that positions start again in FEED. Such a decision is never undone.

    Events made at --time or later are in the new epoch; those that carry no time, and all where --time is not given,
    from --window on. Give --time where older events may be delivered again: without it, they would count as new.
    """
    from orchestration.cli import epoch as work
    from orchestration.feeds.epochs import DeclaredEpoch

    work.open_epoch(place, feed, DeclaredEpoch(**declared), reason)


@epoch.command("list")
@click.argument("feed")
@in_place
def list_epochs(place: Place, feed: str) -> None:
    """List the epochs of FEED."""
    from orchestration.cli import epoch as work

    work.list_epochs(place, feed)


@click.command()
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--all", "all_of_them", is_flag=True, help="Let all of them act.")
@click.option("--reason", help="Why, for whoever reads decisions.<feed> later.")
@in_place
def release(
    place: Place, feed: str, ids: tuple[str, ...], all_of_them: bool, reason: str | None
) -> None:
    """List the truncates and drops of FEED that wait, or let those with these IDS act.

    With `scope_deletes: hold` in a feed file, a delete of a whole table waits until somebody looks at it. Without IDS
    and --all, they are listed; the beginning of an id will do. What one record asks for is let through together.
    """
    from orchestration.cli import release as work

    work.release(place, feed, ids, reason, all_of_them=all_of_them)


@click.command()
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--all", "all_of_them", is_flag=True, help="Let all of them go.")
@click.option(
    "--reason", help="Why, for whoever reads decisions.<feed> later; needed to let any go."
)
@in_place
def dismiss(
    place: Place, feed: str, ids: tuple[str, ...], all_of_them: bool, reason: str | None
) -> None:
    """List the records of FEED in quarantine, or let those with these IDS go: nobody will mend them.

    They stay in quarantine, and no longer hold compaction up or fail a check; `weir status` counts them. If the feed
    file says something later by which such a record can be taken, it counts like any other. Without IDS and --all, they
    are listed; the beginning of an id will do. All events of one record go together.
    """
    from orchestration.cli import dismiss as work

    work.dismiss(place, feed, ids, reason, all_of_them=all_of_them)
