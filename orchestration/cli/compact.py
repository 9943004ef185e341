"""``weir compact``: every gold table of the feeds compacted, and a report of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from assets.control import discovered_tables
from assets.gold import tables as gold_tables
from assets.maintenance.compaction import Compacted, compact_feed
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli.answer import CommandAnswer, Facts
from orchestration.cli.options import JSON, Place, in_place_by, of_feeds
from orchestration.cli.session import choose, reached
from orchestration.console import say, waiting
from orchestration.spark.java import check_java
from transforms.feed.feed import Feed
from transforms.silver.discovered_tables import stopped_in_words


@click.command("compact")
@in_place_by
@of_feeds
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@JSON
def compact_command(place: Place, only: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Fold old changes into base rows, drop tombstones that nothing needs, and compact small files.

    Changes older than the feed's `compaction: {retention: ...}` (30 days unless the feed file says otherwise) are
    removed from silver; bronze keeps every record. Gold is the same before and after, which is proved before anything
    is removed. An event that arrives later for a compacted part of the history is quarantined with the reason too_late.
    """
    answer = CommandAnswer(as_json)
    check_java()
    chosen = choose(place.feeds, only)
    lake = reached(place.warehouse, chosen, place.executor)
    say(f"the tables are in {lake.warehouse}")
    with waiting("compacting"):
        for feed in chosen:
            try:
                compact_one(lake, feed, answer, dry_run=dry_run)
            except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
                answer.error(feed.name, fault)
    answer.end()
    sys.exit(0 if all(facts["ok"] for facts in answer.feeds.values()) else 1)


def compact_one(lake: Lake, feed: Feed, answer: CommandAnswer, *, dry_run: bool) -> None:
    """Compact the gold tables of one feed, and report on each."""
    tables: list[Facts] = []
    skipped: list[str] = []
    answer.of(feed.name).update(dry_run=dry_run, tables=tables, not_compacted=skipped)
    names = gold_tables.mirrors(lake, feed)
    if not names:
        answer.line(f"{feed.name}: nothing in gold yet")
    try:
        for done in compact_feed(lake, feed, names, dry_run=dry_run):
            answer.lines(compaction_lines(feed.name, done, dry_run=dry_run))
            tables.append(compaction_facts(done))
    finally:
        for line in stopped_in_words(discovered_tables.made_and_stopped(lake, feed).stopped):
            answer.line(f"not compacted, because gold cannot be made: {line}")
            skipped.append(line)


def compaction_lines(feed: str, done: Compacted, *, dry_run: bool) -> Iterator[str]:
    """What was kept and dropped of one table, and why no more, line by line."""
    would = "would be " if dry_run else ""
    yield f"gold.{feed}.{done.table}" + (" (dry run: nothing is changed)" if dry_run else "")
    watermark = done.plan.new or done.plan.old
    if watermark is None:
        yield f"  history: all {counted(done.kept, 'change')} kept"
    else:
        at = "/".join(map(str, watermark.log_position))
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


def compaction_facts(done: Compacted) -> Facts:
    """What was kept and dropped of one table, up to which position of the source, and what held that back."""
    facts = asdict(done)
    facts.pop("plan")
    watermark = done.plan.new or done.plan.old
    return {
        "table": facts.pop("table"),
        "compaction_watermark": [*watermark.log_position] if watermark else None,
        "held_back_by": [*done.plan.held_back_by],
        **facts,
    }
