"""What the Dagster assets of a feed have in common: keys, windows, columns, and words for metadata.

Dagster's graph shows a key's last part alone, so no two nodes may share it: ``shop_bronze``, and in gold the table's
name.
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

import dagster as dg
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION

from assets.storage.lake import COLUMNS, Layer
from transforms.display import Markdown, bullets, own_head, own_words, table
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES, asset_name, gold_name
from transforms.feed.windows import TIME_FORMATS, first_of
from transforms.silver.accounting import COUNTS

MAINTENANCE: Final = frozenset(
    {"progress", "offsets", "cuts", "compaction", "reconcile", "catalogues", "report"}
)
"""The first parts of the keys of what Weir keeps for itself: not what a person means by "Materialize all"."""


def feed_key(kind: str, feed: Feed) -> dg.AssetKey:
    """The key of the one asset of this kind that the feed has: ``bronze / shop / shop_bronze``."""
    return dg.AssetKey([kind, feed.name, f"{feed.name}_{kind}"])


def table_name_of(path: Sequence[str]) -> str:
    """The name that `weir query` has for what an asset makes: ``silver.shop``, ``gold.shop.customers``."""
    kind, feed, *title = path
    return ".".join((kind, feed) if title == [f"{feed}_{kind}"] else path)


def gold_key(feed: Feed, table: str) -> dg.AssetKey:
    """The key of the gold asset of a table, by the source's name: ``gold / shop / customers``."""
    return named_gold_key(feed, gold_name(table, feed.table_names))


def named_gold_key(feed: Feed, name: str) -> dg.AssetKey:
    """The key of a gold asset, by the gold table's own name."""
    return dg.AssetKey(["gold", feed.name, asset_name(name)])


def gold_keys(feed: Feed) -> list[dg.AssetKey]:
    """The keys of the gold assets of all declared tables."""
    return [gold_key(feed, table.name) for table in feed.tables.values()]


def maintenance_group(feed: Feed) -> str:
    """The group of what Weir keeps for itself."""
    return f"{feed.name}_maintenance"


def group_of(feed: Feed, key: dg.AssetKey) -> str:
    """The group that an asset of the feed is in: the feed's, or that of its maintenance."""
    is_maintenance = key.path[0] in MAINTENANCE or key.path[-1].endswith(TOMBSTONES)
    return maintenance_group(feed) if is_maintenance else feed.name


CRON = {"hour": "0 * * * *", "day": "0 0 * * *"}


def partitions_of(feed: Feed) -> dg.PartitionsDefinition:
    """The feed's windows; ``end_offset`` shows the one that is still open, so that it can be run too."""
    if feed.running.windows:
        return dg.StaticPartitionsDefinition(feed.running.windows)
    return dg.TimeWindowPartitionsDefinition(
        start=first_of(feed),
        cron_schedule=CRON[feed.window],
        fmt=TIME_FORMATS[feed.window],
        timezone="UTC",
        end_offset=1,
    )


def windows_of_run(context: dg.AssetExecutionContext) -> list[str]:
    """The windows of this run: one, or all of a range."""
    return list(context.partition_keys)


def markdown_metadata(shown: Markdown) -> dg.MarkdownMetadataValue:
    """The metadata value of a piece of Markdown, which Dagster draws as it is, whoever wrote it."""
    return dg.MetadataValue.md(str(shown))


def markdown_list(lines: Iterable[object]) -> dg.MarkdownMetadataValue:
    """The metadata value of lines that sources may have written."""
    return markdown_metadata(bullets(lines) or Markdown("none"))


EXPLAINED: Final = "what_these_mean"
"""Under this name the page of an asset has the table of the keys that its events have."""

_STEP: Final = {
    "seconds": "How long the step worked on it.",
    "executor": "Who did the work: this process (`in-process`), Spark (`spark`), or both.",
}
_DATA_DOCS: Final = {"data_docs": "Leads to the pages of what the feed's checks have found."}
_FOLDED: Final = {
    **_STEP,
    **_DATA_DOCS,
    "nothing_landed": "The window was in a backfill, and nothing landed in it: it changed no row.",
    "changes": "How many changes the window brought.",
    "windows_of_run": "The windows whose changes the run folded at once; all that follows is of these together.",
    "changes_applied": "How many changes the run brought.",
    "in_gold_already": "How many of them the table had from an earlier run.",
    "superseded": "How many stand before their key's newest change, and changed nothing.",
    "keys_changed": "How many keys got another row, or lost theirs.",
    "keys_refolded": "How many keys were made again from all of their changes.",
    "keys_with_late_events": "How many keys were changed by an event that is older than what they had.",
    "keys_with_ties": "How many keys have two different events at one position.",
    "tables": "Of each table that was written: rows, tombstones, and what deletes of many rows removed.",
    "waits_for": "How many windows have to be derived again before the table follows its new declaration.",
}

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "bronze": {
        **_STEP,
        "objects": "How many objects of the window were new.",
        "bytes": "How large they are as they landed.",
        "landing_lag_seconds": "How long after the window's end the last of them landed.",
        "replaced_objects": "How many objects had been read before, and were written over since.",
        "replaced": "Which these are.",
        "left_out": "Objects of the landing that are no drops of this feed.",
        "records": "How many records of the window were new.",
        "records_read": "How many records the run read, of whatever window.",
        "offsets": "Up to where each partition of each topic was read.",
        "records_by_window": "How many records each window got.",
        "windows_beyond": "Windows that got records and were not asked for.",
        "warnings": "What was noticed about the topics.",
    },
    "silver": {
        **_STEP,
        **_DATA_DOCS,
        **{name: COLUMNS[Layer.ACCOUNTING].sentences[name] for name in COUNTS},
        "accounting": "The same numbers for each table of the source.",
        "accounts": "The same for programs.",
        "source_lag_seconds": "How old the newest event was when the window ended.",
        "new_in_stream": "What no window had before and the feed file does not declare, with the lines to paste.",
    },
    "gold": _FOLDED,
    "discovered": {
        **_FOLDED,
        "discovered": "The tables that only the stream describes, each with its key and columns.",
    },
    "nodes": _STEP,
    "graph": _STEP,
    "offsets": {"offsets": "How far each tablet's consumer has come."},
    "progress": {
        "windows": "How many windows the run finished.",
        "objects": "How many objects or records they hold.",
    },
    "cuts": {
        "position": "Up to where in the source all gold tables of the feed are whole.",
        "source_at": "When the source made the newest change in it.",
        "tables": "Each gold table: its version, and how far that is ahead of the position.",
        "exact_tables": "How many tables have nothing beyond it.",
        "held_by": "What keeps the position from being newer.",
        "late_events": "How many new events stand at or below a position that was recorded before.",
    },
    "report": {
        "seconds": _STEP["seconds"],
        "page": "The report, as a page with plots.",
        "file": "Where the page is stored.",
        "rows": "How many rows all gold tables of the feed have.",
        "tombstones": "How many tombstones they have.",
        "late_changes": "How many changes the source made before the window began.",
        "seconds_to_gold": "How long after its end the window was in gold.",
        "new_in_stream": "What no window had before and the feed file does not declare, with the lines to paste.",
        "not_made": "Why the page could not be made.",
    },
    "reconcile": {
        "keys_that_differ": "How many keys have another row in the source than in gold.",
        "place": "Where the source's log stood when its snapshot was taken.",
        "compared_tables": "What was found of each gold table, in numbers.",
    },
    "compaction": {
        "changes_folded": "How many changes of silver became part of a base row.",
        "tombstones_dropped": "How many tombstones were removed, as nothing needs them.",
        "tables": "The same for each gold table, and what keeps its history from being folded further.",
    },
}
"""By the first part of an asset's key; keys of Dagster's own are explained by Dagster."""

OF_CHECKS: Final = (
    "Below, where there is something to say: `violations` says how often the run breaks it, `at_most` how often it may,"
    " `windows` which windows were looked at, `found` what was seen first, and `data_docs` leads to the page of all"
    " results of this table."
)
"""Ends the description of a built-in check."""

OF_EXPECTATIONS: Final = (
    "Below, where there is something to say: `observed` is the value that was found, `rows` how many rows were"
    " asked, `violations` how many of them break it, `found` some of these, and `data_docs` leads to the page of all"
    " results of this table."
)
"""Ends the description of a check that a feed file declares."""


def explained_metadata(kind: str) -> dict[str, dg.MarkdownMetadataValue]:
    """The metadata of an asset's definition that explains that of its events; none for a kind that has none.

    ``kind``: the first part of the asset's key.
    """
    meanings = MEANINGS.get(kind)
    if not meanings:
        return {}
    rows = [(name, own_words(meaning)) for name, meaning in meanings.items()]
    return {EXPLAINED: markdown_metadata(table(own_head("name", "meaning"), rows))}


class WindowStep(TypedDict):
    """Parameters that ``dg.multi_asset`` takes."""

    name: str
    partitions_def: dg.PartitionsDefinition
    backfill_policy: dg.BackfillPolicy
    pool: str


def window_step(feed: Feed, step: str) -> WindowStep:
    """How a step over the feed's windows is declared: ``@dg.multi_asset(specs=…, **window_step(feed, "bronze"))``.

    A range of windows is one run. Runs of one ``step`` of a feed take turns, for they write the same tables.
    """
    return WindowStep(
        name=f"{step}_{feed.name}",
        partitions_def=partitions_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"{step}_{feed.name}",
    )


def spec_of_feed(feed: Feed, spec: dg.AssetSpec) -> dg.AssetSpec:
    """The spec of one of the feed's assets with what all of them get: group, owners, tags, metadata, freshness."""
    running, group = feed.running, group_of(feed, spec.key)
    whole = spec.replace_attributes(group_name=group).merge_attributes(
        owners=running.owners, tags=running.tags, metadata=explained_metadata(spec.key.path[0])
    )
    if running.freshness is None or group != feed.name or spec.key.path[0] == "landing":
        return whole
    policy = dg.FreshnessPolicy.time_window(
        fail_window=running.freshness.fail, warn_window=running.freshness.warn
    )
    return whole.replace_attributes(freshness_policy=policy)


def table_metadata(feed: Feed, layer: Layer) -> dict[str, str | dg.TableSchema]:
    """The feed's table of this layer as Dagster's UI shows it: its name in SQL, and its columns."""
    own = COLUMNS[layer]
    columns = [
        dg.TableColumn(one.name, one.dataType.simpleString(), own.sentences[one.name])
        for one in own.spark.fields
    ]
    return {
        "dagster/table_name": f"{layer}.{feed.name}",
        "dagster/column_schema": dg.TableSchema(columns),
    }


Metadata = Mapping[str, Any]

NOTHING_LANDED: Final = "Nothing landed in this window."

BACKFILL: Final = "dagster/backfill"
"""The tag of the runs of a backfill."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The metadata of an asset's events: what each has, what each window's has besides, and what the last one has."""

    of_each: Metadata
    of_windows: Mapping[str, Metadata] = field(default_factory=dict)
    of_run: Metadata = field(default_factory=dict)


def add_to_windows(
    context: dg.AssetExecutionContext,
    key: dg.AssetKey,
    of_windows: Mapping[str, Metadata],
    of_run: Metadata,
) -> None:
    """Give each window of the run its own numbers, and the last one what is known of the run as a whole.

    Dagster gives all windows of a range the metadata of the one result, and numbers would not add up over windows.
    """
    if key not in context.selected_asset_keys:
        return  # only a check of it was asked for
    windows = windows_of_run(context)
    asked = {*windows}
    for window, values in of_windows.items():
        if window in asked:
            context.add_asset_metadata(values, key, window)
    if of_run:
        context.add_asset_metadata(of_run, key, windows[-1])


def made_by_window(
    context: dg.AssetExecutionContext, key: dg.AssetKey, shown: Shown, landed: Collection[str]
) -> dg.MaterializeResult[None]:
    """The result of an asset, of which only windows in which something landed are shown as made.

    For all others together there is one observation. A backfill would fail for want of them: its events say it.
    """
    windows = windows_of_run(context)
    quiet = {*windows}.difference(landed)
    if not quiet or BACKFILL in context.run.tags:
        add_to_windows(context, key, shown.of_windows, shown.of_run)
        add_to_windows(context, key, {window: {"nothing_landed": True} for window in quiet}, {})
        return dg.MaterializeResult(asset_key=key, metadata=shown.of_each)
    last = max(landed, default=None)
    for window in sorted(landed):
        own = {**shown.of_each, **shown.of_windows.get(window, {})}
        own |= shown.of_run if window == last else {}
        context.log_event(dg.AssetMaterialization(key, metadata=own, partition=window))
    context.log_event(_observation(key, shown, sorted(quiet), is_all=not landed))
    # An output that were left out would leave out all steps behind it, and Dagster has no other way to say that the
    # events of this one are there already.
    return dg.MaterializeResult(
        asset_key=key, metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True}
    )


def _observation(
    key: dg.AssetKey, shown: Shown, quiet: Sequence[str], *, is_all: bool
) -> dg.AssetObservation:
    """What is seen of an asset in windows in which nothing landed; ``is_all``: in no other window, either."""
    metadata = {**shown.of_each, **shown.of_run} if is_all else {}
    if len(quiet) == 1:
        return dg.AssetObservation(key, NOTHING_LANDED, metadata=metadata, partition=quiet[0])
    said = f"Nothing landed in {len(quiet):,} windows, {quiet[0]} .. {quiet[-1]}."
    return dg.AssetObservation(key, said, metadata=metadata)
