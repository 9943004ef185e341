"""Where a window's accounts say that something was counted, and what quarantine says of it: lines for a reader.

Put here samples of what a rule of silver counts. Not here: the counts (``violations``), and samples that only one rule
has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.accounting import StoredAccount
from assets.columns.silver import REFUSALS_ARROW
from assets.delta.local_table import LocalTable
from assets.lake import Lake
from assets.layers import Layer
from expectations import silver as rules
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.too_late import REASON

SHOWN: Final = 10
"""So many lines are shown of a rule."""

_READ: Final = 1000
"""So many rows of quarantine are looked at: what they say is grouped."""

_OF_COUNT: Final = {
    "null_keys": rules.NO_NULL_KEY.name,
    "duplicates": rules.NO_EVENT_TWICE.name,
    "too_late": rules.NOTHING_TOO_LATE.name,
    "held": rules.NOTHING_HELD.name,
}
"""The rules that are broken as often as the accounts count something."""

_REFUSED: Final = pa.schema(
    REFUSALS_ARROW.field(name)
    for name in ("window", "table", "reason", "detail", "key", "object", "line")
)


def samples_of_counts(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, str]:
    """In which window and table each thing was counted, as Markdown, by the rule's name."""
    found = {rule: _lines(accounts, count) for count, rule in _OF_COUNT.items()}
    for warning in FORMATS[feed.format].warnings:
        found[warning.rule] = _lines(
            [{**row, **(row["warnings"] or {})} for row in accounts], warning.word
        )
    return found


def _lines(accounts: Iterable[Mapping[str, Any]], count: str) -> str:
    numbers = [(row.get(count, 0), row["window"], row["table"] or "(no table)") for row in accounts]
    most = sorted((one for one in numbers if one[0]), key=lambda one: (-one[0], *one[1:]))
    return "\n".join(f"- {table}: {number:,} in {window}" for number, window, table in most[:SHOWN])


def samples_of_quarantine(
    lake: Lake, feed: Feed, windows: Sequence[str], accounts: Sequence[StoredAccount]
) -> dict[str, str]:
    """The reasons of what these windows have in quarantine, each with its first record; read where there is any."""
    if not any(row["quarantined"] for row in accounts):
        return {}
    rows = _refused(lake.local_table(Layer.QUARANTINE, feed.name), windows)
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in islice(rows, _READ):
        groups.setdefault((row["reason"], row["table"] or "(no table)"), []).append(row)
    largest = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    lines = [_in_words(table, reason, some) for (reason, table), some in largest[:SHOWN]]
    return {rules.NOTHING_QUARANTINED.name: "\n".join(lines)}


def _refused(table: LocalTable, windows: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    for rows in table.each(_REFUSED, windows):
        late = pc.equal(rows["reason"], REASON)
        yield from rows.filter(pc.invert(late)).to_pylist()


def _in_words(table: str, reason: str, some: Sequence[Mapping[str, Any]]) -> str:
    first = some[0]
    key = ", ".join("null" if part is None else part for part in first["key"] or ())
    of = f", key {key}" if key else ""
    where = f"{first['object']} line {first['line']}"
    how_often = "once" if len(some) == 1 else f"{len(some):,} times; first"
    return f"- {table}: {reason}, {how_often} {where}{of}: {first['detail']}"
