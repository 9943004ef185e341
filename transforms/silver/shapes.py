"""Records of one shape to rows, many at a time: what the first of them becomes by itself says what all become.

What a record becomes by itself (``decode`` and ``Conformer``) is the definition. Rows are made here only of records
whose every value fits its column's type, whose key is whole and does not change, and whose place is known, so that
nothing in them has to be judged. All others go the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa

from transforms.change import CONTROL
from transforms.column_types.column_type import ColumnType, Judge
from transforms.column_types.map_columns import NUMBERS
from transforms.column_types.registry import column_type
from transforms.event import Event, Value
from transforms.record import BronzeRecord
from transforms.shape import ReadShape, Shape, Shaped
from transforms.silver import duplicates
from transforms.silver.changes import Key, Row
from transforms.silver.conform import (
    Conformed,
    Conformer,
    netstring,
    spelled_names,
    text_of_value,
)
from transforms.silver.declarations import Declaration
from transforms.silver.faults import is_covered
from transforms.silver.frames import (
    Shards,
    pack,
    packed_batch,
    packed_part,
    row_batch,
    transaction_name,
)
from transforms.silver.plain_rows import PLAIN, bundles, images, keys_of, rows_of
from transforms.silver.snapshots import Collected

_MOST_KNOWN: Final = 4_096
_MOST_TRIED: Final = 3
_LEAST, _MOST = -(2**63), 2**63 - 1

DecodeAlone: TypeAlias = Callable[[BronzeRecord], Sequence[Event]]
"""The events of one record; what it raises says which record it was."""

Member = tuple[BronzeRecord, Shaped]
Decoded = tuple[BronzeRecord, Sequence[Event]]


class ShapedRows:
    """Makes rows of those records whose shapes are understood; for one process to keep.

    ``read``: the format's own way to read a record by its shape; None where it has none.
    """

    def __init__(
        self, read: ReadShape | None, decode: DecodeAlone, conform: Conformer, shards: Shards
    ) -> None:
        self._read, self._decode, self._conform, self._shards = read, decode, conform, shards
        self._shapes = _EventShapes()
        self._models: dict[Shape, Model | None] = {}
        # Where the positions of a source begin again, the window and the time decide of an event, too.
        self._is_used = not conform.feed.decisions.epochs

    def __call__(
        self, records: Sequence[BronzeRecord], collected: Collected
    ) -> tuple[list[pa.RecordBatch], list[Decoded]]:
        """Batches of ``ROWS``, and the records that have to be taken one by one, with their events.

        ``collected``: takes the rows of snapshots that are in these batches.
        """
        if not self._is_used:
            return [], [(record, self._decode(record)) for record in records]
        rest: list[Decoded] = []
        of_shape: dict[Shape, list[Member]] = {}
        # The events of those that the format could not read by its shape.
        decoded: dict[int, Sequence[Event]] = {}
        for record in records:
            said = self._said(record)
            if said is None:
                events = self._decode(record)
                said = self._shapes.shaped(events)
                if said is None:
                    rest.append((record, events))
                    continue
                decoded[id(record)] = events
            of_shape.setdefault(said.shape, []).append((record, said))
        made: list[pa.RecordBatch] = []
        plain: list[pa.RecordBatch] = []
        for shape, members in of_shape.items():
            model = self._model(shape, members)
            judged = [None] * len(members) if model is None else model.judged(members)
            for (record, _), one in zip(members, judged, strict=True):
                if one is None:
                    known = decoded.get(id(record))
                    rest.append((record, self._decode(record) if known is None else known))
            if model is not None:
                taken = [one for one, told in zip(members, judged, strict=True) if told]
                there = [one for one in judged if one]
                if taken and model.is_plain:
                    plain.append(model.plain(taken, there))
                elif taken:
                    made.append(model.batch(taken, there, self._shards))
                model.collect(taken, collected)
        if plain:
            made += bundles(pa.concat_batches(plain), self._shards)
        return made, rest

    def _said(self, record: BronzeRecord) -> Shaped | None:
        """What the format reads of a record by its shape."""
        if self._read is None:
            return None
        try:
            return self._read(record)
        except Exception:
            # The long way says what is wrong with it, and where it is.
            return None

    def _model(self, shape: Shape, members: Sequence[Member]) -> Model | None:
        """What records of a shape become; None where the first of these do not show it."""
        if shape in self._models:
            return self._models[shape]
        for record, said in members[:_MOST_TRIED]:
            # Conforming changes events, so that those at hand are left alone.
            events = self._decode(record)
            try:
                found = self._conform.conformed(record, events)
            except Exception:
                # The long way says which record it was.
                return None
            if len(found) == 1 and found[0].event.fault is not None:
                # Another one may not have this fault.
                continue
            rows = found[0].rows() if len(found) == 1 and _is_plain(found[0], said) else []
            if len(rows) != 1:
                # A key change is two rows, and says nothing of others.
                if rows:
                    continue
                return self._known(shape, None)
            model = Model.of(found[0], rows[0], shape, self._conform)
            (judged,) = model.judged([(record, said)])
            if judged is None:
                continue
            return self._known(
                shape, model if self._makes(model, record, said, judged, rows) else None
            )
        return None

    def _makes(
        self, model: Model, record: BronzeRecord, said: Shaped, judged: Judged, rows: Sequence[Row]
    ) -> bool:
        """Whether a model makes of a record what it becomes by itself."""
        expected, shards = row_batch(rows, self._shards), self._shards
        if not model.is_plain:
            return bool(model.batch([(record, said)], [judged], shards) == expected)
        plain = model.plain([(record, said)], [judged])
        again = row_batch(rows_of(plain), shards)
        keys = all(plain[name] == expected[name] for name in ("group", "sort_key"))
        return bool(keys and again == expected)

    def _known(self, shape: Shape, model: Model | None) -> Model | None:
        if len(self._models) >= _MOST_KNOWN:
            # A stream may have any number of shapes.
            self._models.clear()
        self._models[shape] = model
        return model


class _EventShapes:
    """The shapes of events that were decoded one by one."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Shape] = {}

    def shaped(self, events: Sequence[Event]) -> Shaped | None:
        """The shape and the rest of a record's only event; None where it has none, or several."""
        if len(events) != 1:
            return None
        (event,) = events
        before, after = event.before, event.after
        if (
            event.fault is not None
            or event.scope is not None
            or event.derived is not None
            or event.effect in CONTROL
            or event.attribute_ops
            or event.log_position is None
            or None in event.log_position
        ):
            return None
        described = (
            *(event.operation, event.effect, event.catalog, event.schema, event.name),
            *(event.stream, event.dedup_prefix, event.stream_schema, event.read_by_schema),
            *(event.warnings, event.transaction is None, *before, None, *after),
        )
        shape = self._known.get(described)
        if shape is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            shape = self._known[described] = Shape((*before,), (*after,))
        return Shaped(
            shape,
            [*before.values()],
            [*after.values()],
            cast("tuple[int, ...]", event.log_position),
            event.identity,
            event.segment,
            event.event_at,
            event.extracted_at,
            event.transaction,
            event.snapshot,
        )


def _is_plain(one: Conformed, said: Shaped) -> bool:
    """Whether an event is what its record's shape says, and needs nothing that only ``Conformed`` does."""
    event, declaration = one.event, one.declaration
    images = (tuple(event.before), tuple(event.after))
    return (
        images == (said.shape.before, said.shape.after)
        and (event.log_position, event.identity) == (said.log_position, said.identity)
        and (event.segment, event.event_at) == (said.segment, said.event_at)
        and event.extracted_at == said.extracted_at
        and event.effect not in CONTROL
        and (event.transaction, event.snapshot) == (said.transaction, said.snapshot)
        and event.scope is None
        and event.derived is None
        and not event.attribute_ops
        and declaration.masks is None
        and not declaration.has_full_dumps
        and not declaration.renamed
    )


class Judged(NamedTuple):
    """The canonical images and the key of one record."""

    before: Sequence[str | None]
    after: Sequence[str | None]
    key: Key | None


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column's values are judged; ``kind``: where the judge is the type's own."""

    judge: Judge | None
    kind: ColumnType | None

    @classmethod
    def of(cls, name: str, declaration: Declaration, event: Event) -> _Column:
        judge = declaration.judges_of(event).get(name)
        type_name = (declaration.column_types or {}).get(name)
        kind = None if type_name is None else column_type(type_name)
        return cls(judge, kind if kind is not None and kind.judge is judge else None)

    def texts(self, values: Sequence[Value], is_taken: bytearray) -> Sequence[Any]:
        """The canonical texts; a record whose value does not fit is not taken."""
        there = [one for one in values if one is not None] if None in values else values
        if {*map(type, there)} <= _TEXT:
            if self.judge is None or (self.kind is not None and self.kind.are_plain(there)):  # type: ignore[arg-type]
                return values
        elif self.judge is None:
            return [text_of_value(one) for one in values]
        assert self.judge is not None  # all others have returned
        known: dict[Value, str | None] = {one: self.judge(one) for one in {*there}}  # type: ignore[arg-type]
        if None in known.values():
            for at, one in enumerate(values):
                if one is not None and known[one] is None:
                    is_taken[at] = False
        known[None] = None
        return [known[one] for one in values]


_TEXT: Final = {str}


@dataclass(frozen=True, slots=True)
class Model:
    """What all records of a shape become, by the row that one of them became."""

    row: Row
    shape: Shape
    conform: Conformer
    identity: int
    key: Sequence[tuple[int | None, int | None]] | None
    is_keyless: bool
    before: Sequence[_Column]
    after: Sequence[_Column]
    spelling: Spelling

    @classmethod
    def of(cls, one: Conformed, row: Row, shape: Shape, conform: Conformer) -> Model:
        """The model that an event is, which became one row."""
        event, declaration = one.event, one.declaration
        columns = declaration.key_columns
        return cls(
            row,
            shape,
            conform,
            len(event.identity),
            None
            if columns is None
            else [(_at(shape.before, at), _at(shape.after, at)) for at in columns],
            declaration.is_keyless,
            [_Column.of(name, declaration, event) for name in shape.before],
            [_Column.of(name, declaration, event) for name in shape.after],
            Spelling.of(declaration.table, event, shape),
        )

    def judged(self, members: Sequence[Member]) -> list[Judged | None]:
        """The canonical images and keys; None for a record that has to be judged by itself."""
        is_taken = bytearray(b"\1") * len(members)
        images = []
        for columns, rows in (
            (self.before, [said.before for _, said in members]),
            (self.after, [said.after for _, said in members]),
        ):
            raw = zip(*rows, strict=True)
            texts = [
                column.texts(values, is_taken) for column, values in zip(columns, raw, strict=True)
            ]
            images.append((texts, [*zip(*texts, strict=True)] if texts else [()] * len(members)))
        (before, before_rows), (after, after_rows) = images
        keys = self._keys(before, after, len(members), is_taken)
        self._placed(members, is_taken)
        return [
            Judged(old, new, key) if taken else None
            for old, new, key, taken in zip(before_rows, after_rows, keys, is_taken, strict=True)
        ]

    def _keys(
        self,
        before: Sequence[Sequence[str | None]],
        after: Sequence[Sequence[str | None]],
        count: int,
        is_taken: bytearray,
    ) -> Sequence[Key | None]:
        """The keys; a record that changes its key, or lacks a part of it, is not taken."""
        if not self.key:
            return [None if self.key is None else ()] * count
        columns: list[Sequence[str | None]] = []
        for old, new in self.key:
            column: Sequence[str | None] = [None] * count
            if new is not None:
                column = after[new]
            elif old is not None:
                column = before[old]
            if old is not None and new is not None and before[old] != column:
                for at, (one, other) in enumerate(zip(before[old], column, strict=True)):
                    if one != other:
                        is_taken[at] = False
            if None in column and not self.is_keyless:
                for at, one in enumerate(column):
                    if one is None:
                        is_taken[at] = False
            columns.append(column)
        return [*zip(*columns, strict=True)]

    def _placed(self, members: Sequence[Member], is_taken: bytearray) -> None:
        """A record that stands nowhere, or where history is compacted, is not taken."""
        known = self.row.log_position or ()
        watermark = self.conform.compaction_watermarks.get(self.row.table or "")
        for at, (_, said) in enumerate(members):
            position = said.log_position
            if (
                len(position) != len(known)
                or len(said.identity) != self.identity
                or min(position) < _LEAST
                or max(position) > _MOST
                or (
                    watermark is not None and is_covered(watermark, position, self.row.dedup_prefix)
                )
            ):
                is_taken[at] = False

    def collect(self, members: Sequence[Member], collected: Collected) -> None:
        """Tell of the rows of snapshots that are among these records."""
        row = self.row
        for record, said in members:
            if said.snapshot is not None:
                account = (record.window, row.table, row.source_table, row.declared)
                collected.add_row(said.snapshot, account, said.log_position)

    @property
    def is_plain(self) -> bool:
        """Whether the records become plain rows: they are if no commit decides where they stand."""
        return self.row.transaction is None

    def plain(self, members: Sequence[Member], judged: Sequence[Judged]) -> pa.RecordBatch:
        """The rows of some records as a batch of ``PLAIN``."""
        row, count = self.row, len(members)
        records, said = zip(*members, strict=True)
        before, after, keys = zip(*judged, strict=True)
        windows = [one.window for one in records]
        ids = self.spelling.event_ids(members)
        places = [one.log_position for one in said]
        matrix = np.array(places, np.int64)
        times = [one.event_at for one in said]
        groups = duplicates.groups_of(windows, row.table, keys, ids)
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * matrix.shape[1])
        columns: dict[str, Any] = {
            "group": groups,
            "sort_key": duplicates.sort_keys(groups, matrix, times, records),
            "window": windows,
            "key": keys_of(keys),
            "before": images(self.shape.before, [*chain.from_iterable(before)], count),
            "after": images(self.shape.after, [*chain.from_iterable(after)], count),
            "log_position": pa.ListArray.from_arrays(offsets, matrix.ravel(), type=NUMBERS),
            "event_id": ids,
            "event_at": times,
            "extracted_at": [one.extracted_at for one in said],
            "object": [one.object for one in records],
            "generation": [one.generation for one in records],
            "line": [one.line for one in records],
            "byte_offset": [one.byte_offset for one in records],
            "segment": [one.segment for one in said],
        }
        for one in PLAIN:
            if one.name not in columns:
                # What the shape decides.
                columns[one.name] = pa.repeat(pa.scalar(getattr(row, one.name), one.type), count)
            elif type(columns[one.name]) is list:
                columns[one.name] = pa.array(columns[one.name], one.type)
        return pa.RecordBatch.from_arrays([columns[one] for one in PLAIN.names], schema=PLAIN)

    def batch(
        self, members: Sequence[Member], judged: Sequence[Judged], shards: Shards
    ) -> pa.RecordBatch:
        """The rows of some records, which are part of transactions, as a batch of ``ROWS``."""
        row, before_names, after_names = self.row, self.shape.before, self.shape.after
        of_table = (row.table, row.source_table, row.declared, row.operation, row.effect)
        of_kind = (row.kept_as, row.facts)
        groups, sort_keys, packed = [], [], []
        ids = self.spelling.event_ids(members)
        for (record, said), one, event_id in zip(members, judged, ids, strict=True):
            before, after, key = one
            group = duplicates.group_of(record.window, row.table, key, event_id)
            groups.append(group)
            sort_keys.append(duplicates.sort_bytes(group, said.log_position, said.event_at, record))
            packed.append(
                pack(
                    (
                        *(record.window, *of_table, key, None, None),
                        dict(zip(before_names, before, strict=True)),
                        dict(zip(after_names, after, strict=True)),
                        *(
                            {},
                            None,
                            row.stream,
                            said.transaction,
                            said.log_position,
                            row.dedup_prefix,
                        ),
                        *(event_id, said.event_at, said.extracted_at),
                        *(record.object, record.generation, record.line, record.byte_offset, 0),
                        *(None, None, *of_kind, said.segment, True),
                    )
                )
            )
        places = [
            shards.shard(record.window, group)
            for (record, _), group in zip(members, groups, strict=True)
        ]
        transactions = [transaction_name(one[0].window, one[1].transaction) for one in members]
        parts = [
            packed_part((one, row.effect, False, said.log_position), said.transaction)
            for one, (_, said) in zip(ids, members, strict=True)
        ]
        return packed_batch((groups, sort_keys, places, packed), transactions, parts)


def _at(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the events of a shape are spelled for their identity (``conform.event_id``).

    ``parts``: what stands before each value, the identity's numbers first, and what stands behind the last.
    ``order``: which values these are, of the identity, the old image and the new one.
    """

    parts: Sequence[str]
    order: Sequence[int]

    @classmethod
    def of(cls, table: str | None, event: Event, shape: Shape) -> Spelling:
        """The spelling of events of a table that are like this one."""
        identity = len(event.identity)
        parts, order = [], [*range(identity)]
        waiting = netstring(table) + netstring(event.operation) + netstring(str(identity))
        for _ in event.identity:
            parts.append(waiting)
            waiting = ""
        first = identity
        for names in (shape.before, shape.after):
            count, spelled = spelled_names(names)
            waiting += count
            for name, word in spelled:
                parts.append(waiting + word)
                order.append(first + names.index(name))
                waiting = ""
            first += len(names)
        # No operations on attributes, and no scope.
        return cls((*parts, waiting + spelled_names(())[0] + netstring(None)), order)

    def event_ids(self, members: Sequence[Member]) -> list[str]:
        """The identities of events."""
        values = zip(
            *((*said.identity, *said.before, *said.after) for _, said in members), strict=True
        )
        spelled = [*map(_spelled_column, values)]
        columns: list[Iterable[str]] = [repeat(self.parts[0])]
        for at, part in zip(self.order, self.parts[1:], strict=True):
            columns += (spelled[at], repeat(part))
        texts = map("".join, zip(*columns, strict=False))
        if not self.order:
            texts = map(str, repeat(self.parts[0], len(members)))
        return [sha256(one.encode("utf-8", "surrogatepass")).hexdigest() for one in texts]


def _spelled_column(values: Sequence[Value]) -> list[str]:
    if {*map(type, values)} == _TEXT:
        return [f"{len(one)}:{one}" for one in values]  # type: ignore[arg-type,str-bytes-safe]
    return [*map(netstring, values)]
