"""What a run imports sooner or later, imported at once by the process that runs are forked from (``warm_start``)."""

from __future__ import annotations

import atexit
import gc
from importlib import import_module
from multiprocessing import util
from typing import Final

from orchestration.runs.history import know_migrations

NEEDED: Final = (
    "orchestration.definitions",
    "dagster._grpc.impl",
    # What Dagster and the libraries import no sooner than they use it.
    "dagster._daemon.auto_run_reexecution.auto_run_reexecution",
    "pandas",
    "pyarrow.dataset",
    "pygal",
    "sqlalchemy.dialects.sqlite",
    "structlog",
    "upath",
)

for _name in NEEDED:
    import_module(_name)

know_migrations()

# A collector that looked through all of this would copy the memory that runs share.
gc.collect()
gc.freeze()


def _end_as_python_does(_: object) -> None:
    """Do at the end of a forked process what waits for Python's end: it ends without it otherwise."""
    util.Finalize(None, atexit._run_exitfuncs, exitpriority=-100)


util.register_after_fork(_end_as_python_does, _end_as_python_does)
