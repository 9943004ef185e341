"""Exports of Dgraph, which are the baseline of a stream that starts late: RDF or JSON, one triple a record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.dgraph.statements import (
    EXPORT,
    Statement,
    checked,
    decimal_of_hex,
    signed,
    unsigned,
)
from transforms.json_values import as_text


class Triple(NamedTuple):
    """One triple of an export, its parts as they are written.

    ``node``: of an edge the node that it leads to, else None; ``value``: else the value. ``kind``: Dgraph's name of the
    value's type, or the one that is written where it is none of these; None where nobody tells it.
    ``language``: None where the value has none.
    """

    uid: str | None
    attr: str
    node: str | None
    value: str | None
    kind: str | None
    language: str | None
    namespace: str | None
    has_facets: bool


# As RDF: one triple a line.
# Vendor: dgraph-io/dgraph v25.3.8, worker/export.go (toRDF, rdfTypeMap), chunker/rdf_parser.go (what its loaders
# read).


_NAME: Final = re.compile(r"\.rdf(\.[^/]*)?$", re.IGNORECASE)

_LINE: Final = re.compile(
    r'\s*+<([^>"\\]*+)>\s*+<([^>"\\]*+)>\s*+'
    r'(?:<([^>"\\]*+)>|"([^"\\]*+(?:\\.[^"\\]*+)*+)"(?:\^\^<([^>"\\]*+)>|@([A-Za-z0-9-]++))?+)'
    r"\s*+(?:<(0[xX][0-9a-fA-F]++)>\s*+)?+(?:(\(.*\))\s*)?\.\s*(?:#.*)?",
    re.ASCII | re.DOTALL,
)
"""Node, predicate, then the node that it leads to, or a text with its type or language; namespace; facets."""

_TYPES: Final = {
    "int": "int",
    "integer": "int",
    "positiveInteger": "int",
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "date": "datetime",
    "dateTime": "datetime",
    "string": "string",
    "decimal": "bigfloat",
    "password": "password",
    "base64Binary": "binary",
    "geojson": "geo",
    "[]float32": "float32vector",
}
"""Dgraph's name of a type, by the last part of its name in RDF."""


def is_rdf(object_name: str) -> bool:
    """Whether an object holds lines of RDF."""
    return _NAME.search(object_name) is not None


def triple_of_line(line: str) -> Triple | None:
    """The triple of a line; None where it is none of an export."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        return None
    uid, attr, node, text, kind, language, namespace, facets = parts.groups()
    if text is not None and "\\" in text:
        text = _unescaped(text)
        if text is None:
            return None
    return Triple(
        uid, attr, node, text, _type(kind, node), language, namespace, has_facets=facets is not None
    )


def _unescaped(text: str) -> str | None:
    """A text with escapes as JSON has them, which is what Dgraph writes; None where an escape is none of these."""
    try:
        # A tab may stand in a text of RDF as it is.
        read: str = json.loads(f'"{text}"', strict=False)
        read.encode()
    except ValueError:
        return None
    return read


def _type(kind: str | None, node: str | None) -> str:
    """Dgraph's name of the value's type; the name in RDF where it is none that is known."""
    if node is not None:
        return "uid"
    if not kind:
        return "default"
    return _TYPES.get(kind.rpartition(":")[2].rpartition("#")[2], kind)


# As JSON: one triple a document, with the node, the namespace, and facets beside it. JSON tells texts from numbers and
# no more, so that the type of a value has to be declared.
# Vendor: dgraph-io/dgraph v25.3.8, worker/export.go (toJSON). Dgraph without namespaces exports none.


RESERVED = "dgraph."
"""How the predicates begin that Dgraph keeps for itself."""


def is_document(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a document of an export, and no event; a predicate may be called as parts of these."""
    if document.get("uid") is None or type(document.get("event")) is dict:
        return False
    if document.get("namespace") is not None:
        return True
    return (
        type(document.get("meta")) is not dict
        and decimal_of_hex(as_text(document["uid"])) is not None
    )


def triple_of_document(document: Mapping[str, Any], types: Mapping[str, str]) -> Triple | None:
    """The triple of a document: its one name that is neither node, namespace nor a facet; None where that is not one.

    ``types``: the declared type of each predicate.
    """
    values = [name for name in document if name not in ("uid", "namespace") and "|" not in name]
    if len(values) != 1:
        return None
    (name,) = values
    attr, _, language = name.partition("@")
    value, node, has_facets = document[name], None, any("|" in other for other in document)
    if type(value) is list and any(type(one) is dict and "uid" in one for one in value):
        if len(value) != 1:
            return None
        (edge,) = value
        node, value = as_text(edge["uid"]), None
        has_facets = has_facets or any("|" in other for other in edge)
    kind = "default" if attr.startswith(RESERVED) else types.get(attr)
    return Triple(
        as_text(document["uid"]),
        attr,
        node,
        as_text(value),
        kind if node is None else "uid",
        language or None,
        as_text(document.get("namespace")),
        has_facets,
    )


# What an export says: a triple that the cluster had at the export's timestamp. Its folder is named
# ``dgraph.r<timestamp>.u<date>.<time>``: what was committed up to that timestamp is in it.
# Vendor: dgraph-io/dgraph v25.3.8, worker/export.go.


_READ_TS: Final = re.compile(r"(?:^|/)dgraph\.r([0-9]+)\.u[^/]*/")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_ts_of(feed: Feed) -> Callable[[str], int | None]:
    """The timestamp of the export that an object belongs to, None where its folder's name has none."""
    landing = feed.landing.rstrip("/")

    @lru_cache(maxsize=16)
    def read_ts(object_name: str) -> int | None:
        match = _READ_TS.search(f"{landing}/{object_name}")
        return None if match is None else signed(match[1])

    return read_ts


def unreadable_export(read_ts: int | None, fault: Fault) -> Statement:
    """What is known of a record of an export that is no triple."""
    return Statement(commit_ts=read_ts, kind=EXPORT, op="set", has_key=True, fault=fault)


def export_statement(triple: Triple, read_ts: int | None) -> Statement:
    """What the triple says."""
    uid, node = decimal_of_hex(triple.uid), decimal_of_hex(triple.node)
    value = triple.value if triple.node is None else node
    if triple.kind == "datetime" and value is not None and _DAY.fullmatch(value):
        # Dgraph takes a day for its first moment.
        value = f"{value}T00:00:00Z"
    kind = None if triple.kind is None else triple.kind.lower()
    namespace = "0" if triple.namespace is None else unsigned(triple.namespace)
    if uid is None or (node is None and triple.node is not None):
        found: Fault | None = Fault("value_does_not_fit", "a node is no number of the form 0x1")
    elif namespace is None:
        detail = f"the namespace is {shown(triple.namespace)}, which is no number of 64 bits"
        found = Fault("unknown_namespace", detail)
    else:
        found = _unknown_fault(triple, read_ts)
    if found is None:
        uid, value, found = checked(uid=uid, attr=triple.attr or None, value=value, value_type=kind)
    return Statement(
        namespace or "0",
        read_ts,
        EXPORT,
        "set",
        uid,
        triple.attr or None,
        value,
        kind,
        True,
        triple.has_facets,
        None,
        found,
    )


def _unknown_fault(triple: Triple, read_ts: int | None) -> Fault | None:
    """The fault of a triple whose timestamp or type neither the export nor the feed gives, or that has a language."""
    if read_ts is None:
        return Fault(
            "unknown_position",
            "the folder of the export does not tell its timestamp: it is named dgraph.r<timestamp>.u<date>",
        )
    if triple.language is not None and not triple.attr.startswith(RESERVED):
        return Fault(
            "language_value",
            f"a value of {shown(triple.attr)} in the language {shown(triple.language)}: the stream never tells"
            " languages, so that nothing would keep it up to date",
        )
    if triple.kind is None:
        return Fault(
            "unknown_value_type",
            f"an export in JSON tells no types: declare the type of {shown(triple.attr)}",
        )
    return None
