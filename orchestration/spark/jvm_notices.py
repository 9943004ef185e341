"""What every JVM of Spark prints though nothing is wrong, kept off the terminal.

Put here what silences Java itself, and Spark's Python workers, for which Java speaks. Not here: what Weir prints
(``orchestration/console``), and log4j's settings (``log4j2.properties`` beside this file).
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

NOTICES = (
    b"WARNING: Using incubator modules",
    b'Setting default log level to "',
    b"To adjust logging level use sc.setLogLevel",
)
"""How the lines begin that every JVM of Spark prints as it starts and that no setting turns off."""

_TRACEBACK = b"Traceback (most recent call last):"
_OF_THE_DAEMON = re.compile(rb' +File "[^"]*pyspark/daemon\.py", line \d+, in (manager|worker)\s*$')
_BROKEN = b"BrokenPipeError: "


@contextmanager
def without_notices() -> Iterator[None]:
    """Start a JVM within: it writes to standard error through a filter that drops these lines.

    The JVM keeps the filter for its whole life; this process has its own standard error back afterwards.
    """
    if sys.stderr is None:
        # Whoever started this process has closed it: there is nothing to filter.
        yield
        return
    sys.stderr.flush()
    reader, writer = os.pipe()
    own = os.dup(2)
    lines, out = os.fdopen(reader, "rb"), os.fdopen(os.dup(own), "wb", buffering=0)
    os.dup2(writer, 2)
    os.close(writer)
    threading.Thread(target=_pass_on, args=(lines, out), daemon=True).start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(own, 2)
        os.close(own)


def _pass_on(lines: IO[bytes], out: IO[bytes]) -> None:
    with lines, out:
        for line in _without_ends_of_workers(lines):
            if not line.startswith(NOTICES):
                # A full disk may have room again for what comes later.
                with suppress(OSError):
                    out.write(line)


def _without_ends_of_workers(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without what an idle Python worker prints when Java closes its connection, as it does with all of them.

    It tells Java of its end, and by a Unix socket that fails where nobody is left to read. Two of them may speak at
    once, and the JVM may end amid such lines.
    """
    held: list[bytes] = []
    ends = 0
    for line in lines:
        is_within = bool(held or ends)
        # From Python 3.13 on a frame has its source below it.
        of_a_frame = _OF_THE_DAEMON.match(line) or line.startswith(b"    ")
        if line.startswith(_TRACEBACK) or (is_within and of_a_frame):
            held.append(line)
        elif line.startswith(_BROKEN) and is_within:
            ends = max(0, ends + sum(one.startswith(_TRACEBACK) for one in held) - 1)
            held.clear()
        else:
            yield from held
            held.clear()
            ends = 0
            yield line
