"""Which faults may pass by themselves, so that the same is worth another try.

Put here the kinds of faults that pass. Not here: how faults get their kind (``delta/store_faults``, ``s3``,
``landing``), and how a step is tried again (``retries``).
"""

from __future__ import annotations

from assets.delta.lease_object import LeaseLost
from assets.task_errors import WorkerLost
from transforms.errors import TableBusy, TablesFailed, WarehouseFailed
from transforms.landing_away import LandingAway

_PASSING = (LandingAway, LeaseLost, TableBusy, WarehouseFailed, WorkerLost)


def passes(fault: BaseException | None) -> bool:
    """Whether the same may work a little later, though nobody does anything."""
    if isinstance(fault, TablesFailed):
        return passes(fault.__cause__)
    return isinstance(fault, _PASSING)
