"""What an export says: a triple that the cluster had at the export's timestamp.

An export is the baseline of a stream that starts late. Its folder is named ``dgraph.r<timestamp>.u<date>.<time>``: what
was committed up to that timestamp is in it. Put here what every triple of an export says, in either form. Not here:
reading its lines and documents (``rdf``, ``documents``), and what a triple becomes
(``transforms/formats/dgraph/triples.py``).

Vendor: dgraph-io/dgraph v25.3.8, worker/export.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.dgraph.canonical import checked, decimal_of_hex, signed, unsigned
from transforms.formats.dgraph.exports.documents import RESERVED
from transforms.formats.dgraph.exports.triple import Triple
from transforms.formats.dgraph.statement import EXPORT, Statement

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


def unreadable(read_ts: int | None, fault: Fault) -> Statement:
    """What is known of a record of an export that is no triple."""
    return Statement(commit_ts=read_ts, kind=EXPORT, op="set", has_key=True, fault=fault)


def statement(triple: Triple, read_ts: int | None) -> Statement:
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
