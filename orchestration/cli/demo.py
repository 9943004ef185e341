"""``weir demo``: sample drops and their feed files laid out in a folder and run, and what to try next."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from orchestration.cli.options import Place
from orchestration.cli.run import run
from orchestration.console import put_lines, say
from orchestration.resources import ROOT
from orchestration.spark.java import check_java


def demo(folder: Path, executor: str | None = None) -> int:
    """Lay out the sample drops and their feed files in ``folder`` and run them; returns the exit code."""
    check_java()
    folder = folder.resolve()
    drops = lay_out(ROOT / "demo", folder / "landing")
    lay_out(ROOT / "feeds", folder / "feeds")
    there = f"laid out {drops} sample drops in" if drops else "the sample drops are in"
    say(f"{there} {folder / 'landing'}")
    warehouse = os.environ.get("WEIR_WAREHOUSE", str(folder / "warehouse"))
    code = run(Place(folder / "feeds", warehouse, executor), (), None)
    if code == 0:
        put_lines(what_next(folder, warehouse).splitlines())
    return code


def lay_out(source: Path, target: Path) -> int:
    """Copy every file of a folder that the other does not have yet; returns how many."""
    copied = 0
    for file in sorted(source.rglob("*")):
        copy = target / file.relative_to(source)
        if file.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copied += 1
    return copied


def what_next(folder: Path, warehouse: str) -> str:
    """What to try next, with commands that can be copied from the terminal as they are."""
    program = ".venv/bin/weir" if Path(".venv/bin/weir").exists() else "weir"
    is_default = Path(warehouse) == Path("warehouse").resolve() or "WEIR_WAREHOUSE" in os.environ
    where = "" if is_default else f" --warehouse {shlex.quote(warehouse)}"
    is_here = folder.resolve() == Path.cwd().resolve() or "WEIR_FEEDS" in os.environ
    feeds = "" if is_here else f" --feeds {shlex.quote(str(folder / 'feeds'))}"
    return NEXT.format(program=program, where=where, feeds=feeds)


NEXT = """\
Try next:
  {program} query{where} "SELECT * FROM gold.shop.customers ORDER BY id"
  {program} quarantine list{where} shop     # records that could not be taken, and why
  {program} ui{feeds}{where}     # the same runs in Dagster, on 127.0.0.1:3000
  README.md, "Sources", says how to point Weir at your own drops"""
