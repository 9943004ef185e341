"""What DDLs say of tables, which of several counts, and what becomes of dropped columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.transforms.formats.yugabyte.writing import (
    FEED,
    PETS,
    bronze,
    ddl,
    decoded,
    message,
    response,
    surveyed,
)
from transforms.event import StreamSchema
from transforms.formats import FORMATS

UNDECLARED = replace(FEED, tables={})
ROW = message(0, (1, 4, 0), id=1)


def schema_of_row(*documents: object, row: object = None) -> StreamSchema | None:
    """What a row in the window of these responses gets to know of its table."""
    facts = surveyed(UNDECLARED, *documents)
    decoder = FORMATS["yugabyte"].decoder
    _, event = decoder(UNDECLARED, facts)(bronze(response(row or ROW)))
    return event.stream_schema  # type: ignore[union-attr]


def test_a_row_is_of_the_table_that_a_ddl_of_its_window_describes() -> None:
    assert schema_of_row() is None
    assert schema_of_row(response(ddl("id", "name"))) == StreamSchema(
        ("id",), (("id", "int"), ("name", "string"))
    )


def test_the_newest_ddl_of_a_window_counts_in_whatever_order_they_come() -> None:
    older = response(ddl("id", "name", schema_version=2))
    newer = response(ddl("id", "name", "toy", schema_version=10))
    without_version = response(ddl("id"))
    wide = StreamSchema(("id",), (("id", "int"), ("name", "string"), ("toy", "string")))
    assert schema_of_row(older, newer, without_version) == wide
    assert schema_of_row(without_version, newer, older) == wide
    # Of one version the later position in the tablet counts.
    first, second = response(ddl("id", at=(1, 4, 0))), response(ddl("id", "toy", at=(1, 10, 0)))
    assert (
        schema_of_row(first, second)
        == schema_of_row(second, first)
        == StreamSchema(("id",), (("id", "int"), ("toy", "string")))
    )


def test_a_ddl_of_another_table_schema_or_window_says_nothing() -> None:
    other = ddl("id", table="dogs")
    elsewhere = ddl("id", pgschema_name="zoo")
    assert schema_of_row(response(other, elsewhere)) is None
    facts = surveyed(UNDECLARED, response(ddl("id")), window="2026-11-20T04")
    decoder = FORMATS["yugabyte"].decoder
    _, event = decoder(UNDECLARED, facts)(bronze(response(ROW)))
    assert event.stream_schema is None  # type: ignore[union-attr]


def test_a_ddl_without_a_key_leaves_what_the_row_says() -> None:
    key = [{"column_name": "id", "column_type": 23, "Datum": {"DatumInt32": 1}}]
    row = message(0, (1, 4, 0), id=1, name="Rex", more={"primary_key": key})
    of_row = StreamSchema(("id",), (("id", "int"), ("name", "string")))
    assert schema_of_row(row=row) == of_row
    assert schema_of_row(response(ddl("id", key="none")), row=row) == of_row
    assert schema_of_row(response(ddl("id", "toy")), row=row) == StreamSchema(
        ("id",), (("id", "int"), ("toy", "string"))
    )


def test_every_record_with_a_ddl_is_surveyed_and_no_record_is_a_crash() -> None:
    marks = FORMATS["yugabyte"].survey_marks
    in_both = [bronze(response(ddl("id"))), bronze(b'{"rowMessage":{"columnInfo":5}}')]
    assert all(any(mark in (one.payload or b"") for mark in marks) for one in in_both)
    assert surveyed(UNDECLARED, b"", b"\xff", b"[]", {"row_message": 5}) == {
        "2026-11-20T03": frozenset()
    }


@pytest.mark.parametrize(
    ("oid", "main", "kind"),
    [
        *((16, 6, "boolean"), (17, 9, "binary"), (20, 4, "bigint"), (21, 2, "smallint")),
        *((23, 3, "int"), (700, 7, "float"), (701, 8, "double"), (1700, 11, "string")),
        *((1082, 23, "date"), (1114, 10, "timestamp_ntz"), (1184, 10, "timestamp")),
        *((25, 5, "string"), (2950, 17, "string"), ("1184", "TIMESTAMP", "timestamp")),
        *((0, 1, "tinyint"), (None, "int64", "bigint"), ("0", "DATE", "date"), (0, 14, "string")),
        (None, None, "string"),
    ],
)
def test_a_columns_type_comes_from_its_oid_or_from_the_servers_own_type(
    oid: object, main: object, kind: str
) -> None:
    record = ddl("id", "x")
    record["row_message"]["schema"]["column_info"][1] |= {"oid": oid, "type": {"main": main}}
    schema = schema_of_row(response(record))
    assert schema is not None
    assert dict(schema.columns)["x"] == kind


def test_a_column_that_a_ddl_lacks_is_emptied() -> None:
    _, event = decoded(response(ddl("id", "photo", at=(1, 4, 0))))
    assert (event.operation, event.effect) == ("drop_column", "update")
    assert (event.after, event.scope) == ({"name": None}, {})
    _, whole = decoded(response(ddl("id", "photo", "name", "more", at=(1, 4, 0))))
    assert (whole.operation, whole.effect, whole.after, whole.scope) == ("ddl", "note", {}, None)


def test_a_column_is_not_lacking_under_its_old_name_before_its_time_or_without_the_key() -> None:
    renamed = replace(FEED, tables={"pets": replace(PETS, renamed={"called": "name"})})
    assert decoded(response(ddl("id", "photo", "called")), renamed)[1].operation == "ddl"
    later = replace(FEED, tables={"pets": replace(PETS, since={"name": "2026-11-20T04"})})
    assert decoded(response(ddl("id", "photo")), later)[1].operation == "ddl"
    since = replace(FEED, tables={"pets": replace(PETS, since={"name": "2026-11-20T03"})})
    assert decoded(response(ddl("id", "photo")), since)[1].operation == "drop_column"
    assert decoded(response(ddl("other", key="other")))[1].operation == "ddl"
    assert decoded(response(message(5, more={"schema": {}})))[1].operation == "ddl"
    assert decoded(response(ddl("id")), UNDECLARED)[1].operation == "ddl"


@pytest.mark.parametrize(("time_to_live", "warned"), [(0, ()), ("0", ()), (None, ()), (86400, 1)])
def test_a_time_to_live_is_warned_of(time_to_live: object, warned: object) -> None:
    record = ddl("id", "name", "photo")
    record["row_message"]["schema"]["tab_info"] = {"default_time_to_live": time_to_live}
    assert decoded(response(record))[1].warnings == (("time_to_live",) if warned else ())
