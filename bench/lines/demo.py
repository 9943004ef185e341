"""``weir demo`` and ``weir verify`` of what it made: what a newcomer waits for.

There is no competitor here: the figures are compared with those of earlier versions.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from bench.lines.commands import line_of_command, run_weir
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared
from orchestration.resources import ROOT


def lines_of_demo(work: Workspace) -> Iterator[Line]:
    """``weir demo`` in a new folder, and once more there, when nothing is new; then gold is proved."""
    folder = work.folder / "demo"
    objects = sum(1 for file in ROOT.joinpath("demo").rglob("*") if file.is_file())

    def first() -> Prepared:
        shutil.rmtree(folder, ignore_errors=True)
        return lambda: run_weir("demo", "--folder", str(folder))

    def second() -> Prepared:
        return lambda: run_weir("demo", "--folder", str(folder))

    def verified() -> Prepared:
        words = (
            "verify",
            "--feeds",
            str(folder / "feeds"),
            "--warehouse",
            str(folder / "warehouse"),
        )
        return lambda: run_weir(*words)

    yield line_of_command("the demo, first time", objects, "objects", first)
    yield line_of_command("the demo, second time", objects, "objects", second)
    yield line_of_command("weir verify of the demo", objects, "objects", verified)
