"""``weir rebuild``: all of a feed's silver and gold made again from bronze, with progress.

Put here what the command prints. Not here: how tables are rebuilt (``assets/upkeep/rebuild``).
"""

from __future__ import annotations

from assets.bookkeeping import discovered_tables, window_progress
from assets.gold import table_faults
from assets.lake import Lake
from assets.upkeep.rebuild import rebuild_gold, rebuild_silver, windows_of
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.session import opened_feed
from orchestration.console import print_error, say, waiting
from transforms.errors import TablesFailed
from transforms.feed.feed import Feed
from transforms.silver.conforming.discovered_tables import stopped_in_words


def rebuild(place: Place, name: str) -> int:
    """Rebuild one feed; returns the exit code: 0, 1 where a gold table is stopped, 2 where one failed.

    Also 2 where nothing is to be rebuilt.
    """
    feed, lake = opened_feed(place, name)
    with waiting(f"rebuilding {feed.name}"):
        try:
            return rebuild_in(lake, feed)
        except TablesFailed as fault:
            print_error(feed.name, fault)
            return 2


def rebuild_in(lake: Lake, feed: Feed) -> int:
    """Rebuild one feed in an open warehouse; returns the exit code: 0, 1 where a gold table is stopped, 2 for nothing.

    Raises:
        TablesFailed: gold tables could not be made; the others are, and the windows stay due.
    """
    windows = windows_of(lake, feed)
    if not windows:
        print(f"{feed.name}: nothing has landed in bronze yet; `weir run` first")
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
            print(f"gold.{feed.name}.{written.name}: {counted(written.rows, 'row')}", flush=True)
    stopped = discovered_tables.stopped(lake, feed)
    for line in stopped_in_words(stopped):
        print(f"gold is unchanged for {line}", flush=True)
    # Its windows stay due, so that the next run makes what is missing.
    table_faults.refuse(feed.name, faults)
    window_progress.finish(lake, feed, windows)
    return 1 if stopped else 0
