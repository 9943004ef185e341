"""The scripts of the other tools, each run by the Python of its tool."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from bench.others import environments

DELTA_RS, DLT, DUCKDB = "delta-rs", "dlt", "DuckDB"
TOOLS = {DELTA_RS: "delta_rs", DLT: "dlt_merge", DUCKDB: "duckdb_merge"}
"""The scripts by the names that the tools have in the report."""

SETTINGS = {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
"""Without these dlt reports every run to its makers, and warns of things that are intended."""


def run_script(python: Path, script: str, folder: Path, *words: str) -> dict[str, float]:
    """Run a tool's script to its end, in this folder; returns the numbers that it printed, by name.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which is on stderr.
    """
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    # Isolated: neither this checkout nor PYTHONPATH lends it a module.
    command = [str(python), "-I", str(environments.SCRIPTS / f"{script}.py"), *words]
    # dlt leaves an id of the user where it keeps its data, even if it reports to nobody: not in the user's home.
    settings = kept | SETTINGS | {"DLT_DATA_DIR": str(folder / "data_of_dlt")}
    answer = subprocess.run(command, cwd=folder, env=settings, stdout=subprocess.PIPE, check=False)
    # Threads of a tool may end its process in a crash when everything is done and printed.
    if not answer.stdout.endswith(b"}\n"):
        answer.check_returncode()
    numbers: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return numbers
