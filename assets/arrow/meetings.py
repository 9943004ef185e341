"""All that a run knows of each key of a gold table, from Arrow batches that are sorted: rows of gold, bases, changes.

Not here: what becomes of a key (``gold_fold``), and which rows are brought together (``spark_apply``).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from typing import Any, Final, NamedTuple

import pyarrow as pa

from assets.arrow import read_changes
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Image, Key, Position
from transforms.gold.current import Current
from transforms.gold.history import Version
from transforms.gold.scopes import Scoped
from transforms.gold.state import ABSENT, Last, State, unread
from transforms.gold.streams.crossing import Crossing, CrossStreamPosition
from transforms.horizons import Horizon

GOLD, TOMBSTONE, VERSION, BASE, CARRIED, PLACE, CHANGE = range(7)
"""What a row is: of gold, of its tombstones, of its versions, of the base, an earlier stage's word, or a change.

That is a key whose history is asked for, and maybe what that stage has made of rows of gold and tombstones.

Or a change's ``PLACE`` in another stream than its own: ``stream`` and ``position`` are there, ``event_id`` is its own.
"""

COLUMNS = {
    "group": "array<string>",
    "what": "int",
    "key": "array<string>",
    "is_new": "boolean",
    "effect": "string",
    "position": "array<bigint>",
    "stable_prefix": "int",
    "event_id": "string",
    "event_at": "bigint",
    "before": "map<string,string>",
    "after": "map<string,string>",
    "attribute_ops": "map<string,string>",
    "moved_from": "array<string>",
    "is_scoped": "boolean",
    "is_derived": "boolean",
    "stream": "string",
    "reset": "array<bigint>",
    "copies": "bigint",
    "streams": "array<string>",
    "carried": "binary",
    "ended_by": "string",
    "ended_at": "bigint",
}
"""One row per row of gold, tombstone, version, base row and change of a key, as the tasks get them.

``after``: of rows of gold and bases the values, where they are asked for. ``position``, ``event_id``, ``event_at``: of
a version those of the change that began it; ``reset``, ``ended_by``, ``ended_at``: of the one that ended it.

Lists and maps are empty where there is nothing, and never null: while it fills a batch, Spark counts its bytes after
every row, and for a column of lists goes each time through all rows since the last that has one. Of 170,000 rows that
took 10 s, and takes 0.1 s.
"""


class Meeting(NamedTuple):
    """All that is known of one key in a run: what gold has of it, its base, and its changes.

    ``is_new`` says of each change whether the run brings it; they come in the order of their positions, once, and have
    to be taken before the next key is asked for: a hot key may have more than memory has room for.
    ``cross_stream_positions``: of changes in other streams, by event; ``is_placed``: the run has brought one of these.
    ``is_asked``: an earlier stage asks for its history. ``history``: those that stand in the table of versions.
    """

    key: Key
    current: Current | None
    copies: int
    base: State
    base_streams: frozenset[str | None]
    changes: Iterator[tuple[Change, str | None, bool]]
    cross_stream_positions: Mapping[str, Sequence[CrossStreamPosition]]
    is_placed: bool
    is_asked: bool
    versions: Sequence[Version]


@dataclass(frozen=True, slots=True)
class Folding:
    """What the tasks have to know of one table, and how they fold it.

    ``scoped``: its scoped changes. ``depends``: whether the values of gold's rows are there. ``keeps_history``: older
    events matter even below the reset position. ``moves``: rows of one ``group`` are of keys that may be linked.
    ``full_rebuild``: the table is made anew. ``crossing``: where scoped changes stand in other streams; None without
    any. ``horizon``: up to where the table's history is in its base; None where nothing is compacted.
    """

    feed: Feed
    table: Table
    scoped: Sequence[Scoped] = ()
    depends: bool = False
    keeps_history: bool = False
    moves: bool = False
    full_rebuild: bool = False
    crossing: Crossing | None = None
    horizon: Horizon | None = None


def met(folding: Folding, batches: Iterable[pa.RecordBatch]) -> Iterator[Iterator[Meeting]]:
    """The keys of each group, whole; of keys that are not linked a group is one key."""
    rows = _rows(batches, read_changes.respelling(folding.table), grouped=folding.moves)
    for _, some in groupby(rows, key=lambda one: one[0]):
        if not folding.moves:
            yield iter([_meeting(folding, (row for _, row in some))])
            continue
        of_keys: dict[Key, list[_Told]] = {}
        for _, row in some:
            of_keys.setdefault(row.key, []).append(row)
        yield (_meeting(folding, each) for each in of_keys.values())


class _Told(NamedTuple):
    """One row: ``what`` it is, and the change that it is or looks like: of gold, it has the last one's place."""

    key: Key
    what: int
    is_new: bool
    stream: str | None
    change: Change
    reset: Position | None
    copies: int
    streams: Sequence[str]
    carried: bytes | None
    ended_by: str | None
    ended_at: int | None


def _rows(
    batches: Iterable[pa.RecordBatch], respelled: Callable[[Image], Image] | None, *, grouped: bool
) -> Iterator[tuple[Key, _Told]]:
    """Each row with its group, or its key where keys are not ``grouped``."""
    for batch in batches:
        cells = {name: _cells(batch.column(name)) for name in COLUMNS if name != "group"}
        groups = _cells(batch.column("group")) if grouped else repeat(None)
        # The columns in their order; what a row of gold does not say is the same in all of them, and costs nothing.
        for group, row in zip(groups, zip(*cells.values(), strict=False), strict=False):
            what, key, is_new, effect, position, stable, event_id, at, *rest = row
            old, new, of_columns, moved_from, is_scoped, is_derived, stream, reset, *others = rest
            if respelled is not None and what in (GOLD, VERSION):
                new = respelled(new)
            change = Change(
                *(effect, position, stable, event_id, at, old, new, of_columns),
                moved_from or None,
                is_scoped,
                is_derived,
                stream=stream,
            )
            told = _Told(key, what, is_new, stream, change, reset or None, *others)
            yield (key if group is None else group), told


def _cells(column: pa.Array) -> Iterable[Any]:
    """A column's values; lists and maps are never null."""
    if pa.types.is_map(column.type):
        return read_changes.maps(column) if len(column.keys) else repeat(_NOTHING)
    if pa.types.is_list(column.type):
        return read_changes.tuples(column) if len(column.values) else repeat(())
    if column.null_count == len(column):
        return repeat(None)
    values: list[Any] = column.to_pylist()
    return values


_NOTHING: Final[Mapping[str, str | None]] = {}


def _meeting(folding: Folding, rows: Iterable[_Told]) -> Meeting:
    """What one key's rows say; changes come last, and are read as they are asked for."""
    stood: list[_Told] = []
    base, streams = ABSENT, frozenset[str | None]()
    begun: list[_Told] = []
    key: Key = ()
    carried: tuple[Current | None, int] | None = None
    cross_stream_positions: dict[str, list[CrossStreamPosition]] = {}
    is_placed = is_asked = False
    stood_versions: list[Version] = []
    rest = iter(rows)
    for row in rest:
        key = row.key
        if row.what == CHANGE:
            begun.append(row)
            break
        if row.what == PLACE:
            there = CrossStreamPosition(row.stream or "", row.change.position)
            cross_stream_positions.setdefault(row.change.event_id, []).append(there)
            is_placed = is_placed or row.is_new
        elif row.what == BASE:
            last = _last(row)
            base = State("put", row.change.after, row.copies, last, last.position)
            streams = frozenset(row.streams)
        elif row.what == CARRIED:
            is_asked = True
            carried = None if row.carried is None else pickle.loads(row.carried)
        elif row.what == VERSION:
            stood_versions.append(_version(row))
        else:
            stood.append(row)
    if carried is None:
        copies = sum(one.what == GOLD for one in stood)
        carried = _current(folding, stood, copies), copies
    changes = ((row.change, row.stream, row.is_new) for row in chain(begun, rest))
    return Meeting(
        *(key, *carried, base, streams, changes),
        cross_stream_positions=cross_stream_positions,
        is_placed=is_placed,
        is_asked=is_asked,
        versions=stood_versions,
    )


def _last(row: _Told) -> Last:
    change = row.change
    return Last(change.position, change.event_id, change.event_at, is_scoped=False)


def _version(row: _Told) -> Version:
    by, at = row.ended_by or "", row.ended_at
    ended = None if row.reset is None else Last(row.reset, by, at, is_scoped=False)
    return Version(row.change.after, _last(row), ended)


def _current(folding: Folding, stood: Sequence[_Told], copies: int) -> Current | None:
    if not stood:
        return None
    # At one position a row stands behind its tombstone: removes come first.
    newest = max(
        stood, key=lambda one: (one.change.position, one.what == GOLD, one.change.event_id)
    )
    row = next((one for one in stood if one.what == GOLD), None)
    last = _last(newest)
    if row is None or row.change.position < last.position:
        return Current(State("remove", {}, 0, last, newest.reset), is_torn=row is not None)
    if not folding.table.key:
        return Current(State("put", {}, copies, last, newest.reset))
    if folding.depends:
        return Current(State("put", row.change.after, 1, last, newest.reset))
    return Current(unread(is_present=True, last=last, reset=newest.reset))
