"""The law of shapes: records that are taken many at a time become what each of them becomes by itself.

Over the drawn histories of every format whose records stand for themselves, as they are and with random damage: pieces
that are lost, doubled or exchanged, blanks, names that stand twice, values and flags that are others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import cast, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.events import product
from tests.laws.events.drawing import DRAWINGS, worlds
from tests.laws.events.meanings import Drawn
from tests.laws.events.test_laws_of_events import HISTORIES, SEED
from transforms.column_types.registry import SIMPLE, column_type
from transforms.event import Event
from transforms.feed.feed import Feed, Table, Unwrapped
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.silver.conform import Conformer
from transforms.silver.frames import ROWS, Shards, row_batch, row_batches
from transforms.silver.plain_rows import rows_of, unbundled
from transforms.silver.record_batches import records_of
from transforms.silver.shapes import ShapedRows
from transforms.silver.snapshots import Collected
from transforms.silver.stages import DecodeRows

SHAPED = [name for name, one in FORMATS.items() if one.resolver is None]
TYPES = [*SIMPLE, "decimal(38,0)", "decimal(12,2)", "decimal(9,9)", "decimal(38,10)"]
OF_SEVERAL_EVENTS = ("yugabyte", "yugabyte_xcluster")
"""Their records hold a checkpoint beside their changes, and are taken one by one."""
FLAGS = (b'"0"', b'"1"', b'"2"', b'"3"')
PIECES = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9.]+|\w+|\s+|.', re.DOTALL)


def by_shapes(drawn: Drawn, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """The rows of records as the product makes them, in the order of their sort keys."""
    source = FORMATS[drawn.feed.format]
    stage = DecodeRows(drawn.feed, source, {}, product.compaction_watermarks_of(drawn))
    return sorted_rows(stage(batches))


def one_by_one(drawn: Drawn, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """The same rows, by what one record becomes by itself."""
    feed, source = drawn.feed, FORMATS[drawn.feed.format]
    decode = source.decoder(feed, {})
    conform = Conformer(
        feed,
        describes_tables=source.describes_tables,
        compaction_watermarks=product.compaction_watermarks_of(drawn),
    )
    found: list[pa.RecordBatch] = []
    for batch in batches:
        rows, collected, records = [], Collected(), records_of(feed, batch)
        for record in records:
            events = cast("list[Event]", [*decode(record)])
            made = conform(record, events)
            for ordinal, event in enumerate(events):
                if event.snapshot is not None:
                    collected.add(event, next(row for row in made if row.ordinal == ordinal))
            rows += made
        found += row_batches([*rows, *collected.rows(records[0])], Shards())
    return sorted_rows(found)


def sorted_rows(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    # What tells of stretches of snapshots stands at one place.
    order = [("sort_key", "ascending"), ("row", "ascending")]
    return pa.Table.from_batches(single(batches), ROWS).sort_by(order).combine_chunks()


def single(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows, those of bundles each by itself."""
    for batch in batches:
        yield batch.filter(pc.is_null(batch["bundle"]))
        for plain in unbundled(batch["bundle"].drop_null()):
            rows = rows_of(plain)
            for row in rows:
                # As it was before it became columns.
                row.key = None if row.key is None else tuple(row.key)
                row.log_position = tuple(row.log_position or ())
            one = row_batch(rows, Shards())
            for name in ("group", "sort_key"):
                at = ROWS.get_field_index(name)
                one = one.set_column(at, ROWS.field(name), plain[name])
            yield one


def count_of(made: Iterable[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in single(made))


def sizes_of(count: int, rng: Random) -> list[int]:
    """Batches of one record, of some and of many."""
    found: list[int] = []
    while sum(found) < count:
        found.append(rng.choice([1, 3, 40, 2_000]))
    return found


def damaged(payload: bytes, rng: Random) -> bytes:
    """The record with one piece of it lost, doubled, exchanged for another of its pieces, or with a byte of noise."""
    pieces = PIECES.findall(payload)
    at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    match rng.randrange(8):
        case 0:
            pieces[at] = b""
        case 1:
            pieces[at] += pieces[at]
        case 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 3:
            pieces[at] = rng.choice([b"null", b'"null"', b'""', b"1", b"-0", b"{}", b'"\\u0000"'])
        case 4:
            pieces[at] += rng.choice([b" ", b"\n", b"\\", b'"', b"\x00", b"\xff", b","])
        case 5:
            # A name once more, with another value: the last one stands where the first did.
            at = rng.choice([at for at, one in enumerate(pieces[1:]) if one == b":"] or [0])
            pieces[at : at + 1] = [pieces[at], b":", b'"other"', b",", pieces[at]]
        case 6:
            pieces[at] = pieces[other]
        case 7:
            # A flag, as most formats have them.
            at = rng.choice([at for at, one in enumerate(pieces) if one in FLAGS] or [0])
            pieces[at] = rng.choice(FLAGS)
    return b"".join(pieces)


def same(drawn: Drawn, rows: pa.RecordBatch, rng: Random) -> None:
    """Both ways give the same rows."""
    batches, start = [], 0
    for size in sizes_of(rows.num_rows, rng):
        batches.append(rows.slice(start, size))
        start += size
    found, expected = by_shapes(drawn, batches), one_by_one(drawn, batches)
    assert found.num_rows == expected.num_rows
    if not found.equals(expected):
        for name in expected.column_names:
            pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
            assert not [pair for pair in pairs if pair[0] != pair[1]][:2], name
    assert found.equals(expected)


@pytest.mark.parametrize("format_name", SHAPED)
def test_records_of_one_shape_become_what_each_becomes_by_itself(
    format_name: str, record_property: Callable[[str, object], None]
) -> None:
    rng, taken, read, count = Random(SEED), 0, 0, 0
    for drawn in worlds(format_name, SEED, HISTORIES):
        rows = product.cut(drawn).rows
        with product.uncollected():
            same(drawn, rows, rng)
        records = records_of(drawn.feed, rows)
        made, _ = shaped_rows(drawn.feed)(records, Collected())
        taken += count_of(made)
        read += read_by_shape(drawn.feed, records)
        count += len(records)
    # The histories have many key changes, faults and odd spellings.
    assert 4 * taken > count or format_name in OF_SEVERAL_EVENTS
    # Without reading events first.
    assert 3 * read > count or FORMATS[format_name].shapes is None
    record_property(
        "laws",
        f"{format_name}: {taken:,} of {count:,} records by their shapes, {read:,} of them read so",
    )


def read_by_shape(feed: Feed, records: Sequence[BronzeRecord]) -> int:
    """How many records the format itself reads by their shapes."""
    shapes, found = FORMATS[feed.format].shapes, 0
    if shapes is None:
        return 0
    read = shapes(feed)
    for record in records:
        with suppress(Exception):
            found += read(record) is not None
    return found


def shaped_rows(feed: Feed) -> ShapedRows:
    source = FORMATS[feed.format]
    decode = source.decoder(feed, {})
    return ShapedRows(
        None if source.shapes is None else source.shapes(feed),
        lambda record: cast("list[Event]", [*decode(record)]),
        Conformer(feed, describes_tables=source.describes_tables),
        Shards(),
    )


@pytest.mark.parametrize("format_name", SHAPED)
def test_damaged_records_become_what_each_becomes_by_itself(format_name: str) -> None:
    rng = Random(f"damaged {SEED}")
    for drawn in worlds(format_name, SEED + 1, HISTORIES):
        rows = product.cut(drawn).rows
        payloads = [
            damaged(one, rng) if rng.random() < 0.5 else one for one in rows["payload"].to_pylist()
        ]
        at = rows.schema.get_field_index("payload")
        with product.uncollected():
            same(drawn, rows.set_column(at, "payload", pa.array(payloads, pa.binary())), rng)


@pytest.mark.parametrize("mode", [None, *get_args(Unwrapped)])
def test_rows_without_envelopes_become_what_each_becomes_by_itself(mode: Unwrapped | None) -> None:
    """The drawn changes as the transform ExtractNewRecordState leaves them, some of them damaged."""
    rng, read, count = Random(f"unwrapped {mode} {SEED}"), 0, 0
    for drawn in worlds("debezium", SEED + 2, HISTORIES // len(get_args(Unwrapped))):
        bare = replace(drawn, feed=replace(drawn.feed, unwrapped=mode))
        rows = product.cut(drawn).rows
        payloads = [
            taken_out(payload, offset, rng)
            for offset, payload in enumerate(rows["payload"].to_pylist())
        ]
        at = rows.schema.get_field_index("payload")
        whole = rows.set_column(at, "payload", pa.array(payloads, pa.binary()))
        payloads = [damaged(one, rng) if rng.random() < 0.3 else one for one in payloads]
        with product.uncollected():
            same(bare, rows.set_column(at, "payload", pa.array(payloads, pa.binary())), rng)
        records = records_of(bare.feed, whole)
        read += read_by_shape(bare.feed, records)
        count += len(records)
    # A row to which nothing was added is none, where the feed says nothing of such rows.
    assert 5 * read > count


ADDED: Mapping[str, Sequence[object]] = {
    "op": ("c", "u", "d", "r", "x", None),
    "deleted": ("true", "false", None),
    "table": ("item", "other", None),
    "db": ("shop",),
    "schema": ("public",),
    "connector": ("postgresql", "mysql", "cassandra"),
    "lsn": (7, 900),
    "source_ts_ms": (1763660000000,),
    "source_file": ("binlog.7",),
    "source_pos": (4, "5"),
    "snapshot": ("true", "last", "false"),
    "sequence": ('["6","7"]',),
}
"""What the transform is told to add to rows, without its prefix."""


def taken_out(payload: bytes, offset: int, rng: Random) -> bytes:
    """A line of a dump with the row of a message, without its envelope; another line is left as it is."""
    image = image_in(payload, rng)
    if image is None:
        return payload
    prefix = rng.choice(["__", "__", "__", "cdc_", ""])
    names = rng.sample([*ADDED], rng.choice([0, 2, 5, len(ADDED)]))
    row = image | {prefix + name: rng.choice(ADDED[name]) for name in names}
    if rng.random() < 0.5:
        fields = [{"field": name, "type": rng.choice(["string", "bytes"])} for name in row]
        value: object = {"schema": {"type": "struct", "fields": fields}, "payload": row}
    else:
        value = row
    key = {name: image[name] for name in ("id", "region") if name in image} or None
    line = {"topic": "shop.public.item", "partition": 0, "offset": offset, "key": key}
    if rng.random() < 0.5:
        value = json.dumps(value)
    return json.dumps(line | {"value": value}).encode()


def image_in(payload: bytes, rng: Random) -> dict[str, object] | None:
    """One of the images in a line of a dump; None where none is found at once."""
    with suppress(ValueError, TypeError, AttributeError):
        document = json.loads(payload)
        for name in ("value", "payload"):
            document = document.get(name, document)
            document = json.loads(document) if isinstance(document, str) else document
        images = [document[name] for name in ("before", "after") if document.get(name)]
        found = rng.choice(images) if images else None
        return found if isinstance(found, dict) else None
    return None


def test_a_value_that_is_said_to_be_absent_is_a_fault() -> None:
    table = Table("item", ("id",), {"id": "int", "city": "string"}, ())
    feed = Feed("laws", "arcion_s3_json", "/landing", tables={"item": table})
    payloads = [
        envelope({"id": "1", "city": "Bonn"}, {"id": "1", "city": "null"}),
        envelope({"id": "2", "city": "Ulm"}, {"id": "2", "city": "null"}),
        envelope({"id": "3", "city": "Kiel"}, {"id": "3", "city": "Trier"}),
    ]
    records = [
        BronzeRecord("w", "o", "g", at, at, None, one, None, 0)
        for at, one in enumerate(payloads, 1)
    ]
    made, rest = shaped_rows(feed)(records, Collected())
    assert count_of(made) == 2
    assert [record for record, _ in rest] == records[2:]


def envelope(new: dict[str, str], old: dict[str, str]) -> bytes:
    """An update that says that its old image has no city."""
    said = {
        "tableName": {"namespace": {"catalog": "shop", "schema": "public"}, "name": "item"},
        **{"opType": "U", "cursor": '{"log": "bin.000001", "position": 4}', "before": old},
        **{"after": new, "exists": {"id": "3", "city": "1"}},
    }
    return json.dumps(said).encode()


def test_formats_with_shapes_are_drawn() -> None:
    assert SHAPED
    assert DRAWINGS.keys() >= {*SHAPED}


@pytest.mark.parametrize("type_name", [one for one in TYPES if column_type(one).plain])
@given(data=st.data())
def test_what_a_type_calls_plain_its_judge_gives_back_as_it_is(
    type_name: str, data: st.DataObject
) -> None:
    kind = column_type(type_name)
    text = data.draw(st.from_regex(re.compile(kind.plain, re.ASCII), fullmatch=True))
    assert kind.judge(text) == text
