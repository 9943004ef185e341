"""Dagster as docs/deploy.md starts it: its history in a Postgres, pages and daemon as processes of their own."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import environ
from pathlib import Path
from typing import Final

from tests.journeys.server import START_SECONDS, Server, end, is_ready
from tests.services.kafka import free_ports
from tests.services.postgres import USER, Postgres

DATABASE: Final = "dagster_history"


def page_of(root: Path) -> str:
    """What the page says."""
    return (root / "docs/deploy.md").read_text(encoding="utf-8")


def block(page: str, kind: str, word: str) -> str:
    """The one block of this kind that has the word."""
    (found,) = [
        body
        for body in re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        if word in body
    ]
    return str(found)


@contextmanager
def deployed(
    root: Path, folder: Path, postgres: Postgres, settings: Mapping[str, str]
) -> Iterator[Server]:
    """Both processes, as the page has them, with everything that it says in their environment.

    ``folder`` gets Dagster's home and the log; ``settings`` are those of Weir and of the store.
    """
    page = page_of(root)
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text(block(page, "yaml", "postgres_db"))
    postgres.run(f"CREATE DATABASE {DATABASE}")
    (port,) = free_ports(1)
    environment = {
        **environ,
        "DAGSTER_HOME": f"{folder / 'dagster'}",
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_PORT": f"{postgres.port}",
        "DAGSTER_PG_USER": USER,
        "DAGSTER_PG_PASSWORD": "none",
        "DAGSTER_PG_DB": DATABASE,
        "PYTHONPATH": f"{root}",
        "PYTHONWARNINGS": "ignore",
        **settings,
    }
    promised = set(re.findall(r"^(\w+)=", block(page, "ini", "DAGSTER_PG_HOST"), re.MULTILINE))
    assert promised <= {*environment}
    server = Server(f"http://127.0.0.1:{port}", folder / "dagster", folder, folder / "log")
    with ExitStack() as ended, server.log.open("wb") as log:
        ended.callback(postgres.run, f"DROP DATABASE {DATABASE} WITH (FORCE)")
        for line in block(page, "bash", "weir-daemon").splitlines()[1:]:
            program, *words = shlex.split(line.replace("3000", f"{port}"))
            process = subprocess.Popen(
                [Path(sys.executable).with_name(Path(program).name), *words],
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            ended.callback(end, process)
        deadline = time.monotonic() + START_SECONDS
        while not is_ready(server):
            assert time.monotonic() < deadline, server.said
            time.sleep(1)
        yield server


def bring(server: Server, feed: str, tables: list[str], window: str) -> None:
    """Ask the pages for a backfill of one window of a feed to gold, and wait until the daemon has run it."""
    layers = ("bronze", "silver", "quarantine", "progress")
    assets = [[layer, feed, f"{feed}_{layer}"] for layer in layers]
    assets += [["gold", feed, name + end] for name in tables for end in ("", "__tombstones")]
    assert server.backfilled(assets, window).status == "COMPLETED_SUCCESS", server.said
