"""Exports of Dgraph as RDF: one triple a line.

Put here how a line is read. Not here: exports as JSON (``documents``), and what a triple means (``exported``).

Vendor: dgraph-io/dgraph v25.3.8, worker/export.go (toRDF, rdfTypeMap), chunker/rdf_parser.go (what its loaders read).
"""

from __future__ import annotations

import json
import re
from typing import Final

from transforms.formats.dgraph.exports.triple import Triple

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


def triple(line: str) -> Triple | None:
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
