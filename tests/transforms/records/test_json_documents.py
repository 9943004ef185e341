"""JSON text is cut into the same records whatever its layout, and nothing of it is lost."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records import json_documents
from transforms.records.json_documents import split

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DOCUMENT = st.builds(
    lambda value, indent, ascii_only: json.dumps(
        value, indent=indent, ensure_ascii=ascii_only
    ).encode("utf-8", "surrogatepass"),
    st.dictionaries(st.text(), JSON, max_size=4),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
BETWEEN = st.sampled_from([b"", b"\n", b" ", b"\r\n\r\n", b",\n", b"\t"])
PIECES = st.sampled_from(
    [
        *(b"{", b"}", b"[", b"]", b'"', b"\\", b"\n", b"\r\n", b"\r", b" ", b"\t", b",", b":"),
        *(b"1", b"-", b"0", b".5", b"e5", b"12", b"NaN", b"-Infinity", b"true", b"nul", b"abc"),
        *(
            b"\x00",
            b"\x01",
            b"\x0c",
            b"\xff",
            b"\xe6\x97",
            "日".encode(),
            b"\xef\xbb\xbf",
            b"\xef\xbb",
        ),
        *(b"\\u", b"\\ud800", b"\\ud83d\\ude00", b"\\q", b'"k":', b'"v"', b"\n  ", b'{"x":"a\nb"}'),
        *(
            b'{"a":1}',
            b'{"a":1,"a":2}',
            b'{"a":NaN}',
            b'{"a":[1,{"b":null}]}',
            b"[1,2]",
            b'{\n "a":1\n}\n',
        ),
        b'{"a":"\\ud800"}',
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Documents in some layout, or pieces of them, with pieces put in and bytes taken out here and there."""
    between = draw(BETWEEN)
    text = between.join(draw(st.lists(DOCUMENT | PIECES, max_size=6)))
    if draw(st.booleans()):
        text = b"[" + text + b"]" + between + text
    for piece in draw(st.lists(PIECES | st.integers(0, 3), max_size=4)):
        place = draw(st.integers(0, len(text)))
        put_in, left_out = (b"", piece) if isinstance(piece, int) else (piece, 0)
        text = text[:place] + put_in + text[place + left_out :]
    return text


def cut(data: bytes) -> list[tuple[bytes, str | None]]:
    return [(record.payload, record.defect) for record in split(data)]


def carefully(data: bytes, limits: Limits = DEFAULT_LIMITS) -> list[Record]:
    """The records as Python's own reader of JSON cuts them, without msgspec."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents._Text, "_skimmed", lambda text: None)
        return list(split(data, limits))


def whole(*payloads: bytes) -> list[tuple[bytes, str | None]]:
    return [(payload, None) for payload in payloads]


def places_are_true(data: bytes, records: list[Record]) -> bool:
    return all(
        data[record.byte_offset : record.byte_offset + len(record.payload)] == record.payload
        and record.line == data.count(b"\n", 0, record.byte_offset) + 1
        for record in records
    )


@given(st.lists(st.tuples(st.lists(DOCUMENT, max_size=4), st.booleans(), BETWEEN), max_size=4))
def test_documents_come_back_verbatim_from_any_layout(
    groups: list[tuple[list[bytes], bool, bytes]],
) -> None:
    data = b""
    for documents, in_array, between in groups:
        joined = (b"," + between if in_array else between).join(documents)
        data += (b"[" + joined + b"]" if in_array else joined) + between
    expected = [document for documents, _, _ in groups for document in documents]
    records = list(split(data))
    assert [(record.payload, record.defect) for record in records] == whole(*expected)
    assert places_are_true(data, records)


@settings(max_examples=200)
@given(texts(), st.integers(16, 64))
def test_the_quick_way_and_the_careful_one_cut_alike(data: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents, "_BUFFER", size)
        records = list(split(data))
        assert records == carefully(data)
    assert places_are_true(data, records)
    coordinates = [(record.line, record.byte_offset) for record in records]
    assert coordinates == sorted(set(coordinates))


@settings(max_examples=200)
@given(texts(), st.integers(1, 60), st.sampled_from([16 << 20, 0, -(10**6)]))
def test_they_cut_alike_whatever_the_limits(data: bytes, longest: int, reread_bytes: int) -> None:
    limits = Limits(largest_record=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents, "_REREAD_ALLOWANCE", reread_bytes)
        records = list(split(data, limits))
        assert records == carefully(data, limits)
    assert places_are_true(data, records)
    assert all(len(record.payload) <= longest for record in records)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b'{"a":1} {"b":2}', 7),
        (b'{"a":1}{"b":2}', 7),
        (b'{"a":1}\n\n  x', 7),
        (b'{"a":1}\n ', 7),
        (b'["]"],', 5),
        (b'"a"1', 3),
        (b'{"a":', json_documents.CUT),
        (b'{"a":NaN}', json_documents.REFUSED),
        (b'{"a":"\n"} ', json_documents.REFUSED),
        (b'{"a":' * 100_000, json_documents.REFUSED),
    ],
)
def test_msgspec_tells_where_a_document_ends(text: bytes, end: int) -> None:
    """It tells so in the text of an error: another release of it may have another."""
    data = b"--" + text
    found = json_documents.skim(data, memoryview(data), 2, len(data))
    assert found == (end + 2 if end >= 0 else end)


BAD_ELEMENT = "malformed JSON: Expecting ':' delimiter at line"
NO_END = "malformed JSON: the array that begins at line"
PRETTY = b'{\n  "a": {\n    "x" 1\n  },\n  "list": [\n    {"deeper": 1}\n  ]\n}'
DEEP = b'{"a":' * 100_000


@pytest.mark.parametrize(
    ("data", "found"),
    [
        *((data, []) for data in (b"", b" \r\n", b"[]", b"[\n]\n[ ]", b"\xef\xbb\xbf", b"\n,\n")),
        # Byte order marks of appended files, invalid UTF-8, raw line breaks, long numbers, and scalars.
        (b'\xef\xbb\xbf{"a":1}\n\xef\xbb\xbf{"a":2}', [b'{"a":1}', b'{"a":2}']),
        (b'{"a":"\xff\xc3"}\n{"b":1}', [b'{"a":"\xff\xc3"}', b'{"b":1}']),
        (b'{"a":"x\ny"}{"b":1}', [b'{"a":"x\ny"}', b'{"b":1}']),
        (b'{"a":%s}' % (b"9" * 10_000), [b'{"a":%s}' % (b"9" * 10_000)]),
        (b'12 "x"\nnull\ntrue', [b"12", b'"x"', b"null", b"true"]),
        # What is malformed costs no other, in lines, pretty-printed and in arrays.
        (
            b'2026-11-20 starting\n{"a":1}',
            [(b"2026-11-20 starting", "malformed JSON: Extra data at line 1 column 5"), b'{"a":1}'],
        ),
        (
            b'{"a":1}\n{"a" 2}\n{"a":3}\n',
            [b'{"a":1}', (b'{"a" 2}', f"{BAD_ELEMENT} 2 column 6"), b'{"a":3}'],
        ),
        (
            PRETTY + b'\n{\n  "a": 2\n}',
            [(PRETTY, f"{BAD_ELEMENT} 3 column 9"), b'{\n  "a": 2\n}'],
        ),
        (
            b'[\n  {"a":1},\n  {"a" 2},\n  {"a":3}\n]\n{"a":4}',
            [b'{"a":1}', (b'{"a" 2},', f"{BAD_ELEMENT} 3 column 8"), b'{"a":3}', b'{"a":4}'],
        ),
        (
            b'[\n  {"a" 1}\n]\n{"a":2}',
            [(b'{"a" 1}', f"{BAD_ELEMENT} 2 column 8"), b'{"a":2}'],
        ),
        (
            b'[{"a" 1},{"a":2}]\n[{"a":3}]\n[{"a":4}]',
            [(b'{"a" 1},{"a":2}]', f"{BAD_ELEMENT} 1 column 7"), b'{"a":3}', b'{"a":4}'],
        ),
        (
            b'{"a":"cut \n{"b":"x"}\n{"c":1}',
            [
                (b'{"a":"cut', "malformed JSON: Expecting ',' delimiter at line 2 column 3"),
                *(b'{"b":"x"}', b'{"c":1}'),
            ],
        ),
        (
            b'{"a":1}]\n{"a":2}',
            [
                b'{"a":1}',
                (b"]", "malformed JSON: Expecting value at line 1 column 8"),
                b'{"a":2}',
            ],
        ),
        (
            DEEP + b'\n{"a":1}',
            [(DEEP, "malformed JSON: nested too deeply, from line 1 on"), b'{"a":1}'],
        ),
        # Columns count characters.
        (
            '{"é":1} {"日" 2}'.encode(),
            ['{"é":1}'.encode(), ('{"日" 2}'.encode(), f"{BAD_ELEMENT} 1 column 14")],
        ),
        # Cut texts, and arrays that are cut between elements.
        (b'{"a":1', [(b'{"a":1', "malformed JSON: Expecting ',' delimiter at line 1 column 7")]),
        (
            b'{"a":"x',
            [(b'{"a":"x', "malformed JSON: Unterminated string starting at line 1 column 6")],
        ),
        (b'[{"a":', [(b'{"a":', "malformed JSON: Expecting value at line 1 column 7")]),
        *(
            (b'\n[{"a":1},{"a":2}' + end, [b'{"a":1}', b'{"a":2}', (b"", f"{NO_END} 2 never ends")])
            for end in (b"", b",", b",\n", b"\n")
        ),
    ],
    ids=lambda given: repr(given[:24]) if isinstance(given, bytes) else "",
)
def test_what_a_text_holds_is_cut_out_and_what_is_malformed_is_named(
    data: bytes, found: list[bytes | tuple[bytes, str]]
) -> None:
    assert cut(data) == [(one, None) if isinstance(one, bytes) else one for one in found]


def test_lines_and_offsets_count_bytes_of_characters_and_a_byte_order_mark() -> None:
    data = '\ufeff{"é":"日本"}\r\n\r\n  {"b":\n2}'.encode()
    assert [(record.line, record.byte_offset) for record in split(data)] == [(1, 3), (3, 24)]


@pytest.mark.parametrize("depth", [10, 500, 100_000])
def test_brackets_are_as_deep_for_the_quick_way_as_for_the_careful_one(depth: int) -> None:
    data = b'{"a":' * depth + b"[]" + b"}" * depth + b'\n{"b":1}'
    assert list(split(data)) == carefully(data)


@pytest.mark.parametrize(
    ("record", "defect"),
    [
        (b'{"a":' * 10_000_000, "malformed JSON: nested too deeply, from line 1 on"),
        (b"[" * 10_000_000 + b"]", "malformed JSON: nested too deeply, from line 1 on"),
        (b'{"a":%s}' % (b"9" * 1_000_000), None),
        (b"9" * 1_000_000, None),
        (b"\x00", "malformed JSON: Expecting value at line 1 column 1"),
        (b'{"a":\x00}', "malformed JSON: Expecting value at line 1 column 6"),
        (b'{"a":"\x00"}', None),
        (b'"a text"', None),
        (b"null", None),
    ],
    ids=lambda given: f"{given[:12]!r}, {len(given):,}" if isinstance(given, bytes) else "",
)
def test_monsters_are_records_of_their_own(record: bytes, defect: str | None) -> None:
    start = time.process_time()
    first, *rest = split(record + b'\n{"b":1}')
    assert time.process_time() - start < 5
    # The first bracket opens an array.
    payload = record.removeprefix(b"[") if record.startswith(b"[") else record
    assert (first.payload, first.defect) == (payload, defect)
    assert [(one.line, one.payload, one.defect) for one in rest] == [(2, b'{"b":1}', None)]


@pytest.mark.parametrize(
    "record",
    [
        b'{"a":"%s"}' % (b"x" * 100),
        b'{"a":"%s"}' % ("é".encode() * 50),
        b'{"a":"\x01%s"}' % (b"x" * 100),
        b'{"a":"%s' % (b"x" * 100),
        b"9" * 101,
        b'{"a":[\n  {"b":1},\n%s]}' % (b'  {"b":1},\n' * 20),
        b"[%s]" % (b'{"a":[' * 20),
    ],
    ids=lambda given: repr(given[:12]),
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n\r\n", b" \n"])
def test_a_record_that_is_too_long_costs_no_other(record: bytes, end: bytes) -> None:
    data = b'{"b":1}\n' + record + end + b'{"b":2}\n{\n "b":3\n}'
    limits = Limits(largest_record=100)
    before, long, *after = split(data, limits)
    opened = record.startswith(b"[")
    assert (before.payload, before.defect) == (b'{"b":1}', None)
    assert (long.line, long.byte_offset) == (2, 8 + opened)
    assert (long.payload, long.defect) == (
        record[opened : 100 + opened],
        "the record is longer than 100 bytes",
    )
    assert [(one.payload, one.defect) for one in after] == whole(b'{"b":2}', b'{\n "b":3\n}')
    assert places_are_true(data, [before, long, *after])


def test_a_record_as_long_as_it_may_be_is_whole() -> None:
    record = b'{"a":"12345"}'
    assert [one.defect for one in split(record * 2, Limits(largest_record=len(record)))] == [
        None
    ] * 2
    assert [one.defect for one in split(record, Limits(largest_record=len(record) - 1))] == [
        "the record is longer than 12 bytes"
    ]


def test_a_malformed_line_whose_end_is_sought_in_vain_is_no_long_record() -> None:
    data = b'{"a":[1,\n' + b'{"b":"x"},\n' * 20
    first, *rest = split(data, Limits(largest_record=100))
    assert (first.payload, first.defect) == (
        b'{"a":[1,',
        "malformed JSON: it does not end within 100 bytes",
    )
    assert [(one.payload, one.defect) for one in rest] == whole(*[b'{"b":"x"}'] * 20)


def test_where_much_is_broken_a_record_has_to_end_in_its_own_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_documents, "_REREAD_ALLOWANCE", 40)
    bad, good, long = b'{"a":{"b":[1,\n', b'{"c":1}\n', b'{\n  "c":2\n}\n'
    records = list(split(bad * 20 + good + long + good))
    assert len(records) == 23
    assert [(one.payload, one.defect) for one in records[20:]] == [
        (good.strip(), None),
        (
            long.strip(),
            "malformed JSON: it does not end on its line, and no further lines were read because too much before it is"
            " malformed",
        ),
        (good.strip(), None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"a" 1}\n',
        '{"é" 1}\n'.encode(),
        "{é\n".encode(),
        b"{\n",
        b"[\n",
        b'{"a":\n',
        b'{"a":"%s","b":\n' % (b"x" * 1000),
        b'[{"a" 1},\n',
        b"    {x\n",
    ],
)
def test_malformed_lines_take_time_in_proportion(line: bytes) -> None:
    data = line * (100_000 // len(line))
    start = time.process_time()
    records = list(split(data))
    assert time.process_time() - start < 5
    assert places_are_true(data, records[:100])
    for sign in (b"{", b'"', b"x", b"1"):
        assert sum(record.payload.count(sign) for record in records) == data.count(sign)


@pytest.mark.parametrize(
    "line", [b'{"id":1,"text":"%s"}\n' % (b"x" * 250), b'{"id" 1,"text":"x"}\n']
)
def test_large_texts_take_time_in_proportion(line: bytes) -> None:
    data = line * (5_000_000 // len(line))
    start = time.process_time()
    assert sum(1 for _ in split(data)) == len(data) // len(line)
    assert time.process_time() - start < 10
