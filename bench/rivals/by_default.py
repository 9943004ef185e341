"""The textbook in a Spark session of defaults: a process of its own, which stays for all turns, as Weir's session does.

``python -m bench.rivals.by_default LANDING`` reads a warehouse's folder from each line of its input, applies the
window's changes there as ``textbook`` does, and answers with a line of seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TextIO

from dagster_pyspark import LazyPySparkResource

from assets.storage.lake import Lake
from bench.aims import DEFAULTS
from bench.made import drops, row
from bench.measuring import OwnTime, say
from bench.rivals import textbook
from orchestration.resources import ROOT
from orchestration.spark.jars import ensure_jars
from orchestration.spark.settings import session_config
from transforms.feed.feed import Feed

NAME = DEFAULTS
"""The competitor's name in the report."""

NEEDED = (
    "spark.app.name",
    "spark.master",
    "spark.driver.host",
    "spark.driver.bindAddress",
    "spark.driver.memory",
    "spark.driver.extraJavaOptions",
    "spark.sql.extensions",
    "spark.sql.catalog.spark_catalog",
    "spark.sql.session.timeZone",
    "spark.sql.warehouse.dir",
    "spark.ui.enabled",
    "spark.ui.showConsoleProgress",
)
"""The settings that stay Weir's, for Delta, the machine, the time zone and what is printed. No other is set."""


class Failed(Exception):
    """The process ended before it answered; its own error is on stderr."""


@dataclass(slots=True)
class ByDefault:
    """The process, from the first turn on."""

    landing: Path
    _process: subprocess.Popen[str] | None = field(default=None)

    def apply(self, warehouse: str) -> OwnTime:
        """Apply the window to the bench's table of this warehouse; returns how long it took.

        Raises:
            Failed: the process ended without an answer.
        """
        process = self._running()
        assert process.stdin is not None and process.stdout is not None  # both are pipes
        print(warehouse, file=process.stdin, flush=True)
        answer = process.stdout.readline()
        if not answer:
            raise Failed(f"{NAME}: the process ended with {process.wait()}")
        return OwnTime(float(answer))

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [
                sys.executable,
                "-m",
                "bench.rivals.by_default",
                str(self.landing.absolute()),
            ]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
            )
        return self._process

    def close(self) -> None:
        """Let the process end; its input does."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


def serve(landing: str, asked: TextIO, answers: TextIO) -> None:
    """Answer each warehouse that is asked for with the seconds that its apply took."""
    settings = {name: value for name, value in session_config(os.environ).items() if name in NEEDED}
    settings["spark.jars"] = ",".join(str(jar) for jar in ensure_jars())
    session = LazyPySparkResource(spark_config=settings)
    # Started before any time is taken.
    say(f"{NAME}: a process with Spark {session.spark_session.version}")
    table = row.table("item")
    feed = Feed("bench", "arcion_s3_json", landing, tables={table.name: table})
    for line in asked:
        lake = Lake(warehouse=line.strip(), pyspark=session)
        started = perf_counter()
        textbook.apply(lake, feed, table, [drops.WINDOW])
        print(perf_counter() - started, file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.stdin, sys.stdout)
