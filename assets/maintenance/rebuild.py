"""Full rebuild: a feed's tables made once more from all of bronze, compacted history included.

It is needed under a changed declaration, for an epoch in compacted history, and to take in what came too late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from assets.control import accounting, decisions, discovered_tables, ledger, progress
from assets.gold import apply, tables
from assets.gold.fold import Applied
from assets.silver import checks, derive
from assets.silver.checks import Findings
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from expectations.feed_rules import silver_rules
from transforms.display import bullet_texts
from transforms.errors import RebuildRefused, RebuildStopped
from transforms.feed.feed import Feed, Table

WINDOWS_AT_ONCE = 48
"""How many windows are derived in one pass: enough for Spark to have work, few enough to show progress."""


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """Progress of a rebuild: so many of the feed's windows are in silver again."""

    windows: int
    of: int


def windows_of(lake: Lake, feed: Feed) -> list[str]:
    """Every window of bronze.

    Raises:
        RebuildRefused: bronze lacks windows that silver was made from.
    """
    windows = sorted({one.window for one in ledger.read_objects(lake, feed)})
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(["window", "events"])
    had = {row["window"] for row in accounts if row["events"]}
    if gone := sorted(had - set(windows)):
        raise RebuildRefused(feed.name, gone)
    return windows


def rebuild_silver(lake: Lake, feed: Feed, windows: Sequence[str]) -> Iterator[RebuildProgress]:
    """Derive silver again for ``windows``, which are all windows of bronze; gold follows with ``rebuild_gold``.

    A rebuild that ends in between leaves every window unfinished, and gold as it was until all windows are derived: the
    next run or rebuild goes on.

    Raises:
        RebuildStopped: what silver has now fails a check that blocks, by itself or as the feed file says.
        TableBusy: another run is writing tables of the feed; nothing was changed.
    """
    feed = decisions.with_recorded(lake, feed)
    # As runs and compaction are, it is the only one to write the feed's changes, tables and finished windows.
    with ExitStack() as alone:
        for layer in (Layer.SILVER, Layer.PROGRESS):
            alone.enter_context(writing(lake, layer, feed.name))
        for name in feed.tables:
            alone.enter_context(writing(lake, Layer.GOLD, feed.name, name))
        _mark_unfinished(lake, feed)
    blocking = [rule for rule in silver_rules(feed) if rule.severity == "blocking"]
    violations: Counter[str] = Counter()
    broken: list[Findings] = []
    for start in range(0, len(windows), WINDOWS_AT_ONCE):
        some = windows[start : start + WINDOWS_AT_ONCE]
        made = derive.derive(lake, feed, some)
        violations.update(made.violations)
        if any(made.violations[rule.name] for rule in blocking):
            broken.append(made.findings)
        yield RebuildProgress(start + len(some), len(windows))
    for rule in blocking:
        if violations[rule.name] > rule.at_most:
            shown = [checks.samples(lake, one).get(rule.name, "") for one in broken]
            seen = "; ".join(line.removeprefix("- ") for one in shown for line in bullet_texts(one))
            raise RebuildStopped(
                feed.name,
                f"a check fails: {rule.says}" + (f" {seen}." if seen else ""),
                rule.remedy.replace("<feed>", feed.name),
            )


def _mark_unfinished(lake: Lake, feed: Feed) -> None:
    """Let no window count as finished. Each step leaves tables that the next run can go on from.

    In this order: gold is marked as made under no declaration, so that it waits until all windows are derived under the
    present one; no window's accounts have a declaration; no window is finished; and no table has a compaction
    watermark.
    """
    # A table that is stopped now may not be when silver is derived again.
    for name in (
        *tables.mirrors(lake, feed),
        *discovered_tables.made_and_stopped(lake, feed).stopped,
    ):
        progress.undeclare(lake, feed, name)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    if accounts.exists:
        accounts.rewrite({**row, "declaration": accounting.ANNOUNCED} for row in accounts.rows())
    for layer in (Layer.PROGRESS, Layer.BASE, Layer.COMPACTED):
        table = lake.in_process_table(layer, feed.name)
        if table.exists and table.may_be_written:
            table.rewrite(table.schema.empty_table())
        elif table.exists:
            lake.table(layer, feed.name).delete()


def rebuild_gold(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> Applied:
    """Make every gold table that mirrors the declared one from all of silver, each in one commit.

    Raises:
        RebuildStopped: a decision was recorded meanwhile, so that windows have to be derived once more.
    """
    done = apply.apply(lake, feed, table, windows, full_rebuild=True)
    if done.waits_for:
        raise RebuildStopped(
            feed.name,
            f"a decision was recorded during the rebuild, and {len(done.waits_for)} windows were derived without it.",
            f"`weir rebuild {feed.name}` again.",
        )
    return done
