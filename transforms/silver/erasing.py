"""Which records of bronze are to be erased: those of which an event is of the key, told as silver would take them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from transforms.change import CONTROL, Key
from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.feed.erasures import (
    ErasedEvent,
    ErasedKeys,
    ErasedRecord,
    Position,
    erased_keys,
    hashed_event,
    hashed_key,
)
from transforms.feed.feed import Feed
from transforms.feed.masks import MaskKey
from transforms.record import SOURCE_LOCATION, BronzeRecord
from transforms.silver.changes import ERASED, Row
from transforms.silver.keys_beside import KeysBeside, is_of_erased
from transforms.silver.plain_rows import rows_in
from transforms.silver.record_batches import records_of
from transforms.silver.snapshots import STRETCH
from transforms.silver.stages import DecodeRows, Surveyed
from transforms.source_format import SourceFormat

LEAST_TEXT: Final = 4
"""Minimum length of a part of a key for whose text unreadable records are searched: shorter ones are everywhere."""

OF_KEY, LINK, UNREADABLE, REACHED = "of key", "link", "unreadable", "reached"
WAITS: Final = "waits"

FOUND: Final = pa.schema(
    [
        *[("what", pa.string()), ("window", pa.string()), ("table", pa.string())],
        *[("object", pa.string()), ("generation", pa.string()), ("line", pa.int64())],
        *[("byte_offset", pa.int64()), ("key", TEXTS), ("moved_from", TEXTS)],
        *[("stream", pa.string()), ("log_position", NUMBERS)],
    ]
)
"""One row per event of the key (``OF_KEY``), per key change of its table (``LINK``), and per record that nobody can
read, and that holds the key's text (``UNREADABLE``); one per change of the table that waits for what its columns are,
so that its key is not known (``WAITS``); and one per stream of the table with its newest position (``REACHED``)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events are to be found.

    ``table``, ``hashes``: those of the keys of a gold table with these hashes; None, none: those that erasures of the
    feed reach. ``texts``: the texts of the key's parts, by which unreadable records are found.
    """

    table: str | None = None
    hashes: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    @property
    def sought(self) -> list[str]:
        """Those of the texts that are long enough to be searched for."""
        return [one for one in self.texts if len(one) >= LEAST_TEXT]


def holds(payload: bytes | None, wanted: Wanted) -> bool:
    """Whether a payload holds the text of each part of the key that is long enough."""
    return _holds(payload, wanted.sought)


@dataclass(frozen=True, slots=True)
class FindRecords:
    """Bronze records to what is found of a key in them (``FOUND``)."""

    feed: Feed
    format: SourceFormat
    wanted: Wanted
    surveyed: Surveyed = field(default_factory=dict)
    schema: ClassVar[pa.Schema] = FOUND

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``FOUND`` from batches of bronze."""
        judge, table = Judge(self.feed, self.wanted), self.wanted.table
        texts = self.wanted.sought
        reached: dict[str, Position] = {}
        holding = set[tuple[object, ...]]()
        decode = DecodeRows(self.feed, self.format, self.surveyed, names_notes=True)
        links = _Links(self.feed, self.format, table, texts)
        for batch in decode(links.noted(_noting(batches, texts, holding))):
            found = links.taken()
            for row in rows_in(batch):
                is_change = row.table == table and row.effect != "note"
                if table is not None and is_change and row.log_position is not None:
                    _note(reached, row)
                if judge.is_wanted(row):
                    found.append(_found(OF_KEY, row))
                elif row.moved_from is not None and row.table == table:
                    found.append(_found(LINK, row))
                elif table is not None and row.table == table and _waits(row):
                    found.append(_found(WAITS, row))
                elif self._is_hidden(row, holding, texts):
                    found.append(_found(UNREADABLE, row))
            if found:
                yield pa.RecordBatch.from_pylist(found, FOUND)
        ends = [
            {"what": REACHED, "table": table, "stream": stream, "log_position": [*position]}
            for stream, position in reached.items()
        ]
        yield pa.RecordBatch.from_pylist([*links.taken(), *ends], FOUND)

    def _is_hidden(
        self, row: Row, holding: Collection[tuple[object, ...]], texts: Sequence[str]
    ) -> bool:
        """Whether the key's text stands where nobody can read whose it is.

        That is so in a row that may be of any key, and in what a record was before it was repaired to another key's.
        """
        place = _place_of(row)
        if self._names_no_key(row):
            return place in holding or _holds(row.payload, texts)
        return place in holding and place in self.feed.decisions.replaced()

    def _names_no_key(self, row: Row) -> bool:
        """Whether a row may be of any key: nobody can read it, or it is a note, as a tombstone of Kafka is."""
        table = self.wanted.table
        if row.effect == "note" and row.key is not None:
            # The topic's name may be another than that of its table.
            return row.table != table and row.table not in self.feed.tables
        is_unknown = row.fault is not None or row.effect == "note"
        return is_unknown and row.key is None and row.table in (None, "", table)


class _Links:
    """Collects the key changes of a table that records tell of beside their values, as rows of ``FOUND``."""

    def __init__(
        self, feed: Feed, source: SourceFormat, table: str | None, texts: Sequence[str]
    ) -> None:
        self._feed, self._mark, self._texts = feed, source.marks_of_headers, texts
        self._beside = None if table is None else KeysBeside.of(feed, source)
        self._table = table
        self._found: list[dict[str, Any]] = []

    def taken(self) -> list[dict[str, Any]]:
        """Those that were collected since they were last taken."""
        found, self._found = self._found, []
        return found

    def noted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches of bronze as they are."""
        for batch in batches:
            if self._beside is not None and self._mark:
                for record in records_of(self._feed, batch.filter(_marked(batch, self._mark))):
                    self._note(self._beside, record)
            yield batch

    def _note(self, beside: KeysBeside, record: BronzeRecord) -> None:
        for row, old, new, said in beside.links(record):
            if row.table not in (None, "", self._table):
                continue
            if old is not None and new is not None:
                if row.table == self._table:
                    self._found.append(_found(LINK, row) | {"key": new, "moved_from": old})
            elif _holds(said, self._texts):
                self._found.append(_found(UNREADABLE, row))


def _marked(batch: pa.RecordBatch, mark: str) -> pa.Array:
    """Which records of a batch have a header, or in a dump say one, whose name begins so."""
    found = pc.match_substring(pc.fill_null(batch.column("payload"), b""), mark)
    headers = batch.column("headers")
    if headers.null_count == len(headers):
        return found
    names = pc.struct_field(pc.list_flatten(headers), "key")
    is_one = pc.fill_null(pc.starts_with(names, mark), False)
    parents = pc.list_parent_indices(headers).filter(is_one)
    places = pa.array(range(batch.num_rows), parents.type)
    return pc.or_(found, pc.is_in(places, parents))


def _note(reached: dict[str, Position], row: Row) -> None:
    said, stream = row.log_position or (), row.stream or ""
    position = tuple(one for one in said if one is not None)
    if len(position) == len(said):
        reached[stream] = max(position, reached.get(stream, position))


def _waits(row: Row) -> bool:
    """Whether another record has to say what a change's columns are: until then silver does not know its key."""
    is_change = row.effect not in (*CONTROL, "note") and row.fault is None and row.scope is None
    is_left = row.kept_as == ERASED
    return is_change and not is_left and row.declared is None and row.key is None


def _noting(
    batches: Iterable[pa.RecordBatch], texts: Sequence[str], holding: set[tuple[object, ...]]
) -> Iterator[pa.RecordBatch]:
    """The batches of bronze as they are; notes the places of records that hold all of some texts."""
    for batch in batches:
        if texts:
            named = pa.array([True] * batch.num_rows, pa.bool_())
            for text in texts:
                named = pc.and_(named, _has(batch, text))
            holding |= {
                tuple(one.values())
                for one in batch.select([*SOURCE_LOCATION]).filter(named).to_pylist()
            }
        yield batch


def _has(batch: pa.RecordBatch, text: str) -> pa.Array:
    """Of each record whether its value or its key holds a text, as it is or as JSON may spell it."""
    found = pa.array([False] * batch.num_rows, pa.bool_())
    escaped = json.dumps(text)[1:-1]
    capitals = re.sub(r"\\u[0-9a-f]{4}", lambda one: "\\u" + one[0][2:].upper(), escaped)
    for spelled in {text, json.dumps(text, ensure_ascii=False)[1:-1], escaped, capitals}:
        for name in {"payload", "key"}.intersection(batch.schema.names):
            cells = pc.fill_null(batch.column(name), b"")
            found = pc.or_(found, pc.match_substring(cells, spelled))
    return found


def _holds(payload: bytes | None, texts: Sequence[str]) -> bool:
    """Whether what was read in a record's place, as a repaired payload is, holds all of some texts."""
    return bool(texts) and payload is not None and all(one.encode() in payload for one in texts)


def _place_of(row: Row) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in SOURCE_LOCATION)


def _found(what: str, row: Row) -> dict[str, Any]:
    named = ("window", "table", *SOURCE_LOCATION, "key", "moved_from", "stream", "log_position")
    return {"what": what} | {name: getattr(row, name) for name in named}


class Judge:
    """Tells whether a row is to be erased; for one process to keep."""

    def __init__(self, feed: Feed, wanted: Wanted) -> None:
        assert feed.erasure_key is not None  # without it, nobody comes here
        self._feed, self._wanted = feed.name, wanted
        self._secret: MaskKey = feed.erasure_key
        self._erased: ErasedKeys | None = None
        if wanted.table is None:
            self._erased = erased_keys(feed.name, feed.decisions.erasures, self._secret)
        self._known: dict[Key, bool] = {}

    def is_wanted(self, row: Row) -> bool:
        """Whether the row is of the key, or comes from it."""
        if self._wanted.table is None:
            return self._erased is not None and is_of_erased(self._erased, row)
        if row.table != self._wanted.table:
            return False
        return self._is_one(row.key) or self._is_one(row.moved_from)

    def _is_one(self, key: Sequence[str | None] | None) -> bool:
        if key is None:
            return False
        parts = tuple(key)
        if parts not in self._known:
            found = hashed_key(self._secret, self._feed, self._wanted.table or "", parts)
            self._known[parts] = found in self._wanted.hashes
        return self._known[parts]


def linked_keys(keys: Collection[Key], links: Iterable[tuple[Key, Key]]) -> set[Key]:
    """All keys that key changes (from, to) lead to from these, or to these."""
    pairs, found = [*links], {*keys}
    while True:
        more = {one for pair in pairs if found.intersection(pair) for one in pair}
        if more <= found:
            return found
        found |= more


# What is to be left of a record, once all its rows are seen.


@dataclass(frozen=True, slots=True)
class Judged:
    """A record that holds an event of the key.

    ``left``: what is to be left of it. ``others``: the tables of its events that are not of the key; a record that has
    some cannot go. ``event_ids``: of its own events.
    """

    left: ErasedRecord
    others: tuple[str, ...]
    event_ids: tuple[str, ...]


def judged(
    feed: Feed,
    source: SourceFormat,
    wanted: Wanted,
    surveyed: Surveyed,
    record: pa.RecordBatch,
) -> Judged:
    """What is to become of one record of bronze (a batch of one row) that is to go."""
    judge = Judge(feed, wanted)
    secret = feed.erasure_key
    assert secret is not None  # as in Judge
    every = [
        one
        for batch in DecodeRows(feed, source, surveyed, names_notes=True)([record])
        for one in rows_in(batch)
    ]
    rows = [row for row in every if row.kept_as != STRETCH]
    mine = [row for row in rows if judge.is_wanted(row)]
    table = next((row.table for row in mine if row.table), wanted.table or "")
    events = [row for row in mine or rows if row.derived is None]
    so_far, payload = source.operations_so_far, record.column("payload")[0].as_py()
    return Judged(
        left=ErasedRecord(
            table=table,
            events=len(events),
            of_transactions=tuple(
                ErasedEvent(
                    hashed_event(secret, row.event_id or ""),
                    row.effect,
                    tuple(one for one in row.log_position or () if one is not None),
                    (row.transaction.id, row.transaction.expected, row.transaction.has_begin),
                    row.event_at,
                )
                for row in events
                if row.transaction is not None and row.fault is None
            ),
            operations=None if so_far is None or payload is None else so_far(payload),
            stretches=tuple(
                (row.source_table, row.declared, row.facts or "")
                for row in every
                if row.kept_as == STRETCH
            ),
        ),
        others=tuple(
            sorted({row.table or "" for row in rows if mine and not judge.is_wanted(row)})
        ),
        event_ids=tuple(row.event_id for row in mine if row.event_id is not None),
    )


def cells_of_erased(left: ErasedRecord) -> Mapping[str, object]:
    """What an erased record's row in bronze holds besides its place."""
    return {"header": None, "payload": None, "key": None, "headers": None, "defect": left.mark()}
