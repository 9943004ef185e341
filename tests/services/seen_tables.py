"""What a catalogue says of a table, asked by a test in its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A table as a catalogue shows it.

    ``columns``: of each the name, the type in SQL and the comment. ``key``: None where the catalogue has no keys.
    ``changed_at``: when it was last written, as the catalogue has it.
    """

    location: str
    comment: str
    columns: Sequence[tuple[str, str, str]]
    properties: Mapping[str, str]
    key: Sequence[str] | None
    changed_at: str
