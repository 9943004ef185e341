"""A small window of more and more tables in a bucket: how many requests the store gets, of which kinds, and the time.

The store is the S3 server that the tests run, on this machine: it answers within a millisecond, a real bucket within
tens of them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

from bench.lines.appliers import feed_of
from bench.lines.commands import line_of_command, watch_weir
from bench.lines.small_window import declare
from bench.made import drops, row
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared
from bench.sizes import Sizes
from tests.services.seaweed import Store, running_store

TABLES = (1, 5, 20)
"""So few that no window needs Spark, at every scale."""

CHANGES = 10

BUCKET = "bench"

_COUNT = re.compile(r'^SeaweedFS_s3_request_total\{.*type="(\w+)".*\} ([\d.e+]+)$', re.MULTILINE)


def lines_of_requests(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line for each number of tables: ``weir run`` of a window, into tables that are there already."""
    # The folder of the bench may have a path too long for a socket.
    with tempfile.TemporaryDirectory(prefix="weir-") as at, running_store(Path(at)) as store:
        store.put(BUCKET, {})
        for tables in TABLES:
            counts: dict[str, int] = {}
            runs = _runs(work.folder / f"requests_{tables}", store, tables, sizes.seed, counts)
            title = f"requests of a window, {tables:,} tables"
            yield replace(line_of_command(title, tables, "tables", runs), counts=counts)


def _runs(
    folder: Path, store: Store, tables: int, seed: int, counts: dict[str, int]
) -> Callable[[], Prepared]:
    """Prepares a warehouse with the window before; ``counts`` gets the requests of the timed run."""
    names = drops.small_names(tables)
    settings, turns = store.environment(), iter(range(1_000_000))

    def prepare() -> Prepared:
        turn = folder / str(next(turns))
        landing, later = turn / "landing", turn / drops.WINDOW
        drops.lay_small(landing, names, seed, CHANGES)
        window = landing / drops.WINDOW.replace("T", "/")
        shutil.move(window, later)
        declare(turn / "feeds", feed_of(landing, [row.table(name) for name in names]))
        warehouse = f"s3a://{BUCKET}/{tables}_{turn.name}"
        words = ("run", "--feeds", str(turn / "feeds"), "--warehouse", warehouse)
        watch_weir(*words, settings=settings)
        shutil.move(later, window)

        def run() -> object:
            before = requests(store)
            took = watch_weir(*words, settings=settings)
            counts.clear()
            counts.update(requests(store) - before)
            return took

        return run

    return prepare


def requests(store: Store) -> Counter[str]:
    """How many requests the store has had since it started, by what was asked of it, as the store counts them."""
    found: Counter[str] = Counter()
    with urlopen(store.metrics, timeout=10) as answer:
        for kind, number in _COUNT.findall(answer.read().decode()):
            found[kind] += int(float(number))
    return found
