"""A machine of its own, as a process: ``python -m tests.faults.machine``. It brings what is due to gold, without Spark.

It knows the places between reading and writing, counts how often it comes to each, and stands still at one of them when
it is told to: by SIGSTOP, which nothing in a process can answer, so that its threads stand still, too.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from assets.bronze import from_objects
from assets.storage import in_process_table
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from orchestration.runs import planning
from orchestration.spark import on_first_use
from tests.faults.drawn import feed_of
from tests.faults.worker import note, steps_of
from transforms.errors import TableBusy
from transforms.feed.feed import Feed

READ, LOOK, COMMIT = "read", "look", "commit"
"""It has read the landing's objects; it is about to look at its leases; it has looked, and commits."""

HELD = "held"
"""Behind a place: wait there for the test's word, and go on renewing; otherwise the process stops."""


class Places:
    """The places that the process comes to, each with how often it has been there: ``commit.3``."""

    def __init__(self, journal: Path, stop_at: str) -> None:
        self.journal, self.word = journal, journal.with_suffix(".on")
        self.stop_at, _, self.way = stop_at.partition(":")
        self.been: Counter[str] = Counter()

    def come_to(self, kind: str) -> None:
        """Write down that the process is here, and stop where it is told to."""
        self.been[kind] += 1
        here = f"{kind}.{self.been[kind]}"
        note(self.journal, here)
        if here != self.stop_at:
            return
        if self.way == HELD:
            while not self.word.exists():
                time.sleep(0.01)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)
        note(self.journal, "woke")

    def watch(self, module: ModuleType, name: str, kind: str, *, after: bool = False) -> None:
        """Make the product's function come to a place before it does its work, or after."""
        does: Callable[..., object] = vars(module)[name]

        def watched(*arguments: object, **named: object) -> object:
            if after:
                result = does(*arguments, **named)
                self.come_to(kind)
                return result
            self.come_to(kind)
            return does(*arguments, **named)

        vars(module)[name] = watched


def bring(lake: Lake, feed: Feed, journal: Path, patience: float) -> None:
    """Bring all windows that are due to gold; like Dagster's steps, each tries again while another is at its table.

    ``patience``: for so many seconds.
    """
    deadline = time.monotonic() + patience
    while due := planning.due(lake, feed).windows:
        for layer, step in steps_of(lake, feed, due).items():
            note(journal, layer)
            while True:
                try:
                    step()
                    break
                except TableBusy as busy:
                    if time.monotonic() > deadline:
                        raise
                    print(busy, flush=True)
                    time.sleep(0.3)
    note(journal, "done")


@contextmanager
def no_spark() -> Iterator[None]:
    """So few events need no session, which would take longer than all the rest."""
    raise AssertionError("a small window has started Spark")
    yield


def main(warehouse: str, landing: str, host: str, plan: str, journal: str, go: str) -> None:
    """Be ready, and begin at the test's word.

    ``host``: the name of the machine. ``plan``: where it stops (``read.1``, or ``-``), for how many seconds it
    tries again, and ``spark`` where it may start a session.
    """
    stop_at, patience, *allowed = plan.split()
    socket.gethostname = lambda: host
    if not allowed:
        vars(on_first_use)["starting"] = no_spark
    places = Places(Path(journal), stop_at)
    places.watch(from_objects, "read_in_process", READ, after=True)
    places.watch(in_process_table, "check_leases", LOOK)
    places.watch(in_process_table, "write_deltalake", COMMIT)
    feed, lake = feed_of(landing), lake_of(warehouse)
    planning.due(lake, feed)
    note(Path(journal), "ready")
    while not Path(go).exists():
        time.sleep(0.01)
    bring(lake, feed, Path(journal), float(patience))


if __name__ == "__main__":
    main(*sys.argv[1:])
