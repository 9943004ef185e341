"""Tables whose changes wait in silver, for nothing declares them: which they are, and what to write into the feed file.

Put here what is proposed of changes that are in silver. Not here: what is proposed of drops (``onboarding``), and how
types and keys are inferred (``transforms/proposing``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import SILVER_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.display.markdown import code
from transforms.event import Event
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.proposing.entries import Proposal
from transforms.proposing.feed_file import lines_of
from transforms.proposing.proposed_tables import of_tables
from transforms.proposing.tables_seen import TableKey, TableSeen, merged

_COLUMNS: Final = (
    "source_table",
    "declared",
    "operation",
    "effect",
    "before",
    "after",
    "object",
    "event_id",
)
_MOST: Final = 5_000
"""So many changes of all these tables are looked at."""


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
    return of_tables(merged(seen).values())


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
    columns = pa.schema([SILVER_ARROW.field(name) for name in (*_COLUMNS, "derived")])
    for rows in lake.in_process_table(Layer.SILVER, feed.name).batches(
        columns, {"window": windows}
    ):
        is_own = pc.and_(pc.is_null(rows["declared"]), pc.is_null(rows["derived"]))
        waits = pc.and_(is_own, pc.is_valid(rows["source_table"]))
        yield from rows.filter(waits).to_pylist()


def lines_to_paste(lake: Lake, feed: Feed, windows: Collection[str]) -> list[str]:
    """Lines for the feed file that declare the tables that wait; of a graph, where such lines are found."""
    if FORMATS[feed.format].declares[0] != "tables":
        keys = " or ".join(code(key) for key in FORMATS[feed.format].declares[:2])
        return [f"# declare them under {keys}: `weir onboard {feed.landing} --print` proposes it"]
    return [*lines_of(proposed_from_silver(lake, feed, windows).entries)]
