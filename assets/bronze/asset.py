"""The Dagster asset of bronze: it appends what is new in a feed's landing, and reports it."""

# No postponed annotations here: Dagster reads the functions' own. The asset yields its result, for of one that returns
# it Dagster wants a tuple as soon as there is a check.
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

import dagster as dg

from assets import feed_assets
from assets.bronze import from_objects, from_topics
from assets.bronze.checks import bronze_check_specs, file_checks, offset_checks, operation_gaps
from assets.bronze.from_objects import LandingDiff
from assets.bronze.from_topics import AppendedRecords
from assets.control import asset
from assets.executors.choice import done_by, executors_of
from assets.feed_assets import (
    feed_key,
    markdown_list,
    spec_of_feed,
    table_metadata,
    window_step,
)
from assets.landing.landings import LandedObject
from assets.retries import retried
from assets.storage.lake import Lake, Layer
from assets.wording import counted, nothing_landed
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window

Begin = Callable[[Lake, Feed, Callable[[str], None]], object]
"""What a run finishes of a feed before it reads anything new; is told each step."""


def build(feed: Feed, begin: Begin) -> dg.AssetsDefinition:
    """The feed's bronze asset."""
    spec = dg.AssetSpec(
        feed_key("bronze", feed),
        deps=[feed_key("landing", feed)],
        kinds={"bronze", "deltalake"},
        description=f"Every record that landed in {feed.landing}, verbatim, malformed ones too. It only grows.",
        metadata=table_metadata(feed, Layer.BRONZE),
    )

    @dg.multi_asset(
        specs=[spec_of_feed(feed, spec)],
        check_specs=bronze_check_specs(feed),
        **window_step(feed, "bronze"),
    )
    @retried
    def bronze(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None]]:
        begin(lake, feed, lambda said: context.log.info(f"{feed.name}: {said}"))
        yield _topics(context, lake, feed) if feed.reads_topics else _objects(context, lake, feed)

    return bronze


def _objects(
    context: dg.AssetExecutionContext, lake: Lake, feed: Feed
) -> dg.MaterializeResult[None]:
    """Append what has landed in the run's windows and bronze does not have."""
    started = monotonic()
    asked = feed_assets.windows_of_run(context)
    found = from_objects.land(lake, feed, asked)
    windows = _landed(context, lake, feed)
    size = sum(one.size for one in found.new)
    context.log.info(
        f"bronze.{feed.name}: {counted(len(found.new), 'new object')}, {counted(size, 'byte')}"
        + done_by(*_executors(found))
    )
    for name in found.replaced:
        context.log.warning(
            f"bronze.{feed.name}: {name} was written over; both versions were read, and what both have counts once"
            " (where each is a full dump of the table, say `snapshots: replace` in the feed file)"
        )
    for link in found.links:
        context.log.warning(f"bronze.{feed.name}: not read: {link}")
    feed_assets.add_to_windows(
        context,
        feed_key("bronze", feed),
        objects_of_windows(feed, found.new),
        {
            "seconds": round(monotonic() - started, 1),
            **executors_of(_executors(found)),
            "replaced_objects": len(found.replaced),
            "replaced": markdown_list(found.replaced),
            "left_out": markdown_list(found.left_out),
        },
    )
    return dg.MaterializeResult(
        metadata={"objects": 0, "bytes": 0},
        check_results=file_checks(
            lake, feed, operation_gaps(lake, feed, windows), found.out_of_time, asked
        ),
    )


def _topics(
    context: dg.AssetExecutionContext, lake: Lake, feed: Feed
) -> dg.MaterializeResult[None]:
    """Append all that is new in the feed's topics, whatever its window."""
    started = monotonic()
    found = from_topics.land(lake, feed, context.log.info)
    windows = _landed(context, lake, feed)
    beyond = found.beyond(feed_assets.windows_of_run(context))
    total = sum(found.records.values())
    context.log.info(
        f"bronze.{feed.name}: {counted(total, 'new record')}"
        + (f", in {counted(len(beyond), 'window')} beyond those of this run, too" if beyond else "")
        + done_by(*_executors(found))
    )
    feed_assets.add_to_windows(
        context,
        feed_key("bronze", feed),
        {window: {"records": count} for window, count in found.records.items()},
        {
            "records_read": total,
            "seconds": round(monotonic() - started, 1),
            **executors_of(_executors(found)),
            "offsets": markdown_list(found.offsets),
            "records_by_window": markdown_list(
                [
                    f"{name}: {counted(count, 'record')}"
                    for name, count in sorted(found.records.items())
                ]
            ),
            "windows_beyond": markdown_list(beyond),
            "warnings": markdown_list(found.warnings),
        },
    )
    return dg.MaterializeResult(
        metadata={"records": 0}, check_results=offset_checks(lake, feed, found.gaps, windows)
    )


def _landed(context: dg.AssetExecutionContext, lake: Lake, feed: Feed) -> list[str]:
    """The windows of the run that bronze has something of by now; the others are told in one line."""
    asked, windows = (
        feed_assets.windows_of_run(context),
        asset.landed_windows_of_run(context, lake, feed),
    )
    if empty := {*asked}.difference(windows):
        context.log.info(f"{feed.name}: {nothing_landed(empty, asked)}")
    return windows


def _executors(found: LandingDiff | AppendedRecords) -> list[str]:
    return [] if found.executor is None else [found.executor]


def objects_of_windows(feed: Feed, objects: Iterable[LandedObject]) -> dict[str, dict[str, float]]:
    """How many objects each window has, of how many bytes, and how long after its end the last of them landed.

    An object that lay there before its window had ended landed 0 seconds after it.
    """
    found: dict[str, dict[str, float]] = {}
    for one in objects:
        numbers = found.setdefault(
            one.window, {"objects": 0, "bytes": 0, "landing_lag_seconds": 0.0}
        )
        numbers["objects"] += 1
        numbers["bytes"] += one.size
        lag = one.modified_at - parse_window(one.window, feed.window) - STEPS[feed.window]
        numbers["landing_lag_seconds"] = max(
            numbers["landing_lag_seconds"], round(lag.total_seconds(), 1)
        )
    return found
