"""Statements that wait for the other events of their object, kept small: there may be a million of them in memory.

Put here the tuple that a statement is kept as, and what others read from it by index. Not here: the statement itself
(``statement``), and what the wait is for (``commit_positions``).
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Final, TypeAlias

from transforms.fault import Fault
from transforms.formats.dgraph.statement import OPERATIONS, TYPES, Statement

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
"""Where a waiting statement has what positions follow from."""

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


def waiting(statement: Statement, *, at: int, has_offset: bool) -> Waiting:
    """The statement as it is kept until all of its object are there."""
    verb = (statement.kind, statement.op)
    marks = (HAS_KEY if statement.has_key else 0) | (HAS_OFFSET if has_offset else 0)
    kind = statement.value_type
    return (
        statement.namespace,
        statement.commit_ts,
        _NUMBER_OF_VERB.get(verb, verb),
        statement.uid,
        statement.attr,
        statement.value,
        kind if kind is None else _NUMBER_OF_TYPE.get(kind, kind),
        marks,
        at,
        statement.sent_at,
        None if statement.fault is None else (statement.fault.reason, statement.fault.detail),
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
