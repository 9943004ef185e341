"""Cutting JSON text into records, whatever its layout.

msgspec passes over a document without making values of it, more than ten times as fast and in no memory. It is the
stricter of the two (no NaN, no raw line break in a string): what it takes the other takes, too, and both end it
alike. What it refuses is read the careful way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from transforms.record import DEFAULT_LIMITS, Limits, Record

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


# Records. One object a line, pretty-printed over many lines, concatenated, in one array or several, or all of these in
# one object: every top-level document, or element of a top-level array, is one record with its bytes untouched.


_BETWEEN = re.compile(rb"[ \t\r\n,]*+(?:\xef\xbb\xbf[ \t\r\n,]*+)*+")
_NEXT_START = re.compile(rb"\n([ \t]*+)([{\[\]])")
_BOM = b"\xef\xbb\xbf"
_RETURN, _COMMA, _QUOTE = b'\r,"'
_OPEN_ARRAY, _CLOSE_ARRAY, _OPEN_OBJECT, _CLOSE_OBJECT = b"[]{}"
_DELIMITED = (_OPEN_OBJECT, _OPEN_ARRAY, _QUOTE)

_REREAD_ALLOWANCE = 16 << 20
"""How many bytes beyond the ends of malformed records may be read in vain: four times the object's size plus this.
After that a record is only read to the end of its line."""


def split(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Iterator[Record]:
    """Every record of the text, malformed ones with their defect; nothing for a text without records.

    One that is longer than it may be has a defect, and what follows it is read from the next line on that can begin
    a record.
    """
    start = len(_BOM) if data.startswith(_BOM) else 0
    return _Text(data, memoryview(data), limits, start).records()


@dataclass(slots=True)
class _Array:
    """A top-level array that is open. In doubt: a malformed element may have swallowed its end."""

    line: int
    in_doubt: bool = False


@dataclass(slots=True)
class _Text:
    """A position in the text.

    ``line_end`` is where the line of ``position`` ends, or one before it. ``reread_bytes`` counts what was read beyond
    the ends of malformed records: it is read again.
    """

    data: bytes
    view: memoryview
    limits: Limits
    position: int
    line: int = 1
    line_end: int = -1
    reread_bytes: int = 0
    array: _Array | None = None

    def records(self) -> Iterator[Record]:
        after_defect = False
        while self._at_next_start():
            first = self.data[self.position]
            if self._opens_or_closes_array(first, after_defect):
                after_defect = False
                continue
            record = self._skimmed() if first in _DELIMITED else None
            if record is None:
                record = self._read()
            after_defect = record.defect is not None
            yield record
        if self.array and not self.array.in_doubt and not after_defect:
            fault = f"the array that begins at line {self.array.line} never ends"
            yield Record(self.line, self.position, b"", defect=f"malformed JSON: {fault}")

    def _at_next_start(self) -> bool:
        """Pass blanks, commas and byte order marks of files that were appended; whether a byte is left."""
        start, data = self.position, self.data
        # Nearly always there is a line break, and then the next object.
        if data[start : start + 2] == b"\n{":
            self.position, self.line = start + 1, self.line + 1
            return True
        between = _BETWEEN.match(data, start)
        assert between is not None  # it fits no bytes at all, too
        self._pass_to(between.end())
        return self.position < len(data)

    def _pass_to(self, position: int) -> None:
        self.line += self.data.count(b"\n", self.position, position)
        self.position = position

    def _opens_or_closes_array(self, first: int, after_defect: bool) -> bool:
        """Whether here stands a bracket of a top-level array, which is then passed."""
        if first == _OPEN_ARRAY and (self.array is None or after_defect or self.array.in_doubt):
            self.array = _Array(self.line)
        elif first == _CLOSE_ARRAY and self.array is not None:
            self.array = None
        else:
            return False
        self.position += 1
        return True

    def _end_of_line(self) -> int:
        if self.line_end < self.position:
            found = self.data.find(b"\n", self.position)
            self.line_end = len(self.data) if found < 0 else found
        return self.line_end

    def _skimmed(self) -> Record | None:
        """The object, array or string that begins here; None where it takes more care to say what it is."""
        line, start, data = self.line, self.position, self.data
        end = self._end_of_line()
        # One document fills the line, but for what stands between elements.
        if data[end - 1] == _RETURN:
            end -= 1
        if data[end - 1] == _COMMA:
            end -= 1
        longest = start + self.limits.largest_record
        if data[end - 1] == _CLOSE_OBJECT and end <= longest:
            with suppress(msgspec.DecodeError, RecursionError):
                _SKIM(self.view[start:end])
                self.position = end
                return Record(line, start, data[start:end])
        reach = self._reach(longest + LONGEST_TOKEN)
        end = skim(data, self.view, start, reach)
        if end > longest or (end == CUT and reach == longest + LONGEST_TOKEN):
            return self._malformed(None, longest)
        if end in (CUT, REFUSED):
            return None
        self._pass_to(end)
        return Record(line, start, data[start:end])

    def _read(self) -> Record:
        """The record that begins here, malformed or not, without haste."""
        line, start = self.line, self.position
        longest = start + self.limits.largest_record
        reach = self._reach(longest + 1)
        found = read_carefully(self.data, start, reach)
        if isinstance(found, Fault):
            return self._malformed(self._told(found), found.read_to)
        if found > longest or (found == CUT and reach > longest):
            return self._malformed(None, longest)
        if found == CUT:
            return self._malformed(
                "it does not end on its line, and no further lines were read because too much before it is malformed",
                reach,
            )
        self._pass_to(found)
        return Record(line, start, self.data[start:found])

    def _reach(self, most: int) -> int:
        """How far the record that begins here may be read; in its own line where too much was read in vain."""
        if self.reread_bytes > 4 * len(self.data) + _REREAD_ALLOWANCE:
            return min(most, self._end_of_line())
        return min(most, len(self.data))

    def _told(self, fault: Fault) -> str:
        if fault.column is None:
            return f"{fault.message}, from line {self.line} on"
        line, column = self.line + fault.line_breaks, fault.column
        if not fault.line_breaks:
            own_line = self._own_line()
            column += len(own_line.decode("utf-8", "surrogateescape")) + 1
        return f"{fault.message} at line {line} column {column}"

    def _own_line(self) -> bytes:
        """What stands before the position in its line."""
        line_start = self.data.rfind(b"\n", 0, self.position) + 1
        return self.data[line_start : self.position].removeprefix(_BOM)

    def _malformed(self, fault: str | None, read_to: int) -> Record:
        """Up to the next line that can begin a record and is indented no deeper than this one.

        Without a fault, the record has no end where it should have one.
        """
        line, start, limits = self.line, self.position, self.limits
        resume = self._next_start()
        if self.array is not None and self.data.find(b"]", start, resume) >= 0:
            self.array.in_doubt = True
        self.reread_bytes += max(0, read_to - resume)
        end = stripped(self.data, start, resume)
        self._pass_to(resume)
        if end - start > limits.largest_record:
            defect = limits.too_long + (f"; malformed JSON: {fault}" if fault else "")
            return Record(line, start, self.data[start : start + limits.kept], defect=defect)
        fault = fault or f"it does not end within {limits.largest_record:,} bytes"
        return Record(line, start, self.data[start:end], defect=f"malformed JSON: {fault}")

    def _next_start(self) -> int:
        before = self._own_line()
        own_indent = len(before) - len(before.lstrip(b" \t"))
        for found in _NEXT_START.finditer(self.data, self.position):
            is_start = found[2] != b"]" or self.array is not None
            if is_start and len(found[1]) <= own_indent:
                return found.start()
        return len(self.data)
