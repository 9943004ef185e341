"""``make bench``: one command, one run. Progress goes to stderr, the table to stdout, every figure to a JSON file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import click

from bench import report
from bench.lines import ASKED_FOR, LINES, lines
from bench.machine import machine
from bench.made.restoring import Workspace
from bench.measuring import measured, peak_resident, say
from bench.others import environments as others
from bench.report import Finding
from bench.sizes import SCALES, Sizes
from orchestration.resources import lake_of


def run(
    folder: Path, sizes: Sizes, wanted: Sequence[str], environments: Path
) -> tuple[str, dict[str, object]]:
    """Measure in this folder; returns the table and what goes into the JSON file."""
    found_on = machine()
    work = Workspace(folder, lake_of(str(folder)))
    spark = work.session.spark
    findings = [
        Finding.of(line, measured(spark, line, sizes.repeats))
        for line in lines(work, sizes, wanted, environments)
    ]
    resident = peak_resident(spark)
    found_on["driver memory"] = spark.conf.get("spark.driver.memory")
    found_on["peak resident MB of Java"] = resident and round(resident / 2**20)
    return report.table(findings, found_on), report.as_json(findings, found_on, asdict(sizes))


@click.command(name="bench")
@click.option("--scale", type=click.Choice(list(SCALES)), default="small", show_default=True)
@click.option("--rows", type=click.IntRange(min=100), help="of the table that changes go into")
@click.option("--changes", type=click.IntRange(min=10), help="applied to it in one window")
@click.option("--tables", type=click.IntRange(min=1), help="small ones, in one window")
@click.option("--repeats", type=click.IntRange(min=1), help="that count; one more is a warm-up")
@click.option("--seed", type=int, help="of the drops")
@click.option(
    "--line",
    "wanted",
    type=click.Choice((*LINES, *ASKED_FOR)),
    multiple=True,
    help=f"only this one ({', '.join(ASKED_FOR)}: only if named, for it downloads)",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="where drops and tables go while it runs (default: the system's folder for such files)",
)
@click.option(
    "--environments",
    type=click.Path(file_okay=False, path_type=Path),
    default=others.FOLDER,
    help="where other tools' environments are kept (default: .bench-environments)",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("bench.json"),
    show_default=True,
)
def bench(
    scale: str,
    wanted: tuple[str, ...],
    folder: Path | None,
    environments: Path,
    json_file: Path,
    **given: int | None,
) -> None:
    """Time Weir against the textbook and against the floor, on drops that are made from a seed."""
    numbers = {name: number for name, number in given.items() if number is not None}
    sizes = replace(SCALES[scale], **numbers)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="weir-bench-", dir=folder) as name:
        table, found = run(Path(name), sizes, wanted or LINES, environments)
    json_file.write_text(json.dumps(found, indent=2) + "\n")
    click.echo(table)
    say(f"every figure is in {json_file}")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        bench()
