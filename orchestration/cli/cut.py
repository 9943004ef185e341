"""``weir cut``: up to where in the source all gold tables of a feed are whole, and what keeps that from being newer."""

from __future__ import annotations

from collections.abc import Iterator

import click

from assets.cuts import manifest
from assets.cuts.record import Cut, Recorded, cuts_of, record, why_none
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer
from orchestration.cli.options import JSON, Place, in_place
from transforms.feed.feed import Feed


@click.command("cut")
@click.argument("feed")
@in_place
@JSON
def cut_command(place: Place, feed: str, as_json: bool) -> None:
    """Say up to where in the source all gold tables of FEED are whole: its newest cut.

    Each run records it. So does this command, where a run did not come to it, or tables were written again since, and
    then writes the manifest for other readers again, `_cuts/<feed>.json` in the warehouse. `weir query --at latest-cut`
    answers as of it, and `--at POSITION` as of an older one.
    """
    declared, lake = session.reached_feed(place, feed)
    answer = CommandAnswer(as_json)
    found = record(lake, declared)
    if why_none(declared) is None:
        manifest.write(lake, declared, found)
    answer.lines(cut_lines(declared, found))
    older = [one.text for one in cuts_of(lake, declared.name) if one.is_reached]
    if older:
        oldest = "the only one" if len(older) == 1 else f"the oldest {older[0]}"
        answer.line(f"  recorded: {counted(len(older), 'cut')}, {oldest}")
    facts = {**manifest.facts_of(declared, found), "cuts": older}
    answer.of(declared.name).update(facts)
    answer.end_of_one(declared.name)


def newest_cut(lake: Lake, feed: Feed) -> Recorded:
    """The newest cut as it is recorded, or why the feed has none. Records nothing."""
    if (reason := why_none(feed)) is not None:
        return Recorded(None, (reason,))
    known = cuts_of(lake, feed.name)
    return Recorded(known[-1], known[-1].held_by) if known else Recorded(None)


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
        if one.keys_ahead is None:
            state = "ahead of it by a delete of many rows"
        elif one.keys_ahead:
            state = f"ahead of it by {counted(one.keys_ahead, 'key')}"
        else:
            state = "exactly it"
        yield f"  gold.{feed.name}.{one.name}: version {one.version}, {state}"
