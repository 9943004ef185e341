"""Table names from a stream are checked once, where events meet declarations."""

from __future__ import annotations

import pytest

from transforms.event import StreamSchema
from transforms.feed.feed import Feed, Table, TableNames
from transforms.silver.declarations import LONGEST_NAME, Declarations

SCHEMA = StreamSchema(("id",), (("id", "int"),))


def reason(
    name: str | None,
    schema: str | None = None,
    table_names: TableNames = "plain",
    stream_schema: StreamSchema | None = SCHEMA,
) -> str | None:
    """Why no event of a table of this name is taken."""
    feed = Feed("zoo", "telling", "/landing", table_names=table_names)
    fault = Declarations(feed, describes_tables=True).of(None, schema, name, stream_schema).fault
    return fault and fault.reason


UNFIT = (
    *("customers__tombstones", "Customers__TOMBSTONES", "customers__history", "a`b", "a/b", "a\\b"),
    *("a\x00b", " a", "a ", "..", "customers__tombstone%73", "_delta_log", "_Delta_Log"),
    "é" * (LONGEST_NAME // 2 + 1),
)
FIT = (
    *("tombstones", "a__tombstones2", "a b", "a.b", "größe", "x" * 180, "a#b", "50%", "_a"),
    "é" * (LONGEST_NAME // 2),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, "unfit_table_name") for name in UNFIT),
        *((name, None) for name in FIT),
        *((name, "missing_table") for name in (None, "")),
    ],
)
def test_a_name_that_no_gold_table_can_have_is_refused(
    name: str | None, expected: str | None
) -> None:
    assert reason(name) == expected
    # Gold has nothing of the schema's name, and nothing is made of a table that nobody describes.
    assert reason("pets", name, stream_schema=None) is None


@pytest.mark.parametrize("name", UNFIT[3:-1])
def test_as_a_schema_it_names_a_folder_no_less(name: str) -> None:
    assert reason("pets", name) == "unfit_table_name"


def test_the_whole_name_counts_where_gold_has_it() -> None:
    assert reason("x" * 90, "y" * 90, "schema") == "unfit_table_name"
    assert reason("x" * 90, "y" * 80, "schema") is None
    assert reason("_tombstones", "a_", "schema") == "unfit_table_name"


@pytest.mark.parametrize(
    ("kind", "text"), [("decimal(9,0)", "1234.00"), ("binary", None), (None, None)]
)
def test_where_the_stream_says_what_values_stand_for_the_file_is_not_asked_how_they_are_written(
    kind: str | None, text: str | None
) -> None:
    """Four digits are base64 of another number, which is too large here."""
    columns = {"id": "int", "sum": "decimal(6,2)"}
    table = Table(
        *("t", ("id",), columns, tuple(columns)),
        renamed={"total": "sum"},
        encodings={"sum": "base64"},
    )
    feed = Feed("shop", "telling", "/landing", tables={"t": table})
    said = StreamSchema(("id",), (("id", "int"), ("total", kind)))
    found = Declarations(feed, describes_tables=True).of(None, None, "t", said)
    assert found.judges["sum"]("1234") == text
