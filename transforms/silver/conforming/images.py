"""Images as canonical texts, and the key that images hold.

Put here what is done with an image by the types of its columns. Not here: what is canonical (``transforms/types.py``),
and what a value that does not fit means (``faults``).
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence

from transforms.event import Image, Value
from transforms.silver.conforming.changes import Key, Texts
from transforms.types import Judge


def canonical(image: Image, judges: Mapping[str, Judge]) -> tuple[Texts, Sequence[str]]:
    """An image as canonical texts, and the names of the columns whose values do not fit their type.

    Values that do not fit, and values of columns whose type nobody declares, stay as they came; bytes are base64.
    """
    texts: dict[str, str | None] = {}
    unfit: Sequence[str] = ()
    for name, value in image.items():
        judge = judges.get(name)
        if value is None:
            texts[name] = None
        elif judge is None:
            texts[name] = as_text(value)
        else:
            text = judge(value)
            if text is None:
                unfit = (*unfit, name)
                text = as_text(value)
            texts[name] = text
    return texts, unfit


def as_text(value: Value) -> str | None:
    """A value of unknown type as text: bytes as base64."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def fits_64_bits(number: int | None) -> bool:
    """Whether a number is there and fits 64 bits, as every number of a position must."""
    return number is not None and -(2**63) <= number < 2**63


def key_of(
    columns: Iterable[str], first: Texts, second: Texts, unfit: Sequence[Collection[str]]
) -> Key:
    """The key's canonical texts, each column from the first image that mentions it; None for what does not fit."""
    if not unfit[0] and not unfit[1]:
        return tuple([first[name] if name in first else second.get(name) for name in columns])
    return tuple(
        [
            (None if name in unfit[0] else first[name])
            if name in first
            else (None if name in unfit[1] else second.get(name))
            for name in columns
        ]
    )
