"""What an object's path says: which table it is of, and the date and hour in it.

Names are relative to the landing, with ``/`` between segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Final

from transforms.feed.feed import Table

_EXTENSION = re.compile(
    r"\.(?:gz|gzip|zst|zstd|lz4|bz2|xz|zip|snappy|json|jsonl|ndjson|csv|tsv|txt|avro|parquet|orc)$",
    re.IGNORECASE | re.ASCII,
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
    while (shorter := _EXTENSION.sub("", file)) not in {file, ""}:
        file = shorter
    return file


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
        alike = [name for name in alike if above[-name.count(".") :] == name.split(".")[:-1]]
    return known[alike[0]] if len(alike) == 1 else None


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


# What an object's path says of time. A feed file names the place of the date with ``window_path``,
# ``dt={year}-{month}-{day}/h={hour}`` for one; the shapes that are known without it never change, for an object that is
# read later must not come into another window.


# Digits that only look like a date seldom look like one of our time.
_EARLIEST_YEAR: Final = 1970

# What may follow a date: T03, /03 as a whole segment or file name, or hour=03 in any later segment.
_HOUR = r"(?:T(?P<{0}t>\d{{2}})|/(?P<{0}s>\d{{2}})(?=[/.]|$)|/(?:.*/)?(?:hour|hr)=(?P<{0}k>\d{{1,2}})(?!\d))?"
_DASHED = r"(?<!\d)(?P<dy>\d{4})-(?P<dm>\d{2})-(?P<dd>\d{2})(?!\d)" + _HOUR.format("d")
_SLASHED = r"(?:(?<=/)|(?<=^))(?P<sy>\d{4})/(?P<sm>\d{2})/(?P<sd>\d{2})(?=[/.]|$)" + _HOUR.format(
    "s"
)
# Inside a lookahead, so that a date that overlaps one that is none is found, too.
_DATE = re.compile(f"(?={_DASHED})|(?={_SLASHED})", re.ASCII)

_ENDS = r"(?=[/.]|$)"
_HOUR_BEHIND = (
    r"(?:T(?P<{0}t>\d{{2}}))?"
    + _ENDS
    + r"(?:/(?P<{0}s>\d{{2}})"
    + _ENDS
    + r"|/(?:.*/)?(?:hour|hr)=(?P<{0}k>\d{{1,2}})(?!\d))?"
)
_SEGMENT = (
    r"(?:(?<=/)|(?<=^))(?:[A-Za-z_][A-Za-z0-9_-]*=)?"
    r"(?P<dy>\d{4})(?P<dash>-?)(?P<dm>\d{2})(?P=dash)(?P<dd>\d{2})" + _HOUR_BEHIND.format("d")
)
_PARTS = (
    r"(?:(?<=/)|(?<=^))year=(?P<py>\d{4})/month=(?P<pm>\d{1,2})/day=(?P<pd>\d{1,2})"
    + _HOUR_BEHIND.format("p")
)
# A date that is a whole part of the path, as partitions are written: it counts before one within a name.
_PARTITION = re.compile(f"(?={_SEGMENT})|(?={_SLASHED})|(?={_PARTS})", re.ASCII)

_PLACEHOLDER: Final = re.compile(r"(\{[^{}]*\})")
_DAY_NUMBERS: Final = ("{year}", "{month}", "{day}")
_YEAR: Final = r"(?:19[7-9]\d|[2-9]\d{3})"
_NUMBERS: Final = {
    "{year}": _YEAR,
    "{month}": r"(?:0?[1-9]|1[0-2])",
    "{day}": r"(?:0?[1-9]|[12]\d|3[01])",
    "{hour}": r"(?:[01]?\d|2[0-3])",
}
# Where other digits may stand beside it, only a number of two digits says where it ends.
_TWO_DIGITS: Final = {
    "{year}": _YEAR,
    "{month}": r"(?:0[1-9]|1[0-2])",
    "{day}": r"(?:0[1-9]|[12]\d|3[01])",
    "{hour}": r"(?:[01]\d|2[0-3])",
}
_GROUPS: Final = {"{year}": "dy", "{month}": "dm", "{day}": "dd", "{hour}": "ds"}
_GLOB: Final = ("*", "?", "[", "]")
_FORM: Final = "write it as in dt={year}-{month}-{day}/h={hour}"


@dataclass(frozen=True, slots=True)
class PathDate:
    """A date that a path says, in UTC: at 00:00 where the path says no hour.

    ``found``: where it stands. ``groups``: which of the pattern's groups are year, month, day and, if the path says
    one, hour.
    """

    moment: datetime
    found: re.Match[str]
    groups: Sequence[str]

    @property
    def has_hour(self) -> bool:
        """Whether the path says an hour, 00 for one."""
        return len(self.groups) > len(_DAY_NUMBERS)

    @property
    def shape(self) -> str:
        """The parts of the path in which the numbers stand, with their names in their places."""
        path, named = self.found.string, zip(_NUMBERS, self.groups, strict=False)
        spans = sorted((*self.found.span(group), name) for name, group in named)
        begin = spans[0][0]
        before = path[path.rfind("/", 0, begin) + 1 : begin]
        text, at = before if not before or before.endswith("=") else "*", begin
        for first, last, name in spans:
            between = path[at:first]
            if between.count("/") > 1:
                between = f"/…/{between.rpartition('/')[2]}"
            text, at = text + between + name, last
        return text if path[at : at + 1] in ("", "/") else f"{text}*"


def date_in_path(object_name: str, window_path: str | None = None) -> PathDate | None:
    """The date that an object's path says, or None where it says none.

    With a ``window_path`` it is the first place of the path that fits it, and nothing else. Without one, of several
    dates the first that is a part of the path by itself counts (``2026-11-20``, ``20261120``, ``2026/11/20``,
    ``dt=2026-11-20``, ``year=2026/month=11/day=20``), else the first that stands within a name.
    """
    if window_path is not None:
        return next(dates_found(compiled(window_path), object_name), None)
    both = (dates_found(dates, object_name) for dates in (_PARTITION, _DATE))
    return next(chain.from_iterable(both), None)


def date_of_folder(folder: str, window_path: str | None = None) -> PathDate | None:
    """The date that the path of every object below a folder says first; None where the folder leaves it open.

    ``folder`` is relative to the landing and ends with a slash. The first date that is a part of the path counts, and
    one that ends within the folder's path stands before any that the rest could bring. A date within the folder's name
    says nothing yet.
    """
    dates = _PARTITION if window_path is None else compiled(window_path)
    return next(dates_found(dates, folder), None)


def dates_found(dates: re.Pattern[str], object_name: str) -> Iterator[PathDate]:
    """The dates that a pattern finds in a path: it names year, month and day ``dy``, ``dm``, ``dd``, or alike."""
    for found in dates.finditer(object_name):
        # A listing asks this of each folder, or of each object: few steps.
        parts = found.groupdict()
        kind = "d" if parts.get("dy") else "s" if parts.get("sy") else "p"
        groups = [kind + "y", kind + "m", kind + "d"]
        year, month, day = parts[groups[0]], parts[groups[1]], parts[groups[2]]
        try:
            date = datetime(int(year), int(month), int(day), tzinfo=UTC)
        except ValueError:
            continue
        if date.year < _EARLIEST_YEAR:
            continue
        for part in "tsk":
            if hour := parts.get(kind + part):
                if int(hour) < 24:
                    date = date.replace(hour=int(hour))
                    groups.append(kind + part)
                break
        yield PathDate(date, found, groups)


@lru_cache(maxsize=256)
def compiled(window_path: str) -> re.Pattern[str]:
    """A feed file's ``window_path``, for ``dates_found``.

    It is one or more whole parts of a path, to be found at any depth. ``{year}`` has four digits, the others have one
    or two, and always two where other digits could stand beside them. The parts up to the date must be there; without
    those of the hour behind them, the hour is 00.

    Raises:
        ValueError: it cannot be used; the text ends a sentence that begins with the key.
    """
    segments = window_path.removesuffix("/").split("/")
    _refuse_unfit(window_path, segments)
    patterns = [_segment_pattern(segment) for segment in segments]
    last = max(at for at, one in enumerate(segments) if any(name in one for name in _DAY_NUMBERS))
    rest = "/".join(patterns[last + 1 :])
    hour = f"(?:/{rest}(?=/|$))?" if rest else ""
    begin, date = r"(?:(?<=/)|(?<=^))", "/".join(patterns[: last + 1])
    try:
        return re.compile(f"(?={begin}{date}(?=/|$){hour})", re.ASCII)
    except re.error as fault:
        raise ValueError(f"{window_path!r} is no pattern of a path: {fault.msg}") from None


def _refuse_unfit(window_path: str, segments: list[str]) -> None:
    names = _PLACEHOLDER.findall(window_path)
    if any(brace in _PLACEHOLDER.sub("", window_path) for brace in "{}"):
        raise ValueError(f"has a brace that stands alone: {_FORM}")
    if unknown := [name for name in names if name not in _NUMBERS]:
        raise ValueError(f"has {unknown[0]}, and knows {', '.join(_NUMBERS)}: {_FORM}")
    if missing := [name for name in _DAY_NUMBERS if name not in names]:
        raise ValueError(f"does not say where to find {', '.join(missing)}: {_FORM}")
    if twice := [name for name in _NUMBERS if names.count(name) > 1]:
        raise ValueError(
            f"has {twice[0]} twice, and one of them has to decide: put * for the other"
        )
    if "" in segments:
        raise ValueError(
            f"{window_path!r} begins with a slash or has two in a row: it is found at any depth, so begin with the"
            " part that has the date"
        )
    if "**" in window_path:
        raise ValueError("has **, and is found at any depth without it: leave it out")
    if beside := re.search(r"\d(\{\w+\})|(\{\w+\})\d", window_path):
        name = beside[1] or beside[2]
        raise ValueError(f"has a digit beside {name}, so that nobody can say where the number ends")


def _segment_pattern(segment: str) -> str:
    """One part of a ``window_path`` as a regular expression."""
    pieces = [piece for piece in _PLACEHOLDER.split(segment) if piece]
    pattern = ""
    for at, piece in enumerate(pieces):
        if piece not in _NUMBERS:
            pattern += segment_pattern(piece, star="[^/]*?")
            continue
        before, after = pieces[at - 1] if at else "", pieces[at + 1] if at + 1 < len(pieces) else ""
        is_beside = before in _NUMBERS or after in _NUMBERS
        is_beside = is_beside or before[-1:] in _GLOB or after[:1] in _GLOB
        number = (_TWO_DIGITS if is_beside else _NUMBERS)[piece]
        # Behind a star a number begins where the digits do.
        edge = r"(?<!\d)" if before.endswith("*") else ""
        pattern += f"{edge}(?P<{_GROUPS[piece]}>{number})"
    return pattern
