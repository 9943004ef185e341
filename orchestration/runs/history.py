"""Where Dagster keeps the history of runs, so that those of the command line are on the timeline of ``make ui``.

Put here how that place is found and made. Not here: starting a run (``execute``).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import dagster as dg

from orchestration.console import say
from orchestration.resources import ROOT

HOME: Final = "DAGSTER_HOME"

OF_LOCATION: Final = {".dagster/repository": "__repository__@weir"}
"""The tag by which Dagster's pages find a code location's runs: without it a run is on no timeline and in no job."""

_SETTINGS: Final = ROOT / "orchestration" / "dagster.yaml"


def home_of(environment: Mapping[str, str], root: Path = ROOT) -> Path | None:
    """The folder of Dagster's history: ``DAGSTER_HOME``, else the one that ``make ui`` uses; None where it is empty.

    A Weir that is no checkout, and so has no ``make``, keeps it where programs keep their state.
    """
    if HOME in environment:
        return Path(environment[HOME]).expanduser().resolve() if environment[HOME] else None
    if (root / "Makefile").is_file():
        return root / ".dagster"
    state = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "weir" / "dagster"


def open_history(environment: Mapping[str, str]) -> dg.DagsterInstance:
    """Dagster's instance with the history, made where it is missing; with no history, one that is gone afterwards."""
    home = home_of(environment)
    if home is None:
        return dg.DagsterInstance.ephemeral()
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not (home / _SETTINGS.name).exists():
            shutil.copy(_SETTINGS, home)
        instance = dg.DagsterInstance.from_config(str(home))
    except OSError as fault:
        say(f"this run is in no history, because {home} cannot be used: {fault}; set {HOME}")
        return dg.DagsterInstance.ephemeral()
    if HOME not in environment:
        say(f"the history of runs is in {home} (set {HOME} for another folder)")
    return instance
