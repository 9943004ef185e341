"""The object generations that are known to have landed, ``landed.<feed>``, and which of their windows are not read.

Only feeds whose format has transactions have the table: a transaction may go through an object that nobody has read
yet. Put here what notes such objects or asks for them. Not here: what bronze holds (``bookkeeping/ledger``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pyarrow as pa

from assets.bookkeeping import ledger, window_progress
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

LANDED = pa.schema([(name, pa.string()) for name in ("window", "object", "generation")])
"""One row per object generation that was in the landing and not in bronze when a run looked: ``landed.<feed>``."""


def note_landed(lake: Lake, feed: Feed, objects: Iterable[tuple[str, str, str]]) -> None:
    """Add these object generations (window, object, generation) to ``landed.<feed>``, each once."""
    new = set(objects)
    table = lake.in_process_table(Layer.LANDED, feed.name, columns=LANDED)
    if new:
        noted = table.rows(where={"window": {one[0] for one in new}})
        new -= {tuple(row.values()) for row in noted}
    if new:
        table.append([dict(zip(LANDED.names, one, strict=True)) for one in sorted(new)])


def forget_unreadable(lake: Lake, feed: Feed, there: Collection[tuple[str, str, str]]) -> None:
    """Remove object generations that can no longer be read: they are neither in the landing nor in bronze.

    ``there``: all that lies in the landing now.
    """
    doubtful = unread(lake, feed)
    if not doubtful:
        return
    table = lake.in_process_table(Layer.LANDED, feed.name, columns=LANDED)
    noted = [tuple(row.values()) for row in table.rows(where={"window": doubtful})]
    held = {
        (one.window, one.name, one.generation) for one in ledger.read_objects(lake, feed, doubtful)
    }
    known = [one for one in noted if one in there or one in held]
    if len(known) < len(noted):
        rows = [dict(zip(LANDED.names, one, strict=True)) for one in sorted(set(known))]
        table.replace_windows(rows, doubtful)


def unread(lake: Lake, feed: Feed, but: Sequence[str] = ()) -> list[str]:
    """The windows, except ``but``, of which something has landed that silver does not have."""
    noted = _landed(lake, feed)
    progress = lake.in_process_table(Layer.PROGRESS, feed.name, columns=window_progress.PROGRESS)
    finished = {row["window"]: row["objects"] for row in progress.rows(["window", "objects"])}
    doubtful = [
        window
        for window, count in noted.items()
        if window not in but and finished.get(window, -1) < count
    ]
    if not doubtful:
        return []
    # Few: those of this run and of runs that did not come to their end.
    held = ledger.read_objects(lake, feed, doubtful)
    objects = ledger.amounts(feed, held)
    behind = window_progress.behind(lake, feed, held)
    return sorted(one for one in doubtful if objects[one] < noted[one] or one in behind)


def _landed(lake: Lake, feed: Feed) -> dict[str, int]:
    """How many object generations are known to have landed, by window; of topics, how many records bronze has."""
    if feed.reads_topics:
        # All that a run has seen of a topic is in bronze.
        return ledger.amounts(feed, ledger.read_objects(lake, feed))
    noted = lake.in_process_table(Layer.LANDED, feed.name, columns=LANDED).read()
    # Two runs may have noted one object.
    windows = noted.group_by(LANDED.names).aggregate([])["window"].value_counts()
    return {one["values"]: one["counts"] for one in windows.to_pylist()}
