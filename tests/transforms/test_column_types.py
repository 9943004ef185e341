"""Every type of columns by its golden cases, ``column_types.yaml``, and by what is drawn at random: without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypedDict

import pyarrow as pa
import pytest
import yaml

from tests.transforms import drawn_documents, drawn_texts
from transforms.column_types.column_type import UnknownType
from transforms.column_types.registry import SIMPLE, canonical_type, column_type
from transforms.json_values import Number


class Cases(TypedDict, total=False):
    """The golden cases of one type."""

    fits: dict[str, str]
    unfit: list[str]


CASES: Final[dict[str, Cases]] = yaml.safe_load(
    Path(__file__).with_name("column_types.yaml").read_text(encoding="utf-8")
)
DRAWN: Final = (*drawn_texts.SIMPLE, *drawn_documents.NESTED)
UNLIKE_TEXTS: Final = [
    kind for kind in CASES if "<" not in kind and kind not in ("string", "binary")
]


def drawn(kind: str) -> list[str]:
    """The canonical texts of what is drawn for the type, each once."""
    source = drawn_texts if kind in drawn_texts.SIMPLE else drawn_documents
    judge = column_type(kind).judge
    found = [judge(text) for text in source.drawn(kind)]
    return [*dict.fromkeys(text for text in found if text is not None)]


def test_every_type_has_cases() -> None:
    assert CASES.keys() >= SIMPLE.keys()


@pytest.mark.parametrize("kind", CASES)
def test_a_text_that_fits_has_one_spelling(kind: str) -> None:
    judge = column_type(kind).judge
    fits = CASES[kind].get("fits", {})
    assert {text: judge(text) for text in fits} == fits
    assert {text: judge(text.encode()) for text in fits} == fits
    if kind != "binary":
        assert [judge(text) for text in fits.values()] == [*fits.values()]


@pytest.mark.parametrize("kind", CASES)
def test_a_text_of_which_something_would_be_lost_does_not_fit(kind: str) -> None:
    judge = column_type(kind).judge
    unfit = CASES[kind].get("unfit", [])
    assert [text for text in unfit if judge(text) is not None] == []
    assert [text for text in unfit if judge(text.encode()) is not None] == []


@pytest.mark.parametrize("kind", [*CASES, *DRAWN])
def test_a_value_has_the_text_that_it_was_made_of(kind: str) -> None:
    found = column_type(kind)
    texts = drawn(kind) if kind in DRAWN else [*{*CASES[kind].get("fits", {}).values()}]
    values = found.typed([*texts, None])
    assert values.type == found.arrow
    assert found.texts(values) == [*texts, None]
    assert found.texts(found.typed_array(pa.array([*texts, None], pa.string()))) == [*texts, None]


@pytest.mark.parametrize("kind", CASES)
def test_what_is_no_utf8_is_bytes_and_nothing_else(kind: str) -> None:
    judge = column_type(kind).judge
    assert [judge("\ud800"), judge("1\udfff"), judge('["\ud800"]')] == [None] * 3
    of_bytes = ["/w==", "Mf8="] if kind == "binary" else [None, None]
    assert [judge(b"\xff"), judge(b"1\xff")] == of_bytes


@pytest.mark.parametrize("kind", UNLIKE_TEXTS)
def test_digits_of_other_scripts_are_none(kind: str) -> None:
    judge = column_type(kind).judge
    numbers = ["\u0661", "\uff11\uff12", "1\u0967"]
    times = ["2026-11-\u0662\u0660", "2026-11-20 10:11:1\u0662"]
    assert [judge(text) for text in (*numbers, *times)] == [None] * 5


def test_texts_are_kept_as_they_are() -> None:
    judge = column_type("string").judge
    texts = ["", " ", "NULL", "h\u00e9", "\x00", "\U0001f600"]
    assert [judge(text) for text in texts] == [judge(text.encode()) for text in texts] == texts
    assert column_type("binary").judge("") == ""


@pytest.mark.parametrize("kind", ["int", "bigint", "decimal(12,2)", "double", "float"])
def test_a_number_of_json_becomes_a_plain_text(kind: str) -> None:
    assert type(column_type(kind).judge(Number("12"))) is str


HUGE = [
    *("1" * 10**6, "0" * 10**6 + "1", "1." + "0" * 10**6, "0." + "0" * 10**6 + "1"),
    *("1e" + "9" * 10**6, "1e-" + "9" * 10**6, "0e" + "9" * 10**6, "1e" + "0" * 10**6 + "1"),
    *(" " * 10**6, "-" * 10**6, "1" * 10**6 + "x", "2026-11-20 10:11:12." + "0" * 10**6),
    *("2026-11-20" + " " * 10**6 + "x", "[" * 10**6, "[" + "1" * 10**6 + "]"),
    *("[" * 600 + "]" * 600, "[1." + "5" * 10**6 + "]"),
]


@pytest.mark.parametrize("kind", [*CASES, "array<double>"])
def test_no_text_is_too_long_to_be_judged(kind: str) -> None:
    judge = column_type(kind).judge
    found = {text[:24]: judge(text) for text in HUGE}
    if kind == "bigint":
        assert {text for text, written in found.items() if written} == {"0" * 24}
    if kind == "decimal(12,2)":
        zeros = {text for text, written in found.items() if written}
        assert zeros == {"0" * 24, "1." + "0" * 22, "1e" + "0" * 22}
    if kind == "timestamp":
        assert found["2026-11-20 10:11:12.0000"] == "2026-11-20 10:11:12"


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
    assert canonical_type(text) == expected == column_type(expected).name


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
        *("decimal(5,-1)", "decimal(a)", "decimal(\u0661,1)", "decimal(10", "array", "array<>"),
        *("array<int", "array<int>>", "array<text>", "map<int>", "map<string", "struct<>"),
        *("map<map<int,int>,int>", "map<array<int>,int>", "struct<a:text>", "struct<a>"),
        *("struct<a:int,A:int>", "int int", "  ", "", "int;", "void", "interval", "variant"),
    ],
)
def test_what_is_no_type_is_refused(text: str) -> None:
    for read in (canonical_type, column_type):
        with pytest.raises(UnknownType):
            read(text)


@pytest.mark.parametrize(
    "text",
    ["set<int>", "struct<`a b`:int>", "array<struct<`a.b`:int>>", "map<string,struct<```a`:int>>"],
)
def test_what_no_table_of_delta_has_is_not_declared(text: str) -> None:
    assert column_type(text).name == text
    with pytest.raises(UnknownType):
        canonical_type(text)


def test_a_set_holds_nothing_without_order() -> None:
    with pytest.raises(UnknownType, match="maps have no order"):
        column_type("set<struct<a:map<string,int>>>")


def test_a_set_is_stored_as_an_array() -> None:
    nested = "struct<`a b`:map<int,set<date>>,c:set<array<decimal(12,2)>>>"
    assert column_type(nested).spark == nested.replace("set", "array")
