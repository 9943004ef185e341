"""An apply in words and numbers: the log, the metadata in the UI, the results of gold's checks.

Put here what the log, the UI or the summary shows of an apply, and how many violations of gold's rules it found. Not
here: the counts themselves (``applied``), and the rules (``expectations/gold.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import dagster as dg

from assets.executors.told import by, executors_of
from assets.gold import range_deletes
from assets.gold.applied import Applied
from assets.gold.changes.changes_by_window import first_and_last
from assets.wording import counted
from expectations import gold as rules
from transforms.display.markdown import Markdown, bullets
from transforms.feed.feed import Feed
from transforms.silver.conforming.discovered_tables import stopped_in_words


def report(context: dg.AssetExecutionContext, feed: Feed, name: str, done: Applied) -> None:
    """Log what an apply did to the gold tables of one declared table; ``name``: what a query calls it."""
    if done.waits_for:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed, and {counted(len(done.waits_for), 'window')}"
            f" ({done.waits_for[0]} .. {done.waits_for[-1]}) must be derived again before gold can follow:"
            " `weir run` does so, or a backfill of these windows"
        )
    if done.rebuilt:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed; the table was made again from all of silver"
        )
    context.log.info(
        f"gold.{feed.name}.{name}: {counted(done.keys, 'key')} changed, now {counted(done.rows, 'row')}"
        f" and {counted(done.tombstones, 'tombstone')}"
        + (f"; {done.in_gold_already:,} in gold already" if done.in_gold_already else "")
        + (f"; {done.superseded:,} older than what gold has" if done.superseded else "")
        + (
            f"; {counted(done.keys_with_late_events, 'key')} with late events"
            if done.keys_with_late_events
            else ""
        )
        + by(*done.executors)
    )
    for one in done.tables:
        for effect in one.range_deletes:
            # A delete of some rows is the source's daily business, one of a whole table seldom is.
            tell = context.log.info if effect.is_of_some_rows else context.log.warning
            for line in range_deletes.effect_lines((effect,)):
                tell(f"gold.{feed.name}.{one.name}: {line}")


def facts(
    done: Applied, seconds: float, windows: Sequence[str]
) -> dict[str, int | float | str | dg.JsonMetadataValue]:
    """What one fold of all windows of a run did: metadata of its last window, which the UI and the summary show."""
    return {
        "windows_of_run": first_and_last(windows),
        "seconds": round(seconds, 1),
        "changes_applied": done.changes,
        "in_gold_already": done.in_gold_already,
        "superseded": done.superseded,
        "keys_changed": done.keys,
        "keys_refolded": done.refolded,
        "keys_with_late_events": done.keys_with_late_events,
        "keys_with_ties": done.ties,
        "tables": dg.MetadataValue.json([asdict(one) for one in done.tables]),
        "waits_for": len(done.waits_for),
        **executors_of(done.executors),
    }


def violations_of(done: Applied) -> dict[str, int]:
    """How many violations of each of gold's rules an apply has found."""
    return {
        rules.ONE_ROW_PER_KEY.name: done.foreign_copies,
        rules.NO_LATE_EVENT.name: done.keys_with_late_events,
        rules.POSITIONS_RISE_WITHIN_KEY.name: done.ties,
        rules.ROWS_WERE_INSERTED.name: done.never_inserted,
        rules.EVERY_TABLE_IS_MADE.name: len(done.stopped),
        rules.NO_LOSS_IS_HELD.name: len(done.held),
        rules.SNAPSHOTS_NAME_EVERY_ROW.name: len(done.unnamed),
    }


def samples_of(done: Applied) -> dict[str, Markdown]:
    """What is shown of a failed check, by rule: tables that could not be made, and why; or some of the keys."""
    lines = [f"gold is unchanged for {line}" for line in stopped_in_words(done.stopped)]
    keys = {
        rules.NO_LATE_EVENT.name: done.late_keys,
        rules.POSITIONS_RISE_WITHIN_KEY.name: done.tied_keys,
        rules.ONE_ROW_PER_KEY.name: done.copied_keys,
        rules.ROWS_WERE_INSERTED.name: done.partial_keys,
    }
    return {
        rules.EVERY_TABLE_IS_MADE.name: bullets(lines),
        rules.NO_LOSS_IS_HELD.name: bullets(done.held),
        rules.SNAPSHOTS_NAME_EVERY_ROW.name: bullets(done.unnamed),
        **{rule: bullets(some) for rule, some in keys.items()},
    }
