"""``weir feeds``: every fault of every feed file at once (``check``), and which feeds there are (``list``)."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from assets.landing.probe import Probe, probe_landing
from assets.wording import counted
from orchestration.cli.options import FEEDS, JSON
from orchestration.console import put_json, put_lines, say, waiting
from orchestration.feeds.load import load_feed, named_files
from orchestration.sheets import Grid, Sheet
from transforms.errors import FeedFaults, FeedMisdeclared, WeirError
from transforms.feed.feed import Feed


@click.group("feeds")
def feeds_command() -> None:
    """Check and list the feed files, without Spark."""


@feeds_command.command("check", short_help="Name every fault of every feed file at once.")
@click.argument("only", nargs=-1, metavar="[NAME]...")
@FEEDS
@click.option(
    "--probe/--no-probe",
    "probes",
    default=True,
    show_default=True,
    help="Whether to look at the landings, too: can they be read, and what lies there.",
)
@JSON
def check_feeds_command(only: tuple[str, ...], feeds: Path, probes: bool, as_json: bool) -> None:
    """Name every fault of every feed file at once, with file, line and column.

    A feed that is sound is one line, with what a quick look at its landing found. Exits with 2 where a file is wrong or
    a landing cannot be read.
    """
    sys.exit(check_feeds(feeds, only, probes=probes, as_json=as_json))


@feeds_command.command("list", short_help="List the feeds: format, landing, window, tables.")
@FEEDS
@JSON
def list_feeds_command(feeds: Path, as_json: bool) -> None:
    """List the feeds with format, window, tables and landing, as their files declare them."""
    sys.exit(list_feeds(feeds, as_json=as_json))


@dataclass(frozen=True, slots=True)
class FeedFile:
    """One feed file: the feed that it declares, or what is wrong with it."""

    name: str
    file: Path
    feed: Feed | None
    faults: tuple[WeirError, ...] = ()


def every_file(folder: Path, only: Sequence[str]) -> list[FeedFile]:
    """The feed files of a folder, or those named, in the order of their names."""
    files = named_files(folder.expanduser().resolve(), only)
    return [_read_file(name, file) for name, file in files.items()]


def _read_file(name: str, file: Path) -> FeedFile:
    try:
        return FeedFile(name, file, load_feed(file))
    except FeedFaults as several:
        return FeedFile(name, file, None, several.faults)
    except WeirError as fault:
        return FeedFile(name, file, None, (fault,))


_AT = re.compile(r"line (\d+), column (\d+): ")
_LINE = re.compile(r"line (\d+)")


def check_feeds(folder: Path, only: Sequence[str], *, probes: bool, as_json: bool) -> int:
    """Print what is wrong with the feed files, or a line for each that is sound; returns the exit code."""
    files = every_file(folder, only)
    found: Mapping[str, Probe] = {}
    if probes and any(one.feed for one in files):
        say("looking at the landings")
        feeds = [one.feed for one in files if one.feed is not None]
        with waiting("looking at the landings"), ThreadPoolExecutor(8) as pool:
            found = dict(
                zip((one.name for one in feeds), pool.map(probe_landing, feeds), strict=True)
            )
    if as_json:
        put_json([check_facts(one, found.get(one.name)) for one in files])
    else:
        for one in files:
            put_lines(check_lines(one, found.get(one.name)))
    wrong = [one for one in files if one.faults]
    unreachable = [name for name, one in found.items() if one.fault]
    if wrong or unreachable:
        parts = [f"{counted(len(wrong), 'feed file')} with faults"] if wrong else []
        parts += [f"{counted(len(unreachable), 'landing')} not readable"] if unreachable else []
        say(", ".join(parts))
        return 2
    return 0


def check_lines(one: FeedFile, found: Probe | None) -> list[str]:
    """A line for each fault with its location, or one line for a feed that is sound."""
    if one.feed is None:
        return [in_a_line(one, fault) for fault in one.faults]
    count = len(one.feed.tables)
    tables = counted(count, "table") if count else "no table declared"
    landing = "" if found is None else f"; landing {found.in_words()}"
    is_good = found is None or found.fault is None
    return [f"{one.name}: {'ok' if is_good else 'error'}, {one.feed.format}, {tables}{landing}"]


def in_a_line(one: FeedFile, fault: WeirError) -> str:
    """A fault as compilers write theirs: file, line and column first."""
    location = location_of_fault(fault)
    at = f":{location[0]}:{location[1]}" if location else ""
    return f"{one.file}{at}: {fault_in_words(one, fault)}"


def fault_in_words(one: FeedFile, fault: WeirError) -> str:
    """What is wrong, without the location."""
    return _AT.sub("", str(fault).removeprefix(f"{one.file}: "), count=1)


def location_of_fault(fault: WeirError) -> tuple[int, int] | None:
    """Line and column of a fault, where they are known."""
    if not isinstance(fault, FeedMisdeclared):
        return None
    if found := _AT.search(str(fault)):
        return int(found[1]), int(found[2])
    # Of what is no YAML only the line is known.
    line = _LINE.fullmatch(fault.key)
    return None if line is None else (int(line[1]), 1)


def check_facts(one: FeedFile, found: Probe | None) -> dict[str, object]:
    """The same for programs."""
    faults = [
        {
            "line": location[0] if (location := location_of_fault(fault)) else None,
            "column": location[1] if location else None,
            "key": fault.key if isinstance(fault, FeedMisdeclared) else None,
            "fault": fault_in_words(one, fault),
        }
        for fault in one.faults
    ]
    known: dict[str, object] = {"feed": one.name, "file": str(one.file), "faults": faults}
    known["ok"] = not faults and (found is None or found.fault is None)
    if found is not None:
        known["landing"] = {
            "reachable": found.fault is None,
            "fault": found.fault,
            "drops": None if found.fault else found.drops,
            "all_listed": found.is_all,
            "newest": found.newest.isoformat() if found.newest else None,
            "left_out": found.left_out,
            "without_date": found.without_date,
        }
    return known


def list_feeds(folder: Path, *, as_json: bool) -> int:
    """Print a line for each feed; returns the exit code, 2 where a file is wrong."""
    files = every_file(folder, ())
    if as_json:
        put_json([feed_facts(one) for one in files])
    else:
        print_list(files)
    wrong = [one.name for one in files if one.feed is None]
    if wrong:
        say(f"wrong: {', '.join(wrong)}. `weir feeds check` says what is wrong.")
    return 2 if wrong else 0


def feed_facts(one: FeedFile) -> dict[str, object]:
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
    """Print a line for each feed."""
    table = Grid(is_narrow=True)
    for head in ("feed", "format", "window", "tables", "landing"):
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
