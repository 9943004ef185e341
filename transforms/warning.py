"""What a format may notice in events that it takes all the same: a warning counts them.

Not here: which warnings a format has (``formats`` and ``families``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventWarning:
    """Something that a format notices in events that are taken all the same: a warning counts them.

    ``word`` is what stands in ``warnings``; ``rule`` names the truth that it breaks; ``says`` is that truth, ``remedy``
    what to do where it does not hold.
    """

    word: str
    rule: str
    says: str
    remedy: str
