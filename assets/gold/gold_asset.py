"""Silver to gold: the assets of a feed's declared tables, and of what lies beside them.

Not here: what an apply does (``apply_table``), and tables that no feed file declares (``undeclared_asset``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import dagster as dg

from assets import checks, partitions
from assets.columns.gold import EVENT_AT, EVENT_ID, POSITION
from assets.gold import table_faults
from assets.gold.applied import Applied
from assets.gold.apply import apply_feed
from assets.gold.apply.apply_feed import Brought
from assets.gold.changes import scoped_delete_effects
from assets.lake import Lake
from assets.wording import counted
from expectations import gold as rules
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES, asset_name, gold_name
from transforms.silver.conforming.discovered_tables import stopped_in_words


def build(feed: Feed) -> dg.AssetsDefinition:
    """The gold assets of all tables that the feed file declares, with their tombstones: one step makes them."""
    tables = {asset_key(feed, table): table for table in feed.tables.values()}

    @dg.multi_asset(
        name=f"gold_{feed.name}",
        specs=[spec for table in tables.values() for spec in specs_of(feed, table)],
        check_specs=[spec for key in tables for spec in checks.specs(key.path, rules.RULES)],
        can_subset=True,
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"gold_{feed.name}",
    )
    def gold(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = partitions.keys_of(context)
        wanted = [
            table
            for key, table in tables.items()
            if {key, *(one.key for one in specs_of(feed, table))} & context.selected_asset_keys
            or any(one.asset_key == key for one in context.selected_asset_check_keys)
        ]
        failed: list[Brought] = []
        for one in apply_feed.apply_all(lake, feed, wanted, windows):
            name = gold_name(one.table.name, feed.table_names)
            if one.error is not None:
                context.log.error(f"gold.{feed.name}.{name}: {one.error}")
                failed.append(one)
                continue
            tell(context, feed, name, one.done)
            yield from results_of(context, feed, one, windows)
        refuse(feed, failed)

    return gold


def refuse(feed: Feed, failed: Sequence[Brought]) -> None:
    """End the step where tables could not be brought up to date; the others are, and Dagster knows."""
    errors = {one.table.name: one.error for one in failed if one.error is not None}
    table_faults.refuse(feed.name, errors)


def asset_key(feed: Feed, table: Table) -> dg.AssetKey:
    """The gold asset of a declared table."""
    return dg.AssetKey(["gold", feed.name, asset_name(gold_name(table.name, feed.table_names))])


def specs_of(feed: Feed, table: Table) -> Iterator[dg.AssetSpec]:
    """What the UI says of a gold table, of its tombstones, and of its history where it keeps one."""
    name, key = gold_name(table.name, feed.table_names), asset_key(feed, table)
    deps = [dg.AssetKey(["silver", feed.name])]
    yield dg.AssetSpec(
        key,
        deps=deps,
        kinds={"gold", "deltalake"},
        description=f"One row per key of {table.name}: its current state.",
        metadata={**stored_as(feed, name), "dagster/column_schema": schema_of(table)},
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
            description=f"One row per version of each row of {table.name}: from when to when it stood.",
            metadata=stored_as(feed, name + HISTORY),
        )


def beside(key: dg.AssetKey, suffix: str) -> dg.AssetKey:
    """The asset of a table that lies beside a gold table."""
    return dg.AssetKey([*key.path[:-1], key.path[-1] + suffix])


def results_of(
    context: dg.AssetExecutionContext, feed: Feed, one: Brought, windows: Sequence[str]
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """What Dagster is told of a table that was brought up to date, as far as it asked for that."""
    key, done = asset_key(feed, one.table), one.done
    found = [
        result
        for result in checks.results(
            key.path, rules.RULES, violations_of(done), windows, samples_of(done)
        )
        if dg.AssetCheckKey(key, result.check_name or "") in context.selected_asset_check_keys
    ]
    facts_of: dict[dg.AssetKey, dict[str, Any]] = {
        key: {
            **facts(done, one.seconds),
            # Dagster reads a column's lineage from a materialization only, not from the definition.
            "dagster/column_lineage": lineage_of(one.table, dg.AssetKey(["silver", feed.name])),
        },
        beside(key, TOMBSTONES): {"dagster/row_count": done.tombstones},
        beside(key, HISTORY): {},
    }
    for asset, values in facts_of.items():
        if asset in context.selected_asset_keys:
            yield dg.MaterializeResult(asset_key=asset, metadata=values)
    yield from found


def tell(context: dg.AssetExecutionContext, feed: Feed, name: str, done: Applied) -> None:
    """Log what an apply did to the gold tables of one table, which is ``name`` in words."""
    if done.waits_for:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed, and {counted(len(done.waits_for), 'window')}"
            f" ({done.waits_for[0]} .. {done.waits_for[-1]}) must be derived anew before gold can follow:"
            " `weir run` does so, or a backfill of these windows"
        )
    if done.rebuilt:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed; the table was made anew from silver"
        )
    context.log.info(
        f"gold.{feed.name}.{name}: {counted(done.keys, 'key')} changed, now {counted(done.rows, 'row')}"
        f" and {counted(done.tombstones, 'tombstone')}"
        + (f"; {counted(done.repeats, 'duplicate')} of other windows" if done.repeats else "")
        + (f"; {done.superseded:,} superseded: late, or repeats" if done.superseded else "")
        + (
            f"; {counted(done.keys_with_late_events, 'key')} with late events"
            if done.keys_with_late_events
            else ""
        )
    )
    for one in done.tables:
        for line in scoped_delete_effects.told(one.scoped):
            context.log.warning(f"gold.{feed.name}.{one.name}: {line}")


def facts(done: Applied, seconds: float) -> dict[str, int | float | dg.JsonMetadataValue]:
    """What the UI and the summary know of an apply."""
    return {
        "dagster/row_count": done.rows,
        "seconds": round(seconds, 1),
        "changes": done.changes,
        "repeats_of_other_windows": done.repeats,
        "superseded": done.superseded,
        "keys_changed": done.keys,
        "keys_folded_anew": done.refolded,
        "keys_with_late_events": done.keys_with_late_events,
        "keys_with_ties": done.ties,
        "tables": dg.MetadataValue.json([asdict(one) for one in done.tables]),
        "waits_for": len(done.waits_for),
    }


def violations_of(done: Applied) -> dict[str, int]:
    """What an apply says against the rules of gold."""
    return {
        rules.ONE_ROW_PER_KEY.name: done.foreign_copies,
        rules.NO_LATE_EVENT.name: done.keys_with_late_events,
        rules.NO_TIE.name: done.ties,
        rules.EVERY_TABLE_IS_MADE.name: len(done.stopped),
    }


def samples_of(done: Applied) -> dict[str, str]:
    """What a reader of a failed check wants to see first."""
    lines = [f"- gold stays as it was of {line}" for line in stopped_in_words(done.stopped)]
    return {rules.EVERY_TABLE_IS_MADE.name: "\n".join(lines)}


def stored_as(feed: Feed, name: str) -> dict[str, str]:
    """The table's name for the UI, where it is known before the stream has told which schemas there are."""
    known = feed.table_names == "plain"
    return {"dagster/table_name": f"gold.{feed.name}.{name}"} if known else {}


def schema_of(table: Table) -> dg.TableSchema:
    """The gold table's columns for the UI."""
    declared = [
        dg.TableColumn(
            name, kind, constraints=dg.TableColumnConstraints(nullable=name not in table.key)
        )
        for name, kind in table.columns.items()
    ]
    own = [
        dg.TableColumn(
            POSITION, "array<bigint>", "where the row's last change stands in the source"
        ),
        dg.TableColumn(EVENT_ID, "string", "the row's last change"),
        dg.TableColumn(EVENT_AT, "timestamp", "when the source made it"),
    ]
    return dg.TableSchema(declared + own)


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
        | {POSITION: [dep("position")], EVENT_ID: [dep("event_id")], EVENT_AT: [dep("event_at")]}
    )
