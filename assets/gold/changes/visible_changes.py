"""One change of a gold table that counts, as this process holds it, and where it came from, for reports.

Put here how a change is held. Not here: how silver is read (``silver_parts``), and which of its rows count
(``silver_files``).
"""

from __future__ import annotations

from typing import NamedTuple

from transforms.gold.change import Change, Key
from transforms.gold.scopes import Scoped


class Place(NamedTuple):
    """Where a change came from, for reports: what the source did, and the window, object and line that hold it."""

    operation: str
    window: str
    object: str
    line: int


class Visible(NamedTuple):
    """One change of the table that counts, at its position; ``is_new``: the run brings it, or has released it.

    ``key``: None for a scoped change. ``scoped``: None for a change of one key.
    """

    key: Key | None
    stream: str | None
    change: Change
    scoped: Scoped | None
    place: Place
    is_new: bool
