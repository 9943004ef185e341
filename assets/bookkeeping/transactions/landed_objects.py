"""The object generations that are known to have landed, ``landed.<feed>``, and which of their windows are not read.

Only feeds whose format has transactions have the table: a transaction may go through an object that nobody has read
yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.ledger import ReadObject
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


def unread(lake: Lake, feed: Feed) -> list[str]:
    """The windows of which something has landed that silver does not have."""
    landed = Landed.read(lake, feed)
    declared = window_progress.declarations(feed, landed.doubtful)
    return landed.unread(declared, window_progress.accounts_of(lake, feed, landed.doubtful))


@dataclass(frozen=True, slots=True)
class Landed:
    """What is known to have landed of a feed at one moment, and how much of it bronze has.

    Args:
        noted: How many object generations are known to have landed, by window; of topics, how many records bronze has.
        doubtful: The windows that are not in gold with all of these.
        amounts: How much bronze has of each doubtful window, counted as in ``noted``.
        held: What that is.
    """

    noted: Mapping[str, int]
    doubtful: frozenset[str]
    amounts: Mapping[str, int]
    held: Sequence[ReadObject]

    @classmethod
    def read(cls, lake: Lake, feed: Feed, but: Collection[str] = ()) -> Landed:
        """What is known now; the windows ``but`` are not asked for, so that none of them is doubtful."""
        if feed.reads_topics:
            # All that a run has seen of a topic is in bronze.
            everything = ledger.read_objects(lake, feed)
            noted: Mapping[str, int] = ledger.amounts(feed, everything)
        else:
            objects = lake.in_process_table(Layer.LANDED, feed.name, columns=LANDED).read()
            # Two runs may have noted one object.
            windows = objects.group_by(LANDED.names).aggregate([])["window"].value_counts()
            noted = {one["values"]: one["counts"] for one in windows.to_pylist()}
        progress = lake.in_process_table(
            Layer.PROGRESS, feed.name, columns=window_progress.PROGRESS
        )
        finished = {row["window"]: row["objects"] for row in progress.rows(["window", "objects"])}
        doubtful = frozenset(
            window
            for window, count in noted.items()
            if window not in but and finished.get(window, -1) < count
        )
        if feed.reads_topics:
            held = [one for one in everything if one.window in doubtful]
        else:
            # Few: those of this run and of runs that did not come to their end.
            held = ledger.read_objects(lake, feed, [*doubtful]) if doubtful else []
        return cls(noted, doubtful, ledger.amounts(feed, held), held)

    def unread(
        self, declared: Mapping[str, str], accounts: Iterable[Mapping[str, Any]]
    ) -> list[str]:
        """The doubtful windows of which something has landed that silver does not have.

        Args:
            declared: Under which declaration each of these would be derived now (``window_progress.declarations``).
            accounts: Of at least these windows (``window_progress.READ_ACCOUNTS``).
        """
        if not self.doubtful:
            return []
        behind = window_progress.behind_by(declared, accounts, self.held)
        return sorted(
            one
            for one in self.doubtful
            if self.amounts.get(one, 0) < self.noted[one] or one in behind
        )
