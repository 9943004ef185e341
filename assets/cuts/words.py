"""What is said of a feed's cuts: in one line of a log, of a page or of a command."""

from __future__ import annotations

from assets.cuts.record import CutTable, Recorded
from assets.wording import counted


def in_a_line(found: Recorded) -> str:
    """How far all tables are whole, and what keeps the cut from being newer."""
    held = f"; held back: {'; '.join(found.held_by)}" if found.held_by else ""
    if found.cut is None or not found.cut.is_reached:
        return f"no cut yet{held}"
    return f"all tables are whole up to {found.cut.text}{held}"


def late_in_words(found: Recorded) -> str:
    """How many events came below a cut, and which cuts can no longer be asked for."""
    broken = f"; no longer to be asked for: {', '.join(found.broken)}" if found.broken else ""
    return f"{counted(found.late, 'event')} came that stand at or below a recorded cut{broken}"


def ahead_in_words(one: CutTable) -> str:
    """How far a table's version is from the cut."""
    if one.keys_ahead is None:
        return "ahead of it by a delete of many rows"
    return f"ahead of it by {counted(one.keys_ahead, 'key')}" if one.keys_ahead else "exactly it"
