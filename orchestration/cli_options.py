"""The options that commands share."""

from __future__ import annotations

import os
from pathlib import Path

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
