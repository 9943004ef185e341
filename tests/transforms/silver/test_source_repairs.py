"""Rows that were read again in the source, from the payload of their record to the event."""

from __future__ import annotations

import msgspec

from transforms.event import Event
from transforms.record import BronzeRecord
from transforms.shape import Shaped
from transforms.silver.source_repairs import (
    FOLDER,
    GENERATION,
    Bytes,
    Described,
    Operation,
    SourceRow,
    but_source_rows,
    event_of,
    position_at,
    with_source_rows,
    written,
)

PLACE = position_at((20, 7), 1_790_000_000_000_001)


def record(
    payload: bytes | None, name: str = f"{FOLDER}a.jsonl", generation: str = GENERATION
) -> BronzeRecord:
    return BronzeRecord("2026-11-20", name, generation, 1, 0, None, payload, None, 0)


def row_of(
    operation: Operation,
    table: str,
    columns: dict[str, str | Bytes | None] | None = None,
    described: Described | None = None,
) -> SourceRow:
    return SourceRow(
        table=table,
        operation=operation,
        columns=columns or {"id": "1"},
        log_position=PLACE,
        read_at=1_790_000_000_000_001,
        by="ann",
        reason="lost",
        read=tuple(columns or ()),
        described=described,
    )


def test_a_row_stands_at_its_place_before_the_changes_there() -> None:
    columns: dict[str, str | Bytes | None] = {"id": "1", "raw": Bytes.of(b"\x00\xff"), "name": None}
    row = row_of("read", "db.shop.person", columns)
    event = event_of(record(written(row)))
    assert (event.catalog, event.schema, event.name) == ("db", "shop", "person")
    assert (event.effect, event.before) == ("replace", {})
    assert event.after == {"id": "1", "raw": b"\x00\xff", "name": None}
    assert event.read_by_schema == {"id", "raw", "name"}
    assert event.event_at == 1_790_000_000_000_001
    assert event.log_position is not None
    # Epoch, phase, the place, then what comes before a change at that place, and before a later reading.
    assert event.log_position[:4] == (0, 1, 20, 7)
    assert (0, 1, 20, 6, 1, 99) < event.log_position < (0, 1, 20, 7, 1, 0)
    assert event.log_position < position_at((20, 7), 1_790_000_000_000_002)
    assert event.dedup_prefix == len(event.log_position)


def test_a_row_that_is_gone_is_a_delete_of_its_key_and_one_that_is_read_in_part_an_update() -> None:
    gone = event_of(record(written(row_of("delete", "shop.stock"))))
    assert (gone.effect, gone.before, gone.after) == ("remove", {"id": "1"}, {})
    assert (gone.catalog, gone.schema, gone.name) == (None, "shop", "stock")
    described = Described(("id",), (("id", "int"), ("n", "bigint")))
    part = event_of(record(written(row_of("update", "stock", described=described))))
    assert (part.effect, part.schema, part.name) == ("update", None, "stock")
    assert part.stream_schema is not None
    assert part.stream_schema.key == ("id",)
    assert part.stream_schema.columns == (("id", "int"), ("n", "bigint"))


def test_a_row_that_is_recorded_twice_is_one_event() -> None:
    payload = written(row_of("read", "stock"))
    first, again = event_of(record(payload)), event_of(record(payload, f"{FOLDER}b.jsonl"))
    assert first.identity == again.identity
    later = msgspec.structs.replace(
        row_of("read", "stock"), log_position=position_at((20, 7), 1_790_000_000_000_002)
    )
    assert event_of(record(written(later))).identity != first.identity


def test_a_payload_that_is_none_is_a_fault() -> None:
    for payload in (None, b"", b"{}", b'{"table": 1}'):
        fault = event_of(record(payload)).fault
        assert fault is not None
        assert fault.reason == "malformed_json"


def test_only_weirs_own_objects_are_read_so() -> None:
    others = Event(operation="x", effect="note", name=None)
    decode = with_source_rows(lambda _: (others,))
    read = but_source_rows(lambda _: shaped)
    shaped: Shaped = object()  # type: ignore[assignment]
    payload = written(row_of("read", "stock"))
    mine = record(payload)
    assert [one.effect for one in decode(mine)] == ["replace"]  # type: ignore[union-attr]
    assert read(mine) is None
    # Somebody's folder, or topic, of that name has an etag, or a topic's id.
    for other in (record(payload, generation="etag"), record(payload, "other/a.jsonl")):
        assert [*decode(other)] == [others]
        assert read(other) is shaped
