"""When a gold table has to be made from all of silver, and what it has to wait for before that.

Put here what both ways of an apply (``local_apply``, ``spark_apply``) ask before they fold. Not here: the fold itself,
and the command that asks for a rebuild (``assets/upkeep/rebuild.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from assets.gold import schema_changes
from assets.gold.gold_table import GoldTable
from assets.gold.gold_tables import stale_windows
from assets.gold.table_properties import DECLARATION
from transforms.feed.digest import table_digest


def is_due(
    gold: GoldTable, properties: Mapping[str, str], *, exists: bool, has_history: bool
) -> bool:
    """Whether the table has to be made from all of silver.

    Args:
        gold: The gold table.
        properties: The properties of its rows' table.
        exists: Whether it is there; one that was removed is wanted back whole.
        has_history: Whether the table of its versions is there.
    """
    is_declared_so = properties.get(DECLARATION) == table_digest(gold.feed, gold.table)
    return not exists or not is_declared_so or (gold.table.history and not has_history)


def waits_for(gold: GoldTable, *, exists: bool) -> tuple[str, ...]:
    """The windows whose silver has to be derived again before the table can be made from all of silver.

    Raises:
        KeyDrift: The table exists with another key.
        SchemaChangeRefused: The feed file changed in a way that its ``schema_changes`` do not allow.
    """
    if exists:
        schema_changes.refuse_declaration(gold)
    return tuple(stale_windows(gold.lake, gold.feed, gold.name))
