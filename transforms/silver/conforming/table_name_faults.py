"""Names of tables that no gold table can have.

Put here why a name that a stream gives is refused: folders, locks and Weir's own tables are named after gold tables.
Not here: what a gold table is called (``transforms/feed/table_names.py``), and whether another table has the name
already (``declarations``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from transforms.fault import Fault, shown
from transforms.feed.table_names import HISTORY, TOMBSTONES, UNFIT

LONGEST_NAME: Final = 180
"""Bytes of a table's name: it is part of a folder's and of a lock's, which have at most 255."""

_UNFIT: Final = re.compile(UNFIT)


def name_fault(table: str | None, name: str | None, parts: Sequence[str | None]) -> Fault | None:
    """Why no gold table can have such a name; every name that a stream gives is checked by this function.

    ``table`` is the gold table's name, ``name`` the last part of the source's, ``parts`` all that folders are named by.
    """
    if not name:
        return Fault("missing_table", "neither record nor path names it")
    for part in (table, *parts):
        if part is not None and _UNFIT.search(part):
            return Fault(
                "unfit_table_name",
                f"the table is named {shown(table)}, and a folder's name cannot hold slashes, backticks, brackets,"
                " bars, carets, control characters or % before two hexadecimal digits, begin or end with a blank, or be"
                " _delta_log",
            )
    assert table is not None  # its last part is not empty
    if (size := len(table.encode("utf-8", "replace"))) > LONGEST_NAME:
        return Fault(
            "unfit_table_name",
            f"the table's name has {size:,} bytes, and a folder's name has room for {LONGEST_NAME}: {table[:60]} ...",
        )
    for ending, whose in ((TOMBSTONES, "tombstones"), (HISTORY, "history")):
        if table.lower().endswith(ending):
            return Fault(
                "unfit_table_name",
                f"the table is named {table}, and names that end in {ending} are those of Weir's own tables of {whose}",
            )
    return None
