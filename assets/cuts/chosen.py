"""Which recorded cut is meant by a position of the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assets.cuts.record import Cut
from transforms.cuts.log_spelling import epoch_of, expected_of, point_in, point_of
from transforms.errors import CutRefused
from transforms.feed.feed import Feed

LATEST: Final = "latest-cut"
"""What is asked for instead of a position where the newest cut is meant."""


def chosen(feed: Feed, known: Sequence[Cut], asked: str) -> Cut:
    """The newest of these cuts (``LATEST``), or the last one at or below a position; ``known``: the oldest first.

    Raises:
        CutRefused: there is none, or it can no longer be asked for; the error says what can be.
    """
    newest = known[-1]
    if asked == LATEST:
        return unbroken(feed, newest)
    point = point_of(newest.log, asked)
    if point is None:
        fault = (
            f"--at {asked}: this is no position of {newest.log.connector}'s log. Expected is"
            f" {expected_of(newest.log)}; or {LATEST}. The newest cut is {newest.text}"
        )
        raise CutRefused(feed.name, fault)
    # After an epoch was opened, positions begin again: those of the newest one are meant where none is named.
    named = epoch_of(asked)
    epoch = newest.log_position[0] if named is None else named
    mine = [one for one in known if one.log_position[0] == epoch]
    if not mine:
        raise CutRefused(feed.name, f"--at {asked}: no cut of epoch {epoch} is recorded")
    at_or_below = [one for one in mine if point_in(one.log, one.log_position) <= point]
    if not at_or_below:
        fault = f"--at {asked}: the oldest cut that is recorded is {mine[0].text}"
        raise CutRefused(feed.name, fault)
    if mine[-1] is newest and point > point_in(newest.log, newest.log_position):
        held = f", held back by: {'; '.join(newest.held_by)}" if newest.held_by else ""
        fault = (
            f"--at {asked}: the tables are whole up to {newest.text}{held}. After the next run they may be further;"
            f" {LATEST} is there now"
        )
        raise CutRefused(feed.name, fault)
    return unbroken(feed, at_or_below[-1])


def unbroken(feed: Feed, cut: Cut) -> Cut:
    """The cut itself.

    Raises:
        CutRefused: it would show a transaction in part.
    """
    if cut.broken_by is not None:
        raise CutRefused(
            feed.name, f"the cut {cut.text} can no longer be asked for: {cut.broken_by}"
        )
    return cut
