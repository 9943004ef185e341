"""Exports of Dgraph as JSON: one triple a document, with the node, the namespace, and facets beside it.

JSON tells texts from numbers and no more, so that the type of a value has to be declared. Put here how a document of an
export is recognised and read. Not here: exports as RDF (``rdf``), and what a triple means (``exported``).

Vendor: dgraph-io/dgraph v25.3.8, worker/export.go (toJSON). Dgraph without namespaces exports none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transforms.formats.dgraph.canonical import decimal_of_hex
from transforms.formats.dgraph.exports.triple import Triple
from transforms.json_values import as_text

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


def triple(document: Mapping[str, Any], types: Mapping[str, str]) -> Triple | None:
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
