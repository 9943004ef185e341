"""One message of TigerGraph: its fields, and what the feed declares of the types that it names.

Put here what a message holds. Not here: reading one (``fields``), what is wrong with one (``message_faults``), and what
one does (``consequences``).

Vendor: TigerGraph documentation, "CDC Message Examples", message format fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from transforms.event import Value
from transforms.formats.tigergraph.contents import Attribute
from transforms.formats.tigergraph.declarations import Edge, Vertex

VERTEX, VERTEX_TYPE, EDGE = "vertex", "vertex-type", "edge"
INSERT, INSERT_ONLY, DELETE, DELETE_ALL = "insert", "insert-only", "delete", "delete-all"
INSERTS: Final = frozenset((INSERT, INSERT_ONLY))


@dataclass(slots=True)
class Message:
    """One message: a field that it does not have is None; so are an empty graph, typename and discriminator.

    ``operator`` is as it stands, ``action`` in the one spelling of ``delete`` and ``deleted``. ``stream`` is the
    partition. ``log_position`` and ``tid`` are None where the mid is none; ``event_at`` is in microseconds.
    ``vertex`` is what is known of the vertex type, of an edge that of its source; ``edge`` what is declared of the edge
    type. ``is_swapped``: it is the direction that is not shown, and its ends stand in gold the other way round.
    ``table``: the table of its type. ``identity``: what two deliveries of it agree in, for a mid may have several.
    """

    kind: str | None
    operator: str | None
    action: str | None
    mid: str | None
    graph: str | None
    typename: str | None
    uid: str | None
    discriminator: str | None
    content: Any
    has_reverse: bool
    from_type: str | None = None
    from_uid: str | None = None
    to_type: str | None = None
    to_uid: str | None = None
    stream: str | None = None
    tid: int | None = None
    log_position: tuple[int, ...] | None = None
    event_at: int | None = None
    vertex: Vertex | None = None
    edge: Edge | None = None
    is_swapped: bool = False
    table: str | None = None
    identity: tuple[str | None, ...] = ()

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The declared attributes of its type."""
        of_type = self.edge if self.kind == EDGE else self.vertex
        return {} if of_type is None else of_type.attributes

    @property
    def joined_values(self) -> dict[str, Value]:
        """The attributes that the vertex's uid, or the edge's discriminator, is made of."""
        if self.kind == EDGE:
            return {} if self.edge is None else self.edge.discriminator.values(self.discriminator)
        return {} if self.vertex is None else self.vertex.key.values(self.uid)
