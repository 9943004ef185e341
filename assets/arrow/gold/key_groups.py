"""One key of a gold table in a run: gold's row or tombstone, the base row, and the changes, from sorted batches.

Put here what all rows of a key say together. Not here: how a row is read (``fold_rows``), what becomes of a key
(``gold_fold``), and which rows are brought together (``assets/gold/fold/key_rows.py``).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

import pyarrow as pa

from assets.arrow.gold import read_changes
from assets.arrow.gold.fold_row_columns import (
    BASE,
    CARRIED,
    CHANGE,
    GOLD,
    PLACE,
    VERSION,
)
from assets.arrow.gold.fold_rows import FoldRow, fold_rows, last_of, version_of
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.current import Current
from transforms.gold.history import Version
from transforms.gold.scopes import Scoped
from transforms.gold.state import ABSENT, State, unread
from transforms.gold.streams.crossing import Crossing, CrossStreamPosition
from transforms.horizons import Horizon


class KeyGroup(NamedTuple):
    """All that is known of one key in a run.

    ``current``: what gold has of it, in ``copies`` rows. ``base``, ``base_streams``: what it was at the horizon, and
    the streams of the changes up to there. ``changes``: each with its stream, and whether the run brings it; in the
    order of their positions. They come once, and have to be taken before the next key is asked for: a hot key may have
    more changes than fit into memory. ``cross_stream_positions``: positions of changes in other streams, by event;
    ``is_placed``: the run has brought one of these. ``is_asked``: an earlier stage asks for the key's history.
    ``versions``: those in the table of versions.
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

    ``scoped``: its scoped changes. ``depends``: changes depend on what the row was, so that gold's values are read.
    ``keeps_history``: events below the reset position matter, too. ``moves``: keys of one ``group`` may be linked by
    key changes. ``full_rebuild``: the table is made from all changes. ``crossing``: where scoped changes are in other
    streams; None where they reach none. ``horizon``: up to where the table's history is in its base; None where nothing
    is compacted.
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


def linked_key_groups(
    folding: Folding, batches: Iterable[pa.RecordBatch]
) -> Iterator[Iterator[KeyGroup]]:
    """The keys of each group, with all their rows; where keys are not linked, each is a group of its own."""
    rows = fold_rows(batches, read_changes.respelling(folding.table), grouped=folding.moves)
    for _, some in groupby(rows, key=lambda one: one[0]):
        if not folding.moves:
            yield iter([_key_group(folding, (row for _, row in some))])
            continue
        of_keys: dict[Key, list[FoldRow]] = {}
        for _, row in some:
            of_keys.setdefault(row.key, []).append(row)
        yield (_key_group(folding, each) for each in of_keys.values())


def _key_group(folding: Folding, rows: Iterable[FoldRow]) -> KeyGroup:
    """What one key's rows say; changes come last, and are read only as they are taken."""
    before: list[FoldRow] = []
    base, streams = ABSENT, frozenset[str | None]()
    first: list[FoldRow] = []
    key: Key = ()
    carried: tuple[Current | None, int] | None = None
    cross_stream_positions: dict[str, list[CrossStreamPosition]] = {}
    is_placed = is_asked = False
    versions: list[Version] = []
    rest = iter(rows)
    for row in rest:
        key = row.key
        if row.what == CHANGE:
            first.append(row)
            break
        if row.what == PLACE:
            there = CrossStreamPosition(row.stream or "", row.change.position)
            cross_stream_positions.setdefault(row.change.event_id, []).append(there)
            is_placed = is_placed or row.is_new
        elif row.what == BASE:
            last = last_of(row)
            base = State("put", row.change.after, row.copies, last, last.position)
            streams = frozenset(row.streams)
        elif row.what == CARRIED:
            is_asked = True
            carried = None if row.carried is None else pickle.loads(row.carried)
        elif row.what == VERSION:
            versions.append(version_of(row))
        else:
            before.append(row)
    if carried is None:
        copies = sum(one.what == GOLD for one in before)
        carried = _current(folding, before, copies), copies
    changes = ((row.change, row.stream, row.is_new) for row in chain(first, rest))
    return KeyGroup(
        *(key, *carried, base, streams, changes),
        cross_stream_positions=cross_stream_positions,
        is_placed=is_placed,
        is_asked=is_asked,
        versions=versions,
    )


def _current(folding: Folding, before: Sequence[FoldRow], copies: int) -> Current | None:
    """What gold has of the key, by its rows and tombstones: the newest of them counts."""
    if not before:
        return None
    # At the same position a row comes after its tombstone: removes are applied first.
    newest = max(
        before, key=lambda one: (one.change.position, one.what == GOLD, one.change.event_id)
    )
    row = next((one for one in before if one.what == GOLD), None)
    last = last_of(newest)
    if row is None or row.change.position < last.position:
        return Current(State("remove", {}, 0, last, newest.reset), is_torn=row is not None)
    if not folding.table.key:
        return Current(State("put", {}, copies, last, newest.reset))
    if folding.depends:
        return Current(State("put", row.change.after, 1, last, newest.reset))
    return Current(unread(is_present=True, last=last, reset=newest.reset))
