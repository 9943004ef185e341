"""Warnings of a format: what it notices in events that it takes all the same. A check of silver counts each of them.

Put here what every warning has in common. Not here: which warnings a format has (``formats`` and ``families``), and the
check that counts them (``expectations``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Undeclared(NamedTuple):
    """What an event mentions and the feed file does not declare, as a warning of it can name it.

    ``column``: the column of the event's images, or of its scope, whose value is the name. ``declared_under``: the key
    of the feed file that declares such names. ``operations``: those of the events that are asked for it.
    """

    column: str
    declared_under: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventWarning:
    """Something that a format notices in events that it takes all the same.

    ``word``: what an event's ``warnings`` hold. ``rule``: the name of the check that counts such events. ``says``: what
    is true of all other events, as a sentence. ``remedy``: what became of such an event, and what a person does.
    ``undeclared``: where the warning is of something that is not declared, how that is named; else None.
    """

    word: str
    rule: str
    says: str
    remedy: str
    undeclared: Undeclared | None = None
