"""A holder of the Spark session that starts it on first use; importing it and passing it on costs no time.

A question at the command line is answered without Spark. dagster-pyspark, and Dagster with it, takes a second to
import, so that it is imported when a session is needed, or Dagster asks for its resource.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from orchestration.spark.session import WeirSpark


# What every JVM of Spark prints though nothing is wrong, kept off the terminal.


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


starting: Callable[[], AbstractContextManager[None]] = without_notices
"""What surrounds the start of a session. Commands set it, to say that Spark starts: many commands never start it."""


@dataclass(frozen=True)
class SparkOnFirstUse:
    """A session that starts when it is first asked for; see ``session.WeirSpark`` for the arguments."""

    spark_config: Mapping[str, Any]
    s3a: bool = False

    @cached_property
    def resource(self) -> WeirSpark:
        """The resource of dagster-pyspark that starts it."""
        from orchestration.spark.session import WeirSpark

        return WeirSpark(spark_config=dict(self.spark_config), s3a=self.s3a)

    @property
    def spark_session(self) -> SparkSession:
        """The session."""
        session: SparkSession = self.resource.spark_session
        return session
