"""Which schema drift is known, ``drift.<feed>``: what a stream had that its feed file did not declare, when first seen.

Each thing is reported once, by the run that first meets it. Put here the table's columns and what reads or adds rows of
it. Not here: what counts as drift (``transforms/silver/schema_drift.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import accounting, window_progress
from assets.columns.silver import SILVER_ARROW
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.silver.schema_drift import Drift, Seen, drift_of, guessed_type, seen_in

DRIFT = pa.schema(
    [
        pa.field("table", pa.string()),
        pa.field("column", pa.string()),
        pa.field("type", pa.string()),
        pa.field("first_window", pa.string()),
    ]
)
"""One row per table, or column and type of a table (else ""), and the window of the run that met it first."""

SAMPLED = 1_000
"""From so many changes at most the types of new columns are guessed."""


@dataclass(frozen=True, slots=True)
class UnknownDrift:
    """What windows have that is not known yet: the rows to note, and what there is to say."""

    rows: Sequence[dict[str, str]]
    drift: Sequence[Drift]


def _table(lake: Lake, feed: Feed) -> InProcessTable:
    return lake.in_process_table(Layer.DRIFT, feed.name, columns=DRIFT)


def unknown_in(lake: Lake, feed: Feed, windows: Sequence[str]) -> UnknownDrift:
    """What these windows have that is new. Writes nothing (see ``note``)."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    asked = ["window", "source_table", "declared", "changes", "undeclared_columns"]
    rows_of_windows = accounts.rows([*asked, "stream_schemas"], {"window": windows})
    found = seen_in(feed, rows_of_windows)
    if not found:
        return UnknownDrift([], [])
    known = {Seen(row["table"], row["column"], row["type"]) for row in _table(lake, feed).rows()}
    rows = [
        {**seen._asdict(), "first_window": window}
        for seen, window in found.items()
        if seen not in known
    ]
    is_first = not window_progress.brought_before(lake, feed, windows)
    keys = {
        row["declared"]: tuple(schema["key"])
        for row in rows_of_windows
        for schema in row["stream_schemas"] or ()
        if schema["key"] is not None
    }
    drift = [
        replace(_with_guesses(lake, feed, one), key=keys.get(one.table, ()))
        for one in drift_of(found, known)
        # What the stream describes in a feed's first windows is how the feed begins.
        if not (one.is_described and is_first)
    ]
    return UnknownDrift(rows, drift)


def note(lake: Lake, feed: Feed, found: UnknownDrift) -> None:
    """Record that what is new is known from now on."""
    if found.rows:
        _table(lake, feed).append(found.rows)


def _with_guesses(lake: Lake, feed: Feed, drift: Drift) -> Drift:
    """With types of columns that are guessed from the values in silver, where the stream does not say them.

    Nothing is guessed of a whole table: ``assets/silver/findings`` proposes one, with its key.
    """
    if drift.is_described or drift.kind == "table":
        return drift
    values: dict[str, list[str | None]] = {name: [] for name in drift.columns}
    left = SAMPLED
    for rows in lake.in_process_table(Layer.SILVER, feed.name).each(
        _SAMPLE, {"window": [drift.window]}
    ):
        of_table = pc.equal(rows["declared"], drift.table)
        images = rows.filter(of_table)["after"].slice(0, left).to_pylist()
        for name, value in (pair for image in images for pair in image or ()):
            if name in values:
                values[name].append(value)
        left -= len(images)
        if left <= 0:
            break
    return replace(drift, columns={name: guessed_type(texts) for name, texts in values.items()})


_SAMPLE = pa.schema([SILVER_ARROW.field(name) for name in ("declared", "after")])
