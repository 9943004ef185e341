"""A column's type has one spelling, however it is written, and a text that is no type is refused."""

from __future__ import annotations

import pytest

from orchestration.feeds.column_types import UnknownType, canonical_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Long", "bigint"),
        ("decimal", "decimal(10,0)"),
        ("DECIMAL ( 38 )", "decimal(38,0)"),
        ("numeric(38,38)", "decimal(38,38)"),
        ("varchar( 25 )", "string"),
        ("array< array<INT> >", "array<array<int>>"),
        ("map<string,map<string,long>>", "map<string,map<string,bigint>>"),
        ("struct<Id: int, tags array<string>>", "struct<Id:int,tags:array<string>>"),
        ("struct<`größe-1`: int>", "struct<`größe-1`:int>"),
    ],
)
def test_a_type_has_one_spelling(text: str, expected: str) -> None:
    assert canonical_type(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "text",
            "varchar",
            "varchar2(5)",
            "int(11)",
            "decimal(39,2)",
            "decimal(0)",
            "decimal(5,6)",
        ),
        *("decimal(5,-1)", "decimal(a)", "decimal(10", "array", "array<>", "array<int"),
        *("array<int>>", "map<int>", "map<string", "map<map<int,int>,int>", "struct<>"),
        *("struct<`a b`:int>", "array<struct<`a.b`:int>>", "map<string,struct<```a`:int>>"),
        *("struct<a:int,A:int>", "struct<a>", "int int", "  ", "int;", "void", "interval"),
    ],
)
def test_what_is_no_column_type_is_refused(text: str) -> None:
    with pytest.raises(UnknownType):
        canonical_type(text)
