"""Steps that Dagster tries again after a fault that may pass; requests to a store: ``assets/storage/patience.py``."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, TypeVar, cast

import dagster as dg

from assets.storage.step_faults import passes
from transforms.errors import TableBusy, TablesFailed

WAITS = (3.0, 9.0, 27.0)
"""How many seconds a step waits before each further try, or longer where another's lease ends later."""

Step = TypeVar("Step", bound=Callable[..., Any])


def retried(step: Step) -> Step:
    """A step that Dagster tries again after a fault that may pass: below ``@dg.multi_asset``."""
    if isgeneratorfunction(step):

        @wraps(step)
        def results(context: dg.AssetExecutionContext, **resources: object) -> Iterator[Any]:
            try:
                yield from step(context, **resources)
            except Exception as fault:
                request_again(context, fault)
                raise

        return cast("Step", results)

    @wraps(step)
    def result(context: dg.AssetExecutionContext, **resources: object) -> object:
        try:
            return step(context, **resources)
        except Exception as fault:
            request_again(context, fault)
            raise

    return cast("Step", result)


def request_again(context: dg.AssetExecutionContext, fault: Exception) -> None:
    """Ask Dagster to try the step again after a while; nothing where that would not help, or was done often enough.

    Raises:
        RetryRequested: Dagster's own, which it takes for that.
    """
    done = context.retry_number
    if not passes(fault) or done >= len(WAITS):
        return
    seconds = seconds_to_wait(fault, done)
    context.log.warning(f"{fault} Tried again in {seconds:g} s ({done + 1} of {len(WAITS)}).")
    raise dg.RetryRequested(len(WAITS), seconds) from fault


def seconds_to_wait(fault: BaseException | None, done: int) -> float:
    """How many seconds a step waits after so many tries: at least until the lease of a dead machine would end."""
    if isinstance(fault, TablesFailed):
        return seconds_to_wait(fault.__cause__, done)
    # A second is the store's own rounding.
    lease = fault.seconds + 1 if isinstance(fault, TableBusy) and fault.seconds else 0.0
    return max(WAITS[done], lease)
