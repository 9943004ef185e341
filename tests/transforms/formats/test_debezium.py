"""What one message of Debezium means, where the golden cases have no room for it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from transforms.event import Event, SnapshotRow, StreamSchema, Transaction
from transforms.feed.feed import Feed
from transforms.formats.debezium import FORMAT
from transforms.formats.debezium.decode import waits_for_transactions
from transforms.record import BronzeRecord

TOPIC = Feed("shop", "debezium", "kafka://broker:9092/shop.public.city,shop.transaction")
FILES = Feed("shop", "debezium", "/drops/shop")
MYSQL = {"connector": "mysql", "db": "town", "table": "city", "file": "bin.000003", "pos": 40}
POSTGRES = {"connector": "postgresql", "db": "town", "schema": "public", "table": "city", "lsn": 70}


def envelope(**said: Any) -> dict[str, Any]:
    return {"before": None, "after": {"id": 1}, "source": MYSQL, "op": "c", **said}


def schema(*columns: dict[str, Any]) -> dict[str, Any]:
    sides = [
        {"field": side, "type": "struct", "fields": [*columns]} for side in ("before", "after")
    ]
    return {"type": "struct", "fields": sides, "name": "shop.Envelope"}


def key_of(*columns: str, **payload: Any) -> dict[str, Any]:
    fields = [{"field": name, "type": "int32"} for name in columns]
    return {"schema": {"type": "struct", "fields": fields, "name": "shop.Key"}, "payload": payload}


def record(value: Any, key: Any = None, **about: Any) -> BronzeRecord:
    """A record of a topic; texts stand as they are."""
    parts = [
        None if part is None else (part if isinstance(part, str) else json.dumps(part)).encode()
        for part in (value, key)
    ]
    entry = {"object": "shop.public.city/2", "line": 8, "byte_offset": 7, **about}
    return BronzeRecord(
        "2026-11-20T03",
        entry["object"],
        "g",
        entry["line"],
        entry["byte_offset"],
        entry.get("header"),
        parts[0],
        entry.get("defect"),
        0,
        parts[1],
    )


def decoded(*records: BronzeRecord, feed: Feed = TOPIC) -> list[Event]:
    decode = FORMAT.decoder(feed, {})
    found = [event for one in records for event in decode(one)]
    assert len(found) == len(records)
    events = [one for one in found if isinstance(one, Event)]
    assert events == found
    return events


def event(value: Any, key: Any = None, feed: Feed = TOPIC, **about: Any) -> Event:
    return decoded(record(value, key, **about), feed=feed)[0]


def placed(found: Event) -> tuple[int, ...]:
    assert found.log_position is not None
    return tuple(number for number in found.log_position if number is not None)


def fault(found: Event) -> tuple[str, str]:
    assert found.fault is not None
    return found.fault.reason, found.fault.detail


@pytest.mark.parametrize(
    ("sequence", "at"),
    [
        ('["60","70"]', 70),
        ('["80","70"]', 80),
        (["80", "70"], 80),
        *[(sequence, 70) for sequence in (None, "[]", "x", '{"a":1}', '["x"]', 7, '[null,"70"]')],
    ],
)
@pytest.mark.parametrize("order", [None, "3"])
def test_postgres_stands_behind_its_last_commit(
    sequence: object, order: str | None, at: int
) -> None:
    # The number in the transaction begins again after a restart: it neither orders nor identifies.
    transaction = {"id": "571:1000", "total_order": order}
    found = event(envelope(source={**POSTGRES, "sequence": sequence}, transaction=transaction))
    assert (found.log_position, found.identity) == ((0, 1, at, 1, 70), ("70",))
    assert found.segment is None
    assert found.transaction == Transaction("571")


SQL_SERVER = {
    **{"connector": "sqlserver", "table": "city", "snapshot": "false"},
    **{"commit_lsn": "00000025:00000448:0003", "change_lsn": "00000025:00000448:0002"},
    "event_serial_no": 2,
}
ORACLE = {
    **{"connector": "oracle", "table": "city", "snapshot": "false", "scn": "900"},
    **{"commit_scn": "907", "redo_thread": 1, "rs_id": "0x000012.00000003.0010", "ssn": 4},
}
INFORMIX = {
    **{"connector": "informix", "table": "city", "snapshot": "false"},
    **{"commit_lsn": "70", "change_lsn": "68"},
}
MONGODB = {"connector": "mongodb", "table": "city", "snapshot": "false", "ts_ms": 9, "ord": 3}
COMMIT_LSN = 0x2500000448_0003


@pytest.mark.parametrize(
    ("source", "change", "row", "removes_at"),
    [
        (
            SQL_SERVER,
            (0, 1, 0, COMMIT_LSN, 1, 0, COMMIT_LSN - 1, 2),
            (0, 1, 0, COMMIT_LSN, 2, 0, 0, 0),
            (0, 1, 0, COMMIT_LSN, 2, -1, 0, 0),
        ),
        (
            ORACLE,
            (0, 1, 907, 1, 900, 1, 0, 0x0012_00000003_0010, 4),
            (0, 1, 900, 2, 0, 0, 0, 0, 0),
            (0, 1, 900, 2, -1, 0, 0, 0, 0),
        ),
        (INFORMIX, (0, 1, 70, 1, 68), (0, 1, 70, 2, 0), (0, 1, 70, 2, -1)),
        (MONGODB, (0, 1, 9, 3, 1, 7), (0, 1, 9, 3, 0, 0), (0, 1, 9, 3, 0, -1)),
        (POSTGRES, (0, 1, 70, 1, 70), (0, 1, 70, 0, 0), (0, 1, 70, 0, -1)),
        (MYSQL, (0, 1, 3, 40, 1, 7), (0, 1, 3, 40, 0, 0), (0, 1, 3, 40, 0, -1)),
        ({"connector": "vitess", "table": "city"}, (0, 1, 7, 2), (0, 1, 7, 2), None),
        (
            {**MYSQL, "connector": "mariadb", "pos": -58},
            (0, 1, 3, 2**62 + 7, 1, 2),
            (0, 1, 3, 2**62 + 7, 1, 2),
            None,
        ),
    ],
)
def test_a_snapshots_rows_stand_in_the_order_of_their_source(
    source: dict[str, Any],
    change: tuple[int, ...],
    row: tuple[int, ...],
    removes_at: tuple[int, ...] | None,
) -> None:
    assert event(envelope(source=source), {"id": 1}).log_position == change
    read = {**source, "snapshot": "last_in_data_collection", "commit_scn": None}
    found = event(envelope(op="r", source=read), {"id": 1})
    assert (found.fault, found.log_position) == (None, row)
    marks = SnapshotRow(
        removes_at, begins=False, ends=True, topic="shop.public.city", partition=2, offset=7
    )
    assert found.snapshot == marks
    bare = event(envelope(op="r", source=read), feed=FILES, object="part.json")
    assert bare.snapshot is None


SPANNER = {
    **{"connector": "spanner", "table": "city", "ts_ms": 9, "ts_us": 9_001, "sequence": "4"},
    **{"server_transaction_id": "t", "mod_number": 2, "partition_token": "p"},
}
CASSANDRA = {
    **{"connector": "cassandra", "keyspace": "town", "table": "city", "snapshot": "false"},
    **{"file": "CommitLog-7-1663850000000.log", "pos": 40, "ts_ms": 9, "ts_us": 9_001},
}


def test_spanner_stands_by_its_commits_and_cassandra_by_its_writes() -> None:
    found = event(envelope(source=SPANNER), {"id": 1})
    assert (found.log_position, found.dedup_prefix) == ((0, 1, 9_001, 1, 4, 2), 6)
    assert found.identity == ("9001", "t", "4", "2")
    found = event(envelope(source=CASSANDRA), {"id": 1})
    assert (found.log_position, found.identity) == ((0, 1, 9_001, 1, 0), ("9001",))
    # Another node has the same write in its own log.
    other = {**CASSANDRA, "file": "CommitLog-7-1663859999999.log", "pos": 8}
    assert event(envelope(source=other), {"id": 1}).identity == found.identity
    # Of one millisecond it is not known what came first, and releases before 2.6 send no more.
    for source in (SPANNER, CASSANDRA):
        told = event(envelope(source={**source, "ts_us": None}), {"id": 1})
        assert (told.log_position, told.identity) == ((0, 1, 7, 2), ("shop.public.city", "2", "7"))


def test_a_transaction_of_xstream_is_ordered_by_its_positions() -> None:
    plain = {name: part for name, part in ORACLE.items() if name not in ("rs_id", "ssn")}
    found = [
        event(envelope(source={**plain, "redo_thread": None, "lcr_position": text}), {"id": 1})
        for text in ("000000a1" * 7 + "00", "000000a1" * 7 + "01", "00ff", "00ff00")
    ]
    positions = [placed(one) for one in found]
    assert positions[0] < positions[1]
    assert {len(one) for one in positions} == {9}
    assert positions[2] == (0, 1, 907, 1, 0xFF << 40, 0, 0, 0, 0)
    assert found[0].identity == ("907", "000000a1" * 7 + "00")
    # What is no such position is none.
    bad = event(envelope(source={**ORACLE, "lcr_position": "x"}), {"id": 1})
    assert bad.log_position == event(envelope(source=ORACLE), {"id": 1}).log_position


@pytest.mark.parametrize(
    ("source", "op", "key", "warned"),
    [
        # What a snapshot that a signal asks for has read before: a commit, or a gtid.
        ({**POSTGRES, "snapshot": "true", "sequence": '["60","70"]'}, "r", None, "blocking"),
        ({**POSTGRES, "snapshot": "true", "sequence": '[null,"70"]'}, "r", None, None),
        ({**POSTGRES, "snapshot": "true", "sequence": '["60","70"]'}, "r", {"id": 1}, None),
        ({**MYSQL, "snapshot": "last", "gtid": "0-1-9"}, "r", None, "blocking"),
        ({**MYSQL, "snapshot": "last"}, "r", None, None),
        # No place of its own, so that only the offset tells it from an equal one.
        ({**MYSQL, "connector": "mariadb", "pos": -58, "gtid": "0-1-9"}, "c", None, "offset"),
        ({**MYSQL, "connector": "mariadb", "pos": -58, "gtid": "0-1-9"}, "c", {"id": 1}, None),
        ({**MYSQL, "gtid": "0-1-9"}, "c", None, None),
        ({"connector": "vitess", "table": "city"}, "c", None, "offset"),
    ],
)
def test_rows_without_a_key_that_may_count_twice_are_told(
    source: dict[str, Any], op: str, key: dict[str, int] | None, warned: str | None
) -> None:
    found = event(envelope(op=op, source=source), key)
    words = {"blocking": "blocking_snapshot_without_key", "offset": "counted_by_offset"}
    assert (found.fault, found.warnings) == (None, (words[warned],) if warned else ())


def test_a_number_of_thousands_of_digits_is_quarantined() -> None:
    price = {
        "field": "price",
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "2"},
    }
    after = {"id": 1, "price": base64.b64encode(b"\x01" * 3_000_000).decode()}
    found = event({"schema": schema(price), "payload": envelope(after=after)})
    assert fault(found) == (
        "value_does_not_fit",
        "price is a number of 3,000,000 bytes; the longest that is read has 415",
    )


COLUMN = {"field": "id", "type": "int32"}
DAY = {"field": "day", "type": "int32", "name": "io.debezium.time.Date"}
COUNT = {"field": "day", "type": "int32"}


def test_each_message_is_read_by_its_own_schema() -> None:
    after = {"id": 1, "day": 1}
    value = envelope(after=after)
    days = [
        {"schema": schema(COLUMN, DAY), "payload": value},
        {"schema": schema(COLUMN, COUNT), "payload": value},
        value,
        {"schema": schema(COLUMN, DAY), "payload": value},
        {
            "schema": schema(COLUMN, DAY),
            "payload": {**value, "source": {**MYSQL, "table": "street"}},
        },
    ]
    found = decoded(*[record(day, key_of("id", id=1)) for day in days])
    assert [one.after["day"] for one in found] == [
        "1970-01-02",
        "1",
        "1",
        "1970-01-02",
        "1970-01-02",
    ]
    # Only the schema says that the number counts days.
    with_day = StreamSchema(("id",), (("id", "int"), ("day", "date")), ("day",))
    other = StreamSchema(("id",), (("id", "int"), ("day", "int")))
    assert [one.stream_schema for one in found] == [with_day, other, None, with_day, with_day]


@pytest.mark.parametrize(
    ("landing", "expected"),
    [
        ("kafka://broker:9092/shop.city, shop.transaction ", True),
        ("kafka://broker:9092/shop.transaction/x", False),
        ("kafka://transaction:9092/shop.city", False),
        ("s3://drops/shop", True),
    ],
)
def test_changes_wait_where_the_end_of_their_transaction_may_come(
    landing: str, expected: bool
) -> None:
    feed = Feed("shop", "debezium", landing)
    assert waits_for_transactions(feed) is expected
    value = envelope(
        transaction={"id": "gtid:7"}, op="r", after={"a": "__debezium_unavailable_value"}
    )
    found = event(value, feed=feed)
    assert (found.transaction is None) is not expected
    warned = ("unavailable_value",) if expected else ("unavailable_value", "commit_not_awaited")
    assert found.warnings == warned
    end = event({"status": "END", "id": "gtid:7", "event_count": "2"}, feed=feed)
    assert (end.operation, end.effect, end.warnings) == ("commit", "commit", ())
    assert end.transaction == (Transaction("gtid:7", 2) if expected else None)
