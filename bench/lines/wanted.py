"""The lines that are asked for, each prepared when it is its turn."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from bench.growth import day, objects, requests, rows, tables, windows
from bench.lines import (
    checks,
    compacting,
    demo,
    drop_to_gold,
    late_events,
    nothing_new,
    one_table,
    small_tables,
    small_window,
    snapshots,
)
from bench.made.restoring import Workspace
from bench.measuring import Line
from bench.others import environments
from bench.sizes import Sizes

LINES = (
    *("ingest", "apply", "again", "nothing", "snapshot", "tables", "late", "checks"),
    *("window", "process", "lake", "demo", "sensor"),
)
GROWTH: Mapping[str, Callable[[Workspace, Sizes], Iterator[Line]]] = MappingProxyType(
    {
        "grow-rows": rows.lines_of_rows,
        "grow-tables": tables.lines_of_tables,
        "grow-windows": windows.lines_of_windows,
        "grow-objects": objects.lines_of_objects,
        "grow-day": day.lines_of_a_day,
        "grow-requests": requests.lines_of_requests,
    }
)
"""Curves by name."""

ASKED_FOR = ("answers", "others", "compact", *GROWTH)
"""Lines that run only when they are named: tools have to be downloaded for them, or they take hours at full scale."""


def wanted_lines(
    work: Workspace,
    sizes: Sizes,
    wanted: Sequence[str],
    environments_in: Path = environments.FOLDER,
) -> Generator[Line, None, None]:
    """The lines whose names are ``wanted``. Close it where not all are taken: a process may be waiting.

    Args:
        work: Where drops and tables go, and the Spark session.
        sizes: How much work the lines are.
        wanted: Names of ``LINES`` and ``ASKED_FOR``.
        environments_in: The folder of the other tools' environments.
    """
    if set(wanted) & {*one_table.NAMES, "others"}:
        yield from one_table.lines_of_one_table(work, sizes, wanted, environments_in)
    if "snapshot" in wanted:
        yield snapshots.line_of_snapshots(work, sizes)
    if "compact" in wanted:
        yield from compacting.lines_of_compaction(work, sizes)
    if "tables" in wanted:
        yield small_tables.line_of_small_tables(work, sizes)
    if "late" in wanted:
        yield from late_events.lines_of_late_events(work, sizes)
    if "checks" in wanted:
        yield checks.line_of_checks(work, sizes)
    if set(wanted) & {*small_window.NAMES}:
        yield from small_window.lines_of_small_window(work, sizes, wanted)
    if "lake" in wanted:
        yield from nothing_new.lines_of_nothing_new(work, sizes)
    if "demo" in wanted:
        yield from demo.lines_of_demo(work)
    if "sensor" in wanted:
        yield from drop_to_gold.lines_of_drop_to_gold(work, sizes)
    for name, lines in GROWTH.items():
        if name in wanted:
            yield from lines(work, sizes)
