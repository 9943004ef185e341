"""The quarantine of one feed, opened by its name and without Spark.

Put here what the commands begin with. Not here: the quarantine itself (``assets/bookkeeping/quarantine/opened``).
"""

from __future__ import annotations

from assets.bookkeeping.quarantine.opened import Quarantine, quarantine_of
from orchestration.cli import session
from orchestration.cli.options import Place


def opened(place: Place, name: str) -> Quarantine:
    """The quarantine of the feed of that name; no session is started."""
    (feed,) = session.choose(place.feeds, [name])
    return quarantine_of(session.reached(place.warehouse, [feed]), feed)
