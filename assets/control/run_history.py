"""What runs leave for the reports: gold's sizes after each run, and the schema drift that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow.compute as pc

from assets.control import progress
from assets.control.live_rows import live_rows
from assets.storage import delta_rs
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES
from transforms.silver.schema_drift import Drift, Seen, drift_of, guessed_type, seen_in

TIDIED_EVERY = 50
"""Number of runs after which their files are made one: a report reads them all."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """One gold table: how many live rows and tombstones it has."""

    name: str
    rows: int
    tombstones: int


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has come to its end: its id, when that was, and its windows."""

    run: str
    ended_at: datetime
    windows: Sequence[str]


def sizes_now(lake: Lake, feed: Feed) -> list[TableSize]:
    """Every gold table that there is, by its folder: the logs of rows and of tombstones say how many there are."""
    folders = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
    return [
        TableSize(
            name,
            live_rows(lake.in_process_table(Layer.GOLD, feed.name, name)),
            lake.in_process_table(Layer.GOLD, feed.name, name + TOMBSTONES).count(),
        )
        for name in sorted(folders)
        if name + TOMBSTONES in folders
    ]


def note_sizes(lake: Lake, feed: Feed, ended: EndedRun, sizes: Sequence[TableSize]) -> None:
    """Add a run to the table, unless it says the same as the run before it."""
    runs = lake.in_process_table(Layer.RUNS, feed.name)
    facts = {
        "first_window": min(ended.windows),
        "last_window": max(ended.windows),
        "tables": len(sizes),
        "rows": sum(one.rows for one in sizes),
        "tombstones": sum(one.tombstones for one in sizes),
    }
    noted = runs.rows()
    if noted:
        last = max(noted, key=lambda one: one["ended_at"])
        if facts.items() <= last.items():
            return
    runs.append([{"run": ended.run, "ended_at": ended.ended_at, **facts}])
    if runs.version % TIDIED_EVERY == TIDIED_EVERY - 1:
        runs.tidy()


# Schema drift: what a stream has that its feed file does not declare. The run that first meets a thing reports it.

SAMPLED = 1_000
"""Maximum number of changes from which the types of new columns are guessed."""


@dataclass(frozen=True, slots=True)
class UnknownDrift:
    """What windows have that is not known yet: the rows to note, and what there is to say."""

    rows: Sequence[dict[str, str]]
    drift: Sequence[Drift]


def unknown_drift_in(lake: Lake, feed: Feed, windows: Sequence[str]) -> UnknownDrift:
    """What these windows have that is new. Writes nothing (see ``note_drift``)."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(
        ["window", "source_table", "declared", "changes", "undeclared_columns", "stream_schemas"],
        {"window": windows},
    )
    found = seen_in(feed, accounts)
    if not found:
        return UnknownDrift([], [])
    noted = lake.in_process_table(Layer.DRIFT, feed.name).rows(Seen._fields)
    known = {Seen(**row) for row in noted}
    rows = [
        {**seen._asdict(), "first_window": window}
        for seen, window in found.items()
        if seen not in known
    ]
    is_first = not progress.brought_before(lake, feed, windows)
    keys = {
        row["declared"]: tuple(schema["key"])
        for row in accounts
        for schema in row["stream_schemas"]
        if schema["key"] is not None
    }
    drift = [
        replace(_with_guesses(lake, feed, one), key=keys.get(one.table, ()))
        for one in drift_of(found, known)
        # What the stream describes in a feed's first windows is how the feed begins.
        if not (one.is_described and is_first)
    ]
    return UnknownDrift(rows, drift)


def note_drift(lake: Lake, feed: Feed, found: UnknownDrift) -> None:
    """Record that what is new is known from now on."""
    if found.rows:
        lake.in_process_table(Layer.DRIFT, feed.name).append(found.rows)


def _with_guesses(lake: Lake, feed: Feed, drift: Drift) -> Drift:
    """With types of columns guessed from the values in silver, where the stream does not say them; not of a table."""
    if drift.is_described or drift.kind == "table":
        return drift
    values: dict[str, list[str | None]] = {name: [] for name in drift.columns}
    left, silver = SAMPLED, lake.in_process_table(Layer.SILVER, feed.name)
    for rows in silver.each(["declared", "after"], {"window": [drift.window]}):
        of_table = pc.equal(rows["declared"], drift.table)
        images = rows.filter(of_table)["after"].slice(0, left).to_pylist()
        for name, value in (pair for image in images for pair in image or ()):
            if name in values:
                values[name].append(value)
        left -= len(images)
        if left <= 0:
            break
    return replace(drift, columns={name: guessed_type(texts) for name, texts in values.items()})
