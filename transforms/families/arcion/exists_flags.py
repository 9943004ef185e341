"""Arcion's exists flags: which of a row's two images mention a column.

A flag is 0 where none does, 1 where the new one does, 2 where the old one does, 3 where both do. Put here what flags
make of the values that a row holds, and why flags and values contradict each other. Not here: the operation of a row
and its event (``rows``), and how a file writes flags (``formats``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transforms.fault import Fault, quoted, shown

Texts = Mapping[str, str | None]

Row = tuple[Texts, Texts, Texts]
"""The new values, the old values and the flags of a row, by column."""

_NEW: Final = frozenset("13")
_OLD: Final = frozenset("23")
_BOTH: Final = {"3"}
FLAGS: Final = frozenset("0123")


def flag_fault(new: Texts, old: Texts, flags: Texts) -> Fault | None:
    """The first flag that is missing, outside 0 to 3, or contradicts what the images hold."""
    # In a fixed order, so that the same row has the same fault however its columns stand.
    names = sorted({*flags, *new, *old})
    for name in names:
        if flags.get(name) not in FLAGS:
            return Fault(
                "flag_out_of_range",
                f"exists of {name} is {shown(flags.get(name))}; known: 0, 1, 2, 3",
            )
    for name in names:
        flag, new_value, old_value = flags[name], new.get(name), old.get(name)
        if (
            (flag in ("0", "2") and new_value is not None)
            or (flag in ("0", "1") and old_value is not None)
            or (flag in _NEW and name not in new)
            or (flag in _OLD and name not in old)
        ):
            return Fault(
                "flag_contradicts_images",
                f"exists of {name} is {flag}, but the new value is {quoted(new_value)}"
                f" and the old value is {quoted(old_value)}",
            )
    return None


def images(new: Texts, old: Texts, flags: Texts) -> tuple[Texts, Texts] | None:
    """The old and the new image, each of the columns that the flags say it mentions; None where a flag is at fault."""
    if new.keys() == flags.keys() == old.keys() and set(flags.values()) == _BOTH:
        # Most updates mention every column in both images.
        return old, new
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    if len(flags) < len(new) or len(flags) < len(old):
        return None
    try:
        for name, flag in flags.items():
            if flag == "3":
                after[name], before[name] = new[name], old[name]
                continue
            if flag == "1":
                after[name] = new[name]
                rest = old.get(name)
            elif flag == "2":
                before[name] = old[name]
                rest = new.get(name)
            elif flag == "0":
                rest = new.get(name)
                rest = old.get(name) if rest is None else rest
            else:
                return None
            if rest is not None:
                return None
    except KeyError:
        return None
    return (before, after) if new.keys() <= flags.keys() and old.keys() <= flags.keys() else None
