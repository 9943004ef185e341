"""Lines of whole commands: ``weir`` in a process of its own, from its start to its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, thread_time
from typing import IO

from bench.measuring import Line, OwnTime, Prepared, say

WEIR = Path(sys.executable).parent / "weir"


def line_of_command(name: str, size: int, unit: str, weir: Callable[[], Prepared]) -> Line:
    """A line of one command, which is a process of its own: nothing is warm, and no job can be counted."""
    return Line(name, size, unit, {"weir": weir}, is_warm=True, is_process=True)


def run_weir(*words: str) -> None:
    """Run ``weir`` to its end.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    with tempfile.TemporaryFile() as said:
        ended = subprocess.run([WEIR, *words], env=_plain(), check=False, stdout=said)
        _judge(ended.returncode, words, said)


def watch_weir(*words: str, settings: Mapping[str, str]) -> OwnTime:
    """Run ``weir`` to its end with these settings of the environment, and look again and again at the memory it holds.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    started, most = perf_counter(), 0
    # Its processes are found by their group, those that Spark has started included.
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [WEIR, *words],
            env={**_plain(), **settings},
            stdout=said,
            start_new_session=True,
        ) as process,
    ):
        while process.poll() is None:
            began = thread_time()
            most = max(most, _resident(process.pid))
            # A look at a large process is a good part of a second's work: it must not slow down what it times.
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.2, 50 * (thread_time() - began)))
        _judge(process.returncode, words, said)
    return OwnTime(perf_counter() - started, most or None)


def _judge(code: int, words: Sequence[str], said: IO[bytes]) -> None:
    """Raise where the command has failed; what is wrong with data stands in its answer, so that is shown then."""
    if code:
        said.seek(0)
        say(said.read().decode(errors="replace"))
        raise subprocess.CalledProcessError(code, [WEIR, *words])


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
