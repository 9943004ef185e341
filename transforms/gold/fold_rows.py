"""The rows that an executor brings together by key for the fold of a gold table, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.change import Change, Image, Key, LogPosition, key_of_text
from transforms.column_types import map_columns
from transforms.column_types.map_columns import IMAGE, NUMBERS, TEXTS
from transforms.column_types.registry import column_type
from transforms.feed.feed import Table
from transforms.gold.columns import (
    BEGAN_BY,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    FROM_AT,
    IS_DELETED,
    KEY,
    LOG_POSITION,
    RESET,
    TO_AT,
    VALID_FROM,
    VALID_TO,
)
from transforms.gold.fold import Last, Version

SILVER_COLUMNS = (
    *("key", "effect", "log_position", "dedup_prefix", "event_id", "event_at", "before", "after"),
    *("attribute_ops", "moved_from", "scope", "stream", "derived", "transaction"),
)
"""The columns of silver that have to be read."""


def respelling(table: Table) -> Callable[[Image], Image] | None:
    """A function from texts of gold's values, as Spark writes them, to silver's; None where both are the same."""
    judges = {
        name: column_type(kind).judge
        for name, kind in table.columns.items()
        if column_type(kind).is_respelled
    }
    if not judges:
        return None

    def respelled(image: Image) -> Image:
        return {
            name: text if text is None or name not in judges else judges[name](text)
            for name, text in image.items()
        }

    return respelled


GOLD, TOMBSTONE, VERSION, BASE, CARRIED, CHANGE = range(6)
"""What a row is (``what``).

``GOLD``, ``TOMBSTONE``, ``VERSION``: a row of gold, a tombstone, a version of a row. ``BASE``: a base row. ``CARRIED``:
a key that an earlier stage asks the history of, with what that stage has made of gold's row and tombstone, if it has
read them. ``CHANGE``: a change. Rows that are folded together are sorted by this number, so that changes come last.
"""


MARKED: Final = "remove"
"""The ``effect`` of a row of gold, or of a base row, that is marked as deleted."""


FOLD_ROWS: Final = pa.schema(
    [
        *[("group", TEXTS), ("what", pa.int32()), ("key", TEXTS), ("is_new", pa.bool_())],
        *[("effect", pa.string()), ("log_position", NUMBERS), ("dedup_prefix", pa.int32())],
        *[("event_id", pa.string()), ("event_at", pa.int64())],
        *[("before", IMAGE), ("after", IMAGE), ("attribute_ops", IMAGE)],
        *[("moved_from", TEXTS), ("is_range_delete", pa.bool_()), ("is_derived", pa.bool_())],
        ("is_update", pa.bool_()),
        *[("stream", pa.string()), ("reset", NUMBERS), ("copies", pa.int64())],
        *[("streams", TEXTS), ("carried", pa.binary())],
        *[("ended_by", pa.string()), ("ended_at", pa.int64())],
    ]
)
"""One row per row of gold, tombstone, version, base row, carried key and change of a key.

Times are microseconds since 1970 (UTC). ``group``: of a key that key changes link with others one of their keys, else
the key. ``effect``: in rows of gold and base rows ``remove`` where the row is marked as deleted. ``after``: in rows of
gold and base rows the values, where they are asked for. ``log_position``, ``event_id``, ``event_at``: in a version
those of the change that began it; ``reset``, ``ended_by``, ``ended_at``: those of the change that ended it.

Lists and maps are empty where there is nothing, and never null: while Spark fills a batch, it counts the batch's bytes
after every row, and for a column of lists goes each time through all rows since the last one that has a list. For
170,000 rows that took 10 s with nulls, and takes 0.1 s without.
"""


class FoldRow(NamedTuple):
    """One row of a key; ``change``: of a row of gold, a tombstone, a version or a base row the one that made it."""

    key: Key
    what: int
    is_new: bool
    stream: str | None
    change: Change
    reset: LogPosition | None
    copies: int
    streams: Sequence[str]
    carried: bytes | None
    ended_by: str | None
    ended_at: int | None


def read_fold_rows(
    batches: Iterable[pa.RecordBatch], respelled: Callable[[Image], Image] | None, *, grouped: bool
) -> Iterator[tuple[Key, FoldRow]]:
    """Each row with its group, or with its key where keys are not ``grouped``."""
    names = [name for name in FOLD_ROWS.names if name != "group"]
    for batch in batches:
        columns = [cells(batch.column(name)) for name in names]
        groups = cells(batch.column("group")) if grouped else repeat(None)
        # The columns in their order; a column that no row of the batch fills repeats one value, and costs nothing.
        for group, row in zip(groups, zip(*columns, strict=False), strict=False):
            what, key, is_new, effect, log_position, stable, event_id, at, *rest = row
            (
                old,
                new,
                of_columns,
                moved_from,
                is_range_delete,
                is_derived,
                is_update,
                stream,
                reset,
                *others,
            ) = rest
            if respelled is not None and what in (GOLD, VERSION):
                new = respelled(new)
            change = Change(
                *(effect, log_position, stable, event_id, at, old, new, of_columns),
                moved_from or None,
                is_range_delete,
                is_derived,
                is_update=is_update,
                stream=stream,
            )
            row_of_key = FoldRow(key, what, is_new, stream, change, reset or None, *others)
            yield (key if group is None else group), row_of_key


def cells(column: pa.Array) -> Iterable[Any]:
    """A column's values: dicts for maps, tuples for lists, neither of them ever null."""
    if pa.types.is_map(column.type):
        return map_columns.maps(column) if len(column.keys) else repeat(_NOTHING, len(column))
    if pa.types.is_list(column.type):
        return map_columns.tuples(column) if len(column.values) else repeat((), len(column))
    if column.null_count == len(column):
        return repeat(None, len(column))
    values: list[Any] = column.to_pylist()
    return values


_NOTHING: Final[Mapping[str, str | None]] = {}


def last_of(row: FoldRow) -> Last:
    """The change that made a row of gold, a tombstone, a base row, or that began a version."""
    change = row.change
    return Last(change.log_position, change.event_id, change.event_at, is_range_delete=False)


def is_marked(row: FoldRow) -> bool:
    """Whether a row of gold, or a base row, is marked as deleted."""
    return row.change.effect == MARKED


def version_of(row: FoldRow) -> Version:
    """The version that a row of kind ``VERSION`` is."""
    by, at = row.ended_by or "", row.ended_at
    ended = None if row.reset is None else Last(row.reset, by, at, is_range_delete=False)
    return Version(row.change.after, last_of(row), ended)


def shaped_rows(found: Mapping[str, pa.Array | pa.ChunkedArray], count: int) -> pa.Table:
    """So many rows with exactly the columns ``FOLD_ROWS``, from those of them that are ``found``."""
    return pa.table(
        [
            _nothing(one, count) if one.name not in found else _never_null(found[one.name], one)
            for one in FOLD_ROWS
        ],
        schema=FOLD_ROWS,
    )


def rows_of_changes(rows: pa.Table) -> pa.Table:
    """One row per change of a single key, from rows of silver that count, with ``is_new``."""
    range_delete = pc.is_valid(rows["scope"])
    names = (
        *("key", "is_new", "effect", "log_position", "dedup_prefix", "event_id", "before", "after"),
        *("attribute_ops", "moved_from", "stream"),
    )
    found = {
        **{name: rows[name] for name in names},
        "what": _all(CHANGE, rows.num_rows),
        "event_at": in_microseconds(rows["event_at"]),
        "is_range_delete": range_delete,
        "is_derived": pc.or_(pc.is_valid(rows["derived"]), range_delete),
        # The row of an update that changes its key is new under the new one.
        "is_update": pc.and_(
            pc.fill_null(pc.equal(rows["operation"], "update"), False),
            pc.is_null(rows["moved_from"]),
        ),
    }
    return shaped_rows(found, rows.num_rows)


def rows_of_stored(table: Table, rows: pa.Table, what: int, *, with_values: bool) -> pa.Table:
    """One row per row of gold, or per tombstone (``what``): its key, its last change, and perhaps its values."""
    found = {
        "what": _all(what, rows.num_rows),
        "key": key_lists(table, rows),
        "log_position": rows[LOG_POSITION],
        "event_id": rows[EVENT_ID],
        "event_at": in_microseconds(rows[EVENT_AT]),
        "reset": rows[RESET],
    }
    if with_values:
        found["after"] = _images(table, rows)
    if what == GOLD and table.marks_deletes:
        found["effect"] = pc.if_else(rows[IS_DELETED], MARKED, None)
    return shaped_rows(found, rows.num_rows)


def rows_of_versions(table: Table, rows: pa.Table) -> pa.Table:
    """One row per version of a table of versions."""
    found = {
        "what": _all(VERSION, rows.num_rows),
        "key": key_lists(table, rows),
        "log_position": rows[VALID_FROM],
        "event_id": rows[BEGAN_BY],
        "event_at": in_microseconds(rows[FROM_AT]),
        "reset": rows[VALID_TO],
        "ended_by": rows[ENDED_BY],
        "ended_at": in_microseconds(rows[TO_AT]),
        "after": _images(table, rows),
    }
    return shaped_rows(found, rows.num_rows)


def rows_of_base(rows: pa.Table) -> pa.Table:
    """One row per base row (``key``, ``streams``, ``state``), with the last change that it stands for."""
    state = rows["state"].combine_chunks()
    found = {
        "what": _all(BASE, rows.num_rows),
        "key": rows["key"],
        "streams": rows["streams"],
        "effect": pc.struct_field(state, "effect"),
        "copies": pc.struct_field(state, "copies"),
        "after": pc.struct_field(state, "columns"),
        "log_position": pc.struct_field(state, ["last", "log_position"]),
        "event_id": pc.struct_field(state, ["last", "event_id"]),
        "event_at": in_microseconds(pc.struct_field(state, ["last", "event_at"])),
    }
    return shaped_rows(found, rows.num_rows)


def keys_of(table: Table, rows: pa.Table) -> list[Key]:
    """The key of each row of gold, or of each tombstone or version, as canonical texts."""
    if not table.key:
        return [key_of_text(text) for text in rows[KEY].to_pylist()]
    parts = [column_type(table.columns[name]).texts(rows[name]) for name in table.key]
    return [*zip(*parts, strict=True)]


def key_lists(table: Table, rows: pa.Table) -> pa.Array:
    """``keys_of`` as an array of lists."""
    if not table.key:
        return list_array(keys_of(table, rows), TEXTS)
    return pa.ListArray.from_arrays(
        _every(len(table.key), rows.num_rows), _in_turns(table, table.key, rows), type=TEXTS
    )


def _every(width: int, count: int) -> pa.Array:
    """Where each of so many lists of this length begins, and where the last ends."""
    return pa.array(np.arange(0, width * count + 1, max(width, 1))[: count + 1], pa.int32())


def _in_turns(table: Table, names: Sequence[str], rows: pa.Table) -> pa.Array:
    """The canonical texts of some columns, those of the first row first."""
    texts = [column_type(table.columns[name]).text_array(rows[name]) for name in names]
    if len(texts) == 1:
        return texts[0]
    places = np.arange(len(texts) * rows.num_rows).reshape(len(texts), -1)
    return pa.concat_arrays(texts).take(pa.array(places.T.ravel()))


NO_NUMBER: Final = -(2**63)
"""In place of a number that a position does not have: before all others, as a shorter list is before longer ones."""


def position_matrix(
    column: pa.ListArray, width: int | None = None
) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Positions as rows of numbers, each filled up to the longest, or cut to ``width``; None where none has a number.

    A position sorts before the longer ones that begin with it, as lists do.
    """
    offsets = column.offsets.to_numpy()
    sizes = np.diff(offsets)
    width = int(sizes.max(initial=0)) if width is None else width
    if not width:
        return None
    values: np.ndarray[Any, np.dtype[np.int64]] = column.values.to_numpy()
    if (sizes == width).all():
        return values[offsets[0] : offsets[-1]].reshape(-1, width)
    found = np.full((len(sizes), width), NO_NUMBER, np.int64)
    for at in range(width):
        has = sizes > at
        found[has, at] = values[offsets[:-1][has] + at]
    return found


def list_array(values: Sequence[Sequence[Any]], kind: pa.DataType) -> pa.Array:
    """Lists as one array: from a flat list, which is the fast way."""
    offsets, end = [0], 0
    for one in values:
        end += len(one)
        offsets.append(end)
    flat = pa.array([*chain.from_iterable(values)], kind.value_type)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=kind)


def _images(table: Table, rows: pa.Table) -> pa.Array:
    """The values of each row as canonical texts."""
    names, count = [*table.columns], rows.num_rows
    every_name = pa.array(np.tile(np.arange(len(names)), count))
    return pa.MapArray.from_arrays(
        _every(len(names), count),
        pa.array(names, pa.string()).take(every_name),
        _in_turns(table, names, rows),
        type=IMAGE,
    )


def in_microseconds(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Times as microseconds since 1970 (UTC); those of Spark's files may be without their zone."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    return column


def _all(value: int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.int32()), count)


def _never_null(column: pa.Array | pa.ChunkedArray, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    """The column in its type, with what a row without it has (``_nothing``) in place of nulls."""
    if column.type != field.type:
        column = column.cast(field.type)
    if not column.null_count:
        return column
    if not (pa.types.is_list(field.type) or pa.types.is_map(field.type)):
        (nothing,) = _nothing(field, 1)
        return pc.fill_null(column, nothing) if nothing.is_valid else column
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    there = whole.is_valid()
    # What is below a null counts for nothing: its length is taken as 0.
    lengths = pc.subtract(whole.offsets[1:], whole.offsets[:-1])
    lengths = pc.if_else(there, lengths, pa.scalar(0, pa.int32()))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
    kept = whole.drop_null()
    if pa.types.is_map(field.type):
        start, end = (kept.offsets[at].as_py() if len(kept) else 0 for at in (0, -1))
        parts = (kept.keys[start:end], kept.items[start:end])
        return pa.MapArray.from_arrays(offsets, *parts, type=field.type)
    return pa.ListArray.from_arrays(offsets, kept.flatten(), type=field.type)


def _nothing(field: pa.Field, count: int) -> pa.Array:
    """The values of a column that a kind of row does not have."""
    kind = field.type
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        offsets = pa.repeat(pa.scalar(0, pa.int32()), count + 1)
        if pa.types.is_map(kind):
            none = pa.array([], pa.string())
            return pa.MapArray.from_arrays(offsets, none, none, type=kind)
        return pa.ListArray.from_arrays(offsets, pa.array([], kind.value_type), type=kind)
    if pa.types.is_boolean(kind):
        return pa.repeat(pa.scalar(False), count)
    if field.name in ("dedup_prefix", "copies"):
        return pa.repeat(pa.scalar(0, kind), count)
    return pa.nulls(count, kind)
