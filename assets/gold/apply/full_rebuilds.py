"""What a gold table waits for before it can be made from all of silver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assets.gold import schema_changes
from assets.gold.gold_table import GoldTable
from assets.gold.gold_tables import stale_windows


def waits_for(
    gold: GoldTable, accounts: Sequence[Mapping[str, Any]], *, has_rows: bool, is_asked_for: bool
) -> tuple[str, ...]:
    """The windows whose silver has to be derived again before the table can be made from all of silver.

    A table without rows and tombstones takes any declaration: the one before was wrong about the source.

    Args:
        gold: The gold table.
        accounts: What the feed's accounts say of it.
        has_rows: Whether it has rows or tombstones.
        is_asked_for: Whether a person has asked for it (``weir rebuild``), so that it may get another
            key and other types.

    Raises:
        KeyDrift: The table has another key, and nobody has asked for it to be made again.
        SchemaChangeRefused: The feed file changed in a way that its ``schema_changes`` do not allow; for types,
            where nobody has asked for it.
    """
    if has_rows:
        if not is_asked_for:
            schema_changes.refuse_key_and_types(gold)
        schema_changes.refuse_columns(gold, accounts)
    return tuple(stale_windows(gold.feed, accounts))
