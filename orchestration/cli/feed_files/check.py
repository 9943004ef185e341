"""``weir feeds check``: every fault of every feed file at once, and whether the landings can be reached.

Put here how the answer reads. Not here: what is checked (``orchestration/feeds``), and the look at a landing
(``assets/landing/probing``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assets.landing.probing import Probe, probe
from assets.wording import counted
from orchestration.cli.feed_files.every_file import FeedFile, every_file
from orchestration.console import put_json, put_lines, say, waiting
from transforms.errors import FeedMisdeclared, WeirError

_AT = re.compile(r"line (\d+), column (\d+): ")
_LINE = re.compile(r"line (\d+)")


def check(folder: Path, only: Sequence[str], *, probes: bool, as_json: bool) -> int:
    """Print what is wrong with the feed files, or a line for each that is sound; returns the exit code.

    Args:
        folder: the feed files.
        only: the feeds that are asked for; all where none is named.
        probes: whether the landings are looked at, too.
        as_json: print it for programs.
    """
    files = every_file(folder, only)
    found: Mapping[str, Probe] = {}
    if probes and any(one.feed for one in files):
        say("looking at the landings")
        with waiting("looking at the landings"):
            found = probed(files)
    if as_json:
        put_json([facts(one, found.get(one.name)) for one in files])
    else:
        for one in files:
            put_lines(lines(one, found.get(one.name)))
    wrong = [one for one in files if one.faults]
    unreachable = [name for name, one in found.items() if one.fault]
    if wrong or unreachable:
        parts = [f"{counted(len(wrong), 'feed file')} with faults"] if wrong else []
        parts += [f"{counted(len(unreachable), 'landing')} not readable"] if unreachable else []
        say(", ".join(parts))
        return 2
    return 0


def probed(files: Sequence[FeedFile]) -> dict[str, Probe]:
    """The look at the landing of each sound feed, several at a time, by the feed's name."""
    feeds = [one.feed for one in files if one.feed is not None]
    with ThreadPoolExecutor(8) as pool:
        return dict(zip([one.name for one in feeds], pool.map(probe, feeds), strict=True))


def lines(one: FeedFile, found: Probe | None) -> list[str]:
    """A line for each fault with its place, or one line for a feed that is sound."""
    if one.feed is None:
        return [in_a_line(one, fault) for fault in one.faults]
    tables = tables_in_words(one)
    landing = "" if found is None else f"; landing {found.in_words()}"
    is_good = found is None or found.fault is None
    return [f"{one.name}: {'ok' if is_good else 'error'}, {one.feed.format}, {tables}{landing}"]


def in_a_line(one: FeedFile, fault: WeirError) -> str:
    """A fault as compilers write theirs: file, line and column first."""
    place = place_of_fault(fault)
    at = f":{place[0]}:{place[1]}" if place else ""
    return f"{one.file}{at}: {words(one, fault)}"


def words(one: FeedFile, fault: WeirError) -> str:
    """What is wrong, without the place."""
    return _AT.sub("", str(fault).removeprefix(f"{one.file}: "), count=1)


def place_of_fault(fault: WeirError) -> tuple[int, int] | None:
    """Line and column of a fault, where they are known."""
    if not isinstance(fault, FeedMisdeclared):
        return None
    if found := _AT.search(str(fault)):
        return int(found[1]), int(found[2])
    # Of what is no YAML only the line is known.
    line = _LINE.fullmatch(fault.key)
    return None if line is None else (int(line[1]), 1)


def tables_in_words(one: FeedFile) -> str:
    """How many tables the feed file declares."""
    count = 0 if one.feed is None else len(one.feed.tables)
    return counted(count, "table") if count else "no table declared"


def facts(one: FeedFile, found: Probe | None) -> dict[str, object]:
    """The same for programs."""
    faults = [
        {
            "line": place[0] if (place := place_of_fault(fault)) else None,
            "column": place[1] if place else None,
            "key": fault.key if isinstance(fault, FeedMisdeclared) else None,
            "fault": words(one, fault),
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
