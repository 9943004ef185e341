"""``weir reconcile``: gold compared with the live source, and each key named that differs."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from assets.reconcile.compare import Ask, Sides, reconciled
from assets.reconcile.databases import source_of
from assets.reconcile.words import as_document, exit_code, last_lines, table_lines
from assets.source.database import address_of
from orchestration.cli import reconcile_repair, session
from orchestration.cli.options import BY, JSON, Place, in_place
from orchestration.cli.reconcile_repair import WAYS, Ways
from orchestration.console import begin, put_json, put_lines, say, waiting
from orchestration.observability import comparison
from orchestration.observability.last_comparison import noted


@click.command("reconcile")
@click.argument("feed")
@click.option("--table", "tables", multiple=True, metavar="TABLE", help="Only this gold table.")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait, in all, until gold has come past the source's snapshot.",
)
@click.option(
    "--idle",
    "is_idle",
    is_flag=True,
    help="The source is at rest, and all that it wrote is in gold: wait for nothing.",
)
@click.option(
    "--rate",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="How many rows a second the source may be asked to read. By default as many as it can.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many keys of a table are printed; all are counted.",
)
@click.option(
    "--repair",
    "is_repair",
    is_flag=True,
    help="Read the keys that differ again in the source, record them in bronze, and bring them to gold.",
)
@click.option("--dry-run", is_flag=True, help="With --repair: say what would be recorded, only.")
@click.option(
    "--yes",
    "is_sure",
    is_flag=True,
    help="With --repair: do not ask; without a terminal nobody is asked.",
)
@click.option(
    "--reason", help="With --repair: why, for whoever reads the story of such a key later."
)
@BY
@in_place
@JSON
def reconcile_command(feed: str, place: Place, limit: int, as_json: bool, **asked: object) -> None:
    """Compare gold with the live source, and name each key that differs.

    The source is read in one snapshot, by checksums of ranges of keys that it computes itself: nothing is written or
    locked. Keys that differ are looked at again once gold has come past the snapshot, so that what is only under way is
    no difference. Exits with 0 if every row is the same, with 1 if any differs, and with 2 if something cannot be told.

        weir reconcile shop --table orders

    With --repair, what differs is read again, shown, and recorded in bronze as what the source held at that place of
    its log; then it is brought to gold, and these keys are compared once more. Nothing else writes gold.

    Where the database is, the feed file says (`source`); who asks it, WEIR_SOURCE_USERNAME and WEIR_SOURCE_PASSWORD.
    """
    ways = Ways(**{name: asked.pop(name) for name in WAYS}, limit=limit)  # type: ignore[arg-type]
    ways.refuse_alone()
    chosen, lake = session.reached_feed(place, feed)
    address = address_of(chosen)
    ask = Ask(**asked, say=begin)  # type: ignore[arg-type]
    source = source_of(chosen, address)
    say(f"comparing gold.{feed} with {address}")
    began = datetime.now(UTC)
    with waiting(f"comparing {feed}"):
        found = reconciled(lake, chosen, source, ask)
    if not as_json:
        for one in found.tables:
            put_lines(table_lines(chosen, one, limit))
        put_lines(last_lines(found))
    facts: dict[str, object] = {}
    if ways.is_repair:
        found, repair = reconcile_repair.repaired(
            place, Sides(lake, chosen, source, ask), found, ways, as_json=as_json
        )
        facts["repair"] = repair
    if not ask.tables:
        try:
            made = noted(chosen, found, datetime.now(UTC))
            comparison.published(lake, chosen, made, began)
        except Exception as fault:  # whoever may only read has compared all the same
            say(f"the feed's page could not be made again: {fault}")
    if as_json:
        put_json(dict(as_document(chosen, found)) | facts)
    sys.exit(exit_code(found.tables))
