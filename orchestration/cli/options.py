"""The options that commands share, and the values that they become."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assets.executors.choice import EXECUTORS
from assets.picked_ids import PickedIds

FEEDS = click.option(
    "--feeds",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: os.environ.get("WEIR_FEEDS", "feeds"),
    show_default="$WEIR_FEEDS, else ./feeds",
    help="The folder of feed files.",
)
WAREHOUSE = click.option(
    "--warehouse",
    default=lambda: os.environ.get("WEIR_WAREHOUSE", "warehouse"),
    show_default="$WEIR_WAREHOUSE, else ./warehouse",
    help="Where the tables are: a folder, or s3://bucket/prefix.",
)
EXECUTOR = click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    show_default="$WEIR_EXECUTOR, else auto",
    help="Who does the work: spark for all of it, however little there is; in-process for all that this process can"
    " do, however much memory it takes; auto for whichever is faster, by size.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON, for programs.")
WHY = "Why, for whoever reads decisions.<feed> later"
BY = click.option("--by", metavar="NAME", help="Who decides this. By default your user's name.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works: the folder of feed files, and the warehouse.

    ``executor``: who does the work there; None for what the environment says.
    """

    feeds: Path
    warehouse: str
    executor: str | None = None


def of_feeds(command: Callable[..., None]) -> Callable[..., None]:
    """A command of all feeds, or of those that are named, with ``--feed`` or without, which come as ``only``."""

    @click.argument("named", nargs=-1, metavar="[FEED]...")
    @click.option("--feed", "only", multiple=True, metavar="NAME", help="Only this feed, as FEED.")
    @wraps(command)
    def chosen(named: tuple[str, ...], only: tuple[str, ...], **others: Any) -> None:
        command(only=(*named, *only), **others)

    return chosen


def in_place(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options ``--feeds`` and ``--warehouse``, which come as one ``place``."""

    @FEEDS
    @WAREHOUSE
    @wraps(command)
    def placed(feeds: Path, warehouse: str, executor: str | None = None, **others: Any) -> None:
        command(place=Place(feeds, warehouse, executor), **others)

    return placed


def in_place_by(command: Callable[..., None]) -> Callable[..., None]:
    """``in_place`` with the option ``--executor``, too, which is part of the ``place``."""
    return in_place(EXECUTOR(command))


def with_picked_ids(
    all_help: str, reason_help: str = f"{WHY}.", metavar: str | None = None
) -> Callable[..., Callable[..., None]]:
    """A command of a FEED that takes ids, ``--all`` and ``--reason``, which come as one ``picked``."""

    def declared(command: Callable[..., None]) -> Callable[..., None]:
        @click.argument("feed")
        @click.argument("ids", nargs=-1, metavar=metavar)
        @click.option("--all", "everything", is_flag=True, help=all_help)
        @click.option("--reason", help=reason_help)
        @in_place
        @wraps(command)
        def chosen(place: Place, feed: str, ids: tuple[str, ...], **others: Any) -> None:
            picked = PickedIds(ids, others.pop("everything"), others.pop("reason"))
            command(place, feed, picked, **others)

        return chosen

    return declared
