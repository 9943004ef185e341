"""What a window's accounting has to know of a row beside counts, as one short text: most rows have the same few.

Put here what the accounting learns from one event. Not here: counting (``accounting``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from transforms.change_kinds import DEPENDS, DROPS, MOVES, SCOPE, TRANSACTIONS
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
    """The facts of one event that is taken, as JSON; None where there are none.

    ``is_partial``: whether it takes values from another key's row. ``key``: of the row that it changes.
    """
    kinds = change_kinds(event, is_partial=is_partial)
    told = None if declaration.is_declared else event.stream_schema
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
    if not (kinds or undeclared or told or warnings or lacks_key):
        return None
    return _text(kinds, undeclared, told, warnings, lacks_key)


def change_kinds(event: Event, *, is_partial: bool) -> tuple[str, ...]:
    """What kinds of change the event is, as words (``transforms/change_kinds.py``)."""
    words = []
    if event.attribute_ops or event.effect == "remove_if":
        words.append(DEPENDS)
    if is_partial:
        words.append(MOVES)
    if event.transaction is not None:
        words.append(TRANSACTIONS)
    if event.scope is not None:
        words.append(_scope_word(tuple(sorted(event.scope)), event.stream is not None))
        if faults.is_column_drop(event):
            words.append(DROPS)
    return tuple(words)


def _scope_word(columns: Sequence[str], of_stream: bool) -> str:
    listed = json.dumps(list(columns), separators=(",", ":"), ensure_ascii=False)
    return f"{SCOPE}[{int(of_stream)},{listed}]"


@lru_cache(maxsize=4096)
def _text(
    kinds: tuple[str, ...],
    undeclared: tuple[str, ...],
    told: StreamSchema | None,
    warnings: tuple[str, ...],
    lacks_key: bool,
) -> str:
    facts: dict[str, Any] = {}
    if kinds:
        facts[KINDS] = kinds
    if undeclared:
        facts[UNDECLARED] = undeclared
    if told is not None:
        facts[SCHEMA] = {"key": told.key, "columns": told.columns, "encoded": told.encoded}
    if warnings:
        facts[WARNINGS] = warnings
    if lacks_key:
        facts[NULL_KEY] = True
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
