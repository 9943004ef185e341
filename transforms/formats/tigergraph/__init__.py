"""TigerGraph's change data capture: messages on vertices, vertex types and edges.

A message is one JSON document, in a Kafka topic, in a dump of one, or in files. It names a type, an operator and ends
or a uid, and says per attribute what is done to it (``op``, ``value``). Its ``mid`` is its place:
partition, timestamp, tid, in transactions split_index, index.

Vendor: TigerGraph documentation, "CDC Message Examples", versions 3.10 to 4.1.1 (attribute maps have two forms).
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.spec import Remark, SourceFormat, as_events, remarks
from transforms.formats.tigergraph import faults, graphs, tables
from transforms.formats.tigergraph.effects import EFFECT, effects, scopes
from transforms.formats.tigergraph.message import no_texts, parsed
from transforms.formats.tigergraph.partners import elsewhere
from transforms.record import Record
from transforms.splitting import json_documents
from transforms.splitting.limits import DEFAULTS, Limits

KEY_NOT_SPLIT = Remark(
    "key_not_split",
    "joined_keys_can_be_split",
    "A composite key or discriminator has as many parts as the feed declares.",
    "A value with a comma (in a discriminator a colon) was joined to others: uid and discriminator are whole in gold,"
    " the key's own columns are null in these rows.",
)
DELETE_ALL_OF_OTHERS = Remark(
    "delete_all_of_others",
    "delete_all_is_for_plain_edges",
    "A delete-all is for an edge type with one target type, without discriminator and reverse type.",
    "The vendor rules such a message out; all edges of the named type from that vertex were deleted all the same. Look"
    " at the source.",
)
GRAPH_NOT_DECLARED = Remark(
    "graph_not_declared",
    "graphs_of_global_types_are_declared",
    "Where tables are named by graph, a GLOBAL type and the edge types that touch it say which graphs have them.",
    "Declare `graph: GLOBAL` at the vertex type, and the graphs at the edge types: until then an edge brings a vertex"
    " of its own graph, and a delete of a GLOBAL vertex takes no edge of another graph along.",
)
REVERSE_NOT_DECLARED = Remark(
    "reverse_not_declared",
    "reverse_types_are_declared",
    "An edge type of which a message says that it has a reverse type has one in the feed file.",
    "Declare it under `reverse`: the messages of the other direction are taken for edges of their own until then.",
)


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per message, and one per change that follows from it (see ``spec.EVENT_COLUMNS``)."""
    read = (
        parsed(bronze, feed)
        .withColumn("scopes", scopes(feed))
        .withColumn("fault", faults.first_fault(feed))
        .withColumn(
            "effects",
            F.when(F.col("fault").isNotNull() | is_contained(feed), F.array(itself())).otherwise(
                effects(feed)
            ),
        )
        .withColumn("effects", graphs.in_graphs(F.col("effects"), feed))
        .withColumn("said", said(feed))
        .withColumn("identity", identity())
    )
    one = read.drop("name", "graph").select("*", F.posexplode("effects").alias("ordinal", "one"))
    return as_events(
        one.select("*", "one.*")
        .withColumn("remarks", F.when(F.col("derived").isNull(), F.col("said")))
        .withColumn("catalog", F.lit(None).cast("string"))
        .withColumn("schema", F.col("graph"))
        .withColumn("settled", F.size("position"))
        .withColumn("segment", F.lit(None).cast("bigint"))
        .withColumn("extracted_at", F.lit(None).cast("timestamp"))
    )


def itself() -> Column:
    """The message that changes nothing: a fault, or one that a restored backup holds already."""
    nothing = {name: no_texts().alias(name) for name in ("before", "after", "attribute_ops")}
    return F.struct(
        F.when(F.col("fault").isNotNull(), F.col("name")).alias("name"),
        F.col("action").alias("operation"),
        F.lit("note").alias("effect"),
        *nothing.values(),
        F.lit(None).cast("map<string,string>").alias("scope"),
        F.lit(None).cast("string").alias("derived"),
        F.lit(None).alias("graph"),
    ).cast(EFFECT)


def is_contained(feed: Feed) -> Column:
    """True for a message that the backup held of which the feed names the last tids."""
    last = tables.constant(dict(feed.baseline), "map<string,bigint>")
    return F.coalesce(F.col("tid") <= F.try_element_at(last, F.col("stream")), F.lit(False))


def said(feed: Feed) -> Column:
    """What is worth knowing of a message that is taken all the same."""
    sound = F.col("fault").isNull() & F.col("action").isin("insert", "insert-only")
    joined = F.exists(F.map_values("keyed"), lambda text: text.isNull())
    reverse = F.coalesce(F.try_variant_get("document", "$.hasreverseedge", "boolean"), F.lit(False))
    of_others = (F.col("action") == "delete-all") & (F.col("edge.restricted") | reverse)
    return remarks(
        key_not_split=sound & joined,
        delete_all_of_others=F.col("fault").isNull() & of_others,
        graph_not_declared=F.col("fault").isNull() & graphs.is_unknown(feed),
        reverse_not_declared=F.col("fault").isNull() & reverse & ~F.col("edge.has_mirror"),
    )


def identity() -> Column:
    """What two deliveries of a message agree in: several messages may have one mid."""
    names = ("typename", "uid", "from_type", "from_uid", "to_type", "to_uid", "discriminator")
    return F.array(F.trim("mid"), F.col("kind"), F.col("action"), *[F.col(name) for name in names])


FORMAT = SourceFormat(
    name="tigergraph",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    to_events=to_events,
    tables=tables.tables,
    declares=("vertices", "edges", "baseline"),
    remarks=(KEY_NOT_SPLIT, DELETE_ALL_OF_OTHERS, GRAPH_NOT_DECLARED, REVERSE_NOT_DECLARED),
    reads_kafka=True,
    elsewhere=elsewhere,
    unknowable=(
        "whether a transaction is complete: the stream has no commits, so that gold may show a part of one.",
        "what happened while a partition was reset (restore, expansion, drop all, import): no message tells.",
        "which part of a joined uid or discriminator is whose, where a value has the joining sign in it.",
    ),
)
