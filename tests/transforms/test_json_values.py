"""What JSON says is read without loss, and what cannot be trusted is refused with the reason."""

from __future__ import annotations

import json

import pytest

from transforms.json_values import DEEPEST, MalformedJson, Number, read, written


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1,"a":2,"b" :3}',
        '{"a":1,"a":2,"b"\t:3}',
        '{"a":1,"a":2,"b"\n:3}',
        '{"a":1,"\\u0061":2}',
        '{"x":"\\":","a":1,"a":2}',
        '{"x":"\\\\","a":1,"a":2}',
        '{"x\\\\":1,"a":1,"a":2}',
        '{"x\\\\" :1,"a":1,"a":2}',
        '{"x":"\\" :","a":1,"a":2}',
        '[{"a":{"b":1,"b":1}}]',
    ],
)
def test_a_name_that_stands_twice_is_refused_however_it_is_written(text: str) -> None:
    with pytest.raises(MalformedJson, match=r"a name stands twice in one object: [ab]"):
        read(text)


def test_numbers_keep_every_digit() -> None:
    text = '{"a":1.50,"b":1e400,"c":-0.0,"d":123456789012345678901234567890,"e":[9007199254740993.0,2E-3]}'
    document = read(text)
    assert document["a"] == "1.50"
    assert type(document["a"]) is Number
    assert document["d"] == 123456789012345678901234567890
    assert written(document) == text


@pytest.mark.parametrize("text", ["-0", "[-0]", "[1,-0,2]", '{"a":-0}', '{"a": -0 }', "[\n-0\n]"])
def test_minus_zero_is_not_zero(text: str) -> None:
    document = read(text)
    assert written(document) == "".join(text.split())
    assert "-0" in str(document)


def test_a_text_or_number_with_a_minus_and_a_zero_in_it_is_what_it_was() -> None:
    text = '{"day":"2026-11-09","id":"9a3c-0b1f,-0,","e":[1e-07,-0.5,-0.0,-1]}'
    document = read(text)
    assert document["day"] == "2026-11-09"
    assert document["id"] == "9a3c-0b1f,-0,"
    assert document["e"] == ["1e-07", "-0.5", "-0.0", -1]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 600, 995, 5_000, 100_000])
def test_nesting_without_end_is_malformed_and_never_a_crash(opening: str, depth: int) -> None:
    closing = "]" if opening == "[" else "}"
    for spoilt in ("", " :"):
        # The second text is read by the slow reader.
        text = f'[{opening * (depth - 1)}1{closing * (depth - 1)},"{spoilt}"]'
        with pytest.raises(MalformedJson, match="nested too deeply"):
            read(text)


@pytest.mark.parametrize("number", ["1" * 5_000, f"1.{'1' * 5_000}", f"-1e{'1' * 5_000}"])
@pytest.mark.parametrize("text", ["[{}]", '[{},"\\\\"]'])
def test_a_number_of_thousands_of_digits_is_malformed(number: str, text: str) -> None:
    with pytest.raises(MalformedJson, match=r"a number has 5,0\d\d digits"):
        read(text.replace("{}", number))


def test_written_is_json_without_blanks_in_the_order_of_the_names() -> None:
    text = '{ "b" : [ 1 , null, true , false , 1.50 ] , "a\\"\\u00e4" : "x\\n\\\\" , "" : { } }'
    assert written(read(text)) == '{"b":[1,null,true,false,1.50],"a\\"ä":"x\\n\\\\","":{}}'
    assert json.loads(written(read(text))) == json.loads(text)
