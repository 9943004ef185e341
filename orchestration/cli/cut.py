"""``weir cut``: up to where in the source all gold tables of a feed are whole, and what keeps that from being newer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from assets.audit.gone_versions import why_gone
from assets.cuts import manifest
from assets.cuts.record import Cut, Recorded, reached_cuts, why_none
from assets.cuts.views import VIEWS, at_position, view_lines
from assets.cuts.words import ahead_in_words
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer
from orchestration.cli.options import JSON, Place, in_place
from orchestration.console import put_lines
from transforms.errors import CutRefused
from transforms.feed.feed import Feed


@click.command("cut")
@click.argument("feed")
@click.option(
    "--views",
    type=click.Choice([*VIEWS]),
    help="Print SQL for that engine instead: a view of each table, at the version that is the cut.",
)
@click.option(
    "--at",
    metavar="POSITION",
    help="With --views: the last recorded cut at or below this position, and not the newest.",
)
@in_place
@JSON
def cut_command(place: Place, feed: str, views: str | None, at: str | None, as_json: bool) -> None:
    """Say up to where in the source all gold tables of FEED are whole: its newest cut.

    Each run records it. So does this command, where a run did not come to it, or tables were written again since, and
    then writes the manifest for other readers again, `_cuts/<feed>.json` in the warehouse. `weir query --at latest-cut`
    answers as of it, and `--at POSITION` as of an older one. `--views` is for engines that read gold themselves.
    """
    if views is not None and as_json:
        raise click.UsageError("--views prints SQL, and --json a document: choose one")
    if at is not None and views is None:
        raise click.UsageError("--at is for --views; `weir query --at` asks for rows")
    declared, lake = session.reached_feed(place, feed)
    answer = CommandAnswer(as_json)
    why = why_none(declared)
    found = Recorded(None, (why,)) if why else manifest.published(lake, declared)
    if views is not None:
        chosen = found if at is None or why else at_position(lake, declared, at)
        put_lines(_views(lake, declared, chosen, views))
        return
    answer.lines(cut_lines(declared, found))
    older = [one.text for one in reached_cuts(lake, declared.name)]
    if older:
        oldest = "the only one" if len(older) == 1 else f"the oldest {older[0]}"
        answer.line(f"  recorded: {counted(len(older), 'cut')}, {oldest}")
    facts = {**manifest.facts_of(declared, found), "cuts": older}
    answer.of(declared.name).update(facts)
    answer.end_of_one(declared.name)


def _views(lake: Lake, feed: Feed, found: Recorded, engine: str) -> list[str]:
    lines = [*view_lines(lake, feed, found, engine)]
    assert found.cut is not None  # there are views of it
    tables = found.cut.tables
    named = replace(found.cut, versions={one.path: one.version for one in tables})
    if (gone := why_gone(lake, feed, named, {one.name for one in tables})) is not None:
        raise CutRefused(feed.name, gone)
    return lines


def cut_lines(feed: Feed, found: Recorded) -> Iterator[str]:
    """The newest cut of a feed, its tables, and what holds it back."""
    cut = found.cut
    if cut is None or not cut.is_reached:
        yield f"{feed.name}: no cut"
    else:
        yield f"{feed.name}: all tables are whole up to {cut.text}, recorded {cut.recorded_at:%Y-%m-%d %H:%M:%S} UTC"
        yield from _table_lines(feed, cut)
        if cut.late_events:
            yield f"  {counted(cut.late_events, 'event')} at or below it came after it was recorded"
        if cut.broken_by:
            yield f"  it can no longer be asked for: {cut.broken_by}"
    for reason in found.held_by:
        yield f"  {'held back' if cut else 'why'}: {reason}"


def _table_lines(feed: Feed, cut: Cut) -> Iterator[str]:
    for one in cut.tables:
        yield f"  gold.{feed.name}.{one.name}: version {one.version}, {ahead_in_words(one)}"
