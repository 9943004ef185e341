"""Schema changes in the stream that the feed file refuses: they end the run before anything is written.

Put here what ends a window's way to silver for its schema. Not here: which policies there are
(``transforms/feed/schema_policies.py``), and what the feed file now says against gold (``gold/schema_changes``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping.accounting import StoredAccount
from transforms.change_kinds import DROPS
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed.feed import Feed
from transforms.feed.schema_policies import DROP_COLUMN
from transforms.record import SOURCE_LOCATION
from transforms.silver.conforming.faults import MISSING_KEY

_POLICY = "The feed file's `schema_changes` says"


def refuse_in_stream(
    feed: Feed,
    accounts: Sequence[StoredAccount],
    classified_rows: Callable[[], DataFrame],
    *,
    may_lack_keys: bool,
) -> None:
    """Raise before anything is written where these windows bring a change that the feed file refuses.

    ``classified_rows``: the rows behind the accounts, which are asked for only where an account tells of such a change.
    ``may_lack_keys``: whether events may be in quarantine because their key is missing.

    Raises:
        SchemaChangeRefused: the policy of that kind of change is ``fail``.
        KeyDrift: every event of a table lacks a column of its key.
    """
    if may_lack_keys:
        _refuse_key_drift(feed, accounts, classified_rows)
    for account in sorted(accounts, key=lambda row: (row["window"], str(row["source_table"]))):
        table = feed.tables.get(account["declared"] or "")
        if table is None:
            if feed.policies.rename_table == "fail" and account["changes"]:
                raise SchemaChangeRefused(
                    *(feed.name, str(account["source_table"]), "rename_table"),
                    f"events of the undeclared table {account['source_table']}"
                    f"{_first(_of(classified_rows(), account))}",
                    f"{_POLICY} rename_table: fail. Declare the table; or, if it is a table under a new name, give"
                    " that its new name in the feed file and list the earlier one under `was`.",
                )
            continue
        if table.policies.add_column == "fail" and account["undeclared_columns"]:
            column = account["undeclared_columns"][0]
            rows = _of(classified_rows(), account).where(~is_column_drop())
            first = _first(rows.where(F.array_contains(F.map_keys("after"), column)))
            raise SchemaChangeRefused(
                *(feed.name, table.name, "add_column"),
                f"events mention the undeclared column {column}{first}",
                f"{_POLICY} add_column: fail. Declare the column, or the name that it had before under `renamed`.",
            )
        if table.policies.drop_column == "fail" and DROPS in account["change_kinds"]:
            first = _first(_of(classified_rows(), account).where(is_column_drop()))
            raise SchemaChangeRefused(
                *(feed.name, table.name, "drop_column"),
                f"the source dropped a column{first}",
                f"{_POLICY} drop_column: fail. Say keep, hold or evolve.",
            )


def is_column_drop() -> Column:
    """True for the source's own drop of a column."""
    return (F.col("operation") == DROP_COLUMN) & F.col("scope").isNotNull()


def _of(classified_rows: DataFrame, account: StoredAccount) -> DataFrame:
    """The rows behind an account."""
    return classified_rows.where(
        (F.col("window") == account["window"]) & (F.col("table") == account["table"])
    )


def _first(events: DataFrame) -> str:
    """Where the first of these events stands, as the end of a sentence."""
    rows = events.orderBy(*SOURCE_LOCATION).select("object", "line").take(1)
    return f", first in {rows[0]['object']}, line {rows[0]['line']}" if rows else ""


def _refuse_key_drift(
    feed: Feed, accounts: Sequence[StoredAccount], classified_rows: Callable[[], DataFrame]
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
        # The rows first: a window that was derived in this process may be the first to start a session.
        rows = classified_rows()
        images = F.concat(F.map_keys("before"), F.map_keys("after"))
        mentions = [F.count_if(F.array_contains(images, column)).alias(column) for column in key]
        mine = rows.where((F.col("window") == window) & (F.col("declared") == name))
        of_keys = mine.where(F.col("fault.reason") == MISSING_KEY)
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
