"""Faults that end a step: which may pass by themselves, and the one error for several tables that failed."""

from __future__ import annotations

from collections.abc import Mapping

from transforms.display import hanging
from transforms.errors import (
    LandingAway,
    LeaseLost,
    TableBusy,
    TablesFailed,
    WarehouseFailed,
    WeirError,
    WorkerLost,
)

_PASSING = (LandingAway, LeaseLost, TableBusy, WarehouseFailed, WorkerLost)


def passes(fault: BaseException | None) -> bool:
    """Whether the same may work a little later, though nobody does anything."""
    if isinstance(fault, TablesFailed):
        return passes(fault.__cause__)
    return isinstance(fault, _PASSING)


def refuse_failed_tables(feed: str, faults: Mapping[str, Exception]) -> None:
    """End the step, if any table failed, after all of them were tried.

    Raises:
        TablesFailed: Some tables failed; it names each of them. Its cause is the first error that is not Weir's own, or
            the first that does not pass by itself, or else the first.
        WeirError: A single table failed, with an error of Weir's own, which names the table.
    """
    unexpected = [fault for fault in faults.values() if not isinstance(fault, WeirError)]
    if len(faults) == 1 and not unexpected:
        raise next(iter(faults.values()))
    if faults:
        failed = TablesFailed(feed, {name: fault_in_words(fault) for name, fault in faults.items()})
        lasting = [fault for fault in faults.values() if not passes(fault)]
        raise failed from next(iter([*unexpected, *lasting, *faults.values()]))


def fault_in_words(fault: Exception) -> str:
    """The message of an error, with its type where it is not Weir's own, since such a message may be short."""
    if isinstance(fault, WeirError):
        return str(fault)
    return hanging(f"{type(fault).__name__}: {fault}")
