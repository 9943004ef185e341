"""Cross-stream positions of edges: where an edge counts in the partition (stream) of its other end.

The source keeps an edge in the partition of the vertex where it begins (its near end). In the other vertex's partition
(its far end) a second message of the same request shows the edge's position there: the mirrored edge's, or, where the
edge has no mirror, an ``insert-only`` of the vertex. Both have the same timestamp, by which they are matched here. Put
here which message shows the position. Not here: what is done with these positions
(``transforms/gold/range_deletes.py``).

Vendor: TigerGraph documentation, "CDC Message Examples", extra CDC message for edge update.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transforms.feed.feed import Feed
from transforms.formats.tigergraph.declarations import (
    DISCRIMINATOR,
    ENDS,
    MIRROR,
    UID,
    vertex_table,
)
from transforms.source_format import SilverRow


@dataclass(frozen=True, slots=True)
class EdgeMatcher:
    """The far ends of one table of edges (``transforms.source_format.CrossStreamMatcher``).

    ``end``: ``from`` or ``to``. ``partner``: the table of the mirrored edges; None where the vertices' messages tell.
    """

    table: str
    end: str
    partner: str | None

    @property
    def column(self) -> str:
        """A scope that gives a value for this one is of the far end."""
        return f"{self.end}_type"

    def meets(self, row: SilverRow) -> tuple[bool, tuple[str, ...]] | None:
        """See ``CrossStreamMatcher``."""
        if row.effect != "update" or row.is_derived:
            return None
        if row.declared == self.table:
            return _met(row, self._of_edge(row.after), is_far=False)
        if self.partner is not None:
            is_partner = row.declared == self.partner
            return _met(row, self._of_edge(row.after), is_far=True) if is_partner else None
        if row.operation == "insert-only":
            return _met(row, (row.declared, row.after.get(UID)), is_far=True)
        return None

    def _of_edge(self, edge: Mapping[str, str | None]) -> tuple[str | None, ...]:
        """What the other message says, too: all that tells edges apart, or which vertex is at the far end."""
        if self.partner is not None:
            return tuple(edge.get(name) for name in (*ENDS, DISCRIMINATOR))
        of_type = edge.get(self.column)
        return of_type and vertex_table(of_type), edge.get(f"{self.end}_uid")


def _met(
    row: SilverRow, texts: Sequence[str | None], *, is_far: bool
) -> tuple[bool, tuple[str, ...]] | None:
    """The texts by which the two messages of one request are matched; None where one of them is unknown."""
    known = [one for one in texts if one is not None]
    if row.event_at is None or len(known) < len(texts):
        return None
    return is_far, (str(row.event_at), *known)


def edge_matcher(feed: Feed, table: str) -> EdgeMatcher | None:
    """The far ends of a table of edges; None for vertices."""
    if not table.startswith("edge_"):
        return None
    is_mirror = table.endswith(MIRROR)
    shown = table.removesuffix(MIRROR)
    other = shown if is_mirror else shown + MIRROR
    return EdgeMatcher(
        table, "from" if is_mirror else "to", other if other in feed.tables else None
    )
