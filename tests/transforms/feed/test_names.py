"""How gold names tables and columns: every column has one name that a Delta table can have, and no two the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transforms.feed.feed import TableNames
from transforms.feed.names import gold_name, spelled_columns
from transforms.feed.schema_policies import UNFIT_IN_COLUMN

SIGNS = " ,;{}()\n\t=.`_*xX012aAbBdDİßΣ\ud800\x00\U00010400"
names = st.text(st.sampled_from(SIGNS), max_size=10) | st.sampled_from(
    [
        "",
        "_x0020_",
        "_x005F_",
        "_xFFFF_",
        "\uffff",
        "_weir_log_position",
        "_WEIR_x0020_",
        "_change_type",
    ]
)


@pytest.mark.parametrize(
    ("in_stream", "gold"),
    [
        ({"id", "Name", "max_x", "pos_x1", "größe", "it's"}, {}),
        ({"unit price", "a.b"}, {"unit price": "unit_x0020_price", "a.b": "a_x002E_b"}),
        ({"id", "ID", "Id"}, {"ID": "_x0049__x0044_", "Id": "_x0049_d"}),
        ({"ID"}, {}),
        ({"unit_x0020_price"}, {"unit_x0020_price": "unit_x005F_x0020_price"}),
        ({"_weir_log_position"}, {"_weir_log_position": "_x005F_weir_log_position"}),
        ({"_Change_Type"}, {"_Change_Type": "_x005F_Change_Type"}),
        ({""}, {"": "_xFFFF_"}),
        ({"*"}, {"*": "_x002A_"}),
    ],
)
def test_only_names_that_gold_cannot_have_are_spelled(
    in_stream: set[str], gold: dict[str, str]
) -> None:
    assert spelled_columns(in_stream) == gold


@given(st.sets(names, max_size=8))
@example({"a_x0020 ", "a x0020_", "a_x0020_ "})
@example({"_x0020_x0041_", " x0041_"})
@example({"Id", "ID", "_x0049_d", "_X0049_d"})
def test_no_two_columns_have_one_name_in_gold_and_all_can_be_read_back(in_stream: set[str]) -> None:
    new = spelled_columns(in_stream)
    gold = {name: new.get(name, name) for name in in_stream}
    assert len({name.lower() for name in gold.values()}) == len(in_stream)
    for name, text in gold.items():
        assert text
        assert not UNFIT_IN_COLUMN.search(text)
        assert not text.lower().startswith(("_weir_", "_change_type"))
        text.encode()
        assert read_back(text) == name


@given(st.sets(names, max_size=6), names)
def test_one_more_column_changes_the_names_of_those_only_that_differ_from_it_in_case(
    in_stream: set[str], more: str
) -> None:
    before, after = spelled_columns(in_stream), spelled_columns({*in_stream, more})
    for name in in_stream:
        if name.lower() != more.lower():
            assert before.get(name) == after.get(name)


def read_back(text: str) -> str:
    """The source's name of a column in gold."""
    if text == "_xFFFF_":
        return ""
    return re.sub(r"_x([0-9A-F]{6}|[0-9A-F]{4,5})_", lambda sign: chr(int(sign[1], 16)), text)


@pytest.mark.parametrize(
    ("table", "table_names", "expected"),
    [
        ("region", "plain", "region"),
        ("tpch.region", "plain", "region"),
        ("db.tpch.region", "plain", "region"),
        ("region", "schema", "region"),
        ("tpch.region", "schema", "tpch__region"),
        ("db.tpch.region", "schema", "tpch__region"),
        ("tpch.region", "catalog", "tpch__region"),
        ("db.tpch.region", "catalog", "db__tpch__region"),
    ],
)
def test_gold_takes_the_parts_that_table_names_asks_for(
    table: str, table_names: TableNames, expected: str
) -> None:
    assert gold_name(table, table_names) == expected
