"""Small data files of an object store as this process has read them: Delta never writes another under a file's name.

A step reads the same small tables several times, each of as many files as there were windows since it was tidied. Put
here which contents are kept. Not here: what is in the files (``table_files``), and the log, whose names come again
where a table is removed and made again (``kept_tables``).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import RLock
from typing import TypeAlias

MOST_OF_ONE, MOST_OF_ALL = 256 << 10, 32 << 20
"""Bytes: a larger file is read each time, and what was not read for longest is given up for what is read now."""

File: TypeAlias = tuple[str, str, int]
"""The table's root, the file's path below it, and how many bytes the table's log says that it has."""

# What a file's name and its place among the others take.
_COST = 500


@dataclass(slots=True)
class _Shelf:
    """The contents, those that were read last behind the others, and how many bytes they take."""

    contents: OrderedDict[File, bytes] = field(default_factory=OrderedDict)
    size: int = 0


_SHELF = _Shelf()
_MUTEX = RLock()


def content(file: File) -> bytes | None:
    """The whole content of this data file, where it is kept."""
    with _MUTEX:
        if file in _SHELF.contents:
            _SHELF.contents.move_to_end(file)
        return _SHELF.contents.get(file)


def keep(file: File, data: bytes) -> None:
    """Keep a content that could be read as what it is."""
    if len(data) > MOST_OF_ONE or len(data) != file[2]:
        return
    with _MUTEX:
        if file not in _SHELF.contents:
            _SHELF.contents[file] = data
            _SHELF.size += len(data) + _COST
        while _SHELF.size > MOST_OF_ALL:
            _, given_up = _SHELF.contents.popitem(last=False)
            _SHELF.size -= len(given_up) + _COST
