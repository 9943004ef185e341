"""Silver to gold: the asset of one declared table, and of its tombstones."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from dataclasses import asdict
from time import monotonic

import dagster as dg

from assets import current_state, partitions, scoped_changes, verdicts
from assets.applied import Applied
from assets.gold_columns.current_state import EVENT_AT, EVENT_ID, POSITION
from assets.lake import Lake
from assets.wording import counted
from expectations import gold as rules
from transforms.feed import Feed, Table
from transforms.silver.discovered_tables import told
from transforms.table_names import HISTORY, TOMBSTONES, asset_name, gold_name


def build(feed: Feed, table: Table) -> dg.AssetsDefinition:
    """The gold asset of one declared table, with its tombstones."""
    name = gold_name(table.name, feed.table_names)
    safe = asset_name(name)
    gold_key, graves_key = ["gold", feed.name, safe], ["gold", feed.name, safe + TOMBSTONES]
    silver_key = dg.AssetKey(["silver", feed.name])

    @dg.multi_asset(
        name=f"gold_{feed.name}_{safe}",
        specs=[
            dg.AssetSpec(
                gold_key,
                deps=[silver_key],
                kinds={"gold", "deltalake"},
                description=f"One row per key of {table.name}: its current state.",
                metadata={
                    **stored_as(feed, name),
                    "dagster/column_schema": schema_of(table),
                },
            ),
            dg.AssetSpec(
                graves_key,
                deps=[silver_key],
                kinds={"tombstones", "deltalake"},
                description="One row per key that was deleted, with the position of the delete, until compaction.",
                metadata=stored_as(feed, name + TOMBSTONES),
            ),
            *([history_spec(feed, table, name)] if table.history else []),
        ],
        check_specs=verdicts.specs(gold_key, rules.RULES),
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"gold_{feed.name}_{safe}",
    )
    def gold(context: dg.AssetExecutionContext, lake: Lake) -> Iterator[dg.MaterializeResult[None]]:
        windows = partitions.keys_of(context)
        started = monotonic()
        done = current_state.apply(lake, feed, table, windows)
        tell(context, feed, name, done)
        yield dg.MaterializeResult(
            asset_key=gold_key,
            metadata={
                **facts(done, monotonic() - started),
                # Dagster reads a column's lineage from a materialization only, not from the definition.
                "dagster/column_lineage": lineage_of(table, silver_key),
            },
            check_results=list(
                verdicts.results(
                    gold_key, rules.RULES, violations_of(done), windows, samples_of(done)
                )
            ),
        )
        yield dg.MaterializeResult(
            asset_key=graves_key, metadata={"dagster/row_count": done.tombstones}
        )
        if table.history:
            yield dg.MaterializeResult(asset_key=history_key(feed, name))

    return gold


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
    )
    for one in done.tables:
        for line in scoped_changes.told(one.scoped):
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
        "keys_folded_anew": done.late_keys,
        "tables": dg.MetadataValue.json([asdict(one) for one in done.tables]),
        "waits_for": len(done.waits_for),
    }


def violations_of(done: Applied) -> dict[str, int]:
    """What an apply says against the rules of gold."""
    return {
        rules.ONE_ROW_PER_KEY.name: done.foreign_copies,
        rules.NO_LATE_EVENT.name: done.late_keys,
        rules.NO_TIE.name: done.ties,
        rules.EVERY_TABLE_IS_MADE.name: len(done.stopped),
    }


def samples_of(done: Applied) -> dict[str, str]:
    """What a reader of a failed check wants to see first."""
    lines = [f"- gold stays as it was of {line}" for line in told(done.stopped)]
    return {rules.EVERY_TABLE_IS_MADE.name: "\n".join(lines)}


def history_key(feed: Feed, name: str) -> dg.AssetKey:
    """The asset of a gold table's history."""
    return dg.AssetKey(["gold", feed.name, asset_name(name) + HISTORY])


def history_spec(feed: Feed, table: Table, name: str) -> dg.AssetSpec:
    """What the UI says of a gold table's history."""
    return dg.AssetSpec(
        history_key(feed, name),
        deps=[dg.AssetKey(["silver", feed.name])],
        kinds={"gold", "deltalake"},
        description=f"One row per version of each row of {table.name}: from when to when it stood.",
        metadata=stored_as(feed, name + HISTORY),
    )


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
