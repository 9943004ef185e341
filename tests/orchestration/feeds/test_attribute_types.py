"""Types of attributes are TigerGraph's or Spark's, and have one spelling; a text that is no type is refused."""

from __future__ import annotations

import pytest

from orchestration.feeds.tigergraph import attribute_type
from transforms.column_types.column_type import UnknownType


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *[("INT", "bigint"), ("UINT", "decimal(20,0)"), ("FLOAT", "float"), ("BOOL", "boolean")],
        *[("STRING COMPRESS", "string"), ("DATETIME", "timestamp"), ("tuple", "string")],
        *[("LIST<INT>", "array<bigint>"), ("set< string >", "set<string>"), ("bigint", "bigint")],
        *[("list<tuple>", "array<string>"), ("decimal(12,2)", "decimal(12,2)")],
        ("MAP<DATETIME, UINT>", "map<timestamp,decimal(20,0)>"),
        ("tuple<i INT, At datetime, s: string>", "struct<i:bigint,At:timestamp,s:string>"),
        ("list<tuple<i int, u uint>>", "array<struct<i:bigint,u:decimal(20,0)>>"),
        ("map<string, struct<s:string>>", "map<string,struct<s:string>>"),
        ("map<string,decimal(5,1)>", "map<string,decimal(5,1)>"),
    ],
)
def test_types_of_attributes_are_those_of_tigergraph_or_of_spark(written: str, kind: str) -> None:
    assert attribute_type(written) == kind


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("integr", "'integr' is not a Spark SQL type"),
        ("list<int,int>", "a list has one type"),
        ("map<int>", "a map has a key's type and a value's"),
        ("list<list<int>>", "must be of simple types"),
        ("list<vertex>", "'vertex' is not a Spark SQL type"),
        ("tuple<int>", "a field of a tuple is a name and a type"),
        ("tuple<a list<int>>", "the fields of a tuple must be of simple types"),
        ("tuple<a int, A uint>", "has the field A twice"),
        ("map<tuple<a int>,int>", "the keys of a map must be of a simple type"),
    ],
)
def test_other_types_are_refused(written: str, fault: str) -> None:
    with pytest.raises(UnknownType, match=fault):
        attribute_type(written)
