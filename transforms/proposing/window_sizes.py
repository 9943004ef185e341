"""Whether a feed's windows should be hours or days, by the paths of its objects.

Put here what paths say of windows. Not here: what a window is (``transforms/feed/windows``).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from transforms.feed.feed import WindowSize
from transforms.feed.windows import window_of

_LONG_AGO: Final = datetime(1999, 12, 31, 23, tzinfo=UTC)


def size_of_windows(names: Collection[str]) -> tuple[WindowSize, str]:
    """The size of windows that paths suggest, and the evidence."""
    dated = [name for name in names if not _is_undated(name)]
    if not dated:
        return (
            "hour",
            "no path has a date: a window is the hour in which an object was last modified",
        )
    windows = sorted(window_of(name, _LONG_AGO, "hour") for name in dated)
    hours = {window[-2:] for window in windows}
    rest = "" if len(dated) == len(names) else f" of {len(dated):,} of {len(names):,} objects"
    if hours == {"00"} and not any(_names_midnight(name) for name in dated):
        return "day", f"the paths{rest} have a day and no hour"
    span = windows[0] if windows[0] == windows[-1] else f"{windows[0]} to {windows[-1]}"
    return "hour", f"the paths{rest} have the hour, {span}"


def _is_undated(name: str) -> bool:
    return window_of(name, _LONG_AGO, "day").startswith("1999")


def _names_midnight(name: str) -> bool:
    """Whether the path has the hour 00: then another hour in its place gives another window."""
    window = window_of(name, _LONG_AGO, "hour")
    forms = (f"{window[:10]}/00", f"{window[:10].replace('-', '/')}/00", "hour=00", "hour=0", "T00")
    return any(form in name for form in forms)
