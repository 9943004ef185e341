"""How long history is kept, as people write it in a feed file.

Not here: what is kept (``transforms/feed.py``), and what becomes of the rest (``assets/compaction.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from transforms.feed import Retention

_Text = Annotated[str, Field(min_length=1)]
_LENGTH: Final = re.compile(r"(\d{1,5})([hd])")
_HOURS: Final = {"h": 1, "d": 24}


class DeclaredCompaction(BaseModel):
    """A feed file's ``compaction``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    retention: _Text = "30d"
    retired: list[_Text] = Field(default_factory=list)


def retention_from(
    declared: DeclaredCompaction, refused: Callable[[str, str], Exception]
) -> Retention:
    """What was declared, as a value; ``refused`` makes the error where it is no length of time."""
    retired = tuple(declared.retired)
    if declared.retention == "forever":
        return Retention(None, retired)
    found = _LENGTH.fullmatch(declared.retention)
    if found is None:
        fault = f"{declared.retention!r} is no length of time: write 30d, 12h or forever"
        raise refused("compaction.retention", fault)
    return Retention(timedelta(hours=int(found[1]) * _HOURS[found[2]]), retired)
