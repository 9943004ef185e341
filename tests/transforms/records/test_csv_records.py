"""CSV text is cut into records by either way of quoting, and a header is understood or refused."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.errors import OtherDelimiter, UnknownHeader
from transforms.feed.feed import CsvDialect, Feed, Table
from transforms.record import Limits, Record
from transforms.records.csv_records import fields_of, split

REGION = Table(
    name="region",
    key=("r_regionkey",),
    columns={"r_regionkey": "int", "r_name": "string", "r_comment": "string"},
    cdc_columns=("r_comment", "r_name", "r_regionkey"),
)
FEED = Feed("tpch", "arcion_s3_csv", "/nowhere")
METADATA = "opType,cursor,operationcount"
OPERATION = (
    b'India,NULL,1,India,NULL,1,10,NULL,1,I,"{""extractorId"":0,""v"":2}","{""insertCount"":6}"'
)

TEXT = st.text(st.sampled_from('ab,"\\\n é'), max_size=8)
UNQUOTED = st.text(st.sampled_from("ab \\é0"), min_size=1, max_size=6).filter(str.strip)
BLANKS = st.sampled_from(["", " ", "\t"])
# A text that ends in a backslash reads differently by doubling than by escaping.
DOUBLED = TEXT.filter(lambda text: "\\" not in text).map(lambda text: text.replace('"', '""'))
# A letter after every quote: before a comma or a line's end, an escaped quote reads as a closing one.
ESCAPED = TEXT.map(lambda text: text.replace("\\", "\\\\").replace('"', '\\"a'))
FIELD = UNQUOTED | st.builds(
    lambda before, text, after: f'{before}"{text}"{after}', BLANKS, DOUBLED, BLANKS
)


def records_of(data: bytes, table: Table | None = REGION) -> list[Record]:
    return list(split(data, table, FEED, "region/1.csv"))


def cut(data: bytes, table: Table | None = REGION) -> list[tuple[bytes, str | None]]:
    return [(record.payload, record.defect) for record in records_of(data, table)]


def places_are_true(data: bytes, records: list[Record]) -> bool:
    return all(
        data[record.byte_offset : record.byte_offset + len(record.payload)] == record.payload
        and record.line == data.count(b"\n", 0, record.byte_offset) + 1
        for record in records
    )


@given(
    st.lists(st.lists(FIELD, min_size=1, max_size=4).map(",".join), max_size=6),
    st.sampled_from(["\n", "\r\n", "\n\n", "\n  \r\n"]),
    st.booleans(),
)
def test_rows_come_back_verbatim_from_any_layout(
    rows: list[str], end: str, is_last_ended: bool
) -> None:
    data = (end.join(rows) + (end if rows and is_last_ended else "")).encode()
    records = records_of(data)
    assert [(record.payload, record.defect) for record in records] == [
        (row.encode(), None) for row in rows
    ]
    assert places_are_true(data, records)


@given(st.lists(ESCAPED, min_size=1, max_size=4))
def test_a_row_with_escaped_quotes_comes_back_verbatim(texts: list[str]) -> None:
    row = ",".join(f'"{text}"' for text in texts)
    assert cut(row.encode()) == [(row.encode(), None)]


@given(
    st.lists(
        st.sampled_from([b'"', b'""', b'\\"', b",", b"\n", b"\r\n", b"\r", b"a", b" ", b"\xff"])
    )
)
def test_no_text_breaks_it_and_places_are_always_true(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    records = records_of(data, None)
    assert places_are_true(data, records)
    kept = b"".join(record.payload for record in records)
    assert kept.count(b'"') == data.count(b'"')
    assert kept.count(b"a") == data.count(b"a")


def test_quoted_line_breaks_and_both_ways_of_quoting_may_be_mixed() -> None:
    rows = [b'1,"a\r\nb","x""y"', rb'2,"a \"q\"",b', rb'3,"both "" and \"",c', rb'4,"C:\",d']
    records = records_of(b"\n".join(rows))
    assert [record.payload for record in records] == rows
    assert [record.line for record in records] == [1, 3, 4, 5]
    assert {record.defect for record in records} == {None}


@pytest.mark.parametrize(
    ("line", "defect"),
    [
        (b'1,5" pipe,x', "malformed CSV: a quote stands inside an unquoted field at column 4"),
        (b'1,"never', "malformed CSV: the quote at column 3 is never closed"),
        (b'1,"x" y,c', "malformed CSV: text follows a closing quote at column 7"),
    ],
)
def test_a_malformed_line_costs_no_other(line: bytes, defect: str) -> None:
    assert cut(b"0,a,b\n" + line + b"\r\n2,a,b\n") == [
        (b"0,a,b", None),
        (line, defect),
        (b"2,a,b", None),
    ]


@pytest.mark.parametrize(
    "field",
    [b'"%s"' % (b"x" * 1_000_000), b'"%s"' % (b'""' * 50_000), b'"%s"' % (b'\\"' * 50_000)],
    ids=["a megabyte", "doubled quotes", "escaped quotes"],
)
@pytest.mark.parametrize("is_closed", [True, False])
def test_long_fields_are_read_once(field: bytes, is_closed: bool) -> None:
    start = time.process_time()
    ((payload, defect),) = cut(b"1," + (field if is_closed else field[:-1]))
    assert time.process_time() - start < 2
    assert payload.startswith(b"1,")
    assert (defect is None) == is_closed


@pytest.mark.parametrize(
    "record",
    [b"1,%s" % (b"x" * 100), b'1,"%s"' % (b"x\n" * 50), b'1,"%s"x' % (b"x" * 100), b"," * 101],
    ids=["unquoted", "quoted", "malformed", "commas"],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_record_that_is_too_long_costs_no_other(record: bytes, end: bytes) -> None:
    data = b"0,a,b\n" + record + end + b"2,a,b"
    before, long, after = split(data, REGION, FEED, "region/1.csv", Limits(largest_record=100))
    assert (long.line, long.byte_offset, long.payload) == (2, 6, record[:100])
    assert long.defect == "the record is longer than 100 bytes"
    assert [(one.payload, one.defect) for one in (before, after)] == [
        (b"0,a,b", None),
        (b"2,a,b", None),
    ]
    assert places_are_true(data, [before, long, after])


@pytest.mark.parametrize("line", [b'"\n', b'1,"a""\n', b'"""x\n', b'a"\n', b'"a\\\n', b'"\\"\n'])
def test_malformed_lines_take_time_in_proportion(line: bytes) -> None:
    start = time.process_time()
    assert sum(1 for _ in split(line * 60_000, REGION, FEED, "region/1.csv")) >= 20_000
    assert time.process_time() - start < 4


def test_large_texts_take_time_in_proportion() -> None:
    data = (OPERATION + b"\n") * 50_000
    start = time.process_time()
    assert sum(1 for _ in split(data, REGION, FEED, "region/1.csv")) == 50_000
    assert time.process_time() - start < 10


def triplets(form: str, *columns: str, roles: tuple[str, ...] = ("NEW", "OLD", "EXISTS")) -> str:
    return ",".join(form.format(column=column, role=role) for column in columns for role in roles)


@pytest.mark.parametrize(
    "form",
    [
        *("{column}_{role}", "{column}.{role}", "{column}:{role}", "{column}-{role}"),
        *("{column} {role}", "{column}_{role}_VAL", "{column}_{role}_VALUE"),
        *("{role}_{column}", "{role}.{column}", "{role}_VAL_{column}", "{role}_VALUE:{column}"),
        '"{column} {role}"',
    ],
)
@pytest.mark.parametrize("roles", [("NEW", "OLD", "EXISTS"), ("exists", "Before", "after")])
@pytest.mark.parametrize("metadata", [METADATA, "op_type,Cursor,operation count"])
def test_names_that_say_column_and_role_are_a_header(
    form: str, roles: tuple[str, ...], metadata: str
) -> None:
    header = f"{triplets(form, 'r_name', 'r_regionkey', roles=roles)},{metadata}"
    (record,) = records_of(f"{header}\n1,2,3,4,5,6,I,c,o\n".encode())
    assert (record.line, record.header, record.payload) == (2, header, b"1,2,3,4,5,6,I,c,o")


@pytest.mark.parametrize(
    "header",
    [
        f"a,b,c,{METADATA}",
        METADATA,
        f"{triplets('{column}_{role}', 'a')},b_NEW,{METADATA}",
        f"a_NEW,a_OLD,a_NEW,{METADATA}",
        f"a_NEW,a_AFTER,a_OLD,a_EXISTS,{METADATA}",
        "r_name,r_comment",
        "r_regionkey,r_name,r_name",
        "v1,v2,v3,v4,v5,v6,v7,v8,v9,op,position,counts",
        # One column's own name, or one that resembles it where a number should stand.
        "r_regionkey,title,warning",
        "regionkey,title,warning",
    ],
)
def test_a_header_that_is_not_understood_stops_the_run(header: str) -> None:
    with pytest.raises(UnknownHeader) as refused:
        records_of(f"{header}\n1,2,3\n".encode())
    assert str(refused.value) == (
        f"feed tpch: region/1.csv, line 1: the header is not understood: {header!r}. "
        "Expected r_comment_NEW, r_comment_OLD, r_comment_EXISTS or NEW_r_comment, OLD_r_comment, "
        "EXISTS_r_comment (and so for r_name, r_regionkey), then opType, cursor, operationCount; "
        "or, for a snapshot, the columns r_regionkey, r_name, r_comment. "
        "Rename the columns, or write the files without a header."
    )


SIX = Table("six", ("c0",), {f"c{n}": "string" for n in range(6)}, cdc_columns=("c0",))


@pytest.mark.parametrize(
    ("data", "table", "header", "payloads"),
    [
        *((data, REGION, None, []) for data in (b"", b"\n", b"  \r\n\t", b"\xef\xbb\xbf")),
        (
            f"{triplets('{column}_{role}', 'a_new', 'is')},{METADATA}\n1".encode(),
            None,
            f"{triplets('{column}_{role}', 'a_new', 'is')},{METADATA}",
            [b"1"],
        ),
        (
            b"\xef\xbb\xbfR_NAME,r_regionkey\r\nr_name,1\r\n",
            REGION,
            "R_NAME,r_regionkey",
            [b"r_name,1"],
        ),
        (b"r_regionkey,r_name,r_added\n1,a,b\n", REGION, "r_regionkey,r_name,r_added", [b"1,a,b"]),
        # One that comes again is no record.
        (
            b"r_regionkey,r_name\n1,a\nr_regionkey,r_name\n2,b\n",
            REGION,
            "r_regionkey,r_name",
            [b"1,a", b"2,b"],
        ),
        # Rows of data: also such as have names, where no table is declared, or where they resemble no column.
        *((row, REGION, None, [row]) for row in (b"0,AFRICA,AFRICA", b"r_name,b,c", OPERATION)),
        (b"0, AFRICA ,AFRICA\r\n", REGION, None, [b"0, AFRICA ,AFRICA"]),
        (b"r_regionkey,r_name\n1,a\n", None, None, [b"r_regionkey,r_name", b"1,a"]),
        (b"u,v,w,x,y,z", SIX, None, [b"u,v,w,x,y,z"]),
        (b"ten,Asia,far\n1,Africa,hot\n", REGION, None, [b"ten,Asia,far", b"1,Africa,hot"]),
    ],
)
def test_a_header_is_told_from_data(
    data: bytes, table: Table | None, header: str | None, payloads: list[bytes]
) -> None:
    found = records_of(data, table)
    assert [(one.header, one.payload, one.defect) for one in found] == [
        (header, payload, None) for payload in payloads
    ]


@pytest.mark.parametrize(
    ("data", "had", "found"),
    [
        (b"1|Ada|10\n", ",", '"|"'),
        (b"1\tAda\t10\n", ",", '"\\t"'),
        (b'r_regionkey;r_name;r_comment\n1;"a;b";\n', ",", '";"'),
        (b"1,Ada,10\n", ";", '","'),
        (b"|".join([b"1"] * 12), ",", '"|"'),
    ],
)
def test_a_file_with_another_delimiter_names_it_and_the_key(
    data: bytes, had: str, found: str
) -> None:
    table = replace(REGION, csv=CsvDialect(delimiter=had))
    with pytest.raises(OtherDelimiter) as refused:
        records_of(data, table)
    said = f'line 1: with "{had}" between the fields the row is a single one, and with {found} it has as many as'
    assert said in str(refused.value)
    assert f"Write `csv: {{delimiter: {found}}}` into the feed file" in str(refused.value)


@pytest.mark.parametrize("data", [b"1\n", b"1|Ada\n", b"1,Ada|Bo|Cy,10\n", b"|a|\n"])
def test_a_row_that_is_only_short_is_a_row(data: bytes) -> None:
    assert cut(data) == [(data.strip(), None)]


def test_a_header_is_what_the_feed_file_says() -> None:
    rows, texts = (
        b"a,b,c\n1,2,3\n",
        replace(REGION, columns=dict.fromkeys(REGION.columns, "string")),
    )
    for header, found in {"no": 2, "auto": 2}.items():
        said = replace(texts, csv=CsvDialect(header=header))  # type: ignore[arg-type]
        assert len(records_of(rows, said)) == found
    with pytest.raises(UnknownHeader, match="'a,b,c'"):
        records_of(rows, replace(texts, csv=CsvDialect(header="yes")))


def test_a_nul_is_a_value_s_and_nuls_in_between_are_utf_16() -> None:
    for row in ("1,\0", "1,\0,\0", "12345,a\0b,c", "7,\0,c", "7,a" + 9 * "\0" + ",c"):
        assert [defect for _, defect in cut(f"{row}\n".encode())] == [None], row
    ((_, defect),) = cut("1,2,3\n".encode("utf-16-le")[:-1])
    assert defect is not None
    assert "encoding: utf-16-le" in defect


SIGNS = st.sampled_from(",;\t|'\"\\^~")


@given(
    st.binary(max_size=60)
    | st.text(SIGNS | st.sampled_from("a\n\r "), max_size=60).map(str.encode),
    st.lists(SIGNS, min_size=3, max_size=3, unique=True),
)
def test_no_bytes_end_in_an_exception_whatever_the_dialect(data: bytes, signs: list[str]) -> None:
    for quote, escape in ((signs[1], signs[2]), (signs[1], ""), ("", "")):
        csv = CsvDialect(signs[0], quote, escape, "", "no")
        found = records_of(data, replace(REGION, columns={"a": "string"}, csv=csv))
        assert places_are_true(data, found)
        for record in found:
            fields = fields_of(record.payload.decode("utf-8", "replace"), csv)
            assert (fields is not None) or record.defect
