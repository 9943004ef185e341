"""The other tools' modules, each run by the Python of its tool."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from bench.others import environments

DELTA_RS, DLT, DUCKDB, PAIMON = "delta-rs", "dlt", "DuckDB", "Paimon"
TOOLS = {DELTA_RS: "delta_rs", DLT: "dlt_merge", DUCKDB: "duckdb_merge", PAIMON: "paimon"}
"""The modules by the names that the tools have in the report."""

SETTINGS = {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
"""Without these dlt reports every run to its makers, and warns of things that are intended."""

Step = tuple[str, Path, Path]
"""Its name (``prepare``, ``merge`` or ``export``), what is read, and what is written."""


def pythons_of(tools: Iterable[str], environments_in: Path) -> dict[str, Path]:
    """The Pythons of these tools, from environments in this folder, which are made where they are missing.

    Raises:
        environments.NoEnvironment: the packages of a tool cannot be had.
    """
    return {tool: environments.python(TOOLS[tool], environments_in) for tool in tools}


def run_steps(tool: str, python: Path, folder: Path, *steps: Step) -> float:
    """Let a tool take these steps in a process of its own, in this folder; returns the seconds of the merges.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    # Isolated: PYTHONPATH lends it no module.
    script = environments.SCRIPTS / "steps.py"
    words = [str(word) for step in steps for word in step]
    # dlt leaves an id of the user where it keeps its data, even if it reports to nobody: not in the user's home.
    answer = subprocess.run(
        [str(python), "-I", str(script), TOOLS[tool], *words],
        cwd=folder,
        env=kept | SETTINGS | {"DLT_DATA_DIR": str(folder / "data_of_dlt")},
        stdout=subprocess.PIPE,
        check=False,
    )
    # Threads of a tool may end its process in a crash when everything is done and printed.
    if not answer.stdout.endswith(b"}\n"):
        answer.check_returncode()
    return float(json.loads(answer.stdout.splitlines()[-1])["seconds"])
