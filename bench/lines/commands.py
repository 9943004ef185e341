"""Lines of whole commands: ``weir`` in a process of its own, from its start to its end.

Put here how a command is run and timed. Not here: which commands (``small_window``, ``demo``).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.measuring import Line, Prepared

WEIR = Path(sys.executable).parent / "weir"


def line_of_command(name: str, size: int, unit: str, weir: Callable[[], Prepared]) -> Line:
    """A line of one command, which is a process of its own: nothing is warm, and no job can be counted."""
    return Line(name, size, unit, {"weir": weir}, is_warm=True, is_process=True)


def run_weir(*words: str) -> None:
    """Run ``weir`` to its end.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "DAGSTER_", "PYSPARK_"))
    }
    subprocess.run([WEIR, *words], env=plain, check=True, stdout=subprocess.DEVNULL)
