"""``weir ui``: Dagster's pages and daemon for the feeds of a folder, with the history that their runs share."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Final, NoReturn

import click

from orchestration.cli import session
from orchestration.cli.options import Place, in_place
from orchestration.console import say
from orchestration.resources import ROOT
from orchestration.runs.history import HOME, home_of, make_home
from orchestration.spark.settings import warehouse_uri
from orchestration.web.process_group import become
from transforms.errors import SettingMisdeclared


@click.command("ui")
@in_place
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=3000,
    show_default=True,
    help="The pages are at this port of 127.0.0.1.",
)
def ui_command(place: Place, port: int) -> None:
    """Open Dagster's pages for the feeds of a folder, with the daemon that runs schedules, sensors and backfills.

    The history of runs is in the folder that DAGSTER_HOME names, else in `.dagster` beside the folder of feed files,
    where `weir run` keeps its own. Ctrl-C, or SIGTERM, ends all that is started, a run that is under way included:
    start it again, and it goes on.
    """
    ui(place, port)


ADDRESS: Final = "127.0.0.1"


def ui(place: Place, port: int) -> NoReturn:
    """Show the pages until this process is told to end."""
    feeds = place.feeds.expanduser().resolve()
    names = [feed.name for feed in session.choose(feeds, ())]
    warehouse = warehouse_uri(place.warehouse)
    home = _made_home(feeds)
    _refuse_taken(port)
    say(f"feeds: {session.some(names)}, of {feeds}")
    say(f"warehouse: {warehouse}")
    say(f"history of runs: {home}")
    say(f"pages: http://{ADDRESS}:{port}, in half a minute; Ctrl-C ends them")
    places = {"WEIR_FEEDS": str(feeds), "WEIR_WAREHOUSE": warehouse, HOME: str(home)}
    # Dagster would have its successor called in place of the command that is behind this one.
    become(_dev_command(port), {**os.environ, **places, "PYTHONWARNINGS": "ignore:Function"})


def _made_home(feeds: Path) -> Path:
    home = home_of(os.environ, feeds)
    if home is None:
        raise SettingMisdeclared(HOME, "", "pages show a history; name its folder, or unset this")
    try:
        make_home(home)
    except OSError as fault:
        said = f"it cannot be used: {fault}; name another folder"
        raise SettingMisdeclared(HOME, str(home), said) from None
    return home


def _dev_command(port: int) -> list[str]:
    options = ["-w", str(ROOT / "workspace.yaml"), "-h", ADDRESS, "-p", str(port)]
    # Nothing in the folder that somebody is in stands in for Weir's own code (-P).
    return [sys.executable, "-P", "-m", "orchestration.web.dev", *options]


def _refuse_taken(port: int) -> None:
    with socket.socket() as tried:
        # As the web server will: a port is free again as soon as whoever had it is gone.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, port))
        except OSError as fault:
            said = f"{fault.strerror}; another `weir ui` may be there: name another port, such as {port + 1}"
            raise SettingMisdeclared("--port", str(port), said) from None
