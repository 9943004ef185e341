"""The checks that a developer runs all day (``make check``; ``make lint`` runs them without the tests).

They are style, format, types, imports and the quick tests.

A line per step says how it went and how long it took; what a tool says is shown only where it found something. The
steps run side by side, and each runs whatever becomes of the others, so that one look tells all that is to be done.

``python -m tests.check style types`` runs these two, and without names all are run. The exit code is 0 where all went
well, and 1 otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

BIN: Final = Path(sys.executable).parent
WITHOUT: Final = ("spark", "services", "journey", "slow", "long")
"""Marks of the tests that are left to ``make test``."""
LAW_HISTORIES: Final = "40"
"""Used instead of 2,000 (``make test``)."""

STEPS: Final[Mapping[str, Sequence[str]]] = {
    "style": (f"{BIN / 'ruff'}", "check", "."),
    "format": (f"{BIN / 'ruff'}", "format", "--check", "."),
    "types": (f"{BIN / 'mypy'}",),
    "imports": (f"{BIN / 'lint-imports'}",),
    "tests": (
        *(sys.executable, "-m", "pytest", "-q", "-rfE"),
        *("-n", os.environ.get("WORKERS") or "2", "--dist", "worksteal"),
        *("-m", " and ".join(f"not {mark}" for mark in WITHOUT)),
        "--hypothesis-profile=quick",
    ),
}

_ASIDE: Final = re.compile(
    r"^[.FEsxX]+ +\[ *\d+%\]\n|^bringing up nodes\.+\n|^=+ laws =+\n(?:\w+: .*\n)+", re.MULTILINE
)
"""What pytest says of how far it is and of what it has counted: no part of what is wrong."""


@dataclass(frozen=True)
class Step:
    """A tool at work: what it says goes to a file, so that it never waits for a reader."""

    name: str
    process: subprocess.Popen[str]
    said: IO[str]
    began: float

    @classmethod
    def start(cls, name: str) -> Step:
        """Start the tool of this name."""
        # Open as long as the step runs, which no block of this function is.
        said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        process = subprocess.Popen(
            STEPS[name],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
        )
        return cls(name, process, said, time.monotonic())

    def lines(self) -> list[str]:
        """What the tool has said of what is wrong."""
        self.said.seek(0)
        return _ASIDE.sub("", self.said.read()).strip("\n").splitlines()


def environment() -> dict[str, str]:
    """The environment variables of the tools: those of this process, with two changes."""
    variables = {"WEIR_LAW_HISTORIES": LAW_HISTORIES, **os.environ}
    # pytest's work on the tests' files takes seconds of each process where it may not be kept until the next time.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def result_line(step: Step, seconds: float) -> str:
    """Say in one line how a step went, with the tool's own last words where it went well."""
    lines = [line for line in step.lines() if line.strip()]
    went_well = step.process.returncode == 0
    words = lines[-1].strip(" =") if went_well and lines else ""
    return f"{'ok' if went_well else 'FAILED':8}{step.name:9}{seconds:5.1f} s  {words}".rstrip()


def check(names: Iterable[str]) -> list[str]:
    """Run these steps, tell how each went as it ends, and give the names of those that failed."""
    running = [Step.start(name) for name in names]
    failed = []
    try:
        while running:
            ended = [step for step in running if step.process.poll() is not None]
            for step in ended:
                running.remove(step)
                print(result_line(step, time.monotonic() - step.began), flush=True)
                if step.process.returncode:
                    failed.append(step.name)
                    print("", *(f"    {line}".rstrip() for line in step.lines()), "", sep="\n")
                step.said.close()
            time.sleep(0.02)
    finally:
        for step in running:
            step.process.terminate()
            step.process.wait()
    return failed


def main(names: Sequence[str]) -> int:
    """Run the steps of these names, or all of them."""
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        print(f"error: no step {', '.join(unknown)}: there are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    try:
        failed = check(names or STEPS)
    except KeyboardInterrupt:
        return 130
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
