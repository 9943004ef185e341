"""What the figures were taken on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version

from orchestration.resources import ROOT


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
