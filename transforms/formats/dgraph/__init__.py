"""Dgraph's change data capture: one record is one event of the stream, or one triple of an export.

Dgraph's CDC sink writes events to Kafka or to a file. An event is
``{"meta": {"commit_ts": …}, "type": "mutation" | "drop", "event": {…}}``: a value of a predicate of a node was set or
deleted, or data were dropped. A Kafka record has the event as its value, and the namespace as its key, in eight bytes;
a line of the file sink is ``{"key": "<namespace>", "value": {event}}``; a bare event tells no namespace. Exports, as
RDF or as JSON, are the baseline of a stream that starts late. All of it becomes rows of one gold table, ``triples``:
one row per value. docs/dgraph.md says what each event does, and what cannot be known.

Vendor: Dgraph documentation, "Change Data Capture"; dgraph-io/dgraph v25.3.8, worker/cdc.go, worker/sink_handler.go,
worker/export.go, posting/index.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from transforms.families.wrappings import split_dump
from transforms.feed.feed import Feed, Table
from transforms.formats.dgraph import decode, exports, onboarding
from transforms.formats.dgraph.decode import COLUMNS, KEY, TRIPLES, WARNINGS
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records.text_lines import split_lines
from transforms.source_format import ExtraAsset, SourceFormat


def tables(feed: Feed) -> Mapping[str, Table]:
    """The one table of the feed, whatever its predicates."""
    return {TRIPLES: Table(TRIPLES, KEY, COLUMNS, cdc_columns=tuple(COLUMNS))}


def split(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """JSON documents, or the lines of an RDF export: a text in one has its line breaks escaped."""
    if exports.is_rdf(object_name):
        return split_lines(data, b"#", limits)
    return split_dump(data, feed, object_name, limits)


FORMAT = SourceFormat(
    name="dgraph",
    files=("**/*.json*", "**/*.ndjson*", "**/*.log*", "**/*.rdf*"),
    split=split,
    decoder=decode.decoder,
    resolver=decode.resolver,
    tables=tables,
    declares=("predicates", "types"),
    warnings=WARNINGS,
    needs_whole_objects=True,
    # All changes of a predicate come from one group of the cluster; others may lag behind it.
    arrives_by="predicate",
    reads_kafka=True,
    fields=("meta", "commit_ts", "type", "event"),
    recognise=onboarding.recognise,
    propose=onboarding.propose,
    extra_assets=(ExtraAsset("nodes", "gold.dgraph", is_needed=lambda feed: bool(feed.types)),),
    unknowable=(
        "languages: values of one predicate in several languages are sets that look alike",
        "values of geo and bigfloat predicates, which the stream has as {}",
        "node types, facets and the schema, which are not in the stream",
        "what a bulk load brought, until an export of it is in the landing",
        "that a namespace was deleted: nothing tells",
        "whether the newest commit is complete: events tell no end of a commit",
    ),
)
