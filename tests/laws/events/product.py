"""The product's own stages applied to drawn records, and their results as plain values.

Not here: what the results should be (``laws``).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow.silver import covered_changes
from assets.columns.silver import ACCOUNT, COVERED, OUTPUT
from assets.landing.read_objects import records_of
from assets.silver import local_stages
from tests.laws.events.meanings import Drawn, Record, Row
from tests.laws.oracle.event import Key, Position
from tests.transforms.formats.in_process import ARROW
from transforms.formats import FORMATS
from transforms.horizons import Horizon
from transforms.silver.accounting import Account, Accounts

LANDED_AT = datetime(2024, 11, 20, tzinfo=UTC)

Coordinates = tuple[str, str, int]
"""Window, object and byte offset of a record."""


@dataclass(slots=True)
class Cut:
    """Bronze: the rows of all objects, and by coordinates what was drawn for each, and what was cut."""

    rows: pa.RecordBatch
    drawn: dict[Coordinates, Record]
    payloads: dict[Coordinates, bytes]


class Kept(NamedTuple):
    """One row that the stages left: of silver, of quarantine, or one that the base has."""

    kind: str
    at: Coordinates
    ordinal: int
    row: Row
    position: Position | None
    stable_prefix: int
    event_id: str | None
    reason: str | None
    payload: bytes | None


@dataclass(slots=True)
class Outcome:
    """What became of drawn records."""

    rows: list[Kept]
    accounts: list[Account]


@contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's garbage collector: there are no cycles, and the search for them takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def cut(drawn: Drawn) -> Cut:
    """Every object cut into records by the format, byte for byte; none is lost, and none comes from nowhere."""
    rows: list[dict[str, object]] = []
    message_of_record: dict[Coordinates, Record] = {}
    payloads: dict[Coordinates, bytes] = {}
    split = FORMATS[drawn.feed.format].split
    for (window, name), landed in drawn.objects.items():
        found = list(records_of(drawn.feed, name, landed.data(), split=split))
        assert len(found) == len(landed.records), f"records of {name} in {window}"
        for one, record in zip(found, landed.records, strict=True):
            payload = one.payload.decode()
            # The document of a message's key goes along with the message.
            assert record.text in (payload, f"{one.header}\n{payload}"), f"{name} in {window}"
            message_of_record[window, name, one.byte_offset] = record
            payloads[window, name, one.byte_offset] = one.payload
            rows.append(
                {
                    **{"window": window, "object": name, "generation": "g", "line": one.line},
                    **{"byte_offset": one.byte_offset, "header": one.header},
                    **{"payload": one.payload, "defect": one.defect, "landed_at": LANDED_AT},
                }
            )
    return Cut(pa.RecordBatch.from_pylist(rows, schema=ARROW), message_of_record, payloads)


def shuffled(rows: pa.RecordBatch, rng: Random) -> list[pa.RecordBatch]:
    """The rows in another order, in batches of drawn sizes."""
    order = rng.sample(range(rows.num_rows), rows.num_rows)
    shuffled = rows.take(pa.array(order, pa.int64()))
    found, start = [], 0
    while start < rows.num_rows:
        size = rng.choice([1, 2, 50, 700, 3_000])
        found.append(shuffled.slice(start, size))
        start += size
    return found


def classified(drawn: Drawn, bronze: Cut, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """What becomes of the records (``OUTPUT``), those at or below a horizon judged by what the base has."""
    table = local_stages.classified(drawn.feed, batches, horizons_of(drawn))
    covered = table.filter(pc.equal(table["kind"], COVERED))
    if not covered.num_rows:
        return table
    known = [
        drawn.in_base(bronze.drawn[window, name, offset].meanings[ordinal])
        for window, name, offset, ordinal in zip(*_cells(covered, *_AT, "ordinal"), strict=True)
    ]
    judge = covered_changes.JudgeCovered(drawn.feed, keeps_known=False)
    with_known = covered.append_column("is_known", pa.array(known)).combine_chunks()
    judged = pa.Table.from_batches(judge(with_known.to_batches()), schema=OUTPUT)
    return pa.concat_tables([table.filter(pc.not_equal(table["kind"], COVERED)), judged])


def horizons_of(drawn: Drawn) -> Mapping[str, Horizon]:
    """The drawn horizons as the product has them."""
    return {table: Horizon(tuple(position)) for table, position in drawn.horizons.items()}


_AT = ("window", "object", "byte_offset")
_PLAIN = ("kind", *_AT, "ordinal", "position", "stable_prefix", "event_id", "reason", "payload")
_OF_ROW = ("table", "operation", "effect", "key", "moved_from", "derived")
_MAPS = ("before", "after", "attribute_ops", "scope")


def outcome_of(table: pa.Table) -> Outcome:
    """The rows and the accounts of what the stages left."""
    rows = table.filter(pc.not_equal(table["kind"], ACCOUNT)).combine_chunks()
    plain, of_row = _cells(rows, *_PLAIN), _cells(rows, *_OF_ROW)
    maps = [_dicts(rows[name]) for name in _MAPS]
    found = []
    for one, said in zip(zip(*plain, strict=True), zip(*of_row, *maps, strict=True), strict=True):
        kind, window, name, offset, ordinal, position, *rest = one
        table_name, operation, effect, key, moved_from, *more = said
        row = Row(table_name, operation, effect, _key(key), _key(moved_from), *more)
        at = (window, name, offset)
        place = None if position is None else tuple(position)
        found.append(Kept(kind, at, ordinal, row, place, *rest))
    return Outcome(found, accounts_of(table))


def accounts_of(table: pa.Table) -> list[Account]:
    """The accounts of what the stages left."""
    accounts = Accounts()
    for text in local_stages.texts_of(table, ACCOUNT):
        accounts.read(text)
    return accounts.rows()


def _key(key: list[str | None] | None) -> Key | None:
    return None if key is None else tuple(key)


def _cells(table: pa.Table, *names: str) -> list[list[Any]]:
    return [table[name].to_pylist() for name in names]


def _dicts(column: pa.ChunkedArray) -> Iterator[dict[str, str | None] | None]:
    """Maps as dicts, from flat lists."""
    for chunk in column.chunks:
        offsets, keys = chunk.offsets.to_pylist(), chunk.keys.to_pylist()
        items = chunk.items.to_pylist()
        for at, is_there in enumerate(chunk.is_valid().to_pylist()):
            start, end = offsets[at], offsets[at + 1]
            found = dict(zip(keys[start:end], items[start:end], strict=True))
            assert len(found) == end - start, "a column stands twice in an image"
            yield found if is_there else None


def sorted_rows(table: pa.Table) -> pa.Table:
    """All rows but the accounts, in one order."""
    rows = table.filter(pc.not_equal(table["kind"], ACCOUNT))
    order = [(name, "ascending") for name in (*_AT, "ordinal", "derived", "table", "effect")]
    return rows.sort_by(order).combine_chunks()
