"""Silver's rows as changes, from Arrow batches, and the texts of gold's values as silver spells them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from transforms.arrow.map_columns import maps
from transforms.feed.feed import Table
from transforms.gold.change import Change, Image, Key
from transforms.gold.range_deletes import RangeDelete
from transforms.types import is_nested, judge_of

COLUMNS = (
    *("key", "effect", "log_position", "dedup_prefix", "event_id", "event_at", "before", "after"),
    *("attribute_ops", "moved_from", "scope", "stream", "derived", "transaction"),
)
"""The columns of silver that have to be read."""


class SilverRow(NamedTuple):
    """One row of silver that counts; ``key`` is None for a range delete, ``range_delete`` for one of a key.

    ``transaction``: None, or the transaction's ``id``, whether it moves the change to its commit (``at_commit``), and
    the ``commit`` where the row's own window holds all of it.
    """

    key: Key | None
    stream: str | None
    change: Change
    range_delete: RangeDelete | None
    transaction: dict[str, Any] | None


def silver_rows(
    batch: pa.RecordBatch, spelled: Mapping[str, str] | None = None
) -> Iterator[SilverRow]:
    """The rows of a batch that has ``COLUMNS``; ``event_at`` is a timestamp, or in microseconds since 1970.

    ``spelled``: the names in gold of columns that have another name there (``transforms.feed.feed.Table``).
    """
    at = batch.column("event_at")
    if pa.types.is_timestamp(at.type):
        at = at.cast(pa.timestamp("us", at.type.tz)).cast(pa.int64())
    plain = (
        *("key", "effect", "log_position", "dedup_prefix", "event_id"),
        *("moved_from", "stream", "derived", "transaction"),
    )
    cells = zip(*(batch.column(name).to_pylist() for name in plain), strict=True)
    images = zip(
        *(
            maps(batch.column(name), spelled)
            for name in ("before", "after", "attribute_ops", "scope")
        ),
        strict=True,
    )
    for row, moment, (before, after, operations, scope) in zip(
        cells, at.to_pylist(), images, strict=True
    ):
        key, effect, log_position, stable, event_id, moved_from, stream, derived, transaction = row
        change = Change(
            *(effect, tuple(log_position), stable, event_id, moment),
            *(before or {}, after or {}, operations or {}),
            None if moved_from is None else tuple(moved_from),
            is_range_delete=scope is not None,
            is_derived=derived is not None or scope is not None,
            stream=stream,
        )
        range_delete = None if scope is None else RangeDelete(scope, stream, change)
        yield SilverRow(
            None if key is None else tuple(key), stream, change, range_delete, transaction
        )


def respelling(table: Table) -> Callable[[Image], Image] | None:
    """A function from texts of gold's values, as Spark writes them, to silver's; None where both are always the same.

    Java writes large floating numbers with more digits than they need (``transforms.value_types.floats.double``), and
    times within other values with all six digits of their microseconds.
    """
    judges = {
        name: judge_of(kind)
        for name, kind in table.columns.items()
        if "float" in kind or "double" in kind or ("timestamp" in kind and is_nested(kind))
    }
    if not judges:
        return None

    def respelled(image: Image) -> Image:
        return {
            name: text if text is None or name not in judges else judges[name](text)
            for name, text in image.items()
        }

    return respelled
