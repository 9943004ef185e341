"""Cutting JSON text into records, whatever its layout.

One object a line, pretty-printed over many lines, concatenated, in one array or several, or all of these in one
object: every top-level document, or element of a top-level array, is one record with its bytes untouched. Not here:
what a record means, and whether its bytes are valid UTF-8 (``formats``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from transforms.record import Record

# Numbers stay text: what is decoded is thrown away, and Python limits how many digits it turns into an int.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)

_BETWEEN = re.compile(r"[ \t\r\n,\ufeff]*+")
_NEXT_START = re.compile(rb"\n([ \t]*+)([{\[\]])")
_BLANKS = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"

_BUFFER = 1 << 18
# No token that a buffer's end can cut in two, strings aside, is longer (-Infinity, \uXXXX).
_LONGEST_TOKEN = 16


def split(data: bytes) -> Iterator[Record]:
    """Every record of the text, malformed ones with their defect; nothing for a text without records."""
    return _Text(data, len(_BOM) if data.startswith(_BOM) else 0).records()


@dataclass(slots=True)
class _Array:
    """A top-level array that is open. In doubt: a malformed element may have swallowed its end."""

    line: int
    in_doubt: bool = False


@dataclass(slots=True)
class _Text:
    """A position in the text, as bytes and as characters of a buffer that is decoded piece by piece.

    Decoding in pieces keeps memory and the price of an error (which counts lines from the buffer's start) bounded.
    """

    data: bytes
    position: int
    buffer: str = ""
    index: int = 0
    end: int = 0
    is_ascii: bool = True
    line: int = 1
    array: _Array | None = field(default=None)

    def records(self) -> Iterator[Record]:
        after_defect = False
        self._refill(_BUFFER)
        while self._at_next_start():
            if self._opens_or_closes_array(after_defect):
                after_defect = False
                continue
            record = self._record()
            after_defect = record.defect is not None
            yield record
        if self.array and not self.array.in_doubt and not after_defect:
            yield Record(
                self.line,
                self.position,
                b"",
                defect=f"malformed JSON: the array that begins at line {self.array.line} never ends",
            )

    def _refill(self, size: int) -> None:
        """Decode ``size`` bytes from the position on. A character cut at the end is decoded again by the next."""
        self.end = min(self.position + size, len(self.data))
        self.buffer = self.data[self.position : self.end].decode("utf-8", "surrogateescape")
        self.index = 0
        self.is_ascii = self.buffer.isascii()

    def _advance(self, index: int) -> bytes:
        """Move to a later index of the buffer; the bytes passed over."""
        passed = index - self.index
        if not self.is_ascii:
            text = self.buffer[self.index : index]
            passed = len(text.encode("utf-8", "surrogateescape"))
        start, self.position = self.position, self.position + passed
        self.index = index
        self.line += self.data.count(b"\n", start, self.position)
        return self.data[start : self.position]

    def _at_next_start(self) -> bool:
        """Pass blanks and commas; whether a character is left."""
        while True:
            between = _BETWEEN.match(self.buffer, self.index)
            if between is not None and between.end() > self.index:
                self._advance(between.end())
            # Another byte order mark, of a file that was appended, may be cut by the buffer's end.
            if self.end == len(self.data) or self.index < len(self.buffer) - len(_BOM):
                return self.index < len(self.buffer)
            self._refill(_BUFFER)

    def _opens_or_closes_array(self, after_defect: bool) -> bool:
        """Whether here stands a bracket of a top-level array, which is then passed."""
        bracket = self.buffer[self.index]
        if bracket == "[" and (self.array is None or after_defect or self.array.in_doubt):
            self.array = _Array(self.line)
        elif bracket == "]" and self.array is not None:
            self.array = None
        else:
            return False
        self._advance(self.index + 1)
        return True

    def _record(self) -> Record:
        line, start, size = self.line, self.position, _BUFFER
        while True:
            cut = self.end < len(self.data)
            fault: str | None = None
            try:
                _, end = _DECODER.raw_decode(self.buffer, self.index)
            except json.JSONDecodeError as error:
                if cut and self._may_be_cut(error):
                    size = self._widen(size)
                    continue
                fault = self._fault(error)
            except RecursionError:
                fault = f"nested too deeply, from line {line} on"
            else:
                if cut and end == len(self.buffer):
                    size = self._widen(size)
                    continue
                if self._stands_alone(end):
                    return Record(line, start, self._advance(end))
                fault = f"Extra data at {self._place(line, self._column(start) + end - self.index)}"
            return self._malformed(f"malformed JSON: {fault}")

    def _widen(self, size: int) -> int:
        """Begin the buffer at the record, twice as long if it began there already."""
        size = size * 2 if self.index == 0 else size
        self._refill(size)
        return size

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        near_end = error.pos >= len(self.buffer) - _LONGEST_TOKEN
        return near_end or error.msg.startswith("Unterminated string")

    def _stands_alone(self, end: int) -> bool:
        """False for a number or word that runs on, as in ``2026-11-20 starting``."""
        if self.buffer[end - 1] in '}]"' or end == len(self.buffer):
            return True
        return self.buffer[end] in " \t\r\n,{[]"

    def _fault(self, error: json.JSONDecodeError) -> str:
        message = error.msg.removesuffix(" at")
        lines = self.buffer.count("\n", self.index, error.pos)
        if lines:
            return f"{message} at {self._place(self.line + lines, error.colno)}"
        column = self._column(self.position) + error.pos - self.index
        return f"{message} at {self._place(self.line, column)}"

    def _place(self, line: int, column: int) -> str:
        return f"line {line} column {column}"

    def _line_start(self, offset: int) -> int:
        return self.data.rfind(b"\n", 0, offset) + 1

    def _column(self, offset: int) -> int:
        before = self.data[self._line_start(offset) : offset].removeprefix(_BOM)
        return len(before.decode("utf-8", "surrogateescape")) + 1

    def _malformed(self, defect: str) -> Record:
        """Up to the next line that can begin a record and is indented no deeper than this one."""
        line, start = self.line, self.position
        own_line = self.data[self._line_start(start) : start + 1].removeprefix(_BOM)
        own_indent = len(own_line) - len(own_line.lstrip(b" \t"))
        resume = len(self.data)
        for found in _NEXT_START.finditer(self.data, start):
            opener = found[2] != b"]"
            if len(found[1]) <= own_indent and (opener or self.array is not None):
                resume = found.start()
                break
        payload = self.data[start:resume].rstrip(_BLANKS)
        if self.array is not None and b"]" in payload:
            self.array.in_doubt = True
        self.line += self.data.count(b"\n", start, resume)
        self.position = resume
        self._refill(_BUFFER)
        return Record(line, start, payload, defect=defect)
