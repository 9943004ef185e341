"""Digests of a gold table's rows in this process, by which two tables are compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import pyarrow as pa

from transforms.feed.feed import Table
from transforms.gold.columns import EVENT_AT, EVENT_ID, LOG_POSITION, key_columns

Digests: TypeAlias = Counter[tuple[str, str]]
"""How many rows there are of each key, as JSON, and digest."""


def digests_of(table: Table, rows: pa.Table) -> Digests:
    """The digests of rows of gold, over all columns but the reset position."""
    own = key_columns(table)
    names = dict.fromkeys((*own, *table.columns, LOG_POSITION, EVENT_ID, EVENT_AT))
    return digested(rows.select([*names]), own)


def digested(rows: pa.Table, own: Sequence[str]) -> Digests:
    """The digests of rows over all their columns; ``own``: the columns that tell a row from all others."""
    found: Digests = Counter()
    for row in rows.to_pylist():
        key = json.dumps(
            {name: row[name] for name in own},
            default=str,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        values = [_ordered(row[one.name], one.type) for one in rows.schema]
        found[key, sha256(repr(values).encode()).hexdigest()] += 1
    return found


def _ordered(value: Any, kind: pa.DataType) -> Any:
    """The value, a map's entries sorted: their order means nothing."""
    return sorted(value, key=repr) if pa.types.is_map(kind) and value is not None else value


def whole_digest(digests: Digests) -> str:
    """One digest for all rows, which does not depend on their order."""
    return sha256(repr(sorted(digests.elements())).encode()).hexdigest()
