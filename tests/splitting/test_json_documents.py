"""JSON text is cut into the same records whatever its layout, and nothing of it is lost."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.record import Record
from transforms.splitting import json_documents
from transforms.splitting.json_documents import split

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


def cut(data: bytes) -> list[tuple[bytes, str | None]]:
    return [(record.payload, record.defect) for record in split(data)]


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


@given(
    st.lists(
        st.sampled_from(
            [b'{"a":1}', b'{"a"', b"[", b"]", b"\n", b",", b'"', b"\\", b" ", b"1", b"\xff"]
        )
    )
)
def test_no_text_breaks_it_and_places_are_always_true(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    records = list(split(data))
    assert places_are_true(data, records)
    coordinates = [(record.line, record.byte_offset) for record in records]
    assert coordinates == sorted(set(coordinates))


@given(st.lists(DOCUMENT, min_size=1, max_size=5), st.integers(16, 64))
def test_it_does_not_matter_where_the_buffer_ends(documents: list[bytes], size: int) -> None:
    data = b"\n".join(documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_documents, "_BUFFER", size)
        records = list(split(data))
    assert [(record.payload, record.defect) for record in records] == whole(*documents)
    assert places_are_true(data, records)


@pytest.mark.parametrize("data", [b"", b" \r\n", b"[]", b"[\n]\n[ ]", b"\xef\xbb\xbf", b"\n,\n"])
def test_a_text_without_records_gives_none(data: bytes) -> None:
    assert cut(data) == []


def test_lines_and_offsets_count_bytes_of_characters_and_a_byte_order_mark() -> None:
    data = '\ufeff{"é":"日本"}\r\n\r\n  {"b":\n2}'.encode()
    assert [(record.line, record.byte_offset) for record in split(data)] == [(1, 3), (3, 24)]


def test_a_byte_order_mark_between_appended_files_is_no_record() -> None:
    assert cut(b'\xef\xbb\xbf{"a":1}\n\xef\xbb\xbf{"a":2}') == whole(b'{"a":1}', b'{"a":2}')


def test_invalid_utf8_stays_verbatim_in_its_record() -> None:
    assert cut(b'{"a":"\xff\xc3"}\n{"b":1}') == whole(b'{"a":"\xff\xc3"}', b'{"b":1}')


def test_raw_line_breaks_inside_strings_are_kept() -> None:
    assert cut(b'{"a":"x\ny"}{"b":1}') == whole(b'{"a":"x\ny"}', b'{"b":1}')


def test_numbers_of_any_length_are_records() -> None:
    long = b'{"a":' + b"9" * 10_000 + b"}"
    assert cut(long) == whole(long)


def test_scalars_are_records_of_their_own() -> None:
    assert cut(b'12 "x"\nnull\ntrue') == whole(b"12", b'"x"', b"null", b"true")


def test_a_line_that_only_begins_like_a_scalar_is_malformed_as_a_whole() -> None:
    assert cut(b'2026-11-20 starting\n{"a":1}') == [
        (b"2026-11-20 starting", "malformed JSON: Extra data at line 1 column 5"),
        (b'{"a":1}', None),
    ]


def test_a_malformed_line_costs_no_other() -> None:
    assert cut(b'{"a":1}\n{"a" 2}\n{"a":3}\n') == [
        (b'{"a":1}', None),
        (b'{"a" 2}', "malformed JSON: Expecting ':' delimiter at line 2 column 6"),
        (b'{"a":3}', None),
    ]


def test_a_malformed_pretty_printed_document_ends_where_the_next_of_its_depth_begins() -> None:
    bad = b'{\n  "a": {\n    "x" 1\n  },\n  "list": [\n    {"deeper": 1}\n  ]\n}'
    assert cut(bad + b'\n{\n  "a": 2\n}') == [
        (bad, "malformed JSON: Expecting ':' delimiter at line 3 column 9"),
        (b'{\n  "a": 2\n}', None),
    ]


def test_a_malformed_element_costs_neither_its_neighbours_nor_the_array() -> None:
    data = b'[\n  {"a":1},\n  {"a" 2},\n  {"a":3}\n]\n{"a":4}'
    assert cut(data) == [
        (b'{"a":1}', None),
        (b'{"a" 2},', "malformed JSON: Expecting ':' delimiter at line 3 column 8"),
        (b'{"a":3}', None),
        (b'{"a":4}', None),
    ]


def test_a_malformed_last_element_leaves_the_array_closed() -> None:
    (_, defect), last = cut(b'[\n  {"a" 1}\n]\n{"a":2}')
    assert defect == "malformed JSON: Expecting ':' delimiter at line 2 column 8"
    assert last == (b'{"a":2}', None)


def test_an_array_a_line_goes_on_after_a_malformed_one() -> None:
    (_, defect), *rest = cut(b'[{"a" 1},{"a":2}]\n[{"a":3}]\n[{"a":4}]')
    assert defect is not None
    assert rest == whole(b'{"a":3}', b'{"a":4}')


@pytest.mark.parametrize(
    ("data", "defect"),
    [
        (b'{"a":1', "malformed JSON: Expecting ',' delimiter at line 1 column 7"),
        (b'{"a":"x', "malformed JSON: Unterminated string starting at line 1 column 6"),
        (b'{"a":', "malformed JSON: Expecting value at line 1 column 6"),
        (b'[{"a":1', "malformed JSON: Expecting ',' delimiter at line 1 column 8"),
        (b"[", "malformed JSON: the array that begins at line 1 never ends"),
    ],
)
def test_a_cut_text_is_a_defect(data: bytes, defect: str) -> None:
    assert [found for _, found in cut(data)] == [defect]


@pytest.mark.parametrize("end", [b"", b",", b",\n", b"\n"])
def test_an_array_that_is_cut_between_elements_is_a_defect(end: bytes) -> None:
    assert cut(b'\n[{"a":1},{"a":2}' + end) == [
        (b'{"a":1}', None),
        (b'{"a":2}', None),
        (b"", "malformed JSON: the array that begins at line 2 never ends"),
    ]


def test_half_an_object_before_an_appended_file_costs_only_itself() -> None:
    (_, defect), *rest = cut(b'{"a":"cut \n{"b":"x"}\n{"c":1}')
    assert defect == "malformed JSON: Expecting ',' delimiter at line 2 column 3"
    assert rest == whole(b'{"b":"x"}', b'{"c":1}')


def test_a_bracket_too_many_is_a_defect() -> None:
    assert cut(b'{"a":1}]\n{"a":2}') == [
        (b'{"a":1}', None),
        (b"]", "malformed JSON: Expecting value at line 1 column 8"),
        (b'{"a":2}', None),
    ]


def test_nesting_without_end_is_a_defect() -> None:
    deep = b'{"a":' * 100_000
    assert cut(deep + b'\n{"a":1}') == [
        (deep, "malformed JSON: nested too deeply, from line 1 on"),
        (b'{"a":1}', None),
    ]


def test_columns_count_characters() -> None:
    assert cut('{"é":1} {"日" 2}'.encode())[1][1] == (
        "malformed JSON: Expecting ':' delimiter at line 1 column 14"
    )


@pytest.mark.parametrize(
    "line", [b'{"id":1,"text":"%s"}\n' % (b"x" * 250), b'{"id" 1,"text":"x"}\n']
)
def test_large_texts_take_time_in_proportion(line: bytes) -> None:
    data = line * (5_000_000 // len(line))
    start = time.process_time()
    assert sum(1 for _ in split(data)) == len(data) // len(line)
    assert time.process_time() - start < 10


def test_a_record_longer_than_the_buffer_is_whole() -> None:
    long = b'{"a":"' + b"x" * 3_000_000 + b'"}'
    assert cut(b'{"b":1}' + long + b'{"c":1}') == whole(b'{"b":1}', long, b'{"c":1}')
