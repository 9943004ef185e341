"""Runs the commands of the README as a person would: as processes, in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.forked_weir import folder_of_weir

LONG = 1200
WEIR = str(Path(sys.executable).parent / "weir")
"""The installed one, which imports by itself what it needs."""


@dataclass(frozen=True)
class Done:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


def inherited() -> dict[str, str]:
    """The environment of the tests' own process, without what it has there for Weir."""
    own = ("WEIR_", "AWS_", "DAGSTER_", "PYSPARK_", "MAKE")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def command(folder: Path, *words: str) -> Done:
    """Run a command in ``folder``."""
    done = subprocess.run(
        words,
        cwd=folder,
        env=inherited(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def weir(folder: Path, *words: str) -> Done:
    """Run ``weir`` in ``folder``."""
    return command(folder, str(folder_of_weir() / "weir"), *words)
