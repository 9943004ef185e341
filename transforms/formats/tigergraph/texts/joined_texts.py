"""Joined texts: the uid of a composite key, the discriminator of an edge, and the attributes that they are made of.

The values stand in the schema's order, those of a key with commas between them, those of a discriminator with colons.
Where a value has that sign in it, nothing says which part is whose.

Put here how such a text is cut. Not here: single values (``simple_texts``).

Vendor: TigerGraph documentation, "CDC Message Examples", uid and discriminator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from transforms.event import Value
from transforms.formats.tigergraph.texts.simple_texts import text_reader
from transforms.types import Judge, judge_of

_TIME_OF_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_ITS_COLONS = (13, 16)


@dataclass(frozen=True, slots=True)
class Joined:
    """A text that is made of several values: ``parts`` are the attributes, None for one that gold has no column of."""

    parts: tuple[Part | None, ...]
    mark: str

    def values(self, text: str | None) -> dict[str, Value]:
        """What the text says of the attributes that it is made of; nothing without a text.

        Null stands for a value of which nothing says where it ends, or that its type cannot hold.
        """
        if text is None or not self.parts:
            return {}
        # One value is the whole text, whatever is in it.
        given = [text] if len(self.parts) == 1 else cut(text, self.mark)
        if len(given) != len(self.parts):
            return {part.name: None for part in self.parts if part is not None}
        return {
            part.name: part.value(one)
            for part, one in zip(self.parts, given, strict=True)
            if part is not None
        }


@dataclass(frozen=True, slots=True)
class Part:
    """One attribute in a joined text."""

    name: str
    read: Callable[[str | None], str | None]
    judge: Judge

    def value(self, text: str) -> str | None:
        """The attribute's text; null where its type cannot hold it."""
        own = self.read(text)
        return own if own is not None and self.judge(own) is not None else None


NOTHING_JOINED = Joined((), ",")
"""For texts of which no part has a column."""


def joined(names: Sequence[str], attributes: Mapping[str, str], mark: str) -> Joined:
    """What a text of these values says of the declared attributes, which have these types."""
    if not any(name in attributes for name in names):
        return NOTHING_JOINED
    return Joined(tuple(_part(name, attributes.get(name)) for name in names), mark)


def _part(name: str, type_name: str | None) -> Part | None:
    if type_name is None:
        return None
    return Part(name, text_reader(type_name), judge_of(type_name))


def cut(text: str, mark: str) -> list[str]:
    """The parts of a joined text; the colons of a time of day are its own."""
    if mark != ":" or not (times := list(_TIME_OF_DAY.finditer(text))):
        return text.split(mark)
    kept = {time.start() + colon for time in times for colon in _ITS_COLONS}
    ends = [at for at, sign in enumerate(text) if sign == mark and at not in kept]
    begins = [0, *[end + 1 for end in ends]]
    return [text[begin:end] for begin, end in zip(begins, [*ends, len(text)], strict=True)]
