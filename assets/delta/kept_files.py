"""Small data files of an object store as this process has read them: Delta never writes another under a file's name.

A step reads the same small tables several times, each of as many files as there were windows since it was tidied. Put
here which contents are kept. Not here: what is in the files (``table_files``), and the log, whose names come again
where a table is removed and made again (``kept_tables``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import RLock

MOST_OF_ONE, MOST_OF_ALL = 256 << 10, 32 << 20
"""Bytes: a larger file is read each time, and what was not read for longest is given up for what is read now."""

_KEPT: OrderedDict[tuple[str, str], bytes] = OrderedDict()
_MUTEX = RLock()


def content(root: str, name: str, read: Callable[[], bytes]) -> bytes:
    """The whole content of this data file of the table at ``root``; ``read`` is asked where it is not kept."""
    key = (root, name)
    with _MUTEX:
        if key in _KEPT:
            _KEPT.move_to_end(key)
            return _KEPT[key]
    data = read()
    if len(data) <= MOST_OF_ONE:
        with _MUTEX:
            _KEPT[key] = data
            while sum(map(len, _KEPT.values())) > MOST_OF_ALL:
                _KEPT.popitem(last=False)
    return data
