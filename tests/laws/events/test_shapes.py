"""The law of shapes: records that are taken many at a time become what each of them becomes by itself.

Over the drawn histories of every format that reads records by their shapes, as they are and with random damage: bytes
that are lost, doubled or exchanged, blanks, names that stand twice, values and flags that are others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.events import product
from tests.laws.events.drawing import DRAWINGS, worlds
from tests.laws.events.meanings import Drawn
from tests.laws.events.test_laws_of_events import HISTORIES, SEED
from transforms.column_types.registry import SIMPLE, column_type
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.silver.conform import Conformer
from transforms.silver.frames import Shards
from transforms.silver.record_batches import records_of
from transforms.silver.shapes import ShapedRows
from transforms.silver.stages import DecodeRows

SHAPED = [name for name, one in FORMATS.items() if one.shapes is not None]
TYPES = [*SIMPLE, "decimal(38,0)", "decimal(12,2)", "decimal(9,9)", "decimal(38,10)"]
FLAGS = (b'"0"', b'"1"', b'"2"', b'"3"')
PIECES = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9.]+|\w+|\s+|.', re.DOTALL)


def rows_of(
    drawn: Drawn, rows: pa.RecordBatch, sizes: Sequence[int], *, by_shapes: bool
) -> pa.Table:
    """The rows of records in batches of these sizes, in the order of their sort keys."""
    source = FORMATS[drawn.feed.format]
    if not by_shapes:
        source = replace(source, shapes=None)
    stage = DecodeRows(drawn.feed, source, {}, product.compaction_watermarks_of(drawn))
    batches, start = [], 0
    for size in sizes:
        batches.append(rows.slice(start, size))
        start += size
    made = pa.Table.from_batches(stage(batches), stage.schema)
    return made.sort_by("sort_key").combine_chunks()


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
    sizes = sizes_of(rows.num_rows, rng)
    by_shapes = rows_of(drawn, rows, sizes, by_shapes=True)
    alone = rows_of(drawn, rows, sizes, by_shapes=False)
    assert by_shapes.num_rows == alone.num_rows
    if not by_shapes.equals(alone):
        for name in alone.column_names:
            pairs = zip(by_shapes[name].to_pylist(), alone[name].to_pylist(), strict=True)
            assert not [pair for pair in pairs if pair[0] != pair[1]][:2], name
    assert by_shapes.equals(alone)


@pytest.mark.parametrize("format_name", SHAPED)
def test_records_of_one_shape_become_what_each_becomes_by_itself(
    format_name: str, record_property: Callable[[str, object], None]
) -> None:
    rng, taken, count = Random(SEED), 0, 0
    for drawn in worlds(format_name, SEED, HISTORIES):
        rows = product.cut(drawn).rows
        with product.uncollected():
            same(drawn, rows, rng)
        records = records_of(drawn.feed, rows)
        source = FORMATS[format_name]
        assert source.shapes is not None
        shaped = ShapedRows(
            source.shapes(drawn.feed),
            source.decoder(drawn.feed, {}),
            Conformer(drawn.feed, describes_tables=source.describes_tables),
            Shards(),
        )
        made, rest = shaped(records)
        taken += sum(batch.num_rows for batch in made)
        count += len(records)
        assert sum(batch.num_rows for batch in made) + len(rest) == len(records)
    # The histories have many key changes, faults and odd spellings.
    assert 3 * taken > count
    record_property("laws", f"{format_name}: {taken:,} of {count:,} records by their shapes")


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
    source = FORMATS[feed.format]
    assert source.shapes is not None
    conform = Conformer(feed, describes_tables=False)
    shaped = ShapedRows(source.shapes(feed), source.decoder(feed, {}), conform, Shards())
    made, rest = shaped(records)
    assert [batch.num_rows for batch in made] == [2]
    assert rest == records[2:]


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
