"""``weir feeds list``: which feeds there are, as their files declare them. It opens no landing and no table.

Put here how the list reads. Not here: what is wrong with a file (``check``), and how the feeds stand (``cli/status``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestration.cli.feed_files.every_file import FeedFile, every_file
from orchestration.console import put_json, say
from orchestration.sheets import Grid, Sheet

HEADS = ("feed", "format", "window", "tables", "landing")


def list_feeds(folder: Path, *, as_json: bool) -> int:
    """Print a line for each feed; returns the exit code, 2 where a file is wrong."""
    files = every_file(folder, ())
    if as_json:
        put_json([as_facts(one) for one in files])
    else:
        print_list(files)
    wrong = [one.name for one in files if one.feed is None]
    if wrong:
        say(f"wrong: {', '.join(wrong)}. `weir feeds check` says what is wrong.")
    return 2 if wrong else 0


def as_facts(one: FeedFile) -> dict[str, object]:
    """A feed for programs."""
    if one.feed is None:
        return {"feed": one.name, "file": str(one.file), "ok": False}
    return {
        **{"feed": one.name, "file": str(one.file), "ok": True, "format": one.feed.format},
        **{"landing": one.feed.landing, "window": one.feed.window, "files": one.feed.files},
        "tables": {
            name: {"key": [*table.key], "columns": dict(table.columns)}
            for name, table in one.feed.tables.items()
        },
    }


def print_list(files: Sequence[FeedFile]) -> None:
    """Print a line for each feed: of a landing that is long, its end is what tells."""
    table = Grid(is_narrow=True)
    for head in HEADS:
        table.column(head, "anywhere")
    for one in files:
        if one.feed is None:
            table.row(one.name, "(wrong)", "-", "-", "-")
            continue
        names = ", ".join(one.feed.tables) or "as the stream says"
        table.row(one.name, one.feed.format, one.feed.window, names, _short(one.feed.landing))
    Sheet().grid(table)


def _short(landing: str) -> str:
    """A folder below the one where the command was called is named from there."""
    path = Path(landing)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    return landing
