"""What every JVM of Spark prints as it starts, kept off the terminal.

Put here what silences Java itself. Not here: what Weir prints (``orchestration/console``), and log4j's settings
(``log4j2.properties`` beside this file).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

NOTICES = (
    b"WARNING: Using incubator modules",
    b'Setting default log level to "',
    b"To adjust logging level use sc.setLogLevel",
)
"""How the lines begin that every JVM of Spark prints as it starts and that no setting turns off."""


@contextmanager
def without_notices() -> Iterator[None]:
    """Start a JVM within: it writes to standard error through a filter that drops these lines.

    The JVM keeps the filter for its whole life; this process has its own standard error back afterwards.
    """
    sys.stderr.flush()
    reader, writer = os.pipe()
    own = os.dup(2)
    os.dup2(writer, 2)
    os.close(writer)
    lines, out = os.fdopen(reader, "rb"), os.fdopen(own, "wb", buffering=0)
    threading.Thread(target=_pass_on, args=(lines, out), daemon=True).start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(own, 2)


def _pass_on(lines: IO[bytes], out: IO[bytes]) -> None:
    with lines, out:
        for line in lines:
            if not line.startswith(NOTICES):
                out.write(line)
