"""A run as a process of its own, in small steps: ``python -m tests.faults.worker``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from assets.bronze import from_objects
from assets.control import progress
from assets.executors.choice import AUTO, SPARK
from assets.gold import apply
from assets.maintenance import compaction
from assets.silver import derive
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from orchestration.runs import planning
from orchestration.spark import settings
from tests.faults.drawn import feed_of
from transforms.feed.feed import Feed


def note(journal: Path, layer: str, window: str = "-") -> None:
    """Write down what begins now."""
    with journal.open("a") as lines:
        lines.write(f"{layer} {window} {time.monotonic()}\n")


def steps(lake: Lake, feed: Feed, journal: Path) -> None:
    """Bring the first window that is due to gold and compact, until none is due."""

    def begin(layer: str, window: str = "-") -> None:
        note(journal, layer, window)

    while True:
        begin("landing")
        due = planning.due(lake, feed).windows[:1]
        if not due:
            begin("done")
            return
        for layer, step in steps_of(lake, feed, due).items():
            begin(layer, *due)
            step()
        begin("compaction", *due)
        list(compaction.compact_feed(lake, feed, dict(feed.tables), dry_run=False))


def steps_of(lake: Lake, feed: Feed, due: Sequence[str]) -> dict[str, Callable[[], object]]:
    """What brings these windows from the landing to gold, in order."""
    return {
        "bronze": partial(from_objects.land, lake, feed, due),
        "silver": partial(derive.derive, lake, feed, due),
        "gold": partial(apply.apply_tables, lake, feed, [*feed.tables.values()], due),
        "progress": partial(progress.finish, lake, feed, due),
    }


def main(warehouse: str, landing: str, way: str, journal: str, go: str) -> None:
    """Start Spark as the commands do, and wait for the word.

    ``way``: ``here`` for tables that are small, as these are; ``session`` to bring them as if they were large.
    """
    feed = feed_of(landing)
    lake = settings.tuned(lake_of(warehouse), [feed]).by(SPARK if way == "spark" else AUTO)
    # The word is awaited with a warm session, which reads and writes nothing.
    _ = lake.spark
    planning.due(lake, feed)
    note(Path(journal), "ready")
    while not Path(go).exists():
        time.sleep(0.01)
    steps(lake, feed, Path(journal))


if __name__ == "__main__":
    main(*sys.argv[1:])
