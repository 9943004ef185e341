"""How numbers are written in messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spanned(windows: Collection[str]) -> str:
    """The window, or the first and the last of several."""
    first, last = min(windows), max(windows)
    return first if first == last else f"{first} .. {last}"


def nothing_landed(empty: Collection[str], windows: Collection[str]) -> str:
    """In which of the windows of a run nothing has landed: one line for all of them."""
    some = stretches(empty, windows)
    shown = [spanned(one) for one in some[:_SHOWN]] + (["…"] if len(some) > _SHOWN else [])
    number = f"{len(empty):,} of {counted(len(windows), 'window')}"
    return f"nothing landed in {number}: {', '.join(shown)}"


def stretches(some: Collection[str], windows: Collection[str]) -> list[list[str]]:
    """Some of these windows, those together between which no other one lies, in order."""
    found: list[list[str]] = [[]]
    for window in sorted(windows):
        if window in some:
            found[-1].append(window)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


_SHOWN: Final = 5
"""How many stretches of windows a line names."""
