"""TigerGraph's change data capture: one record is one message on a vertex, a vertex type or an edge.

TigerGraph's CDC service writes messages to a Kafka topic; they are read from there, from a dump of the topic, or from
files. A message is one JSON document. It names a type, an operator (insert, delete and so on), and the vertex by its
``uid`` or the edge by its two ends; and for each attribute in ``content`` it says the operation (``op``) and the
``value``. Its ``mid`` says where it stands: partition, timestamp, tid, in transactions a split_index, and index.

Every GPE partition sends messages of its own, in the order of its own tids; tids of two partitions do not compare. No
message tells of the edges that go with a vertex, so that a delete in one partition may reach rows of another. Which
partition has a vertex, and which Kafka partition a message goes to, is not documented.

Vendor: TigerGraph documentation, "CDC Message Examples", versions 3.10 to 4.1.1 (attribute maps have two forms; the
parts of ``mid``; implicit edge deletion).
"""

from __future__ import annotations

from transforms.families.wrappings import split_dump
from transforms.formats.tigergraph import declarations, decode, onboarding
from transforms.formats.tigergraph.decode import (
    DELETE_ALL_OF_OTHERS,
    GRAPH_NOT_DECLARED,
    KEY_NOT_SPLIT,
    REVERSE_NOT_DECLARED,
)
from transforms.source_format import JSON_FILES, ExtraAsset, SourceFormat

FORMAT = SourceFormat(
    name="tigergraph",
    files=JSON_FILES,
    split=split_dump,
    decoder=decode.decoder,
    tables=declarations.gold_tables,
    declares=("vertices", "edges", "baseline"),
    warnings=(KEY_NOT_SPLIT, DELETE_ALL_OF_OTHERS, GRAPH_NOT_DECLARED, REVERSE_NOT_DECLARED),
    reads_kafka=True,
    fields=("mid", "operator", "type", "typename"),
    recognise=onboarding.recognise,
    propose=onboarding.propose,
    crosses_streams=True,
    extra_assets=(
        ExtraAsset("graph", "gold.tigergraph", is_needed=lambda feed: bool(feed.vertices)),
    ),
    unknowable=(
        "whether a transaction is complete: the stream has no commits, so that gold may show a part of one.",
        "what happened while a partition was reset (restore, expansion, drop all, import): no message tells.",
        "which of two changes of different partitions came first, if their times are less than an hour apart.",
        "which part of a joined uid or discriminator is whose, where a value has the joining sign in it.",
    ),
)
