"""The window of a Kafka record: that of its timestamp, whoever gave it, the producer or the broker.

A record without a timestamp, with an impossible one, or with one before the first window is in the first window: only
the record itself may decide, so that it lands in the same window whenever it is read. Put here what a timestamp of
Kafka means. Not here: windows of objects (``transforms/feed/windows.py``).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from transforms.feed.feed import WindowSize
from transforms.feed.windows import FIRST, window_at

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, tzinfo=UTC)
_LAST = (_END - _EPOCH) // timedelta(milliseconds=1)


def moment_of(milliseconds: int | None) -> datetime:
    """The moment of a timestamp, or the first window's beginning for one that is none."""
    if milliseconds is None or not 0 <= milliseconds < _LAST:
        return FIRST
    return _EPOCH + timedelta(milliseconds=milliseconds)


def window_of(milliseconds: int | None, size: WindowSize) -> str:
    """The window of a timestamp."""
    return window_at(max(moment_of(milliseconds), FIRST), size)
