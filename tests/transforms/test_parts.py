"""What a feed file says of values in arrays, maps and structs: they are read as they are alone, and named by path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.column_types.encodings import UnfitEncoding, judge_of_encoded
from transforms.column_types.nested import Nested
from transforms.column_types.parts import adapted, check, misfit_in, said_of
from transforms.column_types.ranges import ENDS, OutOfRange
from transforms.column_types.registry import column_type

WRITTEN = (
    *(("date", "days"), ("timestamp", "millis"), ("timestamp_ntz", "micros"), ("binary", "hex")),
    *(("decimal(10,2)", "base64"), ("decimal(12,4)", "base64(2)"), ("string", "micros_of_day")),
    *(("binary", "base64-url-safe"), ("timestamp", "seconds")),
)
AROUND = (
    ("array<{}>", "c.element", "[{}]"),
    ("map<boolean,{}>", "c.value", '{{"true":{}}}'),
    ("struct<a:{}>", "c.a", '{{"a":{}}}'),
    ("array<struct<a:map<int,{}>>>", "c.element.a.value", '[{{"a":{{"7":{}}}}}]'),
)
VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.integers(-20_000, 40_000).map(str),
    st.binary(max_size=6).map(bytes.hex),
    st.sampled_from(("AJw=", "-_8", "+/8=", "soon", "", "infinity", "1.50", "2026-11-20")),
)


def canonical_in(kind: str, text: str) -> str:
    """The canonical JSON that a canonical text of a simple type is in others."""
    found = column_type(kind)
    judge = column_type(f"array<{kind}>").judge
    listed = judge(json.dumps([found.to_json(found.value(text))]))
    assert listed is not None
    return listed[1:-1]


@given(st.sampled_from(WRITTEN), st.sampled_from(AROUND), VALUES)
def test_a_value_in_others_is_read_as_it_is_alone(
    written: tuple[str, str], around: tuple[str, str, str], value: str
) -> None:
    kind, encoding = written
    type_name, path, document = around[0].format(kind), *around[1:]
    alone = judge_of_encoded(kind, encoding)(value)
    of_column = said_of("c", type_name, {"c": encoding}, {}, "quarantine")
    assert of_column == said_of("c", type_name, {path: encoding}, {}, "quarantine")
    found = adapted("c", type_name, of_column).judge(document.format(json.dumps(value)))
    assert found == (None if alone is None else document.format(canonical_in(kind, alone)))


@pytest.mark.parametrize("policy", ["null", "clamp"])
@pytest.mark.parametrize("kind", ENDS)
def test_a_date_in_others_is_taken_out_of_its_range_as_it_is_alone(
    kind: str, policy: OutOfRange
) -> None:
    text = '["infinity","0044-03-15 BC",null]'
    first, last = (canonical_in(kind, end) for end in ENDS[kind])
    taken = "[null,null,null]" if policy == "null" else f"[{last},{first},null]"
    said = said_of("c", f"array<{kind}>", {}, {"c": policy}, "quarantine")
    judge = adapted("c", f"array<{kind}>", said).judge
    assert (judge(text), judge('["soon"]')) == (taken, None)
    # The nearest word counts.
    own: dict[str, OutOfRange] = {"c": policy, "c.element": "quarantine"}
    assert said_of("c", f"array<{kind}>", {}, own, policy) == ((), ())


def test_the_key_of_a_map_is_never_null() -> None:
    for policy, taken in (("null", None), ("clamp", '{"9999-12-31":1}')):
        said = said_of("c", "map<date,int>", {}, {}, policy)  # type: ignore[arg-type]
        assert adapted("c", "map<date,int>", said).judge('{"infinity":1}') == taken


@pytest.mark.parametrize(
    ("kind", "text", "path", "value"),
    [
        ("array<int>", '[1,"x"]', "c.element", "x"),
        ("array<array<date>>", '[["2026-11-20","soon"]]', "c.element.element", "soon"),
        ("map<int,string>", '{"x":"y"}', "c.key", "x"),
        ("map<int,boolean>", '{"1":"y"}', "c.value", "y"),
        ("struct<a:int,b:struct<d:date>>", '{"a":1,"b":{"d":"soon"}}', "c.b.d", "soon"),
        ("array<int>", '{"a":1}', "c", '{"a":1}'),
        ("map<int,int>", '{"1":1,"01":2}', "c", '{"1":1,"01":2}'),
        ("array<int>", "{1,2}", "c", "{1,2}"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(
    kind: str, text: str, path: str, value: str
) -> None:
    found = misfit_in("c", column_type(kind), text)
    assert (found.path, found.value) == (path, value)
    assert isinstance(found.kind, Nested) == (path == "c")


def test_an_encoding_has_to_fit_something_that_a_type_holds() -> None:
    check(column_type("struct<a:int,b:array<date>>"), "days")
    with pytest.raises(UnfitEncoding, match="'micros' is no way in which a date is written"):
        check(column_type("struct<a:int,b:array<date>>"), "micros")
    with pytest.raises(UnfitEncoding, match="this one is a int"):
        check(column_type("array<int>"), "micros")
