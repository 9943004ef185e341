"""Tables of which silver has changes and that nobody declares: what a feed file should say of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import pyarrow.compute as pc

from assets.storage.lake import Lake, Layer
from transforms.display import code
from transforms.event import Event
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.onboarding.proposal import Proposal, file_lines
from transforms.onboarding.tables import TableKey, TableSeen, merged, proposal_of_tables

_COLUMNS: Final = (
    *("source_table", "declared", "derived", "operation", "effect"),
    *("before", "after", "object", "event_id"),
)
_MOST: Final = 5_000
"""Maximum number of changes of all these tables that are looked at."""


def proposed_from_silver(lake: Lake, feed: Feed, windows: Collection[str]) -> Proposal:
    """What the feed file should declare of the tables that wait in silver, by their changes of these windows."""
    seen: dict[TableKey, TableSeen] = {}
    for row in islice(_waiting(lake, feed, windows), _MOST):
        *qualifiers, name = row["source_table"].split(".")
        catalog, schema = [None, None, *qualifiers][-2:]
        key = (catalog, schema, name)
        # A name without any other may be the path's, and the records' full name that of the same table.
        table = seen.setdefault(key, TableSeen(*key, named_by_path=not qualifiers))
        table.take(row["object"], _event(row))
    return proposal_of_tables(merged(seen).values())


def _event(row: Mapping[str, Any]) -> Event:
    return Event(
        operation=row["operation"],
        effect=row["effect"],
        name=None,
        before=dict(row["before"] or ()),
        after=dict(row["after"] or ()),
        # The same for every delivery of one event.
        identity=(str(row["event_id"]),),
    )


def _waiting(lake: Lake, feed: Feed, windows: Collection[str]) -> Iterator[dict[str, Any]]:
    """The changes of rows whose table nobody declares."""
    for rows in lake.in_process_table(Layer.SILVER, feed.name).batches(
        _COLUMNS, {"window": windows}
    ):
        is_own = pc.and_(pc.is_null(rows["declared"]), pc.is_null(rows["derived"]))
        waits = pc.and_(is_own, pc.is_valid(rows["source_table"]))
        yield from rows.filter(waits).to_pylist()


def lines_to_paste(lake: Lake, feed: Feed, windows: Collection[str]) -> list[str]:
    """Lines for the feed file that declare the tables that wait; of a graph, where such lines are found."""
    if FORMATS[feed.format].declares[0] != "tables":
        keys = " or ".join(code(key) for key in FORMATS[feed.format].declares[:2])
        return [f"# declare them under {keys}: `weir onboard {feed.landing} --print` proposes it"]
    return [*file_lines(proposed_from_silver(lake, feed, windows).entries)]
