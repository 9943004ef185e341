"""What one record says: a triple that is set or deleted, or a drop, with the namespace and the commit that it is of.

Put here what a statement is made of, and how it is kept small while its neighbours are awaited. Not here: reading one
(``events``, ``exported``), where it stands in its commit (``places``), and what it does (``triples``).

Vendor: dgraph-io/dgraph v25.3.8, worker/cdc.go (CDCEvent, MutationEvent, DropEvent).
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

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

    ``namespace``: a decimal number, 0 where nobody tells it; ``has_key``: whether somebody does.
    ``commit_ts``: the timestamp of the commit, or of the export; None where it is not told.
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


Verb: TypeAlias = "int | tuple[str | None, str | None]"
Waiting: TypeAlias = (
    "tuple[str, int | None, Verb, str | None, str | None, str | None, int | str | None, int,"
    " int, int | None, tuple[str, str] | None]"
)
"""A statement that waits for its neighbours: ``namespace``, ``commit_ts``, its verb (``kind`` and ``op``), ``uid``,
``attr``, ``value``, ``value_type``, marks, ``at``, ``sent_at`` and ``fault``.

There may be a million of them in memory, so that what is known is a small number in place of a text: the verb, and the
type. ``at`` is where it stands in its object: its offset in the topic, or else in the object.
"""

VERB: Final = 2
MARKS: Final = 7
AT: Final = 8
"""Where a waiting statement has what places look at."""

commit_of = itemgetter(0, 1)
slot_of = itemgetter(3, 4)
"""A slot is what one delivery is of, within its commit: a predicate of a node."""

words_of = itemgetter(2, 5, 6)
"""What makes two events of a slot the same: verb, value and type of the value."""

HAS_KEY, HAS_OFFSET = 1, 2
"""The marks."""

VERBS: Final = tuple(OPERATIONS)
_NUMBER_OF_VERB: Final[Mapping[tuple[str | None, str | None], int]] = {
    verb: number for number, verb in enumerate(VERBS)
}
_NUMBER_OF_TYPE: Final = {name: number for number, name in enumerate(TYPES)}


def waiting(said: Statement, *, at: int, has_offset: bool) -> Waiting:
    """The statement as it is kept until all of its object are there."""
    verb = (said.kind, said.op)
    marks = (HAS_KEY if said.has_key else 0) | (HAS_OFFSET if has_offset else 0)
    kind = said.value_type
    return (
        said.namespace,
        said.commit_ts,
        _NUMBER_OF_VERB.get(verb, verb),
        said.uid,
        said.attr,
        said.value,
        kind if kind is None else _NUMBER_OF_TYPE.get(kind, kind),
        marks,
        at,
        said.sent_at,
        None if said.fault is None else (said.fault.reason, said.fault.detail),
    )


def awaited(kept: Waiting) -> Statement:
    """The statement that waited."""
    namespace, commit_ts, verb, uid, attr, value, value_type, marks, _, sent_at, fault = kept
    kind, op = VERBS[verb] if isinstance(verb, int) else verb
    return Statement(
        namespace,
        commit_ts,
        kind,
        op,
        uid,
        attr,
        value,
        TYPES[value_type] if isinstance(value_type, int) else value_type,
        marks & HAS_KEY != 0,
        False,
        sent_at,
        None if fault is None else Fault(*fault),
    )
