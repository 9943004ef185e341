"""Great Expectations, imported on first use: the import takes seconds, which a run without need of it does not spend.

Needed is it for the expectations that feed files declare, and for Data Docs. The built-in rules are counted in the
passes that write the tables, and judged without it (``rule``).

Put here how it is imported. Not here: what is asked of it (``suites``, ``data_docs``).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


def import_gx() -> ModuleType:
    """Great Expectations, imported on the first call; from more than one thread, too. It reports to nobody."""
    # Unless somebody has chosen otherwise, it would tell its maker over the network that it is used.
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with _IMPORTING, _known_main():
        import great_expectations
    return great_expectations


_IMPORTING = threading.Lock()


@contextmanager
def _known_main() -> Iterator[None]:
    """Give the main module a file while Great Expectations is imported, where it has none.

    Importing Great Expectations imports pyspark's connect package. Where ``__main__`` has no ``__file__``, pyspark
    believes it is in a doctest, and exits if an optional package is missing. Runs that Dagster's daemon launches have
    such a ``__main__``.
    """
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "dagster"
    try:
        yield
    finally:
        del main.__file__
