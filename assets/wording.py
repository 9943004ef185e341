"""How numbers are written in messages.

Put here wording that messages of several packages share. Not here: the messages of errors (``transforms/errors.py``).
"""

from __future__ import annotations

from collections.abc import Collection


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spanned(windows: Collection[str]) -> str:
    """The window, or the first and the last of several."""
    first, last = min(windows), max(windows)
    return first if first == last else f"{first} .. {last}"


def nothing_landed(empty: Collection[str], windows: Collection[str]) -> str:
    """In how many of the windows of a run nothing has landed: one line for all of them."""
    return (
        f"nothing landed in {len(empty):,} of {counted(len(windows), 'window')}: {spanned(empty)}"
    )
