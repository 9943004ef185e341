"""What a feed of Dgraph's events should declare: the predicates that they name, their types, what may be lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transforms.families.kafka_records import kafka_message
from transforms.feed.feed import Feed
from transforms.formats.dgraph import exports
from transforms.formats.dgraph.statements import MUTATION, Statement, event_statement, in_line
from transforms.onboarding.proposal import Entry, Found, Mark, Proposal, Sampled, records_in
from transforms.record import BronzeRecord


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Events have their commit and their kind; exports have nodes that nothing else has."""
    if exports.is_rdf(record.object):
        triple = exports.triple_of_line((record.payload or b"").decode("utf-8", "replace"))
        return None if triple is None else Mark("triples of an RDF export")
    document, _ = kafka_message(record, feed).object()
    line, _ = in_line(document)
    if type(line.get("meta")) is dict and type(line.get("event")) is dict and "type" in line:
        return Mark("meta.commit_ts, type, event") if "commit_ts" in line["meta"] else None
    if exports.is_document(document) and len(document) <= 4:
        return Mark("uid, namespace and a predicate, as an export has", "namespace" in document)
    return None


@dataclass(slots=True)
class _Predicate:
    """What was seen of one predicate: how many values, their types, and nodes that got several in one commit."""

    values: int = 0
    types: dict[str, None] = field(default_factory=dict)
    several: int = 0


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The predicates that events name: the stream says their types, and that some are lists only by what it does."""
    seen: dict[str, _Predicate] = defaultdict(_Predicate)
    together: dict[tuple[object, ...], set[str | None]] = defaultdict(set)
    for record in records_in(sample):
        statement = _statement(feed, record)
        if statement is None or statement.attr is None or statement.is_star:
            continue
        one = seen[statement.attr]
        one.values += 1
        if statement.value_type:
            one.types.setdefault(statement.value_type)
        if statement.op == "set":
            node = (statement.namespace, statement.commit_ts, statement.uid, statement.attr)
            together[node].add(statement.value)
    for position, values in together.items():
        seen[str(position[-1])].several += len(values) > 1
    if not seen:
        return Proposal()
    entries = tuple(_entry(name, one) for name, one in seen.items())
    keyed = "keyed by namespace, uid, predicate (and value, of lists)"
    found = (Found("triples", f"{len(seen)} predicates, {keyed}"),)
    return Proposal((Entry("predicates", entries, "by name"),), found, _notes(seen))


def _entry(name: str, one: _Predicate) -> Entry:
    kinds = [kind for kind in one.types if kind != "default"] or [*one.types]
    parts = [Entry("type", kinds[0])] if len(kinds) == 1 else []
    comment = f"{one.values:,} {'value' if one.values == 1 else 'values'}"
    if one.several:
        parts.append(Entry("list", "true", "a node got several values in one commit"))
    elif "uid" in kinds:
        parts.append(Entry("list", "true", "a guess: edges mostly are lists"))
    if len(kinds) > 1:
        comment += f" of the types {', '.join(kinds)}"
    # Without any part the entry would be empty.
    return Entry(name, tuple(parts) or (Entry("list", "false"),), comment)


def _notes(seen: Mapping[str, _Predicate]) -> tuple[str, ...]:
    unsure = [name for name, one in seen.items() if not one.several]
    # What the file calls a guess stands first: of many names only some are told.
    unsure.sort(key=lambda name: "uid" not in seen[name].types)
    note = "the stream does not say which predicates are lists: compare with Dgraph's schema"
    several = ", …" if len(unsure) > 5 else ""
    return (f"{note} ({', '.join(unsure[:5])}{several}).",) if unsure else ()


def _statement(feed: Feed, record: BronzeRecord) -> Statement | None:
    message = kafka_message(record, feed)
    document, _ = message.object()
    if not document or exports.is_rdf(record.object) or exports.is_document(document):
        return None
    found = event_statement(document, message, of_topic=feed.reads_topics, found=None)
    return found if found.fault is None and found.kind == MUTATION else None
