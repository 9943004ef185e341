"""``make bench``: one command, one run. Progress goes to stderr, the table to stdout, every figure to a JSON file."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import click

from bench import report
from bench.answers import judging
from bench.answers.appliers import all_appliers, found_rows
from bench.answers.judging import Judgements
from bench.finding import Finding
from bench.lines.wanted import ASKED_FOR, LINES, wanted_lines
from bench.made.restoring import Workspace
from bench.measuring import measured, peak_resident, say
from bench.others.environments import FOLDER
from bench.others.scripts import TOOLS, pythons_of
from bench.sizes import SCALES, Sizes
from orchestration.resources import ROOT, lake_of


def machine() -> dict[str, object]:
    """Cores, memory, versions and the commit."""
    return {
        "cores": os.cpu_count(),
        "memory GB": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "pyspark": version("pyspark"),
        "delta-spark": version("delta-spark"),
        "commit": _commit(),
    }


def _commit() -> str | None:
    """The short hash, with a plus where the tree has changes; None outside a clone."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude", "*"]
    try:
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return answer.stdout.strip() or None


def run(
    folder: Path, sizes: Sizes, wanted: Sequence[str], environments: Path, json_file: Path
) -> str:
    """Measure in this folder; the JSON file has what is measured so far after each line, for some take an hour.

    Args:
        folder: Where drops and tables go.
        sizes: How much work the lines are.
        wanted: The names of the lines.
        environments: The folder of the other tools' environments.
        json_file: The file that gets every figure.

    Returns:
        The table as Markdown.
    """
    taken_on = machine()
    work = Workspace(folder, lake_of(str(folder)))
    spark = work.session.spark
    taken_on["driver memory"] = spark.conf.get("spark.driver.memory")
    findings: list[Finding] = []
    judged: Judgements = {}

    def keep() -> None:
        figures = report.as_json(findings, taken_on, asdict(sizes))
        figures["answers"] = judging.as_json(judged)
        json_file.write_text(json.dumps(figures, indent=2) + "\n")

    if "answers" in wanted:
        every = all_appliers(work, pythons_of(TOOLS, environments))
        judged = judging.judgements(found_rows(folder / "answers", every))
        keep()
    for line in wanted_lines(work, sizes, wanted, environments):
        findings.append(Finding.of(line, measured(spark, line, sizes.repeats)))
        resident = peak_resident(spark)
        taken_on["peak resident MB of Java"] = resident and round(resident / 2**20)
        keep()
    return report.table(findings, taken_on, judged)


@click.command(name="bench")
@click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    default="small",
    show_default=True,
    help="How much work.",
)
@click.option(
    "--rows", type=click.IntRange(min=100), help="Rows of the table that changes go into."
)
@click.option("--changes", type=click.IntRange(min=10), help="Changes applied to it in one window.")
@click.option("--tables", type=click.IntRange(min=1), help="Small tables in one window.")
@click.option(
    "--repeats", type=click.IntRange(min=1), help="Timed turns; one more before them is a warm-up."
)
@click.option(
    "--shrunk",
    type=click.IntRange(min=1),
    help="By how many the sizes of growth curves are divided (full scale: 1, small: 100).",
)
@click.option("--seed", type=int, help="What the drops are drawn from.")
@click.option(
    "--line",
    "wanted",
    type=click.Choice((*LINES, *ASKED_FOR)),
    multiple=True,
    help=f"Only this line. Lines that run only if they are named: {', '.join(ASKED_FOR)}.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where drops and tables go while it runs (default: the system's folder for temporary files).",
)
@click.option(
    "--environments",
    type=click.Path(file_okay=False, path_type=Path),
    default=FOLDER,
    help="Where the other tools' environments are kept (default: .bench-environments).",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("bench.json"),
    show_default=True,
    help="The file that gets every figure.",
)
def bench(
    scale: str,
    wanted: tuple[str, ...],
    folder: Path | None,
    environments: Path,
    json_file: Path,
    **given: int | None,
) -> None:
    """Time Weir against the textbook's way and against the least that any way has to do, on drops drawn from a seed."""
    numbers = {name: number for name, number in given.items() if number is not None}
    sizes = replace(SCALES[scale], **numbers)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="weir-bench-", dir=folder) as name:
        table = run(Path(name), sizes, wanted or LINES, environments, json_file)
    click.echo(table)
    say(f"every figure is in {json_file}")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        bench()
