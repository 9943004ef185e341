"""The books of a feed, ``accounting.<feed>``: what is known of its windows beside their changes.

Not here: how events are counted (``transforms/silver_columns/accounting.py``), what the counts say (``violations``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from assets.small_table import SmallTable
from transforms.errors import TableNameCollision
from transforms.feed import Feed
from transforms.feed_digest import feed_digest
from transforms.formats import FORMATS
from transforms.silver import accounting
from transforms.silver_columns import accounting as columns
from transforms.silver_columns.accounting import ACCOUNTING

ANNOUNCED = ""
"""The ``declaration`` of a row that only says what kinds of change are on their way: its window is not derived."""


COLUMNS: pa.Schema = to_arrow_schema(ACCOUNTING, timezone="UTC")
"""The columns of ``accounting.<feed>``."""

Book = Mapping[str, Any]
"""One row of it."""


def counted(feed: Feed, fated: DataFrame) -> list[Book]:
    """One row per window and table (``accounting.ACCOUNTING``), from events with their fate."""
    words = [remark.word for remark in FORMATS[feed.format].remarks]
    found: list[Book] = []
    for row in columns.accounting(fated, words).collect():
        book = row.asDict(recursive=True) | {"declaration": feed_digest(feed, row["window"])}
        for segment in book["segments"]:
            for name in ("event_at", "extracted_at"):
                # Spark gives times in this machine's own zone, and does not say so.
                if segment[name] is not None:
                    segment[name] = segment[name].astimezone(UTC)
        found.append(book)
    return found


def refuse_collisions(feed: Feed, books: Sequence[Book], earlier: Sequence[Book]) -> None:
    """Raise before anything is written where two source tables would share a gold table."""
    pairs = {
        (row["table"], row["source_table"])
        for row in (*books, *earlier)
        if row["changes"] and row["declared"]
    }
    for table, sources in accounting.collisions(pairs).items():
        raise TableNameCollision(feed.name, table, sources)


def announce(table: SmallTable, books: Sequence[Book], earlier: Sequence[Book]) -> None:
    """Make known which kinds of change these windows bring, before silver has them.

    Gold folds by the kinds that all windows have together. Silver and its books are two commits: a run that dies
    between them, or one on other windows that looks just then, would fold these changes as if they were of no kind.
    """
    known: dict[str | None, set[str]] = {}
    for row in earlier:
        known.setdefault(row["table"], set()).update(row["traits"] or ())
    new = [
        row
        for row in books
        if row["traits"] and not set(row["traits"]) <= known.get(row["table"], set())
    ]
    if new:
        table.append([_announced(row) for row in new])


def _announced(row: Book) -> Book:
    """The row without anything that was counted."""
    empty: dict[str, object] = {
        field.name: 0 if isinstance(field.dataType, T.LongType) else []
        for field in ACCOUNTING.fields
        if isinstance(field.dataType, (T.LongType, T.ArrayType))
    } | {"remarks": {}}
    return {**row, **empty, "traits": row["traits"], "declaration": ANNOUNCED}


def falls(books: Iterable[Book]) -> list[Book]:
    """Where a log file ends before an earlier one does (``accounting.falls``), with times as moments."""
    accounts = [
        {
            "table": row["table"],
            "segments": [
                (
                    one["epoch"],
                    one["segment"],
                    _micros(one["event_at"]),
                    _micros(one["extracted_at"]),
                )
                for one in row["segments"] or ()
            ],
        }
        for row in books
    ]
    return [
        {**fall, **{name: _moment(fall[name]) for name in ("newest", "newest_before")}}
        for fall in accounting.falls(accounts)
    ]


_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _1970) // _MICROSECOND


def _moment(microseconds: int) -> datetime:
    return _1970 + microseconds * _MICROSECOND
