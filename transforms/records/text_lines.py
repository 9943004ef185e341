"""Cutting text into lines, of which each is a record, but for blank ones and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transforms.record import DEFAULT_LIMITS, Limits, Record

_BLANK_LINES = re.compile(rb"\s*+")


def split_lines(data: bytes, comment: bytes, limits: Limits = DEFAULT_LIMITS) -> Iterator[Record]:
    """Every line that says something, without its end; one that is longer than it may be has a defect."""
    position, line = 0, 1
    while True:
        blanks = _BLANK_LINES.match(data, position)
        assert blanks is not None  # they may be none
        if blanks.end() == len(data):
            return
        # What is indented keeps its indentation.
        start = max(position, data.rfind(b"\n", position, blanks.end()) + 1)
        line += data.count(b"\n", position, start)
        found = data.find(b"\n", blanks.end())
        end = len(data) if found < 0 else found
        if not data.startswith(comment, blanks.end()):
            yield _line_record(data, start, end, line, limits)
        position = end


def _line_record(data: bytes, start: int, end: int, line: int, limits: Limits) -> Record:
    if end - start > limits.largest_record:
        return Record(line, start, data[start : start + limits.kept], defect=limits.too_long)
    return Record(line, start, data[start:end].rstrip(b"\r"))
