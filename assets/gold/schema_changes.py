"""Changes of a declaration that a feed does not take: what the feed file now says against what gold has.

Not here: what the stream brings (``silver/schema_changes``), which policies there are
(``transforms/feed/schema_policies.py``), and changes that are simply followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assets.bookkeeping import accounting
from assets.bookkeeping.compacted import bases
from assets.columns import types
from assets.columns.gold import EVENT_AT, EVENT_ID, POSITION, RESET, tombstone_columns
from assets.delta.lake_table import LakeTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import added, widens

ADDED = "weir.added"
"""The gold property that names the columns which no declaration had."""

_OWN = (POSITION, EVENT_ID, EVENT_AT, RESET)
_POLICY = "The feed file's `schema_changes` says"


def with_added(lake: Lake, feed: Feed, table: Table, name: str) -> Table:
    """The table as gold has it: with ``add_column: evolve`` every column that its changes mention is one, as text."""
    if table.policies.add_column != "evolve":
        return table
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    rows = accounts.rows(["declared", "undeclared_columns"], {"table": [name]})
    mentioned = {
        one
        for row in rows
        if row["declared"] == table.name
        for one in row["undeclared_columns"] or ()
    }
    # The accounts of a window say nothing of repeats, which compacted events are once they are read again.
    names = [*sorted(mentioned), *bases.added(lake, feed, name)]
    found = added(names, table.columns)
    return replace(table, columns={**table.columns, **dict.fromkeys(found, "string")}, added=found)


def refuse_declaration(
    lake: Lake, feed: Feed, table: Table, name: str, gold: LakeTable, tombstones: LakeTable
) -> None:
    """Raise before a gold table is made anew where the feed file changed in a way that it does not allow.

    Raises:
        KeyDrift: the key is another.
        SchemaChangeRefused: the policy of that kind of change is ``fail``, or a column's ``since`` is wrong.
    """
    schema = gold.read().schema
    key = [column for column in tombstones.read().columns if column not in _OWN]
    # The spelling of a name may change when the table gets another that differs from it only in case.
    today = {**table.renamed, **table.spelled}
    if {today.get(column, column) for column in key} != set(tombstone_columns(table)):
        of_gold = tuple(column for column in key if not column.startswith("_weir_"))
        raise KeyDrift(
            *(feed.name, table.name, table.key),
            f"gold.{feed.name}.{name} has the key [{', '.join(of_gold)}]",
            "Its rows would be other rows under the same name. Declare the old key again; or declare the table in a"
            f" feed of another name; or remove {gold.path} and {tombstones.path}, and run again: gold is then made from"
            " the first event on, under the new key.",
        )
    undeclared = set((gold.properties().get(ADDED) or "").split(","))
    stood = {
        field.name: field.dataType.simpleString()
        for field in schema
        if not field.name.startswith("_weir_") and field.name not in undeclared
    }
    _refuse_types(feed, table, stood)
    _refuse_lost_columns(feed, table, stood)
    _refuse_broken_since(lake, feed, table, name)


def _refuse_types(feed: Feed, table: Table, stood: Mapping[str, str]) -> None:
    for column, old in stood.items():
        new = types.stored(table.columns.get(column, old))
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
                " `narrow_type: quarantine` under `schema_changes`: gold is then made anew, and events with values"
                " that do not fit stand in quarantine."
            )
            raise SchemaChangeRefused(
                *(feed.name, table.name, kind),
                f"column {column} is {old} in gold and {new} in the feed file",
                remedy,
            )


def _refuse_lost_columns(feed: Feed, table: Table, stood: Mapping[str, str]) -> None:
    lost = [one for one in stood if one not in table.columns and one not in table.spelled]
    gone = [column for column in lost if column not in table.renamed]
    come = [
        column
        for column in table.columns
        if column not in stood and column not in (*table.added, *table.renamed.values())
    ]
    for column in gone:
        alike = [new for new in come if types.stored(table.columns[new]) == stood[column]]
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


def _refuse_broken_since(lake: Lake, feed: Feed, table: Table, name: str) -> None:
    if not table.since:
        return
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    rows = accounts.rows(["window", "declared", "undeclared_columns"], {"table": [name]})
    for column, first in table.since.items():
        found = min(
            (
                row["window"]
                for row in rows
                if row["declared"] == table.name
                and row["window"] < first
                and column in (row["undeclared_columns"] or ())
            ),
            default=None,
        )
        if found is not None:
            raise SchemaChangeRefused(
                *(feed.name, table.name, "add_column"),
                f"column {column} is declared since {first}, and events of window {found} mention it",
                f"Say `since: {{{column}: {found}}}`, or leave it out.",
            )
