"""Earlier names: the events of a table and the values of a column that once had another name.

An event's identity is made under the names of today, so that a delivery under the old name and one under the new
name are one event. Put here what earlier names mean. Not here: a column that is gone or new
(``transforms/feed/schema_policies.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.feed import Feed

Said = TypeVar("Said")


def earlier_names(feed: Feed) -> dict[str, str]:
    """Every name that a declared table had before, to the one that it has."""
    return {old: name for name, table in feed.tables.items() for old in table.was}


def with_todays_columns(event: Event, renamed: Mapping[str, str]) -> None:
    """Put every image of an event under today's names (``renamed``: earlier name to name).

    An image that has a column under two names stays as it is and is a fault: nothing says which value counts.
    """
    for image in ("before", "after", "attribute_ops", "scope"):
        columns = getattr(event, image)
        if not columns or renamed.keys().isdisjoint(columns):
            continue
        twice = next(
            (name for name in columns if name in renamed and _has_two(columns, name, renamed)), None
        )
        if twice is None:
            setattr(event, image, {renamed.get(name, name): one for name, one in columns.items()})
        elif event.fault is None:
            event.fault = Fault(
                "ambiguous_rename",
                f"{twice} and another column are both {renamed[twice]}, as the feed file renames them",
            )


def _has_two(columns: Mapping[str, object], name: str, renamed: Mapping[str, str]) -> bool:
    today = renamed[name]
    return sum(renamed.get(other, other) == today for other in columns) > 1
