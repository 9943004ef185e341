"""xCluster's records: what each does, where it stands, and why one cannot be taken."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import Any

import pytest

from transforms.event import Event, Transaction
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

PETS = Table("pets", ("id",), {"id": "int", "name": "string", "photo": "binary"}, ())
FEED = Feed("xc", "yugabyte_xcluster", "/landing", tables={"pets": PETS})
TXN = "UQNO4yXaSty+smD/cGeKMw=="
UUID = "51034ee3-25da-4adc-beb2-60ff70678a33"
AT = 6963200000000004096
MICROS = AT >> 12


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def pair(name: str, value: object) -> dict[str, Any]:
    """A column as Go writes it; a dict is the value itself."""
    if not isinstance(value, dict):
        kinds = {int: "Int32Value", str: "StringValue"}
        encoded = b64(value) if isinstance(value, str) else value
        value = {"Value": None if value is None else {kinds[type(value)]: encoded}}
    return {"key": b64(name), "value": value}


def record(
    op: object = 1, at: object = AT, txn: str | None = None, **row: object
) -> dict[str, Any]:
    columns = [pair(name, value) for name, value in row.items()]
    said: dict[str, Any] = {"time": at, "operation": op, "key": columns[:1], "changes": columns[1:]}
    return said | ({"transaction_state": {"transaction_id": txn}} if txn else {})


def decoded(document: object, path_table: str | None = "pets") -> list[Event]:
    payload = json.dumps(document).encode()
    bronze = BronzeRecord("w", "pets/tablet=t1/a.json", "g", 1, 0, None, payload, None, 0)
    bronze.path_table = path_table
    decoder = FORMATS["yugabyte_xcluster"].decoder
    return [one for one in decoder(FEED, {})(bronze) if isinstance(one, Event)]


def test_a_response_is_a_note_and_its_records_in_their_order() -> None:
    state = {"transaction_id": TXN, "commit_hybrid_time": str(AT + 4096)}
    records = [
        record(1, AT, id=1, name=None),
        record("DELETE", AT + 1, TXN, id=1, name="x"),
        {"time": AT + 8193, "operation": 3, "transaction_state": state},
    ]
    found = decoded({"records": records, "checkpoint": {"op_id": {"term": 2, "index": 9}}})
    assert [(one.operation, one.effect, one.name) for one in found] == [
        *(("checkpoint", "note", None), ("write", "update", "pets")),
        *(("delete", "remove", "pets"), ("apply", "commit", "pets")),
    ]
    assert [one.log_position for one in found] == [
        *((0, 1, 2, 9, 2**63 - 1), (0, 1, MICROS, 0, 0), (0, 1, MICROS, 1, 0)),
        (0, 1, MICROS + 1, 0),
    ]
    assert [(one.before, one.after) for one in found[1:]] == [
        ({}, {"id": "1", "name": None}),
        ({"id": "1"}, {}),
        ({}, {}),
    ]
    transaction = Transaction(f"t1/{UUID}", has_begin=False, at_commit=True)
    assert [one.transaction for one in found] == [None, None, transaction, transaction]
    assert found[3].identity == ("t1", UUID)
    assert found[0].after["reached_term"] is None
    assert [one.event_at for one in found[1:]] == [MICROS, MICROS, MICROS + 1]


@pytest.mark.parametrize(
    ("said", "reason", "part"),
    [
        (record(None), "missing_field", "the record has no operation"),
        (None, "missing_field", "the record has no operation"),
        (record(9), "unknown_operation", "operation 9 is not known; known: WRITE, DELETE, APPLY"),
        (record(at=None, id=1), "missing_field", "WRITE has no hybrid time: time null"),
        (record(at=-1, id=1), "missing_field", "WRITE has no hybrid time: time -1"),
        (record(at=2**64, id=1), "missing_field", "WRITE has no hybrid time"),
        (record(3), "missing_field", "APPLY names no transaction"),
        (record(id=1, ID=2), None, ""),
        ({**record(id=1), "changes": [pair("id", 2)]}, "column_twice", "two values: id, id"),
        ({**record(id=1), "changes": [{"value": {}}]}, "missing_field", "names no column"),
        ({**record(id=1), "changes": [None]}, "missing_field", "names no column"),
        (record(id=1, name={"VarintValue": "gQ=="}), "unread_value", "name comes as varint_value"),
    ],
)
def test_a_record_that_cannot_be_taken(said: object, reason: str | None, part: str) -> None:
    _, found, taken = decoded({"records": [said, record(at=AT + 4096, id=2)]})
    assert (found.fault and found.fault.reason) == reason
    assert part in (found.fault.detail if found.fault else "")
    assert (found.after == {}) is (reason is not None)
    assert taken.fault is None


def test_any_part_of_one_time_that_comes_again_changes_nothing() -> None:
    """Records of one time that came whole once: parts of them, cut anywhere, stand no earlier."""
    for seed in range(2_000):
        rng = Random(seed)
        said = [(key, name) for key in range(3) for name in "xyz"]
        rows = [record(id=key, name=name) for key, name in rng.sample(said, rng.randint(1, 6))]
        whole = decoded({"records": rows})[1:]
        again: list[Event] = []
        for _ in range(rng.randint(0, 4)):
            start = rng.randrange(len(rows))
            again += decoded({"records": rows[start : rng.randint(start, len(rows))]})[1:]
        places: dict[str, tuple[int | None, ...]] = {}
        for event in [*again, *whole]:
            assert event.log_position is not None
            key = str((event.identity, event.after))
            places[key] = min(places.get(key, event.log_position), event.log_position)
        assert list(map(places.get, [str((one.identity, one.after)) for one in whole])) == [
            one.log_position for one in whole
        ]
