"""What a gold table is called: the rule that ``table_names`` of a feed file chooses.

Put here how names of gold tables are made. Not here: whether two tables collide (``orchestration/feeds/load.py`` for
declared ones).
"""

from __future__ import annotations

import re
from typing import Final

from transforms.feed.feed import TableNames

TOMBSTONES: Final = "__tombstones"
"""What the name of the table beside a gold table ends with."""

HISTORY: Final = "__history"
"""What the name of a gold table's history ends with."""

UNFIT: Final = (
    r"[/\\`\[\]|^\x00-\x1f\x7f-\x9f\u2028\u2029]|^\s|\s$|^\.+$|%[0-9A-Fa-f]{2}"
    r"|^_[Dd][Ee][Ll][Tt][Aa]_[Ll][Oo][Gg]$"
)
"""What a table's name cannot hold, for a folder is made of it. Valid in Python's ``re`` and in Java.

``%73`` would be read as the letter that it spells, delta-rs panics at a bracket, a bar or a caret in a path, and
``_delta_log`` is where Delta looks for a table's commits.
"""

_PARTS: Final[dict[TableNames, int]] = {"plain": 1, "schema": 2, "catalog": 3}


def gold_name(table: str, table_names: TableNames) -> str:
    """Name the gold table of ``table``, schema.table or catalog.schema.table.

    As many of the last parts as ``table_names`` asks for are joined by two underscores; parts that the source's name
    does not have are not made up.
    """
    return "__".join(table.split(".")[-_PARTS[table_names] :])


def asset_name(gold_table: str) -> str:
    """Name the table where only letters, digits and underscores may stand, as in Dagster's asset keys.

    Blanks, hyphens and dots become underscores, any other sign its code: names in another script stay apart.
    """
    plain = re.sub(r"[ .-]", "_", gold_table)
    return re.sub(r"\W", lambda sign: f"x{ord(sign[0]):x}_", plain, flags=re.ASCII)
