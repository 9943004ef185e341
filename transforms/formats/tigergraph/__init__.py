"""TigerGraph's change data capture: messages on vertices, vertex types and edges.

A message is one JSON document, in a Kafka topic, in a dump of one, or in files. It names a type, an operator and ends
or a uid, and says per attribute what is done to it (``op``, ``value``). Its ``mid`` is its place:
partition, timestamp, tid, in transactions split_index, index.

What a record goes through: ``decoding`` finds the message in it, ``fields`` reads it by what the feed declares
(``declarations``, ``tables``), ``message_faults`` and ``contents`` judge it, ``consequences`` and ``reach`` say
what it changes, ``reached_graphs`` in which graphs, ``far_ends`` where edges stand in the partition of their other end.

Vendor: TigerGraph documentation, "CDC Message Examples", versions 3.10 to 4.1.1 (attribute maps have two forms).
"""

from __future__ import annotations

from collections.abc import Iterator

from transforms.feed.feed import Feed
from transforms.formats.tigergraph import decoding, far_ends, tables
from transforms.record import Record
from transforms.source_format import ExtraAsset, SourceFormat
from transforms.splitting import json_documents
from transforms.splitting.limits import DEFAULTS, Limits
from transforms.warning import EventWarning

KEY_NOT_SPLIT = EventWarning(
    decoding.KEY_NOT_SPLIT,
    "joined_keys_can_be_split",
    "A composite key or discriminator has as many parts as the feed declares.",
    "A value with a comma (in a discriminator a colon) was joined to others: uid and discriminator are whole in gold,"
    " the key's own columns are null in these rows.",
)
DELETE_ALL_OF_OTHERS = EventWarning(
    decoding.DELETE_ALL_OF_OTHERS,
    "delete_all_is_for_plain_edges",
    "A delete-all is for an edge type with one target type, without discriminator and reverse type.",
    "The vendor rules such a message out; all edges of the named type from that vertex were deleted all the same. Look"
    " at the source.",
)
GRAPH_NOT_DECLARED = EventWarning(
    decoding.GRAPH_NOT_DECLARED,
    "graphs_of_global_types_are_declared",
    "Where tables are named by graph, a GLOBAL type and the edge types that touch it say which graphs have them.",
    "Declare `graph: GLOBAL` at the vertex type, and the graphs at the edge types: until then an edge brings a vertex"
    " of its own graph, and a delete of a GLOBAL vertex takes no edge of another graph along.",
)
REVERSE_NOT_DECLARED = EventWarning(
    decoding.REVERSE_NOT_DECLARED,
    "reverse_types_are_declared",
    "An edge type of which a message says that it has a reverse type has one in the feed file.",
    "Declare it under `reverse`: the messages of the other direction are taken for edges of their own until then.",
)


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


FORMAT = SourceFormat(
    name="tigergraph",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    decoder=decoding.decoder,
    tables=tables.tables,
    declares=("vertices", "edges", "baseline"),
    warnings=(KEY_NOT_SPLIT, DELETE_ALL_OF_OTHERS, GRAPH_NOT_DECLARED, REVERSE_NOT_DECLARED),
    reads_kafka=True,
    crosses_streams=True,
    far_places=far_ends.far_end,
    extra_assets=(
        ExtraAsset("graph", "gold.tigergraph_checks", is_needed=lambda feed: bool(feed.vertices)),
    ),
    unknowable=(
        "whether a transaction is complete: the stream has no commits, so that gold may show a part of one.",
        "what happened while a partition was reset (restore, expansion, drop all, import): no message tells.",
        "which part of a joined uid or discriminator is whose, where a value has the joining sign in it.",
    ),
)
