"""Where a JSON document ends that begins at a given place: found fast by msgspec, or carefully by Python's reader.

msgspec passes over a document without making values of it, more than ten times as fast and in no memory. It is the
stricter of the two (no NaN, no raw line break in a string): what it takes the other takes, too, and both end it alike.
What it refuses is read the careful way. Put here how the end of one document is found. Not here: what becomes of a text
in which documents follow each other, well or badly (``json_documents``).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import msgspec

REFUSED = -1
"""msgspec does not take the document: it has to be read carefully."""
CUT = -2
"""The document goes on where reading was to stop."""

LONGEST_TOKEN = 16
"""No token that the end of a buffer can cut in two, strings aside, is longer (-Infinity, ``\\uD800\\uDC00``)."""

_SKIM = msgspec.json.Decoder(msgspec.Raw).decode
_TRAILING = re.compile(r"JSON is malformed: trailing characters \(byte ([0-9]+)\)")
_TRUNCATED = "Input data was truncated"

# Numbers stay text: what is decoded is thrown away, and Python limits how many digits it turns into an int.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
_BUFFER = 1 << 12
"""How much the careful way decodes at first: an error in it counts lines from its start."""

_BLANKS = b" \t\r\n"
_PIECE = 1 << 16


def is_document(view: memoryview) -> bool:
    """Whether this is one document, and nothing but blanks around it. What is none for msgspec may still be one."""
    try:
        _SKIM(view)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def skim(data: bytes, view: memoryview, start: int, stop: int) -> int:
    """Where an object, array or string ends that begins at ``start``, read as far as ``stop``; or ``REFUSED``, ``CUT``.

    A surrogate without its other half, among the last bytes, counts as cut: ``CUT`` is certain only for what does not
    end ``LONGEST_TOKEN`` bytes before.
    """
    try:
        return start + memoryview(_SKIM(view[start:stop])).nbytes
    except RecursionError:
        return REFUSED
    except msgspec.DecodeError as refusal:
        text = str(refusal)
    found = _TRAILING.fullmatch(text)
    if found is not None:
        # msgspec tells how many bytes it has read, the first of the next document included.
        return stripped(data, start, start + int(found[1]) - 1)
    return CUT if text == _TRUNCATED else REFUSED


def stripped(data: bytes, start: int, end: int) -> int:
    """Where a piece of the data ends that has blanks at its end, without a copy of it."""
    while end > start:
        piece = max(start, end - _PIECE)
        size = len(data[piece:end].rstrip(_BLANKS))
        if size:
            return piece + size
        end = piece
    return start


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no document: ``line_breaks`` and then ``column`` characters after its start; no column, no place.

    ``read_to`` is how far it was read.
    """

    message: str
    read_to: int
    line_breaks: int = 0
    column: int | None = None


def read_carefully(data: bytes, start: int, reach: int) -> int | Fault:
    """Where the document ends that begins at ``start``, or its fault; ``CUT`` where it goes on at ``reach``.

    Bytes that are no UTF-8 are as good as any in a string. A document of several megabytes takes a multiple of that
    in memory while it is read.
    """
    size = _BUFFER
    while True:
        stop = min(start + size, reach)
        text = data[start:stop].decode("utf-8", "surrogateescape")
        is_cut = stop < len(data)
        try:
            _, end = _DECODER.raw_decode(text)
        except json.JSONDecodeError as error:
            if not is_cut or not _may_be_cut(text, error):
                return _fault(text, error, start)
        except RecursionError:
            return Fault("nested too deeply", stop)
        else:
            if text[end - 1] in '}]"' or (end == len(text) and not is_cut):
                return start + _size(text, end)
            if end < len(text):
                # A number or word may run on, as in ``2026-11-20 starting``.
                stands_alone = text[end] in " \t\r\n,{[]"
                passed = start + _size(text, end)
                return passed if stands_alone else Fault("Extra data", passed, column=end)
        if stop == reach:
            return CUT
        size *= 2


def _may_be_cut(text: str, error: json.JSONDecodeError) -> bool:
    near_end = error.pos >= len(text) - LONGEST_TOKEN
    return near_end or error.msg.startswith("Unterminated string")


def _fault(text: str, error: json.JSONDecodeError, start: int) -> Fault:
    line_breaks = text.count("\n", 0, error.pos)
    column = error.colno if line_breaks else error.pos
    # At least as many bytes as characters.
    return Fault(error.msg.removesuffix(" at"), start + error.pos, line_breaks, column)


def _size(text: str, end: int) -> int:
    return end if text.isascii() else len(text[:end].encode("utf-8", "surrogateescape"))
