"""What makes two deliveries the same event: one digest over what all deliveries of an event agree on.

Put here what goes into the digest. Not here: which texts of an event identify it, which each format says
(``Event.identity``).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256

from transforms.event import Image, Value


def event_id(
    table: str | None,
    operation: str | None,
    identity: Iterable[str | None],
    images: Iterable[Image | Mapping[str, str] | None],
) -> str:
    """SHA-256 over what is the same in every delivery of one event: table, operation, identity, images, scope.

    Values go in as the source wrote them, so that a column that gets another type makes no other event. Each text goes
    in as its length, a colon and itself, so that no two events can spell the same line; bytes go in as base64.
    """
    identity_texts = tuple(identity)
    parts = [
        _netstring(table),
        _netstring(operation),
        _netstring(str(len(identity_texts))),
        *map(_netstring, identity_texts),
    ]
    for image in images:
        if image is None:
            parts.append("-")
            continue
        count, names = _spelled(tuple(image))
        parts.append(count)
        for name, spelled in names:
            value = image[name]
            if type(value) is str:
                parts.append(f"{spelled}{len(value)}:{value}")
            else:
                parts += (spelled, _netstring(value))
    return sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def _spelled(names: tuple[str, ...]) -> tuple[str, list[tuple[str, str]]]:
    """How many names there are, and each name in order, as they are spelled: most images have the same few."""
    return _netstring(str(len(names))), [(name, _netstring(name)) for name in sorted(names)]


def _netstring(value: Value) -> str:
    if value is None:
        return "-"
    text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
    return f"{len(text)}:{text}"
