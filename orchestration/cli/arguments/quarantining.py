"""``weir quarantine`` and its commands: list, show, export, replay and dismiss.

Put here their arguments and help. Not here: what they do (``orchestration/cli/quarantine``).
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assets.bookkeeping.choice import Choice
from orchestration.cli.options import Place, in_place

STATES = ("open", "repaired", "dismissed", "too late")

BY = click.option("--by", metavar="NAME", help="Who decides this. By default your user's name.")
REASON = click.option("--reason", help="Why, for whoever reads decisions.<feed> later.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The same for programs, as JSON.")


@click.group("quarantine", short_help="List, show, repair or dismiss quarantined records.")
def quarantine_command() -> None:
    """Work with the records that could not be taken: see what is wrong, repair them, replay them, or give them up."""


@quarantine_command.command("list", short_help="List records by the reason why they are there.")
@click.argument("feed")
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--state",
    type=click.Choice([*STATES, "all"]),
    default="open",
    show_default=True,
    help="Only records in this state.",
)
@AS_JSON
@in_place
def list_records_command(
    place: Place, feed: str, reason: str | None, state: str, as_json: bool
) -> None:
    """List the quarantined records of FEED, by reason, each with its source location and the start of its payload."""
    from orchestration.cli.quarantine import listing

    listing.list_records(place, feed, reason, state, as_json=as_json)


@quarantine_command.command("show", short_help="Show one record, what is wrong and what to do.")
@click.argument("feed")
@click.argument("id")
@AS_JSON
@in_place
def show_command(place: Place, feed: str, id: str, as_json: bool) -> None:
    """Show one record of FEED: payload, source location, state and reason, what to do, and what is read in its place.

    The beginning of the ID is enough.
    """
    from orchestration.cli.quarantine import listing

    listing.show_record(place, feed, id, as_json=as_json)


@quarantine_command.command("export", short_help="Write records out, to be repaired in an editor.")
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    show_default="quarantine-<feed>",
    help="The folder to write to.",
)
@in_place
def export_command(
    place: Place, feed: str, ids: tuple[str, ...], reason: str | None, to: Path | None
) -> None:
    """Write the open records of FEED, or those with these IDS, to a folder: a file for each, as it landed.

    A file source_locations.json beside them says which record each file is. Repair the files, and give the folder or
    single files to `weir quarantine replay`.
    """
    from orchestration.cli.quarantine import exporting

    exporting.export(place, feed, Choice(ids), reason, to)


@quarantine_command.command("replay", short_help="Bring records through their windows once more.")
@click.argument("feed")
@click.argument("what", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All open records, as they are.")
@REASON
@BY
@click.option("--later", is_flag=True, help="Only record it: the next `weir run` does the rest.")
@click.option(
    "--force", is_flag=True, help="Record also a payload that would be quarantined again."
)
@in_place
def replay_command(place: Place, feed: str, what: tuple[str, ...], **more: object) -> None:
    """Bring records of FEED through their windows once more: repaired files, or records as they are.

    WHAT: files or folders of `weir quarantine export`, of which those that you changed are recorded (that needs
    --reason) and read in place of the records in bronze; or ids of records that a changed feed file can take as they
    are. Exits with 1 if one of the records is still in quarantine afterwards.
    """
    from orchestration.cli.quarantine import replaying

    choice = Choice(what, bool(more["everything"]), _text(more["reason"]))
    ways = replaying.Ways(_text(more["by"]), bool(more["later"]), bool(more["force"]))
    sys.exit(replaying.replay(place, feed, choice, ways))


@quarantine_command.command("dismiss", short_help="Give up records that nobody can repair.")
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All open records.")
@click.option("--reason", help="Why, for whoever reads decisions.<feed> later. Needed.")
@BY
@in_place
def dismiss_command(place: Place, feed: str, ids: tuple[str, ...], **more: object) -> None:
    """Dismiss the records of FEED with these IDS: nobody will repair them.

    They stay in quarantine and no longer hold compaction up or fail a check; `weir status` counts them. If the feed
    file is changed later so that such a record can be taken, it counts like any other. The beginning of an id is
    enough. All events of a record are dismissed together.
    """
    from orchestration.cli.quarantine import dismissing

    choice = Choice(ids, bool(more["everything"]), _text(more["reason"]))
    dismissing.dismiss(place, feed, choice, _text(more["by"]))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
