"""Runs begin in a process with everything imported: Dagster's code server forks them from one that has nothing else.

Dagster starts a fresh Python for each run, which imports Dagster, Weir and their libraries before it does anything:
several seconds, and most of the time of a small window. Here the code server has a process beside it that has imported
them once, and done nothing more: it has read no feed, and opened no file and no connection. Each run is forked from it,
and reads the feed files as a fresh process would. Everything else stays Dagster's own: how a run is told to stop, how
its end is noticed, what is logged.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from functools import wraps
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from typing import Any, Final

IMPORTED: Final = "orchestration.runs.imported_for_runs"
"""The module that imports what a run needs."""


ASKED: Final = ("StartRun", "ExternalSensorExecution", "SyncExternalSensorExecution")
"""What a code server is asked that has runs to start, or will have: others need no process to fork from."""


def fork_runs() -> None:
    """Let the code server that this process is fork its runs; nothing where it is none, or where none can fork."""
    grpc: Any = sys.modules.get("dagster._grpc.server")
    if grpc is None or "forkserver" not in multiprocessing.get_all_start_methods():
        return
    server = grpc.DagsterApiServer
    if hasattr(server, "forks_runs"):
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([IMPORTED])
    for name in ASKED:
        setattr(server, name, _forking(getattr(server, name), context))
    server.forks_runs = True


def _forking(answer: Callable[..., object], context: ForkServerContext) -> Callable[..., object]:
    @wraps(answer)
    def answered(server: Any, *call: object) -> object:
        # Dagster has no setting for it: its server keeps here how it starts the processes of runs.
        assert hasattr(server, "_mp_ctx"), "this Dagster starts the processes of runs otherwise"
        server._mp_ctx = context
        # Does not wait: what is imported may be needed soon.
        forkserver.ensure_running()
        return answer(server, *call)

    return answered
