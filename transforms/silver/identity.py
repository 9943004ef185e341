"""What makes two deliveries the same event: one digest over what all deliveries of an event agree on."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
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
    whose = tuple(identity)
    parts = [_net(table), _net(operation), _net(str(len(whose))), *map(_net, whose)]
    for image in images:
        if image is None:
            parts.append("-")
            continue
        count = str(len(image))
        parts.append(f"{len(count)}:{count}")
        for name in sorted(image):
            value = image[name]
            parts.append(f"{len(name)}:{name}")
            parts.append(
                f"{len(value)}:{value}" if type(value) is str else _net(value)  # the usual case
            )
    return sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _net(value: Value) -> str:
    if value is None:
        return "-"
    text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
    return f"{len(text)}:{text}"
