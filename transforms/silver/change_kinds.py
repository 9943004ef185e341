"""What kinds of change a table has seen, as its accounting keeps them: a fold does only what they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from transforms.event import Event, StreamSchema
from transforms.silver import faults
from transforms.silver.changes import CHANGE, Key, how_kept
from transforms.silver.declarations import Declaration

DEPENDS, MOVES, TRANSACTIONS, SCOPE = "depends", "moves", "transactions", "scope"
UPSERTS: Final = "upserts"
DROPS: Final = "drops a column"
"""The label of a column drop: a fold does not need it, but a feed may refuse such a change."""
STREAMS: Final = "streams"
"""How the label begins that names the streams of a window's changes; where there are more than two, it names two."""


@dataclass(frozen=True, slots=True, order=True)
class ScopeShape:
    """Which columns a range delete gives values for, and whether it is for keys of one stream only."""

    columns: tuple[str, ...]
    of_stream: bool


WHOLE_TABLE = ScopeShape((), of_stream=False)


@dataclass(frozen=True, slots=True)
class ChangeKinds:
    """Which kinds of change there are of one table, in all its windows.

    ``depends``: some need the row's present values (attribute operations, conditional removes). ``moves``: some take
    values from another key's row. ``transactions``: some wait for a commit. ``upserts``: some update a row that need
    not be there, as an insert does in Cassandra. ``scopes``: the shapes of range deletes.
    """

    depends: bool = False
    moves: bool = False
    transactions: bool = False
    upserts: bool = False
    scopes: tuple[ScopeShape, ...] = ()

    @classmethod
    def of(cls, labels: Iterable[str]) -> ChangeKinds:
        """The kinds that an accounting's labels name."""
        known = set(labels)
        shapes = (label.removeprefix(SCOPE) for label in known if label.startswith(SCOPE))
        return cls(
            depends=DEPENDS in known,
            moves=MOVES in known,
            transactions=TRANSACTIONS in known,
            upserts=UPSERTS in known,
            scopes=tuple(sorted(_shape(shape) for shape in shapes)),
        )


def streams_label(streams: Sequence[str]) -> str:
    """The label of changes that came from these streams; changes without a stream have one, too."""
    return STREAMS + json.dumps([*streams], separators=(",", ":"), ensure_ascii=False)


def streams_of(labels: Iterable[str]) -> set[str]:
    """The streams that an accounting's labels name."""
    listed = [label.removeprefix(STREAMS) for label in labels if label.startswith(STREAMS)]
    return {stream for text in listed for stream in json.loads(text)}


def _shape(text: str) -> ScopeShape:
    of_stream, columns = json.loads(text)
    return ScopeShape(tuple(columns), bool(of_stream))


# What a window's accounting needs to know of a row besides counts, as one short text: most rows have the same few.

UNDECLARED, KINDS, SCHEMA, WARNINGS = "undeclared_columns", "change_kinds", "schema", "warnings"
NULL_KEY = "null_key"
"""The names of the facts."""


def facts_of(
    event: Event,
    declaration: Declaration,
    undeclared: tuple[str, ...],
    *,
    is_partial: bool,
    key: Key | None,
) -> str | None:
    """The facts of one event that is not quarantined, as JSON; None where there are none.

    ``undeclared``: the columns that the event mentions and the declaration does not. ``is_partial``: whether the event
    takes values from another key's row. ``key``: of the row that it changes; None where there is none.
    """
    kinds = kinds_of_event(event, is_partial=is_partial)
    described = event.stream_schema
    if described is not None and declaration.is_declared:
        described = _defaults(described, declaration) if described.defaults else None
    warnings = event.warnings if event.derived is None else ()
    is_change = how_kept(event) == CHANGE
    if undeclared and not is_change:
        undeclared = ()
    lacks_key = (
        is_change
        and declaration.declared is not None
        and event.scope is None
        and not declaration.is_keyless
        and (key is None or None in key)
    )
    if not (kinds or undeclared or described or warnings or lacks_key):
        return None
    return _facts_text(kinds, undeclared, described, warnings, lacks_key)


def _defaults(described: StreamSchema, declaration: Declaration) -> StreamSchema | None:
    """What the stream says of a table that the feed file declares: the texts of columns in rows from before them.

    Not those of masked columns, whose values nobody may read.
    """
    types, masks = declaration.column_types or {}, declaration.masks
    named = [(declaration.renamed.get(name, name), text) for name, text in described.defaults]
    kept = tuple(
        (name, text)
        for name, text in named
        if name in types and (masks is None or not masks.is_masked(name))
    )
    return StreamSchema(None, (), (), kept) if kept else None


def kinds_of_event(event: Event, *, is_partial: bool) -> tuple[str, ...]:
    """The labels of the kinds of change that the event is."""
    labels = []
    if event.attribute_ops or event.effect == "remove_if":
        labels.append(DEPENDS)
    if is_partial:
        labels.append(MOVES)
    if event.transaction is not None:
        labels.append(TRANSACTIONS)
    if event.effect == "update" and event.operation != "update" and event.scope is None:
        labels.append(UPSERTS)
    if event.scope is not None:
        shape = [int(event.stream is not None), sorted(event.scope)]
        labels.append(SCOPE + json.dumps(shape, separators=(",", ":"), ensure_ascii=False))
        if faults.is_column_drop(event):
            labels.append(DROPS)
    return tuple(labels)


@lru_cache(maxsize=4096)
def _facts_text(
    kinds: tuple[str, ...],
    undeclared: tuple[str, ...],
    described: StreamSchema | None,
    warnings: tuple[str, ...],
    lacks_key: bool,
) -> str:
    facts: dict[str, Any] = {}
    if kinds:
        facts[KINDS] = kinds
    if undeclared:
        facts[UNDECLARED] = undeclared
    if described is not None:
        facts[SCHEMA] = {
            "key": described.key,
            "columns": described.columns,
            "encoded": described.encoded,
            "defaults": described.defaults,
        }
    if warnings:
        facts[WARNINGS] = warnings
    if lacks_key:
        facts[NULL_KEY] = True
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
