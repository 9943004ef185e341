"""The Dagster asset of a feed's report: the last step of a run notes how large gold is, and makes the page."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic

import dagster as dg

from assets import feed_assets
from assets.audit import feed_report
from assets.audit.feed_report import FeedReport, seconds_to_gold
from assets.control import asset, run_history
from assets.control.run_history import EndedRun
from assets.feed_assets import feed_key, markdown_metadata, spec_of_feed, window_step
from assets.storage.lake import Lake
from orchestration.observability import erasure_certificate, metrics
from orchestration.observability.drift_lines import NEW_DRIFT, drift_lines
from orchestration.observability.report import html_page
from orchestration.observability.report.html_page import asked_of_source, page_of
from transforms.display import code_block
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's report asset, behind progress."""
    spec = dg.AssetSpec(
        feed_key("report", feed),
        deps=[feed_key("progress", feed), *_shown_of_extras(feed)],
        kinds={"report", "html"},
        description="A page with plots of the feed's windows, lag, growth and quarantine; each run makes it again.",
    )

    @dg.multi_asset(specs=[spec_of_feed(feed, spec)], **window_step(feed, "report"))
    def report(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        started, now = monotonic(), datetime.now(UTC)
        address = html_page.address_of(lake, feed)
        windows = asset.landed_windows_of_run(context, lake, feed)
        ended = EndedRun(context.run_id, now, feed_assets.windows_of_run(context))
        unwritten = metrics.write(lake, feed, ended, context.instance)
        if unwritten:
            context.log.warning(unwritten)
        drift = tell_of_drift(context, lake, feed, windows)
        try:
            erasure_certificate.store_missing(lake, feed)
            sizes = run_history.sizes_now(lake, feed)
            run_history.note_sizes(lake, feed, ended, sizes)
            with html_page.making(lake, feed) as put:
                facts = feed_report.facts_of(lake, feed, sizes)
                put(page_of(feed, facts, now, asked_of_source(lake, feed)))
            feed_assets.add_to_windows(context, spec.key, numbers_of(feed, facts), {})
        except (
            Exception
        ) as fault:  # the windows are in gold, and a page is no reason to say otherwise
            context.log.warning(f"{feed.name}: the report was not made: {fault}")
            return dg.MaterializeResult(metadata={"not_made": str(fault), **drift})
        return dg.MaterializeResult(
            metadata={
                "page": dg.MetadataValue.url(html_page.link_on_pages(feed)),
                "file": dg.MetadataValue.path(address),
                "rows": sum(one.rows for one in sizes),
                "tombstones": sum(one.tombstones for one in sizes),
                "seconds": round(monotonic() - started, 2),
                **drift,
            }
        )

    return report


def _shown_of_extras(feed: Feed) -> list[dg.AssetKey]:
    """The extra assets behind progress, which the page shows."""
    extras = FORMATS[feed.format].extras_of(feed)
    return [feed_key(one.key, feed) for one in extras if one.follows_progress]


def numbers_of(feed: Feed, facts: FeedReport) -> dict[str, dict[str, float]]:
    """What each window's materialization shows, so that Dagster draws it over windows: how late it was."""
    found: dict[str, dict[str, float]] = {}
    for one in facts.windows:
        numbers = {"late_changes": one.late, "seconds_to_gold": seconds_to_gold(feed, one)}
        found[one.window] = {
            name: round(value, 1) for name, value in numbers.items() if value is not None
        }
    return found


def tell_of_drift(
    context: dg.AssetExecutionContext, lake: Lake, feed: Feed, windows: Sequence[str]
) -> dict[str, dg.MarkdownMetadataValue]:
    """Say what the run's windows have that the feed file does not declare, if no run has said it before."""
    found = run_history.unknown_drift_in(lake, feed, windows)
    if not found.drift:
        return {}
    for one in found.drift:
        context.log.warning(f"{feed.name}: {one.says}")
    metadata = {NEW_DRIFT: markdown_metadata(code_block("\n".join(drift_lines(feed, found.drift))))}
    # For whoever looks at silver, and for the sensor that sends messages.
    context.log_event(dg.AssetObservation(feed_key("silver", feed), metadata=metadata))
    run_history.note_drift(lake, feed, found)
    return metadata
