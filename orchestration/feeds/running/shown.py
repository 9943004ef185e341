"""``description``, ``owners``, ``tags`` and ``start`` of a feed file, and what its tables and columns hold, in words.

Put here what Dagster's pages show of a feed, and is checked as Dagster would. Not here: where it is shown
(``assets/window_asset``, ``assets/gold/gold_specs``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orchestration.feeds.keys import DeclaredFeed, DeclaredTable
from orchestration.feeds.misdeclared import Misdeclared
from orchestration.feeds.running.automation import automation_from
from orchestration.feeds.running.freshness import freshness_from
from transforms.feed.running import Described, Running
from transforms.feed.windows import parse_window

_OWNER: Final = re.compile(r"[^@\s:]+@[^@\s]+\.[^@\s]+|team:[A-Za-z0-9_-]+")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]{1,63}")


def running_from(declared: DeclaredFeed, misdeclared: Misdeclared) -> Running:
    """How the feed is run and watched.

    Raises:
        FeedMisdeclared: a part of it is not valid.
    """
    if declared.start is not None:
        try:
            parse_window(declared.start, declared.window)
        except ValueError as no_window:
            raise misdeclared("start", str(no_window)) from None
    for owner in declared.owners:
        if not _OWNER.fullmatch(owner):
            fault = f"{owner!r} is neither a mail address nor team:<name>"
            raise misdeclared("owners", fault)
    for name, value in declared.tags.items():
        for text in (name, value):
            if not _TAG.fullmatch(text):
                fault = f"{text!r} is more than 63 letters, digits and any of _ . -"
                raise misdeclared(f"tags.{name}", fault)
    return Running(
        start=declared.start,
        description=declared.description,
        owners=tuple(declared.owners),
        tags=declared.tags,
        freshness=freshness_from(declared.freshness, misdeclared),
        automation=automation_from(declared.automation, misdeclared),
        tables=_described(declared.tables, misdeclared),
    )


def _described(
    tables: Mapping[str, DeclaredTable], misdeclared: Misdeclared
) -> dict[str, Described]:
    for name, table in tables.items():
        for column in table.descriptions:
            if column not in table.columns:
                place = f"tables.{name}.descriptions.{column}"
                raise misdeclared(place, "is no column of the table", sorted(table.columns))
    return {
        name: Described(table.description, table.descriptions)
        for name, table in tables.items()
        if table.description or table.descriptions
    }
