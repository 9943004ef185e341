"""Changes of a declaration: those that gold refuses, and what a table waits for before it is made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assets.control.discovered_tables import ADDED
from assets.gold.tables import GoldTable, stale_windows
from transforms.column_types.registry import column_type, widens
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import EVENT_AT, EVENT_ID, LOG_POSITION, RESET, tombstone_columns

_OWN = (LOG_POSITION, EVENT_ID, EVENT_AT, RESET)
_POLICY = "The feed file's `schema_changes` says"


def refuse_columns(gold: GoldTable, accounts: Sequence[Mapping[str, Any]]) -> None:
    """Raise, before a gold table is made again, where columns went or came in a way that the feed file does not allow.

    Raises:
        SchemaChangeRefused: The policy of that kind of change is ``fail``, or a column's ``since`` is wrong.
    """
    _refuse_lost_columns(gold.feed, gold.table, _in_gold(gold))
    _refuse_broken_since(gold, accounts)


def refuse_key_and_types(gold: GoldTable) -> None:
    """Raise where a table is to be made again under another key, or types that may not hold what the old ones did.

    A person who asks for a rebuild has said that these are meant.

    Raises:
        KeyDrift: The declared key is not gold's.
        SchemaChangeRefused: The policy of such a change of type is ``fail``.
    """
    _refuse_key(gold)
    _refuse_types(gold.feed, gold.table, _in_gold(gold))


def _in_gold(gold: GoldTable) -> dict[str, str]:
    """The columns that gold has of its declaration, with their types."""
    undeclared = set((gold.rows.properties().get(ADDED) or "").split(","))
    return {
        field.name: field.dataType.simpleString()
        for field in gold.rows.schema()
        if not field.name.startswith("_weir_") and field.name not in undeclared
    }


def _refuse_key(gold: GoldTable) -> None:
    feed, table = gold.feed, gold.table
    key = [column for column in gold.tombstones.schema().names if column not in _OWN]
    # The spelling of a name may change when the table gets another that differs from it only in case.
    today = {**table.renamed, **table.spelled}
    if {today.get(column, column) for column in key} == set(tombstone_columns(table)):
        return
    of_gold = tuple(column for column in key if not column.startswith("_weir_"))
    raise KeyDrift(
        *(feed.name, table.name, table.key),
        f"gold.{feed.name}.{gold.name} has the key [{', '.join(of_gold)}]",
        "Its rows would be other rows under the same name. Declare the old key again; or declare the table in a"
        f" feed of another name; or `weir rebuild {feed.name}`: gold is then made from the first event on, under the"
        " new key.",
    )


def _refuse_types(feed: Feed, table: Table, in_gold: Mapping[str, str]) -> None:
    for column, old in in_gold.items():
        new = column_type(table.columns[column]).spark if column in table.columns else old
        if new == old:
            continue
        wider = widens(old, new)
        policy = table.policies.widen_type if wider else table.policies.narrow_type
        if policy == "fail":
            kind = "widen_type" if wider else "narrow_type"
            remedy = (
                f"{_POLICY} widen_type: fail. Declare {old} again, or say evolve."
                if wider
                else f"Some values may not fit the new type. Declare {old} again, or say"
                " `narrow_type: quarantine` under `schema_changes`: gold is then made again, and events with values"
                f" that do not fit stand in quarantine. `weir rebuild {feed.name}` does the same once, for a type that"
                " was declared wrong."
            )
            raise SchemaChangeRefused(
                *(feed.name, table.name, kind),
                f"column {column} is {old} in gold and {new} in the feed file",
                remedy,
            )


def _refuse_lost_columns(feed: Feed, table: Table, in_gold: Mapping[str, str]) -> None:
    lost = [one for one in in_gold if one not in table.columns and one not in table.spelled]
    # A column that a mask drops is no loss that a policy would have to allow: the feed file asks for it by name.
    gone = [column for column in lost if column not in (*table.renamed, *table.source_columns)]
    come = [
        column
        for column in table.columns
        if column not in in_gold and column not in (*table.added, *table.renamed.values())
    ]
    for column in gone:
        alike = [new for new in come if column_type(table.columns[new]).spark == in_gold[column]]
        if alike and table.policies.rename_column == "fail":
            raise SchemaChangeRefused(
                *(feed.name, table.name, "rename_column"),
                f"column {column} is in gold and no longer in the feed file, and {alike[0]} of the same type is new",
                f"If it was renamed, add `renamed: {{{column}: {alike[0]}}}` to the table, and its values go along."
                " If one went and another came, say `rename_column: evolve` under `schema_changes`.",
            )
        if table.policies.drop_column != "evolve":
            raise SchemaChangeRefused(
                *(feed.name, table.name, "drop_column"),
                f"column {column} is in gold and no longer in the feed file",
                f"{_POLICY} drop_column: {table.policies.drop_column}, so that no column may go: declare it again"
                " (gold keeps its values as long as it is declared), or say evolve.",
            )


def _refuse_broken_since(gold: GoldTable, rows: Sequence[Mapping[str, Any]]) -> None:
    feed, table = gold.feed, gold.table
    if not table.since:
        return
    for column, first in table.since.items():
        found = min(
            (
                row["window"]
                for row in rows
                if row["declared"] == table.name
                and row["window"] < first
                and column in row["undeclared_columns"]
            ),
            default=None,
        )
        if found is not None:
            raise SchemaChangeRefused(
                *(feed.name, table.name, "add_column"),
                f"column {column} is declared since {first}, and events of window {found} mention it",
                f"Say `since: {{{column}: {found}}}`, or leave it out.",
            )


def rebuild_waits_for(
    gold: GoldTable, accounts: Sequence[Mapping[str, Any]], *, has_rows: bool, is_asked_for: bool
) -> tuple[str, ...]:
    """The windows whose silver has to be derived again before the table can be made from all of silver.

    A table without rows and tombstones takes any declaration: the one before was wrong about the source. Where a person
    has asked for it (``weir rebuild``), it may get another key and other types.

    Raises:
        KeyDrift: The table has another key, and nobody has asked for it to be made again.
        SchemaChangeRefused: The feed file changed in a way that its ``schema_changes`` do not allow; for types,
            where nobody has asked for it.
    """
    if has_rows:
        if not is_asked_for:
            refuse_key_and_types(gold)
        refuse_columns(gold, accounts)
    return tuple(stale_windows(gold.feed, accounts))
