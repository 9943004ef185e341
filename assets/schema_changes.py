"""Changes of a schema that a feed does not take: what the stream brings, and what the feed file now says against gold.

Not here: which policies there are (``transforms/schema_changes.py``), and changes that are simply followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets import accounting, bases
from assets.accounting import StoredAccount
from assets.gold_columns import typed as types
from assets.gold_columns.current_state import EVENT_AT, EVENT_ID, POSITION, RESET, grave_columns
from assets.lake import Lake
from assets.lake_table import LakeTable
from transforms.change_kinds import DROPS
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed import Feed, Table
from transforms.record import COORDINATES
from transforms.schema_changes import DROP_COLUMN, added, widens

ADDED = "weir.added"
"""The gold property that names the columns which no declaration had."""

_OWN = (POSITION, EVENT_ID, EVENT_AT, RESET)
_POLICY = "The feed file's `schema_changes` says"


def with_added(lake: Lake, feed: Feed, table: Table, name: str) -> Table:
    """The table as gold has it: with ``add_column: evolve`` every column that its changes mention is one, as text."""
    if table.policies.add_column != "evolve":
        return table
    accounts = lake.small_table("accounting", feed.name, accounting.COLUMNS)
    rows = accounts.rows(["declared", "undeclared_columns"], {"table": [name]})
    mentioned = {
        one
        for row in rows
        if row["declared"] == table.name
        for one in row["undeclared_columns"] or ()
    }
    # Books of a window say nothing of repeats, which compacted events are once they are read again.
    names = [*sorted(mentioned), *bases.added(lake, feed, name)]
    found = added(names, table.columns)
    return replace(table, columns={**table.columns, **dict.fromkeys(found, "string")}, added=found)


def refuse_in_stream(
    feed: Feed, accounts: Sequence[StoredAccount], fated: Callable[[], DataFrame]
) -> None:
    """Raise before anything is written where these windows bring a change that the feed file refuses.

    ``fated``: the rows behind the accounts, which are asked for only where an account tells of such a change.

    Raises:
        SchemaChangeRefused: the policy of that kind of change is ``fail``.
        KeyDrift: every event of a table lacks a column of its key.
    """
    _refuse_key_drift(feed, accounts, fated)
    for account in sorted(accounts, key=lambda row: (row["window"], str(row["source_table"]))):
        table = feed.tables.get(account["declared"] or "")
        if table is None:
            if feed.policies.rename_table == "fail" and account["changes"]:
                raise SchemaChangeRefused(
                    *(feed.name, str(account["source_table"]), "rename_table"),
                    f"events of the undeclared table {account['source_table']}"
                    f"{_first(_of(fated(), account))}",
                    f"{_POLICY} rename_table: fail. Declare the table; or, if it is a table under a new name, give"
                    " that its new name in the feed file and list the earlier one under `was`.",
                )
            continue
        if table.policies.add_column == "fail" and account["undeclared_columns"]:
            column = account["undeclared_columns"][0]
            rows = _of(fated(), account).where(~is_column_drop())
            first = _first(rows.where(F.array_contains(F.map_keys("after"), column)))
            raise SchemaChangeRefused(
                *(feed.name, table.name, "add_column"),
                f"events mention the undeclared column {column}{first}",
                f"{_POLICY} add_column: fail. Declare the column, or the name that it had before under `renamed`.",
            )
        if table.policies.drop_column == "fail" and DROPS in account["change_kinds"]:
            first = _first(_of(fated(), account).where(is_column_drop()))
            raise SchemaChangeRefused(
                *(feed.name, table.name, "drop_column"),
                f"the source dropped a column{first}",
                f"{_POLICY} drop_column: fail. Say keep, hold or evolve.",
            )


def is_column_drop() -> Column:
    """True for the source's own drop of a column."""
    return (F.col("operation") == DROP_COLUMN) & F.col("scope").isNotNull()


def _of(fated: DataFrame, account: StoredAccount) -> DataFrame:
    """The rows behind an account."""
    return fated.where(
        (F.col("window") == account["window"]) & (F.col("table") == account["table"])
    )


def _first(events: DataFrame) -> str:
    """Where the first of these events stands, as the end of a sentence."""
    rows = events.orderBy(*COORDINATES).select("object", "line").take(1)
    return f", first in {rows[0]['object']}, line {rows[0]['line']}" if rows else ""


def _refuse_key_drift(
    feed: Feed, accounts: Sequence[StoredAccount], fated: Callable[[], DataFrame]
) -> None:
    suspects = {
        (account["window"], account["declared"])
        for account in accounts
        if account["declared"] in feed.tables
        and not account["changes"]
        and account["quarantined"] > 1
    }
    for window, name in sorted(suspects):
        key = feed.tables[name].key
        images = F.concat(F.map_keys("before"), F.map_keys("after"))
        mentions = [F.count_if(F.array_contains(images, column)).alias(column) for column in key]
        mine = fated().where((F.col("window") == window) & (F.col("declared") == name))
        of_keys = mine.where(F.col("fault.reason") == "missing_key")
        found = of_keys.agg(F.count(F.lit(1)).alias("_events"), *mentions).first()
        assert found is not None  # an aggregate without groups has one row
        lacking = [column for column in key if not found[column]]
        if lacking and found["_events"] == mine.where(F.col("derived").isNull()).count():
            raise KeyDrift(
                *(feed.name, name, key),
                f"none of its {found['_events']} events in window {window} mentions"
                f" {', '.join(lacking)}{_first(mine)}",
                "If the column was renamed, give its earlier name under `renamed`. If the source has another key now,"
                " its rows are other rows: declare them in a feed of another name.",
            )


def refuse_declaration(
    lake: Lake, feed: Feed, table: Table, name: str, gold: LakeTable, graves: LakeTable
) -> None:
    """Raise before a gold table is made anew where the feed file changed in a way that it does not allow.

    Raises:
        KeyDrift: the key is another.
        SchemaChangeRefused: the policy of that kind of change is ``fail``, or a column's ``since`` is wrong.
    """
    schema = gold.read().schema
    key = [column for column in graves.read().columns if column not in _OWN]
    # The spelling of a name may change when the table gets another that differs from it only in case.
    today = {**table.renamed, **table.spelled}
    if {today.get(column, column) for column in key} != set(grave_columns(table)):
        of_gold = tuple(column for column in key if not column.startswith("_weir_"))
        raise KeyDrift(
            *(feed.name, table.name, table.key),
            f"gold.{feed.name}.{name} has the key [{', '.join(of_gold)}]",
            "Its rows would be other rows under the same name. Declare the old key again; or declare the table in a"
            f" feed of another name; or remove {gold.path} and {graves.path}, and run again: gold is then made from"
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
    accounts = lake.small_table("accounting", feed.name, accounting.COLUMNS)
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
