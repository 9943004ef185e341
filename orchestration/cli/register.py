"""``weir register``: gold's tables put into the catalogues of the warehouse."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from assets.catalogues.register import Registration, registered
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer
from orchestration.cli.options import JSON, Place, in_place, of_feeds
from orchestration.console import say, waiting
from transforms.catalogue import CATALOGUES, FORMS
from transforms.errors import SettingMisdeclared


@click.command("register")
@in_place
@of_feeds
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@JSON
def register_command(place: Place, only: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Register gold's tables in Hive's Metastore, Unity Catalog or Glue, as each run does, too.

    Which catalogues, WEIR_CATALOGUES says. Only what is new or has other columns, comments, keys or tags is written.
    Exits with 1 where a table does not stand in one of them.

        WEIR_CATALOGUES=hive://metastore:9083 weir register shop
    """
    answer = CommandAnswer(as_json)
    chosen = session.choose(place.feeds, only)
    lake = session.reached(place.warehouse)
    if not lake.catalogues:
        fault = f"this names no catalogue; write {FORMS} (docs/catalogues.md)"
        raise SettingMisdeclared(CATALOGUES, os.environ.get(CATALOGUES, ""), fault)
    for feed in chosen:
        try:
            with waiting(f"registering {feed.name}"):
                done = registered(lake, feed, is_dry_run=dry_run)
            answer.of(feed.name).update(
                dry_run=dry_run, catalogues=[{**asdict(one), "ok": not one.faults} for one in done]
            )
            for one in done:
                answer.lines(lines_of(one, is_dry_run=dry_run))
                for fault in one.faults:
                    say(f"{feed.name}: {fault}")
                if one.faults:
                    answer.fail(feed.name, one.faults)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            answer.error(feed.name, fault)
    answer.end()
    sys.exit(0 if all(facts["ok"] for facts in answer.feeds.values()) else 1)


def lines_of(done: Registration, *, is_dry_run: bool) -> Iterator[str]:
    """What became of the tables in one catalogue, line by line."""
    # Of a catalogue that did not answer nobody knows how many tables it has; its fault is an error of the answer.
    if done.tables or done.fault is None:
        yield done.in_words + (" (dry run: nothing is written)" if is_dry_run else "")
    for one in done.tables:
        if one.state in ("new", "changed"):
            yield f"  {one.state}: {one.name}"
    for name in done.left:
        yield f"  left as it is, though the feed has no such table any more: {done.schema}.{name}"
