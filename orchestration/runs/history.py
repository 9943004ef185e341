"""Where Dagster keeps the history of runs, so that those of the command line are on the timeline of ``weir ui``.

Put here how that place is found and made. Not here: starting a run (``execute``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import dagster as dg
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from sqlalchemy.exc import DatabaseError

from orchestration.console import say
from orchestration.resources import ROOT
from transforms.errors import HistoryFailed

HOME: Final = "DAGSTER_HOME"

OF_LOCATION: Final = {".dagster/repository": "__repository__@weir"}
"""The tag by which Dagster's pages find a code location's runs: without it a run is in no job."""

_ORIGIN: Final = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("weir"), "__repository__")

_SETTINGS: Final = ROOT / "orchestration" / "dagster.yaml"


def home_of(environment: Mapping[str, str], feeds: Path) -> Path | None:
    """The folder of Dagster's history: ``DAGSTER_HOME``, else ``.dagster`` beside the folder of the feed files.

    So the runs of some feeds are in one history, whoever starts them. None where ``DAGSTER_HOME`` is empty.
    """
    if HOME in environment:
        return Path(environment[HOME]).expanduser().resolve() if environment[HOME] else None
    return feeds.expanduser().resolve().parent / ".dagster"


def make_home(home: Path) -> None:
    """Make the folder where it is missing, and give it Dagster's settings where it has none.

    Raises:
        OSError: it cannot be made or written.
    """
    home.mkdir(parents=True, exist_ok=True)
    settings = home / _SETTINGS.name
    if not settings.exists():
        # Beside it first: half of the settings, where the disk is full, would be those of every run from then on.
        beside = settings.with_suffix(f".{os.getpid()}")
        shutil.copy(_SETTINGS, beside)
        beside.replace(settings)


def open_history(environment: Mapping[str, str], feeds: Path) -> dg.DagsterInstance:
    """Dagster's instance with the history, made where it is missing; with no history, one that is gone afterwards."""
    home = home_of(environment, feeds)
    if home is None:
        return dg.DagsterInstance.ephemeral()
    try:
        make_home(home)
        instance = on_the_timeline(dg.DagsterInstance.from_config(str(home)))
    except (OSError, DatabaseError) as thrown:
        fault = thrown.orig if isinstance(thrown, DatabaseError) else thrown
        say(f"this run is in no history, because {home} cannot be used: {fault}; set {HOME}")
        return dg.DagsterInstance.ephemeral()
    if HOME not in environment:
        say(f"the history of runs is in {home} (set {HOME} for another folder)")
    return instance


@contextmanager
def naming_faults(instance: dg.DagsterInstance) -> Iterator[None]:
    """Say of a history that cannot be written where it is, and what to do.

    Raises:
        HistoryFailed: its database refuses what a run has to write.
    """
    try:
        yield
    except DatabaseError as fault:
        raise HistoryFailed(instance.root_directory, str(fault.orig)) from fault


def on_the_timeline(instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """The same instance, whose new runs have the origin by which Dagster's timeline places them.

    A job that is executed in this process has none, and no public function gives it one: the timeline leaves out
    runs without an origin, whatever their tags.
    """
    create = instance.create_run_for_job

    def with_origin(job_def: dg.JobDefinition, **given: Any) -> dg.DagsterRun:
        origin = RemoteJobOrigin(_ORIGIN, job_def.name)
        return create(job_def=job_def, **{"remote_job_origin": origin, **given})

    instance.create_run_for_job = with_origin  # type: ignore[assignment, method-assign]
    return instance
