"""What ends a step in which some of a feed's gold tables failed: each was tried, and the others are done.

Not here: what is tried (``apply_feed``, ``compaction``).
"""

from __future__ import annotations

from collections.abc import Mapping

from transforms.errors import TablesFailed, WeirError


def refuse(feed: str, faults: Mapping[str, Exception]) -> None:
    """End the step, if any table failed.

    Raises:
        TablesFailed: with the name of each. A single error of Weir's own names its table, and is raised as it is; one
            that is none of Weir's is the cause of what is raised, with all that Python knows of it.
    """
    strange = [one for one in faults.values() if not isinstance(one, WeirError)]
    if len(faults) == 1 and not strange:
        raise next(iter(faults.values()))
    if faults:
        told = TablesFailed(feed, {name: in_words(one) for name, one in faults.items()})
        raise told from next(iter(strange), None)


def in_words(fault: Exception) -> str:
    """What an error says; of one that is none of Weir's own also of what kind it is, for its words may be few."""
    return str(fault) if isinstance(fault, WeirError) else f"{type(fault).__name__}: {fault}"
