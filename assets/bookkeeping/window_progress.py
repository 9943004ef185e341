"""Which windows of a feed are finished, ``progress.<feed>``: all that bronze holds of them is in gold.

A window is finished when ``progress`` says so for as many object generations as bronze holds of it now (records, where
topics are read: their partitions grow), under the declaration that the feed has now. Losing the table costs time, never
truth: every step can be repeated. Put here what asks for or changes that. Not here: what was read (``ledger``), and the
Dagster asset (``progress_asset``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from assets.bookkeeping import decisions
from assets.bookkeeping.ledger import ReadObject, amounts, read_objects
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.digest import feed_digests
from transforms.feed.feed import Feed

PROGRESS = pa.schema(
    [
        pa.field("window", pa.string()),
        pa.field("objects", pa.int64()),
        pa.field("declaration", pa.string()),
        pa.field("finished_at", pa.timestamp("us", "UTC")),
    ]
)
"""One row per window that is in gold: with how many object generations or records, and under which declaration."""

READ_ACCOUNTS = pa.schema(
    [
        pa.field("window", pa.string()),
        pa.field("records", pa.int64()),
        pa.field("declaration", pa.string()),
    ]
)
"""The columns of ``accounting.<feed>`` that say which records silver was made from, and under which declaration."""


def unfinished(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> list[str]:
    """Windows whose bronze, ``known`` as it is now, is not in gold yet, or was derived under another declaration."""
    digest = feed_digests(decisions.with_recorded(lake, feed))
    finished = {
        row["window"]: row["objects"]
        for row in lake.in_process_table(Layer.PROGRESS, feed.name, columns=PROGRESS).rows()
        if row["declaration"] == digest(row["window"])
    }
    counts = amounts(feed, known)
    return sorted(window for window, count in counts.items() if finished.get(window) != count)


def brought_before(lake: Lake, feed: Feed, windows: Collection[str]) -> frozenset[str]:
    """The finished windows besides these; what silver has of any other window may not be in gold yet."""
    rows = lake.in_process_table(Layer.PROGRESS, feed.name, columns=PROGRESS).rows(["window"])
    return frozenset(row["window"] for row in rows).difference(windows)


def finish(lake: Lake, feed: Feed, windows: Sequence[str]) -> int:
    """Record that these windows are finished; returns how many objects or records they have (``ledger.amounts``).

    A window for which bronze has more than silver was made from is left out: another run read new drops meanwhile, and
    may have died before it came to silver. So is one that was derived under other decisions than there are by now.
    """
    with writing(lake, Layer.PROGRESS, feed.name):
        return _finish(lake, decisions.with_recorded(lake, feed), windows)


def _finish(lake: Lake, feed: Feed, windows: Sequence[str]) -> int:
    known = read_objects(lake, feed, windows)
    late = behind(lake, feed, known)
    counts = amounts(feed, (one for one in known if one.window not in late))
    now, digest = datetime.now(UTC), feed_digests(feed)
    rows = [
        {"window": window, "objects": count, "declaration": digest(window), "finished_at": now}
        for window, count in counts.items()
    ]
    lake.in_process_table(Layer.PROGRESS, feed.name, columns=PROGRESS).replace_windows(
        rows, windows
    )
    return counts.total()


def behind(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> set[str]:
    """The windows that were derived from fewer records than bronze has now, or under another declaration."""
    windows = {one.window for one in known}
    return behind_by(declarations(feed, windows), accounts_of(lake, feed, windows), known)


def declarations(feed: Feed, windows: Iterable[str]) -> dict[str, str]:
    """Under which declaration each of these windows would be derived now: the digest of it."""
    digest = feed_digests(feed)
    return {window: digest(window) for window in windows}


def accounts_of(
    lake: Lake, feed: Feed, windows: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """The accounts (``READ_ACCOUNTS``) of these windows, or all."""
    table = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=READ_ACCOUNTS)
    if windows is None:
        return table.rows()
    return table.rows(where={"window": windows}) if windows else []


def behind_by(
    declared: Mapping[str, str], accounts: Iterable[Mapping[str, Any]], known: Sequence[ReadObject]
) -> set[str]:
    """``behind`` for whoever has the ``declarations`` of at least these windows, and has read their ``accounts``."""
    bronze_records: Counter[str] = Counter()
    for one in known:
        bronze_records[one.window] += one.records
    derived_records: Counter[str] = Counter()
    stale: set[str] = set()
    for row in accounts:
        if row["window"] not in bronze_records:
            continue
        derived_records[row["window"]] += row["records"]
        if row["declaration"] != declared[row["window"]]:
            stale.add(row["window"])
    return stale | {
        window for window in bronze_records if bronze_records[window] != derived_records[window]
    }
