"""The words of one format of the family: its operations, and its texts for an image, a key or a value that is missing.

Put here how words are looked up. Not here: the words themselves (``formats``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transforms.json_values import as_text


class Vocabulary:
    """What a format's words mean.

    ``operations``: from what ``op`` says, in small letters, to what the source did. ``nothing``: the texts that mean
    "no value here". Null always means that; where ``{}`` is among the texts, the empty object does, too.
    """

    __slots__ = ("_nothing", "_operations", "_takes_empty", "known")

    def __init__(self, *, operations: Mapping[str, str], nothing: tuple[str, ...]) -> None:
        self._operations = dict(operations)
        # Some write a word as JSON, with its quotes.
        self._nothing = frozenset((*nothing, *(f'"{word}"' for word in nothing)))
        self._takes_empty = "{}" in nothing
        self.known = ", ".join(operations)

    def operation(self, op: Any) -> str | None:
        """What the source did; None where ``op`` is unknown."""
        known = self._operations.get(op) if type(op) is str else None
        if known is not None:
            return known
        text = as_text(op)
        return None if text is None else self._operations.get(text.strip(" ").lower())

    def means_nothing(self, value: Any) -> bool:
        """Whether a JSON value, or a text that is none, stands for nothing."""
        if type(value) is str:
            return value.strip(" ") in self._nothing
        return value is None or (value == {} and self._takes_empty)
