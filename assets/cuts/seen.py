"""What windows of silver say of a feed's transactions, read for its next cut: by columns, a file at a time.

All work by row is Arrow's and NumPy's. Python sees transactions, and of rows only those that are the exception: that
wait for a person, or came late.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import layers
from assets.control import transactions
from assets.storage.delta_rs import conformed
from assets.storage.in_process_table import DataFile, InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.change import CONTROL, HOLD, LogPosition
from transforms.cuts.positions import (
    Mask,
    Matrix,
    are_beyond,
    are_by_offset,
    as_tuples,
    lengths_of,
    matrix_of,
    ranks_of,
)
from transforms.cuts.whole import Reached, Transaction
from transforms.feed.feed import Feed
from transforms.moments import moment_of


def partition_named(name: str, topic: str) -> str:
    """A partition by its name and its topic's id: a topic that was made again has another."""
    return f"{name} {topic}"


@dataclass(slots=True)
class Seen:
    """What some windows of silver say of transactions.

    ``promised``: the last cut, and ``before``: the last offsets that had been read when it was recorded, by partition.
    ``loose``: for each window, where the newest change stands that is in no transaction. ``held``: deletes that wait,
    by event. ``suspects``: events that were read since the last cut and stand at or below it: where they stand, and
    the texts of their keys. ``uncomparable``: why positions of two tables do not compare; None where they do.
    """

    promised: LogPosition
    before: Mapping[str, int]
    transactions: dict[str, Transaction] = field(default_factory=dict)
    loose: dict[str, LogPosition] = field(default_factory=dict)
    held: dict[str, LogPosition] = field(default_factory=dict)
    suspects: dict[str, tuple[LogPosition, str | None]] = field(default_factory=dict)
    uncomparable: str | None = None
    _made_at: dict[str, int] = field(default_factory=dict)
    _windows: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _topics: set[str] = field(default_factory=set)

    def read(
        self,
        lake: Lake,
        feed: Feed,
        tables: Mapping[Layer, InProcessTable],
        windows: Collection[str],
    ) -> None:
        """Read these windows of silver, and what other windows say of their transactions."""
        silver = tables[Layer.SILVER]
        for file in silver.files({"window": windows}):
            self._see(silver, file, _cells(silver, file, _COLUMNS))
        partial = {one.id for one in self.transactions.values() if not one.is_whole}
        if not partial:
            return
        events = transactions.open_events_in(tables[Layer.TRANSACTIONS], lake.choice)
        if events is not None:
            events = events.filter(pc.is_in(events["id"], pa.array(partial, pa.string())))
        for state in transactions.states_of_transactions(lake, feed, events, ()):
            if state.commit is not None and state.id in partial:
                self.transactions[state.id].is_whole = True

    def _see(self, silver: InProcessTable, file: DataFile, rows: pa.Table) -> None:
        said, is_control = _parts_of_transaction(rows), _is_control(rows)
        # What is the same in every delivery: an offset in the topic is not.
        changes = _Changes.of(rows, pc.invert(is_control))
        if changes.by_offset is not None:
            (table,) = _cells(silver, file, ["table"]).take([changes.by_offset])["table"]
            self.uncomparable = f"changes of {table} stand by their offset, as no other table's do"
            return
        self._note_ends(rows, said)
        ranks, ordered = changes.ranks(rows.num_rows)
        self._note_transactions(file.window, rows, said, ranks, ordered)
        loose = pc.max(pc.filter(ranks, pc.is_null(said["id"]))).as_py()
        if loose is not None:
            (at,) = as_tuples(ordered[[loose]])
            self.loose[file.window] = max(self.loose.get(file.window, at), at)
        is_held = pc.equal(rows["effect"], HOLD).to_numpy() & changes.there
        is_below = changes.there.copy()
        is_below[changes.there] = ~are_beyond(changes.positions, self.promised)
        is_suspect = is_below & self._is_new(rows, is_below)
        if not (is_held | is_suspect).any():
            return
        some = np.flatnonzero(is_held | is_suspect)
        details = _cells(silver, file, ["event_id", "key_text"]).take(some)
        positions = as_tuples(ordered[ranks.take(some).to_numpy()])
        told = zip(some.tolist(), positions, *_lists(details), strict=True)
        for row, position, event_id, key_text in told:
            if is_held[row]:
                self.held[event_id] = position
            if is_suspect[row]:
                self.suspects[event_id] = position, key_text

    def _note_ends(self, rows: pa.Table, said: pa.Table) -> None:
        is_end = pc.and_(pc.equal(rows["effect"], "commit"), pc.is_valid(said["id"]))
        self._topics |= {*pc.filter(rows["object"], is_end).unique().to_pylist()}
        if len(self._topics) > 1:
            several = ", ".join(sorted(self._topics))
            self.uncomparable = (
                f"transactions end in several partitions, without an order: {several}"
            )

    def _note_transactions(
        self,
        window: str,
        rows: pa.Table,
        said: pa.Table,
        ranks: pa.Array,
        ordered: Matrix,
    ) -> None:
        ends = pc.if_else(pc.equal(rows["effect"], "commit"), rows["byte_offset"], None)
        named = pa.table({"id": said["id"], "whole": said["is_whole"], "end": ends, "at": ranks})
        moments = pc.if_else(pc.is_valid(ranks), rows["event_at"].cast(pa.int64()), None)
        named = named.append_column("made", moments)
        by_id = named.filter(pc.is_valid(named["id"])).group_by("id")
        parts = [("whole", "any"), ("end", "min"), ("at", "min"), ("at", "max"), ("made", "max")]
        found = by_id.aggregate(parts)
        has_changes = found["at_min"].is_valid().to_numpy()
        stretches = zip(
            *(
                as_tuples(ordered[found[name].drop_null().to_numpy()])
                for name in ("at_min", "at_max")
            ),
            strict=True,
        )
        told = (*_lists(found.select(["id", "whole_any", "end_min", "made_max"])), has_changes)
        self._windows[window] |= {*found["id"].to_pylist()}
        for name, is_whole, end, made, has_some in zip(*told, strict=True):
            one = self.transactions.get(name)
            if one is None:
                one = self.transactions[name] = Transaction(name)
            one.is_whole |= is_whole
            if end is not None and (one.end is None or end < one.end):
                one.end = end
            if has_some:
                first, last = next(stretches)
                one.see(first)
                one.see(last)
            if made is not None:
                self._made_at[name] = max(self._made_at.get(name, made), made)

    def _is_new(self, rows: pa.Table, asked: Mask) -> Mask:
        """Of those rows that are ``asked`` for whether the run since the last cut has read them; of others, False."""
        found = np.zeros(rows.num_rows, bool)
        some = np.flatnonzero(asked)
        if not some.size:
            return found
        source = rows.select(["object", "generation", "byte_offset"]).take(some)
        names = pc.binary_join_element_wise(source["object"], source["generation"], " ")
        partitions = names.combine_chunks().dictionary_encode()
        read = [self.before.get(one, -1) for one in partitions.dictionary.to_pylist()]
        offsets = source["byte_offset"].to_numpy()
        found[some] = offsets > np.array(read, np.int64)[partitions.indices.to_numpy()]
        return found

    def made_at(self, now: Reached) -> datetime | None:
        """When the source made the newest change of the cut; None where that is not among what was read."""
        found = [
            self._made_at[name]
            for name, one in self.transactions.items()
            if one.last == now.log_position and name in self._made_at
        ]
        return moment_of(max(found)) if found else None

    def windows_beyond(self, now: Reached) -> set[str]:
        """The windows that hold something that is not in the cut."""
        found = {
            window
            for window, names in self._windows.items()
            if not all(now.has(self.transactions[name]) for name in names)
        }
        found |= {window for window, last in self.loose.items() if last > now.log_position}
        return found

    def ahead(self, silver: InProcessTable, now: Reached) -> dict[str, int | None]:
        """By gold table, how many keys have changes in gold that are not in the cut; None: there is a range delete."""
        texts = [pa.schema([("table", pa.string()), ("key_text", pa.string())]).empty_table()]
        # A part of these keys is null, and no text says it.
        others: set[tuple[str, object]] = set()
        ranges: set[str] = set()
        for rows in self._rows_beyond(silver, now):
            is_range = pc.is_valid(rows["scope"])
            ranges |= {*pc.filter(rows["table"], is_range).unique().to_pylist()}
            of_keys = rows.filter(pc.invert(is_range))
            has_text = pc.is_valid(of_keys["key_text"])
            texts.append(of_keys.filter(has_text).select(["table", "key_text"]))
            for row in of_keys.filter(pc.invert(has_text)).select(["table", "key"]).to_pylist():
                others.add((row["table"], tuple(row["key"] or ())))
        keys = pa.concat_tables(texts).group_by(["table", "key_text"]).aggregate([])
        counts = dict[str, int | None](map(_pair, keys["table"].value_counts().to_pylist()))
        for table, _ in others:
            counts[table] = (counts.get(table) or 0) + 1
        return {**counts, **dict.fromkeys(ranges)}

    def _rows_beyond(self, silver: InProcessTable, now: Reached) -> Iterator[pa.Table]:
        """The changes in gold that are not in the cut: only windows that hold such are read once more."""
        waiting = pa.array(
            [one.id for one in self.transactions.values() if not one.is_whole], pa.string()
        )
        for file in silver.files({"window": self.windows_beyond(now)}):
            rows = _cells(silver, file, _OF_KEYS)
            is_wanted = pc.and_(pc.is_valid(rows["table"]), pc.is_valid(rows["declared"]))
            # Those of a transaction that is not whole wait, and are not in gold.
            is_waiting = pc.is_in(_parts_of_transaction(rows)["id"], waiting)
            is_wanted = pc.and_(is_wanted, pc.invert(pc.or_(is_waiting, _is_control(rows))))
            changes = _Changes.of(rows, is_wanted)
            is_beyond = np.zeros(rows.num_rows, bool)
            is_beyond[changes.there] = are_beyond(changes.positions, now.log_position)
            yield rows.filter(pa.array(is_beyond))

    def late_events(self, silver: InProcessTable) -> list[LogPosition]:
        """Where the suspects stand that silver did not have before: the others came again."""
        left = dict(self.suspects)
        if not left:
            return []
        texts = {text for _, text in left.values()}
        names = ["event_id", "object", "generation", "byte_offset"]
        by_key = None if None in texts else pa.array(sorted(map(str, texts)), pa.string())
        asked = pa.array([*left], pa.string())
        for file in silver.files():
            if by_key is None:
                rows = silver.read_file(file, names)
            else:
                rows = silver.read_parts_with(file, names, ("key_text", by_key))
            is_asked = pc.is_in(rows["event_id"], asked).to_numpy()
            is_known = is_asked & ~self._is_new(rows, is_asked)
            for event_id in pc.filter(rows["event_id"], pa.array(is_known)).to_pylist():
                left.pop(event_id, None)
        return [position for position, _ in left.values()]


_COLUMNS = (
    *("effect", "transaction", "log_position", "dedup_prefix", "event_at"),
    *("object", "generation", "byte_offset"),
)
_OF_KEYS = (
    *("table", "declared", "effect", "transaction", "log_position", "dedup_prefix"),
    *("key", "key_text", "scope"),
)

_SHORTEST = 2
"""Rows of a snapshot that does not say where it was read have epoch and phase alone: they stand before all changes."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """Which rows are changes with a position in the log (``there``), and where each of these stands.

    ``by_offset``: the number of a row whose position compares with no other table's; None where there is none.
    """

    there: Mask
    positions: Matrix
    by_offset: int | None

    @classmethod
    def of(cls, rows: pa.Table, is_wanted: pa.ChunkedArray) -> _Changes:
        """Those of the rows that are wanted."""
        is_asked = pc.and_(is_wanted, pc.is_valid(rows["log_position"])).to_numpy()
        some = rows.select(["log_position", "dedup_prefix"]).filter(pa.array(is_asked))
        whole = _one(some["log_position"])
        positions = matrix_of(whole, _one(some["dedup_prefix"]))
        is_long = lengths_of(positions) > _SHORTEST
        there = is_asked.copy()
        there[is_asked] = is_long
        stray = np.flatnonzero(are_by_offset(matrix_of(whole)) & is_long)
        by_offset = int(np.flatnonzero(is_asked)[stray[0]]) if stray.size else None
        return cls(there, positions[is_long], by_offset)

    def ranks(self, count: int) -> tuple[pa.Array, Matrix]:
        """The rank of each of so many rows among their positions, null where it has none; and the positions by rank."""
        ranks, ordered = ranks_of(self.positions)
        of_all = np.zeros(count, np.int64)
        of_all[self.there] = ranks
        return pa.array(of_all, mask=~self.there), ordered


def _cells(silver: InProcessTable, file: DataFile, names: Collection[str]) -> pa.Table:
    """These columns of one file's rows, which come in the same order each time."""
    wanted = pa.schema([layers.Silver.schema.field(name) for name in names])
    return conformed(silver.read_file(file, [*names]), wanted)


def _parts_of_transaction(rows: pa.Table) -> pa.Table:
    """Of each row its transaction's ``id``, null where it is in none, and whether its window has all of that."""
    said = _one(rows["transaction"])
    is_whole = pc.is_valid(pc.struct_field(said, "commit"))
    return pa.table({"id": pc.struct_field(said, "id"), "is_whole": is_whole})


def _is_control(rows: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(rows["effect"], pa.array(CONTROL))


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks else pa.array([], column.type)


def _lists(rows: pa.Table) -> Iterator[list[Any]]:
    return (column.to_pylist() for column in rows.columns)


def _pair(counted: Mapping[str, Any]) -> tuple[str, int]:
    return counted["values"], counted["counts"]
