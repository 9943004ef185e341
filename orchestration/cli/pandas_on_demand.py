"""pyarrow without pandas until somebody asks for a frame: a question at the command line needs none.

pyarrow looks for pandas when it makes its first array, and importing it takes longer than most answers. Where pyarrow
finds none, it looks again as soon as a table is to become a frame, so that nothing is lost by it.
Put here only this.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Leave every other module to the finders behind this one."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def put_off() -> None:
    """Let pyarrow make its first array while there is no pandas, unless pandas is there already."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
