"""What each row message does, what it leaves alone, and why one cannot be taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.transforms.formats.yugabyte.writing import FEED, PETS, ddl, decoded, message, response
from transforms.event import Transaction

UUID = "51034ee3-25da-4adc-beb2-60ff70678a33"


def test_a_response_is_a_note_and_its_messages_in_their_order() -> None:
    begun = response(
        message(3, txn=UUID),
        message(0, (1, 4, 1), txn=UUID, id=1, name="Rex"),
        message(1, (1, 4, 2), txn=UUID, id=1, name=None),
        message(4, (1, 4, 0), txn=UUID),
    )
    found = decoded(begun)
    assert [(one.operation, one.effect) for one in found] == [
        *(("checkpoint", "note"), ("begin", "begin"), ("insert", "replace")),
        *(("update", "update"), ("commit", "commit")),
    ]
    assert [one.log_position for one in found] == [
        *((0, 1, 1, 99, 2**63 - 1), (0, 1, 1, 4), (0, 1, 1, 4, 1, 0), (0, 1, 1, 4, 2, 0)),
        (0, 1, 1, 4, 2**31 - 1),
    ]
    assert [one.dedup_prefix for one in found] == [2, 2, 5, 5, 5]
    assert found[2].after == {"id": "1", "name": "Rex"}
    assert found[3].after == {"id": "1", "name": None}
    assert {one.transaction for one in found[1:]} == {Transaction(f"t1/{UUID}")}
    assert {one.stream for one in found} == {"t1"}


@pytest.mark.parametrize(
    ("op", "operation", "effect"),
    [
        (0, "insert", "replace"),
        ("1", "update", "update"),
        ("DELETE", "delete", "remove"),
        (" truncate ", "truncate", "remove"),
        ("READ", "read", "replace"),
        (8, "safepoint", "note"),
        (5, "ddl", "note"),
    ],
)
def test_an_operation_is_known_by_name_and_by_number(
    op: object, operation: str, effect: str
) -> None:
    found = decoded(response(message(op, (1, 4, 0))))[1]
    assert (found.operation, found.effect, found.fault) == (operation, effect, None)
    assert found.scope == ({} if operation == "truncate" else None)


def test_a_missing_value_has_three_faces() -> None:
    padding = [{"Datum": None}, {}, None, {"column_name": "", "Datum": {"DatumInt32": 1}}]
    unsaid = {"column_name": "toy", "Datum": {"DatumMissing": True}}
    update = message(1, (1, 4, 0), id=1, name=None)
    update["row_message"]["new_tuple"] += [*padding, unsaid]
    assert decoded(response(update))[1].after == {"id": "1", "name": None}


def test_a_delete_is_of_the_old_tuple_or_of_the_key_apart() -> None:
    key = [{"column_name": "id", "column_type": 23, "Datum": {"DatumInt32": 7}}]
    apart = message(2, (1, 4, 0), more={"primary_key": key})
    within = message(2, (1, 4, 0), id=7, name="Rex", more={"primary_key": key})
    assert decoded(response(apart))[1].before == {"id": "7"}
    assert decoded(response(within))[1].before == {"id": "7", "name": "Rex"}


def test_the_key_in_the_servers_own_bytes_is_no_fault() -> None:
    """RowMessage.primary_key is a DocKey in bytes (cdc_service.proto, field 18): nobody else can read it."""
    said = message(0, (1, 4, 0), id=1, more={"primary_key": "R2sxAAEhSIAAAAEh"})
    insert = decoded(response(said))[1]
    assert (insert.after, insert.fault, insert.stream_schema) == ({"id": "1"}, None, None)


@pytest.mark.parametrize(
    ("datum", "value"),
    [
        ({"Datum": {"DatumInt64": 9007199254740993}}, "9007199254740993"),
        ({"datum_int64": "9007199254740993"}, "9007199254740993"),
        ({"datumInt64": "9007199254740993"}, "9007199254740993"),
        ({"Datum": {"DatumBool": False}}, "false"),
        ({"datumString": ""}, ""),
        ({"datum_double": "NaN"}, "NaN"),
        ({"Datum": {"DatumInt32": None}}, None),
        ({"cql_value": {"Value": {"StringValue": "UmV4"}}}, "Rex"),
        ({"cqlValue": {"listValue": {"elems": [{"int32Value": 1}]}}}, "[1]"),
        ({"cqlValue": {}}, None),
        ({"column_type": 17, "Datum": {"DatumString": "\\xdead"}}, b"\xde\xad"),
        ({"columnType": "17", "datumString": "\\xdead"}, b"\xde\xad"),
        ({"column_type": 17, "Datum": {"DatumBytes": "3q0="}}, b"\xde\xad"),
        ({"Datum": {"DatumBytes": "3q0="}}, b"\xde\xad"),
        ({"cql_value": {"binary_value": "3q0="}}, b"\xde\xad"),
        ({"column_type": 17, "Datum": {"DatumString": "escape\\000"}}, "escape\\000"),
        ({"column_type": 25, "Datum": {"DatumString": "\\xdead"}}, "\\xdead"),
        ({"Datum": {"DatumBytes": "no base64"}}, "no base64"),
    ],
)
def test_a_value_is_what_its_datum_says(datum: dict[str, Any], value: object) -> None:
    assert decoded(response(message(0, (1, 4, 0), photo=datum)))[1].after == {"photo": value}
    # Where the column is declared as text, bytes are the text that PostgreSQL writes.
    expected = "\\xdead" if value == b"\xde\xad" else value
    assert decoded(response(message(0, (1, 4, 0), name=datum)))[1].after == {"name": expected}


def test_every_digit_of_a_number_is_kept() -> None:
    digits = b"12345678901234567890.123456789012345678901234567890"
    datum = b'{"column_name":"id","column_type":1700,"Datum":{"DatumDouble":%s}}' % digits
    payload = (
        b'{"row_message":{"op":0,"new_tuple":[%s]},"cdc_sdk_op_id":{"term":1,"index":2}}' % datum
    )
    assert decoded(payload)[1].after == {"id": digits.decode()}


@pytest.mark.parametrize(
    ("datum", "kind"),
    [
        ({"Datum": {"DatumPoint": {"x": 1}}}, "DatumPoint"),
        ({"datum_point": {"x": 1}}, "datum_point"),
        ({"datumPoint": {"x": 1}}, "datumPoint"),
        ({"pg_ql_value": {"int32_value": 5}}, "pg_ql_value"),
        ({"pgQlValue": {"int32Value": 5}}, "pg_ql_value"),
        ({"cql_value": {"Value": {"VarintValue": "gQ=="}}}, "varint_value"),
    ],
)
def test_a_value_that_is_not_read_is_not_taken_for_null(datum: dict[str, Any], kind: str) -> None:
    whole = response(message(0, (1, 4, 0), id=datum), message(0, (1, 5, 0), id=2))
    _, refused, taken = decoded(whole)
    assert refused.fault == (
        "unread_value",
        f"column id comes as {kind}, which is not read",
    )
    assert (refused.after, refused.log_position) == ({}, (0, 1, 1, 4, 0, 0))
    assert (taken.after, taken.fault) == ({"id": "2"}, None)


@pytest.mark.parametrize(
    ("record", "reason", "part"),
    [
        (message(None), "missing_field", "the row message has no op"),
        (None, "missing_field", "the row message has no op"),
        ({}, "missing_field", "the row message has no op"),
        (message(-1), "unknown_operation", "op -1 is not known; known: INSERT, UPDATE"),
        (message(True), "unknown_operation", "op true is not known"),
        (message(0, id=1), "missing_field", "INSERT has no cdc_sdk_op_id with term and index"),
        (message(6, (1,)), "missing_field", "TRUNCATE has no cdc_sdk_op_id with term and index"),
    ],
)
def test_a_message_that_cannot_be_taken(record: object, reason: str, part: str) -> None:
    _, refused, taken = decoded(response(record, message(0, (1, 5, 0), id=2)))
    assert refused.fault is not None
    assert refused.fault.reason == reason
    assert part in refused.fault.detail
    assert taken.fault is None


def test_a_tuple_that_names_a_column_twice_is_refused() -> None:
    twice = message(0, (1, 4, 0), id=1)
    twice["row_message"]["new_tuple"] *= 2
    assert decoded(response(twice))[1].fault == (
        "column_twice",
        "a tuple names a column twice: id, id",
    )


@pytest.mark.parametrize(
    ("document", "reason", "part"),
    [
        ({}, "missing_field", "neither cdc_sdk_proto_records, row_message nor a checkpoint"),
        ({"checkpoint": None}, "missing_field", "neither cdc_sdk_proto_records"),
        (
            {"error": {"code": 4}, "cdc_sdk_proto_records": []},
            "error_response",
            'the server answered with an error: {"code":4}',
        ),
        ([], "malformed_json", "no JSON object: []"),
        ({"cdc_sdk_proto_records": {}}, "malformed_json", "cdc_sdk_proto_records is no list"),
        ({"cdcSdkProtoRecords": [5]}, "malformed_json", "a record is no object"),
        ({"row_message": 5}, "malformed_json", "row_message is no object"),
        ({"cdc_sdk_checkpoint": "x"}, "malformed_json", "cdc_sdk_checkpoint is no object"),
        (response(message(0, more={"new_tuple": {}})), "malformed_json", "new_tuple is no list"),
        (response(message(0, more={"new_tuple": [5]})), "malformed_json", "a value of new_tuple"),
        (response(message(0, id={"Datum": 5})), "malformed_json", "Datum is no object"),
        (
            response({"row_message": {"newTuple": [], "new_tuple": []}}),
            "malformed_json",
            "row_message has new_tuple in two spellings",
        ),
    ],
)
def test_a_response_that_cannot_be_read(document: object, reason: str, part: str) -> None:
    (refused,) = decoded(document)
    assert refused.fault is not None
    assert refused.fault.reason == reason
    assert part in refused.fault.detail
    assert refused.stream == "t1"


def test_one_record_alone_is_read_and_its_commit_moves_the_consumer() -> None:
    note, commit = decoded(message(4, (1, 4, 0), txn="MQ=="))
    assert (note.after["term"], note.after["reached_term"]) == (None, "1")
    assert commit.operation == "commit"


@pytest.mark.parametrize(
    ("records", "checkpoint", "reached"),
    [
        ([message(0, (1, 4, 0), id=1)], {"term": 1, "index": 5}, ("1", "5")),
        ([message(7, id=1)], {"term": 1, "index": 5}, ("1", "5")),
        (
            [message(4, (1, 4, 0), txn="a"), message(3, txn="b")],
            {"term": 1, "index": 5},
            ("1", "5"),
        ),
        ([message(4, (1, 4, 0), txn="a")], {"term": 1, "index": 5, "key": "aw=="}, ("1", "4")),
        ([message(4, (1, 4, 0)), message(4)], {"term": 1, "index": 5, "key": "aw=="}, ("1", "4")),
        ([message(4, (1, 4, 0))], {}, ("1", "4")),
        ([message(0, (1, 4, 0), txn="a")], {"term": 1, "index": 5}, (None, None)),
        ([message(3, txn="a"), ddl("id"), message(8)], {"term": 1, "index": 5}, (None, None)),
        ([], {"term": 1, "index": 5}, (None, None)),
    ],
)
def test_a_consumer_stands_behind_what_is_committed(
    records: list[object], checkpoint: dict[str, object], reached: tuple[object, ...]
) -> None:
    note = decoded(response(*records, cdc_sdk_checkpoint=checkpoint))[0]
    assert (note.after["reached_term"], note.after["reached_index"]) == reached


@pytest.mark.parametrize(
    ("checkpoint", "commit_time", "log_position", "time"),
    [
        ({"snapshot_time": 8193}, 4096, (0, 0, 2, 1), "8193"),
        ({"snapshot_time": "0"}, "4096", (0, 0, 1, 0), "4096"),
        ({}, 2**63 + 1, (0, 0, 2**51, 1), str(2**63 + 1)),
        ({}, None, (0, 0, 0, 0), None),
    ],
)
def test_a_snapshot_row_stands_at_the_snapshots_time(
    checkpoint: dict[str, object],
    commit_time: object,
    log_position: tuple[int, ...],
    time: str | None,
) -> None:
    read = message(7, id=1, more={"commit_time": commit_time})
    found = decoded(response(read, cdc_sdk_checkpoint=checkpoint))[1]
    assert (found.log_position, found.dedup_prefix) == (log_position, 4)
    assert found.identity == ("t1", "snapshot", time)


def test_messages_without_an_op_id_stand_among_their_neighbours() -> None:
    first, second = message(0, (1, 4, 0), id=1), message(0, (1, 6, 0), id=2)
    every = decoded(response(message(3), first, ddl("id", "name"), message(4), second))
    assert [one.log_position for one in every[1:]] == [
        *((0, 1, 1, 4), (0, 1, 1, 4, 0, 0)),
        *((0, 1, 1, 4, 0, 2**31 - 1), (0, 1, 1, 4, 0, 2**31 - 1), (0, 1, 1, 6, 0, 0)),
    ]
    # Only what comes after, only the checkpoint, or nothing at all.
    assert decoded(response(message(8), second))[1].log_position == (0, 1, 1, 6)
    assert decoded(response(message(8)))[1].log_position == (0, 1, 1, 99, 2**31 - 1)
    assert decoded(message(8))[1].log_position == (0, 1)
    assert decoded(response(message(4), second))[1].log_position == (0, 1, 1, 99, 2**31 - 1)
    lost = decoded(message(4))[1]
    assert (lost.log_position, lost.fault and lost.fault.reason) == (None, "missing_field")


def test_both_encodings_say_the_same_events() -> None:
    key = {"name": "id", "type": {"main": 3}, "is_key": True, "oid": 0}
    go = response(
        message(5, more={"schema": {"column_info": [key]}, "schema_version": 2}),
        message(0, (1, 4, 0), txn="UQNO4yXaSty+smD/cGeKMw==", id=1, name="Rex", photo=None),
        message(4, (1, 4, 0), txn="UQNO4yXaSty+smD/cGeKMw=="),
    )
    key_of_protojson = {"name": "id", "type": {"main": "INT32"}, "isKey": True, "oid": 0}
    common = {"table": "pets", "pgschemaName": "public"}
    in_transaction = {**common, "transactionId": UUID}
    op_id = {"term": "1", "index": "4", "writeId": 0}
    row = [
        {"columnName": "id", "columnType": "23", "datumInt32": 1},
        {"columnName": "name", "columnType": "25", "datumString": "Rex"},
        {"columnName": "photo", "columnType": "25"},
    ]
    protojson = {
        "cdcSdkProtoRecords": [
            {"rowMessage": {**common, "op": "DDL", "schema": {"columnInfo": [key_of_protojson]}}},
            {
                "rowMessage": {**in_transaction, "op": "INSERT", "newTuple": row},
                "cdcSdkOpId": op_id,
            },
            {"rowMessage": {**in_transaction, "op": "COMMIT"}, "cdcSdkOpId": op_id},
        ],
        "cdcSdkCheckpoint": {"term": "1", "index": "99", "writeId": 0},
    }
    assert decoded(go) == decoded(protojson)


def test_a_new_name_of_the_table_is_a_note() -> None:
    renamed = decoded(response(message(5, (1, 4, 0), more={"new_table_name": "dogs"})))[1]
    assert (renamed.operation, renamed.effect, renamed.name) == ("rename_table", "note", "pets")


def test_images_are_not_shared_between_events() -> None:
    declared = replace(PETS, columns={**PETS.columns, "toy": "string"})
    feed = replace(FEED, tables={"pets": declared})
    whole = response(ddl("id"), ddl("id"), message(3), message(4, (1, 4, 0)), message(6, (1, 5, 0)))
    images = [
        image
        for one in decoded(whole, feed)
        for image in (one.before, one.after, one.scope)
        if image is not None
    ]
    assert len({id(image) for image in images}) == len(images)
