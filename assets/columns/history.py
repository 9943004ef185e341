"""The columns of a table of versions: what a key was after each of its changes, from when to when.

Put here a column of it that no feed declares. Not here: which versions there are (``transforms/gold/history.py``), and
how they get into the table (``assets/gold/apply/history.py``).
"""

from __future__ import annotations

VALID_FROM, VALID_TO = "_weir_valid_from", "_weir_valid_to"
FROM_AT, TO_AT = "_weir_valid_from_at", "_weir_valid_to_at"
BEGAN_BY, ENDED_BY = "_weir_began_by", "_weir_ended_by"
OWN = (VALID_FROM, VALID_TO, FROM_AT, TO_AT, BEGAN_BY, ENDED_BY)
"""Positions, times (UTC) and identities of the changes that began and ended a version; null while it has not ended."""
