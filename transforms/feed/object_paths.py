"""Which table an object's path names, and whether an object's name fits a glob.

Names are relative to the landing, with ``/`` between segments. Put here what a path says of tables. Not here: what it
says of time (``windows``), tables that records name themselves (``formats``), and what gold calls a table
(``table_names``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from transforms.feed.feed import Table

_EXTENSION = re.compile(
    r"\.(?:gz|gzip|json|jsonl|ndjson|csv|tsv|txt|avro|parquet)$", re.IGNORECASE | re.ASCII
)
_PART_NUMBER = re.compile(r"_\d+$", re.ASCII)
_TRAILING_DATE = re.compile(r"[_.-]\d{4}-\d{2}-\d{2}(?:T\d{2})?$", re.ASCII)
_TIME_SEGMENT = re.compile(
    r"\d{4}([-_.]?)\d{2}\1\d{2}(?:[T_-]?\d[\d:_-]*Z?)?|\d{2}([-_.])\d{2}\2\d{4}|\d{4}|\d{2}"
    r"|(?:dt|date|year|yyyy|y|month|mm|m|day|dd|d|hour|hr|hh|h|run)=.*",
    re.ASCII,
)


def table_of_object(object_name: str, tables: Mapping[str, Table]) -> str:
    """The declared table that the path names, or else the name that the path suggests.

    A table's declared ``path`` comes first; then the file's name and the folders, nearest first, of which the first
    that is a declared table's name wins; else the nearest folder, else the file's name.
    """
    for name, table in tables.items():
        if table.path is not None and matches(object_name, table.path):
            return name
    known = {name: name for name in tables} | {
        old: name for name, table in tables.items() for old in table.was
    }
    *folders, file = object_name.split("/")
    stem = _without_extensions(file)
    for candidate in (stem, _PART_NUMBER.sub("", stem), _without_date(stem)):
        if declared := _declared(candidate, folders, known):
            return declared
    named = [at for at, folder in enumerate(folders) if not _TIME_SEGMENT.fullmatch(folder)]
    for at in reversed(named):
        if declared := _declared(folders[at], folders[:at], known):
            return declared
    nearest = next((folders[at] for at in reversed(named) if folders[at]), None)
    return nearest or _PART_NUMBER.sub("", stem)


def _without_extensions(file: str) -> str:
    stem = file
    while (shorter := _EXTENSION.sub("", stem)) not in {stem, ""}:
        stem = shorter
    return stem


def _without_date(stem: str) -> str:
    return _PART_NUMBER.sub("", _TRAILING_DATE.sub("", _PART_NUMBER.sub("", stem)))


def _declared(candidate: str, above: list[str], known: Mapping[str, str]) -> str | None:
    """The declared table that has, or once had, this name, full or in its last part.

    Where several end alike (``a.region``, ``b.region``), the folders above have to say which; none is guessed.
    """
    if candidate in known:
        return known[candidate]
    alike = [name for name in known if name.rpartition(".")[2] == candidate]
    if len(alike) > 1:
        alike = [name for name in alike if _ends_with(above, name.split(".")[:-1])]
    return known[alike[0]] if len(alike) == 1 else None


def _ends_with(folders: list[str], parts: list[str]) -> bool:
    return not parts or folders[-len(parts) :] == parts


def matches(object_name: str, glob: str) -> bool:
    """Whether the whole name fits the glob.

    ``*`` and ``?`` stay within one segment, ``**`` is any number of segments, ``[a-z]`` and ``[!a-z]`` one character.
    """
    return _compiled(glob).fullmatch(object_name) is not None


@lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    segments = glob.split("/")
    parts: list[str] = []
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if segment == "**":
            parts.append(".*" if last else "(?:[^/]+/)*")
        else:
            parts.append(segment_pattern(segment) + ("" if last else "/"))
    return re.compile("".join(parts), re.DOTALL)


def segment_pattern(segment: str, star: str = "[^/]*") -> str:
    """One segment of a glob as a regular expression; ``star`` is what a ``*`` becomes."""
    pattern = ""
    at = 0
    while at < len(segment):
        sign = segment[at]
        close = segment.find("]", at + 2)
        if sign == "[" and close > 0:
            inside = segment[at + 1 : close]
            negated = inside.startswith(("!", "^"))
            characters = re.sub(r"([\\\[&~|])", r"\\\1", inside[1:] if negated else inside)
            pattern += f"(?!/)[{'^' if negated else ''}{characters}]"
            at = close
        elif sign == "*":
            # Two stars inside a segment are one; a run of them would only make matching slow.
            pattern += "" if pattern.endswith(star) else star
        else:
            pattern += "[^/]" if sign == "?" else re.escape(sign)
        at += 1
    return pattern
