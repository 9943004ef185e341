"""How long history is kept, as people write it in a feed file.

Not here: what is kept (``transforms/feed.py``), and what becomes of the rest (``assets/compaction.py``).
"""

from __future__ import annotations

import re
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


def retention_from(declared: DeclaredCompaction) -> Retention:
    """What was declared, as a value.

    Raises:
        ValueError: ``retention`` is no length of time; the message ends a sentence.
    """
    retired = tuple(declared.retired)
    if declared.retention == "forever":
        return Retention(None, retired)
    found = _LENGTH.fullmatch(declared.retention)
    if found is None:
        raise ValueError(f"{declared.retention!r} is no length of time: write 30d, 12h or forever")
    return Retention(timedelta(hours=int(found[1]) * _HOURS[found[2]]), retired)
