"""What a run does with what has come, without Dagster around it."""

from __future__ import annotations

from assets.bronze import from_objects, from_topics
from assets.control import discovered_tables, ledger, progress
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake
from orchestration.runs import planning
from transforms.feed.feed import Feed


def run(lake: Lake, feed: Feed) -> None:
    """Bring the windows that are due to gold."""
    windows = planning.due(lake, feed).windows
    if feed.reads_topics:
        from_topics.land(lake, feed, lambda _: None)
        windows = progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    else:
        from_objects.land(lake, feed, windows)
    made = derive.derive(lake, feed, windows)
    assert made.violations["accounting_is_exact"] == 0
    for table in discovered_tables.tables_of(lake, feed).values():
        apply.apply(lake, feed, table, windows)
    progress.finish(lake, feed, windows)
