"""Silver to gold: the assets of a feed's declared tables, and what Dagster shows of them before a run."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Collection, Iterator, Mapping, Sequence

import dagster as dg

from assets import feed_assets
from assets.control import asset
from assets.control.accounting import changes_by_window, changes_of_tables, windows_with_events
from assets.feed_assets import feed_key, gold_key, spec_of_feed, window_step
from assets.gold import apply
from assets.gold.apply import TableResult
from assets.gold.checks import check_specs, checked, facts_of_apply, log_apply
from assets.quality.data_docs import build_pages_of, link_to
from assets.retries import retried
from assets.storage import step_faults
from assets.storage.lake import Lake
from transforms.display import code
from transforms.feed.feed import Described, Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES, gold_name
from transforms.gold.columns import (
    DELETED_AT,
    EVENT_AT,
    EVENT_ID,
    IS_DELETED,
    LOG_POSITION,
    OF_DELETE,
    ROW_SENTENCES,
    what_a_row_is,
)


def build(feed: Feed) -> dg.AssetsDefinition:
    """The gold assets of all tables that the feed file declares, with their tombstones: one step makes them."""
    tables = {gold_key(feed, table.name): table for table in feed.tables.values()}

    @dg.multi_asset(
        specs=[
            spec_of_feed(feed, spec) for table in tables.values() for spec in specs_of(feed, table)
        ],
        check_specs=[spec for table in tables.values() for spec in check_specs(feed, table)],
        can_subset=True,
        **window_step(feed, "gold"),
    )
    @retried
    def gold(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = asset.landed_windows_of_run(context, lake, feed)
        wanted = [
            table
            for key, table in tables.items()
            if {key, *(one.key for one in specs_of(feed, table))} & context.selected_asset_keys
            or any(one.asset_key == key for one in context.selected_asset_check_keys)
        ]
        brought = changes_by_window(lake, feed, windows)
        landed = windows_with_events(lake, feed, windows)
        failed: list[TableResult] = []
        found: list[dg.AssetCheckResult] = []
        for one in apply.apply_all(lake, feed, wanted, windows):
            name = gold_name(one.table.name, feed.table_names)
            if one.error is not None:
                context.log.error(f"gold.{feed.name}.{name}: {one.error}")
                failed.append(one)
                continue
            log_apply(context, feed, name, one.done)
            judged = checked(lake, feed, one, windows, context.selected_asset_check_keys)
            found += judged
            yield from made_of(
                context, feed, one, changes_of_tables(brought, [one.table.name]), landed
            )
            yield from judged
        if any(suite.layer == "gold" for suite in feed.suites):
            build_pages_of(lake.warehouse, feed.name)
        end_if_failed(feed, failed)
        asset.finish_with_last(context, lake, feed, found)

    return gold


def end_if_failed(feed: Feed, failed: Sequence[TableResult]) -> None:
    """End the step if tables could not be brought up to date; the others have been reported to Dagster before."""
    errors = {one.table.name: one.error for one in failed if one.error is not None}
    step_faults.refuse_failed_tables(feed.name, errors)


def made_of(
    context: dg.AssetExecutionContext,
    feed: Feed,
    one: TableResult,
    numbers: Mapping[str, Mapping[str, int]],
    landed: Collection[str],
) -> Iterator[dg.MaterializeResult[None]]:
    """The materializations of a table that was brought up to date, if the step selects them.

    ``numbers``: its changes by window; ``landed``: the windows in which something landed.
    """
    key, done = gold_key(feed, one.table.name), one.done
    windows = feed_assets.windows_of_run(context)
    if not landed and done.is_news:
        # What waited for a run is in gold now, though nothing landed.
        landed = windows[-1:]
    facts_of_table = {
        # Of all rows that are in the table.
        "dagster/row_count": done.rows + done.marked,
        "changes": 0,
        "data_docs": dg.MetadataValue.url(link_to(feed.name)),
        # Dagster reads a column's lineage from a materialization only, not from the definition.
        "dagster/column_lineage": lineage_of(one.table, feed_key("silver", feed)),
    }
    # Once for the run, with its last window: the UI shows the columns of the newest materialization.
    of_run = facts_of_apply(done, one.seconds, windows) | schema_of(feed, one.table, done.columns)
    tombstones = {"dagster/row_count": done.tombstones}
    shown = {
        key: feed_assets.Shown(facts_of_table, numbers, of_run),
        key_beside(key, TOMBSTONES): feed_assets.Shown(tombstones),
        key_beside(key, HISTORY): feed_assets.Shown({}),
    }
    for own, values in shown.items():
        if own in context.selected_asset_keys:
            yield feed_assets.made_by_window(context, own, values, landed)
        elif own.path[-1].endswith(TOMBSTONES) and key in context.selected_asset_keys:
            # They are written with their table, whether somebody asked for them or not.
            for window in sorted(landed):
                context.log_event(
                    dg.AssetMaterialization(own, metadata=tombstones, partition=window)
                )


def specs_of(feed: Feed, table: Table) -> Iterator[dg.AssetSpec]:
    """The specs of a gold table, of its tombstones, and of its history where it keeps one."""
    name, key = gold_name(table.name, feed.table_names), gold_key(feed, table.name)
    deps = [feed_key("silver", feed)]
    yield dg.AssetSpec(
        key,
        deps=deps,
        kinds={"gold", "deltalake"},
        description=described_in_feed(feed, table.name).description
        or what_a_row_is(table, code(table.name)),
        metadata={**stored_name(feed, name), **schema_of(feed, table)},
    )
    yield dg.AssetSpec(
        key_beside(key, TOMBSTONES),
        deps=deps,
        kinds={"tombstones", "deltalake"},
        description="The deletes of keys, each with its position, until compaction: the newest of a key counts.",
        metadata=stored_name(feed, name + TOMBSTONES),
    )
    if table.history:
        yield dg.AssetSpec(
            key_beside(key, HISTORY),
            deps=deps,
            kinds={"gold", "deltalake"},
            description=f"One row per version of each row of {code(table.name)}: from when to when it was valid.",
            metadata=stored_name(feed, name + HISTORY),
        )


def key_beside(key: dg.AssetKey, suffix: str) -> dg.AssetKey:
    """The asset of a table that lies beside a gold table."""
    return dg.AssetKey([*key.path[:-1], key.path[-1] + suffix])


def stored_name(feed: Feed, name: str) -> dict[str, str]:
    """The table's name for the UI; none where it depends on which schemas the stream has."""
    known = feed.table_names == "plain"
    return {"dagster/table_name": f"gold.{feed.name}.{name}"} if known else {}


def described_in_feed(feed: Feed, table: str) -> Described:
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
    words = described_in_feed(feed, table.name).columns
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
        dg.TableColumn(name, kind, ROW_SENTENCES[name])
        for name, kind in (
            (LOG_POSITION, "array<bigint>"),
            (EVENT_ID, "string"),
            (EVENT_AT, "timestamp"),
            *(((IS_DELETED, "boolean"), (DELETED_AT, "timestamp")) if table.marks_deletes else ()),
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
        | {name: [dep("effect"), dep("event_at")] for name in OF_DELETE if table.marks_deletes}
    )
