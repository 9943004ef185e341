"""What a name in a CSV header says: of which column a field is, and whether it is the new value, the old one or a flag.

Put here how one name is read. Not here: whether a record is a header at all (``csv_headers``).
"""

from __future__ import annotations

import re

SUFFIX_ROLE = r"(?i)^(.+?)[_.: -](NEW|OLD|EXISTS|BEFORE|AFTER)(?:[_.: -]VAL(?:UE)?)?$"
"""``r_name_NEW_VAL``: group 1 is the column, group 2 the role. Valid in Python's ``re`` and in Java.

A name is read by this pattern where it fits, else by ``PREFIX_ROLE``.
"""

PREFIX_ROLE = r"(?i)^(NEW|OLD|EXISTS|BEFORE|AFTER)(?:[_.: -]VAL(?:UE)?)?[_.: -](.+)$"
"""``NEW_VAL_r_name``: group 1 is the role, group 2 the column."""

_SUFFIX_ROLE, _PREFIX_ROLE = re.compile(SUFFIX_ROLE), re.compile(PREFIX_ROLE)
_SYNONYMS = {"after": "new", "before": "old"}


def role_of(name: str) -> tuple[str, str]:
    """What a header's name says: ``new``, ``old``, ``exists`` or nothing (an empty text), and of which column."""
    if found := _SUFFIX_ROLE.match(name):
        column, role = found[1], found[2].lower()
    elif found := _PREFIX_ROLE.match(name):
        role, column = found[1].lower(), found[2]
    else:
        return "", name
    return _SYNONYMS.get(role, role), column
