"""The waist: the one row shape that every source format must reach, and every table is made from.

Not here: how a format gets there (``formats``), or what becomes of a change (``gold``).
"""

from __future__ import annotations

CONTROL = ("begin", "commit", "note")
"""The effects of rows that change nothing themselves. A ``note`` is an event that says nothing of any row."""

HOLD = "hold"
"""The effect of a scoped delete that waits for a decision."""

EPOCH = 0
"""The first element of every position that a format gives: the feed's decisions open later epochs."""

SNAPSHOT, STREAM = 0, 1
"""The second element of a position: rows of a snapshot stand before all changes of the stream."""
