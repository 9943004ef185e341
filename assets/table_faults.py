"""What ends a step in which some of a feed's gold tables failed: each was tried, and the others are done.

Not here: what is tried (``feed_gold``, ``compaction``).
"""

from __future__ import annotations

from collections.abc import Mapping

from transforms.errors import SeveralTablesFailed, WeirError


def refuse(feed: str, faults: Mapping[str, Exception]) -> None:
    """End the step, if any table failed.

    Raises:
        SeveralTablesFailed: there are several; the error of a single one is raised as it is, and so is one that is none
            of Weir's, with all that Python knows of it.
    """
    for fault in faults.values():
        if len(faults) == 1 or not isinstance(fault, WeirError):
            raise fault
    if faults:
        raise SeveralTablesFailed(feed, {name: str(one) for name, one in faults.items()})
