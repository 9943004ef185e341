"""The options that commands share, and the values that they become.

Not here: options of a single command (``main``, ``decisions``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

FEEDS = click.option(
    "--feeds",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: os.environ.get("WEIR_FEEDS", "feeds"),
    show_default="$WEIR_FEEDS, else ./feeds",
    help="Folder of feed files.",
)
WAREHOUSE = click.option(
    "--warehouse",
    default=lambda: os.environ.get("WEIR_WAREHOUSE", "warehouse"),
    show_default="$WEIR_WAREHOUSE, else ./warehouse",
    help="Where the tables are: a folder, or s3://bucket/prefix.",
)
FEED = click.option(
    "--feed", "only", multiple=True, metavar="NAME", help="Only this feed; may be repeated."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works: the folder of feed files, and the warehouse."""

    feeds: Path
    warehouse: str


def in_place(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options ``--feeds`` and ``--warehouse``, which come as one ``place``."""

    @FEEDS
    @WAREHOUSE
    @wraps(command)
    def placed(feeds: Path, warehouse: str, **told: Any) -> None:
        command(place=Place(feeds, warehouse), **told)

    return placed
