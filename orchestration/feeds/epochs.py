"""Where an epoch begins, as people write it: in a feed file or on the command line.

Put here what is checked of an epoch. Not here: what an epoch is (``transforms/feed/decisions``).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from orchestration.feeds.faults import nearest
from orchestration.feeds.misdeclared import Unfit
from transforms.feed.decisions import Epoch
from transforms.feed.feed import WindowSize
from transforms.feed.windows import parse_window

_Text = Annotated[str, Field(min_length=1)]


class DeclaredEpoch(BaseModel):
    """One entry of a feed file's ``epochs``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    window: _Text
    """The first window with events of the epoch."""
    table: _Text | None = None
    """The table that it is for; without it, all tables."""
    time: _Text | None = None
    """The source's time from which on events are of the epoch (ISO, in UTC); without it all of ``window``."""
    snapshot: Literal["complete", "partial"] = "partial"
    """``complete``: rows of older epochs are removed where the new epoch does not name them."""


def epoch_from(declared: DeclaredEpoch, size: WindowSize, tables: Collection[str]) -> Epoch:
    """The epoch that was written.

    Raises:
        Unfit: its window, its time or its table is not valid.
    """
    try:
        parse_window(declared.window, size)
    except ValueError as fault:
        raise Unfit("window", str(fault)) from None
    if declared.table is not None and declared.table not in tables:
        hint = nearest(declared.table, tables)
        raise Unfit("table", f"{declared.table!r} is not among the feed's tables{hint}")
    return Epoch(
        window=declared.window,
        table=declared.table,
        time=None if declared.time is None else moment(declared.time),
        complete=declared.snapshot == "complete",
    )


def moment(text: str) -> datetime:
    """The moment that a text in ISO form names, in UTC where it names no zone.

    Raises:
        Unfit: it is no such text.
    """
    try:
        written = datetime.fromisoformat(text)
    except ValueError:
        fault = f"{text!r} is no time such as 2026-11-20T03:15:00Z"
        raise Unfit("time", fault) from None
    return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
