"""The product's own stages applied to drawn records, and their results as plain values."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from assets.executors.in_process import InProcess
from assets.landing.read_objects import records_of
from assets.silver import classify
from assets.silver.classify import Classified
from tests.laws.events.meanings import Drawn, Record, Row
from tests.laws.oracle.event import Key, LogPosition
from tests.transforms.formats.in_process import ARROW
from transforms.compaction_watermarks import CompactionWatermark
from transforms.formats import FORMATS
from transforms.silver.accounting import Account
from transforms.silver.frames import CHANGES, IN_BASE, TO_QUARANTINE

LANDED_AT = datetime(2024, 11, 20, tzinfo=UTC)

SourceLocation = tuple[str, str, int]
"""Window, object and byte offset of a record."""


@dataclass(slots=True)
class Cut:
    """Bronze: the rows of all objects, and by source locations what was drawn for each, and what was cut."""

    rows: pa.RecordBatch
    drawn: dict[SourceLocation, Record]
    payloads: dict[SourceLocation, bytes]


class Kept(NamedTuple):
    """One row that the stages left: of silver, of quarantine, or one that the base has."""

    kind: str
    at: SourceLocation
    ordinal: int
    row: Row
    log_position: LogPosition | None
    dedup_prefix: int
    event_id: str | None
    reason: str | None
    payload: bytes | None


@dataclass(slots=True)
class Outcome:
    """What became of drawn records."""

    rows: list[Kept]
    accounts: Sequence[Account]


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
    message_of_record: dict[SourceLocation, Record] = {}
    payloads: dict[SourceLocation, bytes] = {}
    source = FORMATS[drawn.feed.format]
    for (window, name), landed in drawn.objects.items():
        found = list(records_of(drawn.feed, name, landed.data(), source=source))
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


def shuffled(rows: pa.RecordBatch, rng: Random) -> pa.RecordBatch:
    """The rows in another order."""
    order = rng.sample(range(rows.num_rows), rows.num_rows)
    return rows.take(pa.array(order, pa.int64()))


def classified(
    drawn: Drawn, bronze: Cut, rows: pa.RecordBatch, run: InProcess | None = None
) -> Classified[pa.Table]:
    """What becomes of the records, those at or below a compaction watermark judged by what the base has."""
    table = pa.Table.from_batches([rows])
    found = classify.classified(
        run or InProcess(), drawn.feed, table, {}, compaction_watermarks_of(drawn)
    )
    if not found.counts.left_out:
        return found

    def with_known(covered: pa.Table) -> pa.Table:
        known = [
            drawn.in_base(bronze.drawn[window, name, offset].meanings[ordinal])
            for window, name, offset, ordinal in zip(*_cells(covered, *_AT, "ordinal"), strict=True)
        ]
        return covered.append_column("is_known", pa.array(known))

    return classify.judged(found, drawn.feed, with_known, keeps_known=False)


def compaction_watermarks_of(drawn: Drawn) -> Mapping[str, CompactionWatermark]:
    """The drawn compaction watermarks as the product has them."""
    return {
        table: CompactionWatermark(tuple(log_position))
        for table, log_position in drawn.compaction_watermarks.items()
    }


_AT = ("window", "object", "byte_offset")
_PLAIN = ("kind", *_AT, "ordinal", "log_position", "dedup_prefix", "event_id", "reason", "payload")
_OF_ROW = ("table", "operation", "effect", "key", "moved_from", "derived")
_MAPS = ("before", "after", "attribute_ops", "scope")


def outcome_of(made: Classified[pa.Table]) -> Outcome:
    """The rows and the accounts of what the stages left."""
    rows = made.of_kind(CHANGES, TO_QUARANTINE, IN_BASE).combine_chunks()
    plain, of_row = _cells(rows, *_PLAIN), _cells(rows, *_OF_ROW)
    maps = [_dicts(rows[name]) for name in _MAPS]
    found = []
    for one, said in zip(zip(*plain, strict=True), zip(*of_row, *maps, strict=True), strict=True):
        kind, window, name, offset, ordinal, log_position, *rest = one
        table_name, operation, effect, key, moved_from, *more = said
        row = Row(table_name, operation, effect, _key(key), _key(moved_from), *more)
        at = (window, name, offset)
        log_position = None if log_position is None else tuple(log_position)
        found.append(Kept(kind, at, ordinal, row, log_position, *rest))
    return Outcome(found, made.accounts)


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


def sorted_rows(rows: pa.Table) -> pa.Table:
    """Classified rows in one order."""
    order = [(name, "ascending") for name in (*_AT, "ordinal", "derived", "table", "effect")]
    return rows.sort_by(order).combine_chunks()
