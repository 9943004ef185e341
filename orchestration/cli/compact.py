"""``weir compact``: every gold table of the feeds compacted, and a report of each.

Put here what the command prints. Not here: what compaction keeps and drops (``assets/upkeep/compaction``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assets.bookkeeping import discovered_tables
from assets.gold import gold_tables
from assets.lake import Lake
from assets.upkeep.compaction import Compacted, compact_feed
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.session import opened_feeds
from orchestration.console import print_error, waiting
from transforms.feed.feed import Feed
from transforms.silver.conforming.discovered_tables import stopped_in_words


def compact(place: Place, only: Sequence[str], *, dry_run: bool) -> int:
    """Compact every gold table of the feeds, and print what was kept and dropped.

    Returns the exit code: 0, or 1 where a table could not be compacted; it stays as it was, and the others are done.
    """
    failed = False
    chosen, lake = opened_feeds(place, only)
    with waiting("compacting"):
        for feed in chosen:
            try:
                compact_one(lake, feed, dry_run=dry_run)
            except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
                failed = True
                print_error(feed.name, fault)
    return 1 if failed else 0


def compact_one(lake: Lake, feed: Feed, *, dry_run: bool) -> None:
    """Compact the gold tables of one feed, and print a report of each."""
    names = gold_tables.mirrors(lake, feed)
    if not names:
        print(f"{feed.name}: nothing in gold yet")
    try:
        for done in compact_feed(lake, feed, names, dry_run=dry_run):
            print("\n".join(report(feed.name, done, dry_run=dry_run)), flush=True)
    finally:
        for line in stopped_in_words(discovered_tables.stopped(lake, feed)):
            print(f"not compacted, because gold cannot be made: {line}", flush=True)


def report(feed: str, done: Compacted, *, dry_run: bool) -> Iterator[str]:
    """What was kept and dropped of one table, and why no more, line by line."""
    would = "would be " if dry_run else ""
    yield f"gold.{feed}.{done.table}" + (" (dry run: nothing is changed)" if dry_run else "")
    horizon = done.plan.new or done.plan.old
    if horizon is None:
        yield f"  history: all {counted(done.kept, 'change')} kept"
    else:
        at = "/".join(map(str, horizon.position))
        yield (
            f"  history: up to position {at} {would}folded into {counted(done.base, 'base row')}:"
            f" {counted(done.folded, 'change')} {would}dropped from silver, {done.kept:,} newer kept"
        )
    for reason in done.plan.held_back_by:
        yield f"    no further: {reason}"
    yield (
        f"  tombstones: {done.superseded:,} whose key is back or was deleted again, and {done.expired:,} whose key"
        f" no older event can reach any more, {would}dropped; {done.tombstones:,} kept for events that may still come"
    )
    files = counted(done.files_before, "file")
    yield f"  files: {files}" + ("" if dry_run else f" -> {done.files_after:,}")
    if done.digest is not None:
        yield f"  proved: base rows and newer changes make the same gold (digest {done.digest[:16]})"
