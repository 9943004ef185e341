"""``weir rebuild``: all of a feed's silver and gold made again from bronze, with progress."""

from __future__ import annotations

import sys

import click

from assets.control import discovered_tables, progress
from assets.cuts import manifest
from assets.cuts.words import in_a_line
from assets.maintenance.rebuild import rebuild_gold, rebuild_silver, windows_of
from assets.storage import step_faults
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli.answer import CommandAnswer, Facts
from orchestration.cli.options import JSON, Place, in_place_by
from orchestration.cli.session import opened_feeds
from orchestration.console import say, waiting
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.silver.discovered_tables import stopped_in_words


@click.command("rebuild")
@click.argument("feed")
@in_place_by
@JSON
def rebuild_command(feed: str, place: Place, as_json: bool) -> None:
    """Make all of silver and gold of FEED again from bronze, compacted history included.

    Use it after a change of the feed file or an epoch that alters compacted history, for another key of a table, or to
    take in events that were quarantined as too_late. Gold stays as it is until it is replaced, table by table. Run
    nothing else on the feed meanwhile.
    """
    answer = CommandAnswer(as_json)
    (declared,), lake = opened_feeds(place, [feed])
    with waiting(f"rebuilding {feed}"):
        try:
            code = rebuild_in(lake, declared, answer)
        except WeirError as fault:
            answer.error(feed, fault)
            code = 2
    answer.end_of_one(feed)
    sys.exit(code)


def rebuild_in(lake: Lake, feed: Feed, answer: CommandAnswer | None = None) -> int:
    """Rebuild one feed in an open warehouse; returns the exit code of ``rebuild``."""
    answer = answer or CommandAnswer()
    tables: list[Facts] = []
    windows = windows_of(lake, feed)
    answer.of(feed.name).update(windows=windows, tables=tables)
    if not windows:
        nothing = "nothing has landed in bronze yet; `weir run` first"
        answer.line(f"{feed.name}: {nothing}")
        answer.fail(feed.name, [nothing])
        return 2
    say(f"{feed.name}: making silver again from {counted(len(windows), 'window')} of bronze")
    for made in rebuild_silver(lake, feed, windows):
        say(f"{feed.name}: {made.windows:,} of {made.of:,} windows in silver")
    faults: dict[str, Exception] = {}
    for table in discovered_tables.tables_of(lake, feed).values():
        try:
            done = rebuild_gold(lake, feed, table, windows)
        except Exception as fault:
            # Whatever it is, the other tables have nothing to do with it.
            faults[table.name] = fault
            continue
        for written in done.tables:
            answer.line(f"gold.{feed.name}.{written.name}: {counted(written.rows, 'row')}")
            sizes = {"rows": written.rows, "tombstones": written.tombstones}
            tables.append({"table": written.name, **sizes})
    stopped = stopped_in_words(discovered_tables.made_and_stopped(lake, feed).stopped)
    for line in stopped:
        answer.line(f"gold is unchanged for {line}")
    if stopped:
        answer.fail(feed.name, [f"gold is unchanged for {line}" for line in stopped])
    # Its windows stay due, so that the next run makes what is missing.
    step_faults.refuse_failed_tables(feed.name, faults)
    progress.finish(lake, feed, windows)
    found = manifest.published_again(lake, feed)
    if found is not None:
        answer.line(f"{feed.name}: {in_a_line(found)}")
    return 1 if stopped else 0
