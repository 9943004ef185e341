"""``weir demo``: sample drops and their feed files laid out in a folder and run, and what to try next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from orchestration.cli.options import EXECUTOR, Place
from orchestration.cli.run import run
from orchestration.console import put_lines, say
from orchestration.resources import ROOT
from orchestration.spark.java import check_java


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    show_default="the folder you are in",
    help="Where the sample drops, their feed files and the tables go.",
)
@EXECUTOR
def demo_command(folder: Path, executor: str | None) -> None:
    """Lay out sample drops and their feed files, bring them to gold, and say what to try next.

    `make run` does this in the project's own folder. Files that exist already are kept as they are.
    """
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
    sys.exit(code)


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
