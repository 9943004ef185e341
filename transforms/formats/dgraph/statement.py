"""A statement: what one record says, a triple that is set or deleted, or a drop, with its namespace and commit.

Put here what a statement is made of. Not here: reading one (``events``, ``exports``), keeping it while it waits for
the other events of its object (``waiting``), where it stands in its commit (``commit_positions``), and what it does
(``triples``).

Vendor: dgraph-io/dgraph v25.3.8, worker/cdc.go (CDCEvent, MutationEvent, DropEvent).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from transforms.fault import Fault

MUTATION, DROP, EXPORT = "mutation", "drop", "export"

OPERATIONS: Final = {
    (MUTATION, "set"): "set",
    (MUTATION, "ovr"): "set",
    (MUTATION, "del"): "del",
    (DROP, "all"): "drop_all",
    (DROP, "data"): "drop_data",
    # The code says predicate, the documentation attribute.
    (DROP, "predicate"): "drop_predicate",
    (DROP, "attribute"): "drop_predicate",
    (DROP, "type"): "drop_type",
    (EXPORT, "set"): "read",
}
"""What Dgraph did, by the two words that it says it with."""

STAR: Final = "_STAR_ALL"
"""The value of a delete of all values; its type is ``default``."""

LOST: Final = "{}"
LOSSY: Final = frozenset({"geo", "bigfloat"})
"""The types of which Dgraph's stream has no values: it writes them as ``LOST``."""

TYPES: Final = (
    *("default", "binary", "int", "float", "bool", "datetime", "geo", "uid", "string"),
    *("password", "bigfloat", "float32vector"),
)
"""Dgraph's names of its types (types/scalar_types.go)."""


class Statement(NamedTuple):
    """What a record says, as far as it can be read.

    ``namespace``: a decimal number; 0 where the record has no key. ``has_key``: whether the record has a key, or is an
    export's; without one the namespace is unknown.
    ``commit_ts``: the timestamp of the commit, or of the export; None where the record does not give it.
    ``kind`` and ``op``: the two words for what was done, in lower case: ``mutation`` and ``set``, ``drop`` and ``all``.
    ``uid``, ``attr``, ``value``, ``value_type``: node, predicate and value, in canonical text where they have no fault
    (``canonical``); of a drop ``attr`` alone. ``has_facets``: of an exported triple, that it had some.
    ``sent_at``: when Kafka got the record, in microseconds since 1970 (UTC).
    """

    namespace: str = "0"
    commit_ts: int | None = None
    kind: str | None = None
    op: str | None = None
    uid: str | None = None
    attr: str | None = None
    value: str | None = None
    value_type: str | None = None
    has_key: bool = False
    has_facets: bool = False
    sent_at: int | None = None
    fault: Fault | None = None

    @property
    def is_star(self) -> bool:
        """Whether it is a delete of all values."""
        return self.value == STAR and self.op == "del" and self.value_type == "default"

    @property
    def is_lost(self) -> bool:
        """Whether the stream has lost its value."""
        return self.value == LOST and self.value_type in LOSSY
