"""Spans of time and numbers of bytes in words, in their largest unit."""

from __future__ import annotations


def spoken_seconds(seconds: float) -> str:
    """A span of time: ``3.5 h``."""
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{_short(seconds / unit)} {name}"
    return f"{seconds:.0f} s"


def spoken_bytes(size: float) -> str:
    """A number of bytes: ``1.5 GiB``."""
    for power, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{_short(size / (1 << power))} {name}"
    return f"{size:.0f} bytes"


def _short(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")
