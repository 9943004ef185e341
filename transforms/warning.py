"""Warnings of a format: what it notices in events that it takes all the same. A check of silver counts each of them.

Put here what every warning has in common. Not here: which warnings a format has (``formats`` and ``families``), and the
check that counts them (``expectations``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventWarning:
    """Something that a format notices in events that it takes all the same.

    ``word``: what an event's ``warnings`` hold. ``rule``: the name of the check that counts such events. ``says``: what
    is true of all other events, as a sentence. ``remedy``: what became of such an event, and what a person does.
    """

    word: str
    rule: str
    says: str
    remedy: str
