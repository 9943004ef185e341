"""What Dagster's UI shows of gold tables before anything has run: keys, columns, lineage.

Put here what follows from a feed's declaration alone. Not here: the assets (``gold_asset``), and what a run reports of
them (``apply_reports``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import dagster as dg

from assets.asset_keys import feed_key, gold_key
from assets.columns.described.flow import GOLD
from transforms.display.markdown import code
from transforms.feed.feed import Feed, Table
from transforms.feed.running import Described
from transforms.feed.table_names import HISTORY, TOMBSTONES, gold_name
from transforms.gold.columns import EVENT_AT, EVENT_ID, LOG_POSITION


def specs_of(feed: Feed, table: Table) -> Iterator[dg.AssetSpec]:
    """The specs of a gold table, of its tombstones, and of its history where it keeps one."""
    name, key = gold_name(table.name, feed.table_names), gold_key(feed, table.name)
    deps = [feed_key("silver", feed)]
    yield dg.AssetSpec(
        key,
        deps=deps,
        kinds={"gold", "deltalake"},
        description=described(feed, table.name).description
        or f"One row per key of {code(table.name)}: its current state.",
        metadata={**stored_as(feed, name), **schema_of(feed, table)},
    )
    yield dg.AssetSpec(
        beside(key, TOMBSTONES),
        deps=deps,
        kinds={"tombstones", "deltalake"},
        description="The deletes of keys, each with its position, until compaction: the newest of a key counts.",
        metadata=stored_as(feed, name + TOMBSTONES),
    )
    if table.history:
        yield dg.AssetSpec(
            beside(key, HISTORY),
            deps=deps,
            kinds={"gold", "deltalake"},
            description=f"One row per version of each row of {code(table.name)}: from when to when it was valid.",
            metadata=stored_as(feed, name + HISTORY),
        )


def beside(key: dg.AssetKey, suffix: str) -> dg.AssetKey:
    """The asset of a table that lies beside a gold table."""
    return dg.AssetKey([*key.path[:-1], key.path[-1] + suffix])


def stored_as(feed: Feed, name: str) -> dict[str, str]:
    """The table's name for the UI; none where it depends on which schemas the stream has."""
    known = feed.table_names == "plain"
    return {"dagster/table_name": f"gold.{feed.name}.{name}"} if known else {}


def described(feed: Feed, table: str) -> Described:
    """What the feed file says of a table in words."""
    return feed.running.tables.get(table, Described())


def schema_of(
    feed: Feed, table: Table, columns: Mapping[str, str] | None = None
) -> dict[str, dg.TableSchema]:
    """The metadata by which the UI shows the gold table's columns; none where ``columns`` are empty.

    ``columns``: those that the table was written with, by name with their types; None for those that it declares. A
    definition says what is declared, and stays as it was loaded. The newest materialization says what was written, and
    the UI prefers it: so the columns are right after a feed file has changed, before the definitions are loaded again.
    """
    columns = table.columns if columns is None else columns
    if not columns:
        return {}
    words = described(feed, table.name).columns
    declared = [
        dg.TableColumn(
            name,
            kind,
            words.get(name),
            constraints=dg.TableColumnConstraints(nullable=name not in table.key),
        )
        for name, kind in columns.items()
    ]
    own = [
        dg.TableColumn(name, kind, GOLD[name])
        for name, kind in (
            (LOG_POSITION, "array<bigint>"),
            (EVENT_ID, "string"),
            (EVENT_AT, "timestamp"),
        )
    ]
    return {"dagster/column_schema": dg.TableSchema(declared + own)}


def lineage_of(table: Table, silver_key: dg.AssetKey) -> dg.TableColumnLineage:
    """Which silver columns each gold column is made from."""

    def dep(column: str) -> dg.TableColumnDep:
        return dg.TableColumnDep(silver_key, column)

    made = {
        name: [dep("key" if name in table.key else "after"), dep("effect")]
        for name in table.columns
    }
    return dg.TableColumnLineage(
        made
        | {
            LOG_POSITION: [dep("log_position")],
            EVENT_ID: [dep("event_id")],
            EVENT_AT: [dep("event_at")],
        }
    )
