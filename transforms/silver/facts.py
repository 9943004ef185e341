"""What a window's accounting needs to know of a row besides counts, as one short text: most rows have the same few.

Put here what the accounting learns from one event. Not here: counting (``accounting``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from transforms.change_kinds import DEPENDS, DROPS, MOVES, SCOPE, TRANSACTIONS, UPSERTS
from transforms.event import Event, StreamSchema
from transforms.silver.conforming import faults
from transforms.silver.conforming.changes import CHANGE, Key, tally_of
from transforms.silver.conforming.declarations import Declaration

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
    """The facts of one event that is not refused, as JSON; None where there are none.

    Args:
        event: The event.
        declaration: What the feed, or the stream, declares of its table.
        undeclared: The columns that the event mentions and the declaration does not.
        is_partial: Whether the event takes values from another key's row.
        key: The key of the row that it changes; None where there is none.
    """
    kinds = change_kinds(event, is_partial=is_partial)
    described = event.stream_schema
    if described is not None and declaration.is_declared:
        described = _defaults(described, declaration) if described.defaults else None
    warnings = event.warnings if event.derived is None else ()
    is_change = tally_of(event) == CHANGE
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
    return _text(kinds, undeclared, described, warnings, lacks_key)


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


def change_kinds(event: Event, *, is_partial: bool) -> tuple[str, ...]:
    """The labels of the kinds of change that the event is (``transforms/change_kinds.py``)."""
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
        labels.append(_scope_label(tuple(sorted(event.scope)), event.stream is not None))
        if faults.is_column_drop(event):
            labels.append(DROPS)
    return tuple(labels)


def _scope_label(columns: Sequence[str], of_stream: bool) -> str:
    listed = json.dumps(list(columns), separators=(",", ":"), ensure_ascii=False)
    return f"{SCOPE}[{int(of_stream)},{listed}]"


@lru_cache(maxsize=4096)
def _text(
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
