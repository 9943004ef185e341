"""Which tablet a response is of, and which stream: no response says it, and everything depends on it.

A client may add it to the response; else the object's path says it. Put here where the tablet and the stream are said.
Not here: the table (``formats``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from transforms.families.yugabyte.scalars import filled
from transforms.feed.feed import Feed

_TIME_SEGMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?|\d{4}|\d{2}|(?:dt|date|day|hour|hr|year|month)=.*", re.ASCII
)


class Origin(NamedTuple):
    """The tablet that a response is of, and the id of the stream by which it came, where that is known."""

    tablet: str
    stream_id: str | None


def of_response(response: Mapping[str, Any], object_name: str, feed: Feed) -> Origin:
    """What the response says; else what the path of its object does."""
    of_path = _of_path(object_name, feed.landing)
    tablet = filled(response.get("tablet_id")) or filled(response.get("tablet"))
    stream_id = (
        filled(response.get("stream_id"))
        or filled(response.get("db_stream_id"))
        or filled(response.get("stream"))
    )
    if tablet is None and stream_id is None:
        return of_path
    return Origin(tablet or of_path.tablet, stream_id or of_path.stream_id)


@lru_cache(maxsize=4096)
def _of_path(object_name: str, landing: str) -> Origin:
    """A ``tablet=`` segment; else the nearest folder that says neither a time nor the stream; else the landing's."""
    folders = object_name.split("/")[:-1]
    named = [
        folder
        for folder in folders
        if folder and not folder.startswith("stream=") and not _TIME_SEGMENT.fullmatch(folder)
    ]
    nearest = named[-1] if named else landing.rstrip("/").rpartition("/")[2]
    return Origin(segment(object_name, "tablet") or nearest, segment(object_name, "stream"))


def segment(object_name: str, name: str) -> str | None:
    """What the first folder that begins with the name and an equals sign says; None where there is none."""
    marked = f"{name}="
    for folder in object_name.split("/")[:-1]:
        if folder.startswith(marked) and len(folder) > len(marked):
            return folder[len(marked) :]
    return None
