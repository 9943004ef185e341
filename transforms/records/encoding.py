"""Bringing text of other encodings to UTF-8, before it is cut into records.

A byte order mark says the encoding, whatever else is declared; without one, JSON's first bytes show UTF-16 and UTF-32.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Final

from transforms.record import Record

KNOWN: Final = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "windows-1252", "windows-1251"),
    *("shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "cp850", "cp037"),
)
"""Names that people look for; Python knows some eighty more, by the same names as other tools."""
_NO_TEXT: Final = {"punycode", "unicode_escape", "raw_unicode_escape"}

_UTF_8: Final = b"\xef\xbb\xbf"
_BEGINS: Final = re.compile(
    rb"(?P<utf_32_le>(?:\xff\xfe|[\[{]\0)\0\0)|(?P<utf_32_be>\0\0(?:\xfe\xff|\0[\[{]))"
    rb"|(?P<utf_16_le>\xff\xfe|[\[{]\0)|(?P<utf_16_be>\xfe\xff|\0[\[{])"
)
_WITHOUT_MARK: Final = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NONE: Final = b"\xff"
"""What stands for bytes that are none of the encoding: no text in UTF-8 has it."""
_PIECE: Final = 1 << 20


def _mark(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end
    assert isinstance(error, UnicodeEncodeError)  # the only others that a codec asks about
    # Half of a surrogate pair, beside what was marked above.
    return _NONE * (error.end - error.start), error.end


codecs.register_error("weir.mark", _mark)


def canonical(name: str) -> str | None:
    """One spelling of an encoding's name; None where Python knows no such encoding of text."""
    try:
        found = codecs.lookup(name).name
        b"ab".decode(name, "replace")
    except (LookupError, ValueError):
        return None
    return None if found in _NO_TEXT else found


def is_said_by_its_bytes(data: bytes) -> bool:
    """Whether a byte order mark, or how JSON begins, says the encoding."""
    return data.startswith(_UTF_8) or _BEGINS.match(data) is not None


def to_utf8(data: bytes, declared: str | None, most: int) -> tuple[bytes, str | None]:
    """The text in UTF-8, and the encoding that it was in; None where it is left as it is.

    Bytes that are none of the encoding become one that is no UTF-8. If the text exceeds ``most`` bytes, reading stops
    soon after.
    """
    found = _BEGINS.match(data)
    encoding = str(found.lastgroup).replace("_", "-") if found else declared
    if encoding in (None, "utf-8") or data.startswith(_UTF_8):
        return data, None
    encoding = _WITHOUT_MARK.get(encoding, encoding)
    decoder = codecs.getincrementaldecoder(encoding)("weir.mark")
    sink = BytesIO()
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        try:
            text = decoder.decode(piece, start + _PIECE >= len(data))
        except UnicodeError:
            # Some codecs give up where others ask what to do.
            sink.write(_NONE)
            break
        sink.write(text.encode("utf-8", "weir.mark"))
        if sink.tell() > most:
            break
    return sink.getvalue(), encoding


def with_undecodable(records: Iterable[Record], encoding: str) -> Iterator[Record]:
    """The records of a text that was brought to UTF-8; those with bytes that are none of its encoding are marked."""
    for record in records:
        if _NONE in record.payload:
            also = f"; {record.defect}" if record.defect else ""
            record = replace(record, defect=f"some of its bytes are no {encoding}{also}")
        yield record
