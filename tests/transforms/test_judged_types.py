"""The one text in which a value of a declared type is written, and what does not fit: without Spark."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.transforms.type_cases import FITTING, UNFIT
from transforms.column_types import judges
from transforms.column_types.judges import judge_of
from transforms.json_values import Number

KINDS = sorted({kind for kind, *_ in FITTING})
SIMPLE = [kind for kind in KINDS if "<" not in kind and kind not in ("string", "binary")]


@pytest.mark.parametrize(("kind", "text", "value", "canonical"), FITTING)
def test_a_text_that_fits_has_one_spelling(
    kind: str, text: str, value: object, canonical: str
) -> None:
    judge = judge_of(kind)
    written = judge(text)
    assert written == (canonical or str(value))
    assert judge(text.encode()) == written
    if kind != "binary":
        assert judge(written) == written


@pytest.mark.parametrize(("kind", "text"), UNFIT)
def test_a_text_that_would_lose_something_does_not_fit(kind: str, text: str) -> None:
    assert judge_of(kind)(text) is None
    assert judge_of(kind)(text.encode()) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_utf8_is_bytes_and_nothing_else(kind: str) -> None:
    judge = judge_of(kind)
    assert [judge("\ud800"), judge("1\udfff"), judge('["\ud800"]')] == [None] * 3
    assert [judge(b"\xff"), judge(b"1\xff")] == (
        ["/w==", "Mf8="] if kind == "binary" else [None] * 2
    )


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize(
    "text",
    ["\u0661", "\uff11\uff12", "1\u0967", "2026-11-\u0662\u0660", "2026-11-20 10:11:1\u0662"],
)
def test_digits_of_other_scripts_are_none(kind: str, text: str) -> None:
    assert judge_of(kind)(text) is None


def test_texts_and_bytes_are_kept_as_they_are() -> None:
    texts = ["", " ", "NULL", "h\u00e9", "\x00", "\U0001f600"]
    assert [judge_of("string")(text) for text in texts] == texts
    assert [judge_of("string")(text.encode()) for text in texts] == texts
    assert judge_of("binary")(bytes(range(256)))[:8] == "AAECAwQF"  # type: ignore[index]
    assert judge_of("binary")("") == ""


@pytest.mark.parametrize("kind", ["int", "bigint", "decimal(12,2)", "double", "float", "string"])
def test_a_number_of_json_becomes_a_plain_text(kind: str) -> None:
    assert type(judge_of(kind)(Number("12"))) is (Number if kind == "string" else str)


@pytest.mark.parametrize(
    "kind",
    [
        *(
            "",
            "integer",
            "text",
            "decimal",
            "decimal(39,2)",
            "decimal(2,3)",
            "decimal(0,0)",
            "array",
        ),
        *("decimal(1,-1)", "array<text>", "map<int>", "map<array<int>,int>", "struct<a:text>"),
        *("set<map<string,int>>", "array<>", "decimal(\u0661,1)", "varchar(3)", "variant"),
    ],
)
def test_an_unknown_type_is_said(kind: str) -> None:
    with pytest.raises(ValueError):
        judge_of(kind)


def test_a_judge_is_made_once() -> None:
    assert judge_of("array<int>") is judge_of("array<int>")
    assert judge_of("decimal(12,2)") is judge_of("decimal(12,2)")


HUGE = [
    *(
        "1" * 10**6,
        "0" * 10**6 + "1",
        "1." + "0" * 10**6,
        "0." + "0" * 10**6 + "1",
        "1e" + "9" * 10**6,
    ),
    *("1e-" + "9" * 10**6, "0e" + "9" * 10**6, "1e" + "0" * 10**6 + "1", " " * 10**6, "-" * 10**6),
    *("1" * 10**6 + "x", "2026-11-20 10:11:12." + "0" * 10**6, "2026-11-20" + " " * 10**6 + "x"),
    *("[" * 10**6, "[" + "1" * 10**6 + "]", "[" * 600 + "]" * 600, "[1." + "5" * 10**6 + "]"),
]


@pytest.mark.parametrize("kind", [*KINDS, "array<string>", "array<double>"])
def test_no_text_is_too_long_to_be_judged(kind: str) -> None:
    judge = judge_of(kind)
    found = {text[:24]: judge(text) for text in HUGE}
    if kind == "bigint":
        assert {text for text, written in found.items() if written} == {"0" * 24}
    if kind == "decimal(12,2)":
        zeros = {text for text, written in found.items() if written}
        assert zeros == {"0" * 24, "1." + "0" * 22, "1e" + "0" * 22}
    if kind == "timestamp":
        assert found["2026-11-20 10:11:12.0000"] == "2026-11-20 10:11:12"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *(
            ("0", "0.0"),
            ("-0", "-0.0"),
            ("1e-3", "0.001"),
            ("0.00099", "9.9E-4"),
            ("9999999", "9999999.0"),
        ),
        *(
            ("1e7", "1.0E7"),
            ("-12345678.9", "-1.23456789E7"),
            ("1e23", "1.0E23"),
            ("1e100", "1.0E100"),
        ),
        *(
            ("4.9e-324", "4.9E-324"),
            ("1e-323", "9.9E-324"),
            ("2e-323", "2.0E-323"),
            ("1e16", "1.0E16"),
        ),
        *(
            ("1.7976931348623157e308", "1.7976931348623157E308"),
            ("9007199254740993", "9.007199254740992E15"),
        ),
        *(
            ("0.1", "0.1"),
            ("0.30000000000000004", "0.30000000000000004"),
            (".5", "0.5"),
            ("5.", "5.0"),
        ),
        *(
            ("+NaN", "NaN"),
            ("nan", "NaN"),
            ("+INF", "Infinity"),
            ("-infinity", "-Infinity"),
            ("-nan", None),
        ),
        *(
            ("1e309", None),
            ("2e-324", None),
            ("0e999", "0.0"),
            ("-0e-999", "-0.0"),
            (".", None),
            ("1e", None),
        ),
    ],
)
def test_a_double_is_spelled_as_java_does(text: str, written: str | None) -> None:
    assert judge_of("double")(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *(("0.1", "0.1"), ("1.5", "1.5"), ("16777217", "1.6777216E7"), ("3.14159274", "3.1415927")),
        *(
            ("1.4e-45", "1.4E-45"),
            ("1e-44", "9.8E-45"),
            ("7e-46", None),
            ("7.0064923216240854e-46", "1.4E-45"),
        ),
        *(
            ("3.4028235e38", "3.4028235E38"),
            ("3.4028235677973367e38", None),
            ("-0.0", "-0.0"),
            ("1e39", None),
        ),
        *(
            ("3.4028235677973365e38", "3.4028235E38"),
            ("1e7", "1.0E7"),
            ("1e-3", "0.001"),
            ("inf", "Infinity"),
        ),
        # The middle between two floats, a little less and a little more: as doubles they are all the same.
        ("1.000000178813934326171875", "1.0000002"),
        ("1.00000017881393432617187499999", "1.0000001"),
        ("1.00000017881393432617187500001", "1.0000002"),
    ],
)
def test_a_float_is_rounded_once(text: str, written: str | None) -> None:
    assert judge_of("float")(text) == written


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        ("decimal(12,2)", "-.5", "-0.50"),
        ("decimal(12,2)", "-0", "0.00"),
        ("decimal(12,2)", "1.", "1.00"),
        ("decimal(12,2)", "\x001.5\x1f", "1.50"),
        ("decimal(12,2)", "\x001.555\x1f", None),
        ("decimal(12,2)", "0e37", "0.00"),
        ("decimal(12,2)", "0e38", None),
        ("decimal(12,2)", "0e-2147483647", "0.00"),
        ("decimal(12,2)", "0e-2147483648", None),
        ("decimal(12,2)", "1e2147483647", None),
        ("decimal(5,5)", "0.5", "0.50000"),
        ("decimal(5,5)", "1", None),
        ("decimal(38,0)", "1e37", "1" + "0" * 37),
        ("decimal(38,0)", "1e38", None),
        ("decimal(38,20)", "1e-20", "0.00000000000000000001"),
        ("smallint", "-32768", "-32768"),
        ("smallint", "+00032767\x7f", "32767"),
        ("int", "-0", "0"),
        ("int", "-", None),
        ("boolean", " tRuE\x7f", "true"),
        ("boolean", "\u212a", None),
    ],
)
def test_numbers_and_truths(kind: str, text: str, written: str | None) -> None:
    assert judge_of(kind)(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-11-20 10:11:12", "2026-11-20 10:11:12"),
        ("2026-11-20T10:11:12.100Z", "2026-11-20 10:11:12.1"),
        ("2026-11-20 10:11:12.000000", "2026-11-20 10:11:12"),
        ("2026-11-20 10:11:12+00", "2026-11-20 10:11:12"),
        ("2026-11-20 10:11", "2026-11-20 10:11:00"),
        ("2026-1-2 3:4:5.6", "2026-01-02 03:04:05.6"),
        ("2026-11-20 10:11:12+0530", "2026-11-20 04:41:12"),
        ("2026-11-20 10:11:12-18:00", "2026-11-21 04:11:12"),
        ("2026-11-20 10:11:12 UTC+5:30", "2026-11-20 04:41:12"),
        ("2026-11-20 10:11:12 EST", "2026-11-20 15:11:12"),
        # Clocks show 02:30 twice in October, and never in March.
        ("2026-10-25 02:30:00 Europe/Berlin", "2026-10-25 00:30:00"),
        ("2026-03-29 02:30:00 Europe/Berlin", "2026-03-29 01:30:00"),
        ("0001-01-01 00:00:00", "0001-01-01 00:00:00"),
        ("0001-01-01 00:00:00+01:00", None),
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
        ("9999-12-31 23:59:59-01:00", None),
        ("2024-02-29 00:00:00", "2024-02-29 00:00:00"),
        ("2026-02-29 00:00:00", None),
        ("2026-11-20 24:00:00", None),
        ("2026-11-20 10:11:60", None),
        ("2026-11-20 10:11Z", None),
        ("2026-11-20 10:11:12+18:01", None),
        ("2026-11-20 10:11:12 Nowhere", None),
        ("2026-11-20 10:11:12 ../UTC", None),
        ("2026-11-20 10:11:12 localtime", None),
        ("2026-11-20 10:11:12Z\x00", None),
    ],
)
def test_a_moment_is_brought_to_utc(text: str, written: str | None) -> None:
    assert judge_of("timestamp")(text) == written
    has_zone = text[19:].strip("0123456789.") != ""
    assert judge_of("timestamp_ntz")(text) == (None if has_zone else written)


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        (
            "array<string>",
            '["\\u001f\\"\\\\/\\n\\u00e9", 1.50, [1, {"b": 2.0}], null]',
            '["\\u001F\\"\\\\/\\n\u00e9","1.50","[1,{\\"b\\":2.0}]",null]',
        ),
        ("array<double>", '[1e3, "NaN", "-INF", -0, 1e7]', '[1000.0,"NaN","-Infinity",-0.0,1.0E7]'),
        ("array<double>", "[NaN]", None),
        ("array<int>", "[-0, 1]", "[0,1]"),
        ("array<int>", '["-0"]', None),
        ("array<int>", "[true]", None),
        ("array<boolean>", "[true, false]", "[true,false]"),
        ("array<boolean>", "[1]", None),
        ("array<tinyint>", "[128]", None),
        ("array<decimal(20,10)>", '[0.00000001, "5", 0]', "[1.00E-8,5.0000000000,0E-10]"),
        ("array<decimal(12,2)>", '["1,5"]', None),
        ("array<decimal(12,2)>", '[" 1"]', None),
        ("array<date>", '["2026-1-2"]', '["2026-01-02"]'),
        ("array<date>", "[20000]", None),
        ("array<timestamp>", '["2026-11-20 10:11:12"]', '["2026-11-20T10:11:12.000Z"]'),
        ("array<timestamp>", '["2026-11-20 10:11:12.123456"]', '["2026-11-20T10:11:12.123456Z"]'),
        ("array<timestamp>", "[1620787841]", None),
        ("array<timestamp_ntz>", '["2026-11-20 10:11:12.5"]', '["2026-11-20T10:11:12.500"]'),
        ("array<binary>", '["aMOp", "aB=="]', '["aMOp","aA=="]'),
        ("array<binary>", '["a"]', None),
        (
            "set<double>",
            '[2, "NaN", -0.0, 0, null, "-Infinity"]',
            '["-Infinity",0.0,2.0,"NaN",null]',
        ),
        ("set<string>", '["b", "\\"", "A", "b", "\\u00e9"]', '["\\"","A","b","\u00e9"]'),
        ("set<decimal(12,2)>", "[10, 9.50, 9.5]", "[9.50,10.00]"),
        (
            "set<timestamp>",
            '["2026-11-20 10:11:12.1234", "2026-11-20 10:11:12.123", "2025-11-20"]',
            '["2025-11-20T00:00:00.000Z","2026-11-20T10:11:12.123Z","2026-11-20T10:11:12.1234Z"]',
        ),
        (
            "set<struct<a:int,b:string>>",
            '[{"a": 10}, {"a": 9, "b": "x"}, {"b": "x"}, {"a": 9}]',
            '[{"a":null,"b":"x"},{"a":9,"b":null},{"a":9,"b":"x"},{"a":10,"b":null}]',
        ),
        ("map<int,string>", '{"02": "b", "1": null}', '{"2":"b","1":null}'),
        ("map<int,string>", '{"1": "b", "01": "a"}', None),
        ("map<double,int>", '{"-0": 1}', '{"0.0":1}'),
        ("map<double,int>", '{"-0": 1, "0": 2}', None),
        ("map<binary,int>", '{"aB==": 1}', '{"aA==":1}'),
        ("map<timestamp,int>", '{"2026-11-20": 1}', '{"2026-11-20 00:00:00":1}'),
        ("map<decimal(12,2),int>", '{"1.5": 1}', '{"1.50":1}'),
        ("struct<a:int,B:string>", '{"x": 1, "b": "y"}', '{"a":null,"B":null}'),
        ("struct<`a b`:int,`c``:d`:int>", '{"a b": 1, "c`:d": 2}', '{"a b":1,"c`:d":2}'),
        ("struct<a:int>", "null", None),
        ("struct<a:int>", '{"a": 1, "a": 1}', None),
        (
            "array<map<int,array<struct<a:date>>>>",
            '[{"01": [{"a": null}]}]',
            '[{"1":[{"a":null}]}]',
        ),
    ],
)
def test_json_is_written_as_spark_writes_it(kind: str, text: str, written: str | None) -> None:
    judge = judge_of(kind)
    assert judge(text) == written
    if written is not None:
        assert judge(written) == written


def test_a_type_is_found_by_its_parts() -> None:
    assert judges.parts("a int, b decimal(12,2),c map<string,int>,`d,<e`:int") == [
        *("a int", " b decimal(12,2)", "c map<string,int>", "`d,<e`:int")
    ]
    assert judges.element(" ARRAY < array<int> > ") == "array<int>"
    assert judges.element("set<string>") == "string"
    assert judges.entries("map< decimal(12,2) , array<int> >") == ("decimal(12,2)", "array<int>")
    assert judges.fields("struct<a: int, `b``:c`:map<string,int>>") == {
        **{"a": "int", "b`:c": "map<string,int>"}
    }


@pytest.mark.parametrize("part_of", [judges.element, judges.entries, judges.fields])
def test_other_types_have_no_such_parts(part_of: Callable[[str], object]) -> None:
    assert [
        part_of(kind) for kind in ("int", "decimal(12,2)", "map<array<int>,int>", "x<int>")
    ] == [None] * 4


def test_a_set_is_stored_as_an_array_and_read_with_texts_as_keys() -> None:
    assert judges.stored("set<string>") == "array<string>"
    assert judges.stored("map<int,set<date>>") == "map<int,array<date>>"
    assert judges.stored("decimal(12,2)") == "decimal(12,2)"
    nested = "struct<`a b`:map<int,set<date>>,c:array<map<date,int>>>"
    assert judges.stored(nested) == nested.replace("set", "array")
    assert judges.written(nested) == (
        "struct<`a b`:map<string,array<date>>,c:array<map<string,int>>>"
    )
