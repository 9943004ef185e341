"""Other encodings become UTF-8 before records are cut, and bytes that are none of them never end a run."""

from __future__ import annotations

import random
from encodings.aliases import aliases

import pytest

from transforms.record import Record
from transforms.records.encoding import KNOWN, canonical, to_utf8, with_undecodable
from transforms.records.json_documents import split

TEXT = '{"name":"Größe €"}\n' * 3


@pytest.mark.parametrize(
    ("data", "declared", "encoding"),
    [
        (TEXT.encode(), None, None),
        (TEXT.encode(), "utf-8", None),
        # A mark wins over what is declared.
        (TEXT.encode("utf-8-sig"), "cp1252", None),
        (TEXT.encode("utf-16"), "cp1252", "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), None, "utf-16-be"),
        (TEXT.encode("utf-32"), None, "utf-32-le"),
        *(
            (TEXT.encode(one), None, one)
            for one in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
        ),
        (TEXT.encode("cp1252"), "cp1252", "cp1252"),
        ("1,größe".encode("utf-16-le"), "utf-16", "utf-16-le"),
        ("1,ソ\n".encode("shift_jis"), "shift_jis", "shift_jis"),
    ],
)
def test_text_is_brought_to_utf8(data: bytes, declared: str | None, encoding: str | None) -> None:
    text, found = to_utf8(data, declared, 1 << 30)
    assert found == encoding
    assert text.decode().lstrip("\ufeff") == data.decode(encoding or "utf-8").lstrip("\ufeff")


def test_only_records_with_bytes_of_no_such_encoding_are_marked() -> None:
    data = (
        b"\xff\xfe"
        + '{"a":1}\n{"a":"'.encode("utf-16-le")
        + b"\x00\xd8"
        + '"}\n{"a":3}'.encode("utf-16-le")
    )
    text, encoding = to_utf8(data, None, 1 << 30)
    found = [*with_undecodable(split(text), encoding or "")]
    assert [one.defect for one in found] == [None, "some of its bytes are no utf-16-le", None]
    assert found[2] == Record(3, len(text) - 7, b'{"a":3}')


def test_no_more_is_decoded_than_is_wanted() -> None:
    text, _ = to_utf8(b"\xe9" * 50_000_000, "latin-1", 1_000_000)
    assert 1_000_000 < len(text) < 10_000_000


def test_no_bytes_end_in_an_exception() -> None:
    drawn = random.Random(7)
    names = {canonical(name) for name in {*aliases.values(), *KNOWN, "nonsense", "rot13", "\0"}}
    assert len(names) > 80
    for name in sorted(name for name in names if name):
        for _ in range(200):
            begin = drawn.choice([b"", b"\xff\xfe", b"\0{", b"\x1b$"])
            text, encoding = to_utf8(begin + drawn.randbytes(drawn.randrange(40)), name, 1 << 20)
            list(with_undecodable(split(text), encoding or ""))
