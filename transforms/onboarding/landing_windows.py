"""The windows that a landing would have: by which parts of the paths, how many, and whether hours or days."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from transforms.feed.feed import WindowSize
from transforms.feed.paths import PathDate, compiled, date_in_path, dates_found
from transforms.feed.windows import window_at, window_of

_ASKED: Final = 500
"""Maximum number of objects whose paths decide which ``window_path`` is proposed: more would take seconds."""

# y=2026/m=11/d=26/h=05, whatever the keys are called.
_KEYS = (
    r"(?:(?<=/)|(?<=^))y\w*=(?P<py>\d{4})/m\w*=(?P<pm>\d{1,2})/d\w*=(?P<pd>\d{1,2})"
    r"(?:/h\w*=(?P<ps>\d{1,2}))?(?=/)"
)
# Behind two digits these show that they are an hour, and no number of a file: the path's next part, or minutes; and of
# Fluentd the number of its file.
_BEHIND_HOUR = r"(?=/|[-_:]\d{2}(?!\d)|%3A|[0-5]\d(?:[0-5]\d+)?(?!\d)|_\d+\.)"
_IN_A_PART = (
    r"(?<!\d)(?P<dy>\d{4})(?P<sign>[-_.]?)(?P<dm>\d{2})(?P=sign)(?P<dd>\d{2})"
    rf"(?:[-_T ]?(?P<dt>\d{{2}}){_BEHIND_HOUR}|(?P<dk>\d{{2}})(?=\.)|(?!\d)(?:/h\w*=(?P<ds>\d{{1,2}})(?=/))?)"
)
_OTHER_DATES: Final = re.compile(f"(?={_KEYS})|(?={_IN_A_PART})", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WindowRule:
    """What the windows of some objects are from.

    ``shape``: the part of their paths that says them; None where it is when they were last modified. ``windows`` and
    ``objects``: how many there are. ``example``: the name of one object, with its ``window``.
    """

    shape: str | None
    windows: int
    objects: int
    example: str
    window: str


@dataclass(frozen=True, slots=True)
class LandingWindows:
    """The windows of a landing's objects, as a feed with this ``size`` and ``window_path`` has them.

    ``why``: the evidence for the size, as a comment. ``names``: every window once, in order. ``rules``: what they are
    from, those of most objects first.
    """

    size: WindowSize
    window_path: str | None
    why: str
    names: tuple[str, ...]
    rules: tuple[WindowRule, ...]


def landing_windows(objects: Sequence[tuple[str, datetime]]) -> LandingWindows:
    """The windows of objects, each with its name and when it was last modified."""
    window_path = proposed_window_path([name for name, _ in objects])
    dates = [date_in_path(name, window_path) for name, _ in objects]
    size, why = _size(dates)
    shown: dict[str | None, list[tuple[str, str]]] = defaultdict(list)
    for (name, modified_at), date in zip(objects, dates, strict=True):
        shape = None if date is None else window_path or date.shape
        shown[shape].append((name, window_of(name, modified_at, size, window_path)))
    rules = [
        WindowRule(shape, len({window for _, window in some}), len(some), *some[0])
        for shape, some in shown.items()
    ]
    windows = {window for some in shown.values() for _, window in some}
    rules.sort(key=lambda one: -one.objects)
    return LandingWindows(size, window_path, why, tuple(sorted(windows)), tuple(rules))


def proposed_window_path(names: Sequence[str]) -> str | None:
    """The ``window_path`` by which the paths say more than by the usual dates; None where there is none.

    More is a date in more of them, or an hour in more of them; half of them have to fit it at least.
    """
    some = names[:: max(1, len(names) // _ASKED)]
    seen = Counter(date.shape for name in some if (date := _other_date(name)) is not None)
    shapes = [shape for shape, _ in seen.most_common(5) if _is_sound(shape)]
    best: str | None = None
    most = _told(some, None)
    for shape in shapes:
        told = _told(some, shape)
        if told > most and told[0] * 2 >= len(some):
            best, most = shape, told
    return best


def _other_date(name: str) -> PathDate | None:
    """A date that only a ``window_path`` would find, with an hour if there is one such."""
    found = [*dates_found(_OTHER_DATES, name)]
    return next((one for one in found if one.has_hour), found[0] if found else None)


def _is_sound(shape: str) -> bool:
    try:
        compiled(shape)
    except ValueError:
        # The key of a partition may have signs that mean something else there.
        return False
    return True


def _told(names: Iterable[str], window_path: str | None) -> tuple[int, int]:
    dates = [date for name in names if (date := date_in_path(name, window_path)) is not None]
    return len(dates), sum(date.has_hour for date in dates)


def _size(dates: Sequence[PathDate | None]) -> tuple[WindowSize, str]:
    """The size of windows that the dates of paths suggest, and the evidence."""
    dated = [date for date in dates if date is not None]
    if not dated:
        return (
            "hour",
            "no path has a date that is known: a window is the hour in which an object was last modified, unless"
            " window_path names the place of a date",
        )
    rest = "" if len(dated) == len(dates) else f" of {len(dated):,} of {len(dates):,} objects"
    if not any(date.has_hour for date in dated):
        return "day", f"the paths{rest} have a day and no hour"
    first, last = (window_at(end(date.moment for date in dated), "hour") for end in (min, max))
    span = first if first == last else f"{first} to {last}"
    return "hour", f"the paths{rest} have the hour, {span}"
