"""Lines of whole commands: ``weir`` in a process of its own, from its start to its end.

Put here how a command is run and timed. Not here: which commands (``small_window``, ``demo``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from bench.measuring import Line, OwnTime, Prepared

WEIR = Path(sys.executable).parent / "weir"


def line_of_command(name: str, size: int, unit: str, weir: Callable[[], Prepared]) -> Line:
    """A line of one command, which is a process of its own: nothing is warm, and no job can be counted."""
    return Line(name, size, unit, {"weir": weir}, is_warm=True, is_process=True)


def run_weir(*words: str) -> None:
    """Run ``weir`` to its end.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    subprocess.run([WEIR, *words], env=_plain(), check=True, stdout=subprocess.DEVNULL)


def watch_weir(*words: str, settings: Mapping[str, str]) -> OwnTime:
    """Run ``weir`` to its end with these settings of the environment, and look again and again at the memory it holds.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    started, most = perf_counter(), 0
    # Its processes are found by their group, those that Spark has started included.
    with subprocess.Popen(
        [WEIR, *words],
        env={**_plain(), **settings},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        while process.poll() is None:
            began = perf_counter()
            most = max(most, _resident(process.pid))
            # A look at a large process takes the kernel a good part of a second: it must not slow down what it times.
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.2, 50 * (perf_counter() - began)))
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, [WEIR, *words])
    return OwnTime(perf_counter() - started, most or None)


def _plain() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "DAGSTER_", "PYSPARK_"))
    }


def _resident(session: int) -> int:
    """The memory of all processes of a session, in bytes, what they share counted once; 0 where there is no /proc."""
    kilobytes = 0
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end between two looks.
        with suppress(OSError):
            if os.getsid(int(folder.name)) == session:
                found = re.search(r"^Pss:\s+(\d+) kB", (folder / "smaps_rollup").read_text(), re.M)
                kilobytes += int(found[1]) if found else 0
    return kilobytes * 1024
