"""What a gold table waits for before it can be made from all of silver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assets.gold import schema_changes
from assets.gold.gold_table import GoldTable
from assets.gold.gold_tables import stale_windows


def waits_for(
    gold: GoldTable, accounts: Sequence[Mapping[str, Any]], *, exists: bool
) -> tuple[str, ...]:
    """The windows whose silver has to be derived again before the table can be made from all of silver.

    Raises:
        KeyDrift: The table exists with another key.
        SchemaChangeRefused: The feed file changed in a way that its ``schema_changes`` do not allow.
    """
    if exists:
        schema_changes.refuse_declaration(gold, accounts)
    return tuple(stale_windows(gold.feed, accounts))
