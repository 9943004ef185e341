"""Masks on an event: its images are masked before anything is made of them, and no fault quotes what they hide.

Put here what masking does to one event. Not here: what a mask makes of a value (``transforms/feed/masks``).
"""

from __future__ import annotations

from typing import Final

from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.masks import Masks

_QUOTE_NOTHING: Final = frozenset(
    {
        *("column_twice", "damaged_record", "invalid_utf8", "malformed_csv", "missing_cursor"),
        *("missing_field", "missing_image", "no_envelope", "undeclared_table", "unknown_position"),
        "wrong_column_count",
    }
)
"""The reasons of formats whose details name fields, columns, places and numbers, and quote no value of a column."""

WITHHELD: Final = "what was found is not shown, because the feed masks columns; `weir quarantine show` has the record"
"""The detail of a fault that might quote a masked value."""


def mask(event: Event, masks: Masks) -> None:
    """Put masked values in the place of an event's own, in every image; an operation on a masked value is gone, too."""
    event.before, event.after = masks.masked(event.before), masks.masked(event.after)
    if event.scope is not None:
        event.scope = masks.masked(event.scope)
    if event.attribute_ops:
        event.attribute_ops = {
            name: one for name, one in event.attribute_ops.items() if not masks.is_masked(name)
        }


def withhold(event: Event) -> None:
    """Take out of an event's fault what might quote a value, in a feed that masks columns.

    A record that cannot be read may have its values anywhere: under the wrong column, or in the name of an operation.
    """
    if event.fault is not None and event.fault.reason not in _QUOTE_NOTHING:
        event.fault = Fault(event.fault.reason, WITHHELD)
