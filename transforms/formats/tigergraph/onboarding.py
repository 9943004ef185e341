"""What a feed of TigerGraph's messages should declare: the vertex and edge types that they name.

Messages carry no types, so these follow from the values in them, and from what is done to them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from transforms.families.kafka_records import kafka_message
from transforms.feed.feed import Feed
from transforms.formats.tigergraph.messages import EDGE, VERTEX
from transforms.json_values import as_text, part
from transforms.onboarding.proposal import Entry, Found, Mark, Proposal, Sampled, records_in
from transforms.onboarding.types_and_keys import inferred_type
from transforms.record import BronzeRecord

_TYPES: Final = {"bigint": "int", "int": "int", "double": "double", "boolean": "bool"}
"""TigerGraph's names of the types that are inferred; its ints have 64 bits."""


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Every message says its mid, what it is about, and what was done."""
    names = ("mid", "operator", "type", "typename")
    document, _ = kafka_message(record, feed).object()
    return Mark(", ".join(names)) if document.keys() >= {*names} else None


@dataclass(slots=True)
class _Type:
    """What was seen of one vertex or edge type; the values of attributes as JSON has them."""

    messages: int = 0
    attributes: dict[str, list[Any]] = field(default_factory=dict)
    operations: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sources: dict[str, None] = field(default_factory=dict)
    targets: dict[str, None] = field(default_factory=dict)
    has_reverse: bool = False
    discriminators: int = 0


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The types of vertices and edges that messages name."""
    vertices: dict[str, _Type] = defaultdict(_Type)
    edges: dict[str, _Type] = defaultdict(_Type)
    for record in records_in(sample):
        document, _ = kafka_message(record, feed).object()
        kind, name = as_text(document.get("type")), as_text(document.get("typename"))
        if not name:
            continue
        if kind == EDGE:
            _note(edges[name], document)
            _note_ends(edges[name], document)
        elif kind is not None and kind.startswith(VERTEX):
            _note(vertices[name], document)
    for edge in edges.values():
        for end in (*edge.sources, *edge.targets):
            # Whatever is at an end of an edge is a vertex type.
            _ = vertices[end]
    entries = []
    if vertices:
        entries.append(Entry("vertices", tuple(_vertex(*one) for one in vertices.items())))
    if edges:
        entries.append(Entry("edges", tuple(_edge(*one) for one in edges.items())))
    found = [Found(f"vertex_{name}", _in_words(one, "uid")) for name, one in vertices.items()]
    ends = "from_type, from_uid, to_type, to_uid, discriminator"
    found += [Found(f"edge_{name}", _in_words(one, ends)) for name, one in edges.items()]
    return Proposal(tuple(entries), tuple(found), tuple(_notes(vertices, edges)))


def _note(one: _Type, document: Mapping[str, Any]) -> None:
    one.messages += 1
    content = document.get("content")
    for name, given in content.items() if type(content) is dict else ():
        if type(given) is dict and "value" in given:
            one.attributes.setdefault(name, []).append(given["value"])
            one.operations[name][str(given.get("op"))] += 1


def _note_ends(one: _Type, document: Mapping[str, Any]) -> None:
    for side, ends in (("from", one.sources), ("to", one.targets)):
        if kind := as_text(part(document.get(side), "type")):
            ends.setdefault(kind)
    one.has_reverse |= document.get("hasreverseedge") in (True, "true", 1)
    one.discriminators += bool(document.get("discriminator"))


def _vertex(name: str, one: _Type) -> Entry:
    return Entry(name, _parts(one), _comment(one))


def _edge(name: str, one: _Type) -> Entry:
    ends = (_end("from", one.sources), _end("to", one.targets))
    return Entry(name, (*ends, *_parts(one, needs=False)), _comment(one))


def _end(side: str, kinds: Iterable[str]) -> Entry:
    names = tuple(kinds)
    return Entry(side, names[0] if len(names) == 1 else names or "*")


def _parts(one: _Type, *, needs: bool = True) -> tuple[Entry, ...]:
    if not one.attributes:
        # A type without any key would be nothing at all in YAML.
        return (Entry("key", (), "the vertex's uid is the key of gold's rows"),) if needs else ()
    attributes = tuple(
        Entry(name, *_attribute(values, one.operations[name]))
        for name, values in one.attributes.items()
    )
    return (Entry("attributes", attributes),)


def _attribute(values: Sequence[Any], operations: Mapping[str, int]) -> tuple[str, str]:
    """The attribute's type in TigerGraph's words, and the evidence."""
    done = ", ".join(f"{count} {name}" for name, count in operations.items())
    lists = [one for one in values if type(one) is list]
    maps = [one for one in values if type(one) is dict]
    if lists:
        inside = [part for one in lists for part in one]
        is_list = any(len({*map(str, one)}) < len(one) for one in lists)
        why = "one has a value twice" if is_list else "a guess: lists look the same"
        return f"{'list' if is_list else 'set'}<{_simple(inside)[0]}>", f"{done}; {why}"
    if maps:
        held = [part for one in maps for part in one.values()]
        keys = [part for one in maps for part in one]
        return f"map<{_simple(keys)[0]},{_simple(held)[0]}>", done
    kind, evidence = _simple(values)
    return kind, f"{done}; {evidence}"


def _simple(values: Sequence[Any]) -> tuple[str, str]:
    texts = [as_text(one) for one in values if type(one) not in (dict, list)]
    kind, evidence, _ = inferred_type(texts)
    if any(type(one) is float for one in values):
        return "double", evidence
    if kind in ("date", "timestamp"):
        return "datetime", evidence
    if any(type(one) is str for one in values):
        # A text of digits is a text here: JSON has numbers for numbers.
        return "string", "texts"
    return _TYPES.get(kind, "string"), evidence


def _comment(one: _Type) -> str:
    return _counted(one.messages, "message") if one.messages else "named by an edge alone"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _in_words(one: _Type, key: str) -> str:
    return f"{_counted(one.messages, 'message')}, {_counted(len(one.attributes), 'attribute')}, key [{key}]"


def _notes(vertices: Mapping[str, _Type], edges: Mapping[str, _Type]) -> Iterable[str]:
    yield "messages carry no types, and no defaults: compare with the graph's schema."
    for name, one in edges.items():
        if one.has_reverse:
            yield f"edge {name} has a reverse edge, whose name the messages do not say: add `reverse`."
        if one.discriminators:
            yield f"edge {name} has a discriminator: name its attributes under `discriminator`."
