"""Gold compared with its live source as an asset of Dagster's, whose checks say what differs."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg

from assets.erasure import record
from assets.feed_assets import feed_key, gold_keys, markdown_metadata, spec_of_feed
from assets.quality.checks import results_of_rules, specs_of_rules
from assets.reconcile.compare import Ask, reconciled
from assets.reconcile.databases import source_of
from assets.source.database import address_of
from assets.storage.lake import Lake
from expectations.feed_rules import comparison_rules
from expectations.source import ALL_OF_GOLD_WAS_COMPARED, GOLD_IS_WHAT_THE_SOURCE_HOLDS
from orchestration.observability.last_comparison import (
    Comparison,
    keep_comparison,
    noted,
    without_keys,
)
from orchestration.observability.report import html_page
from transforms.display import bullets, own_head, table
from transforms.feed.feed import Feed


def key_of(feed: Feed) -> dg.AssetKey:
    """The asset's key."""
    return feed_key("reconcile", feed)


def build(feed: Feed) -> dg.AssetsDefinition:
    """The asset that compares all of gold with the source; no run to gold makes it, for it reads the whole source."""
    spec = dg.AssetSpec(
        key_of(feed),
        deps=gold_keys(feed) or [feed_key("silver", feed)],
        kinds={"reconcile"},
        description="Gold is compared with the live source, row by row, and each key that differs is named.",
    )

    @dg.multi_asset(
        name=f"reconcile_{feed.name}",
        specs=[spec_of_feed(feed, spec)],
        check_specs=specs_of_rules(spec.key.path, comparison_rules(feed)),
        pool=f"reconcile_{feed.name}",
    )
    def reconcile(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        ask, began = Ask(say=context.log.info), datetime.now(UTC)
        found = reconciled(lake, feed, source_of(feed, address_of(feed)), ask)
        made = published(lake, feed, noted(feed, found, datetime.now(UTC)), began)
        yield dg.MaterializeResult(
            asset_key=spec.key,
            metadata={
                "keys_that_differ": made.differing,
                "place": made.place,
                "compared_tables": markdown_metadata(
                    table(
                        own_head("table", "found", "numbers"),
                        [(one.table, one.state, one.says) for one in made.tables],
                    )
                ),
            },
        )
        yield from results(feed, made)

    return reconcile


def published(lake: Lake, feed: Feed, made: Comparison, began: datetime) -> Comparison:
    """Keep a comparison that began then, and make the feed's page again, which shows it; gives what was kept.

    Where a key was erased meanwhile, no keys are kept: gold may have had it when it was compared.
    """
    ends = [one.finished_at for one in record.recorded(lake, feed)]
    if any(one is None or one >= began for one in ends):
        made = without_keys(made)
    keep_comparison(lake, feed, made)
    with html_page.making(lake, feed) as put:
        put(html_page.make_report(lake, feed, made.compared_at))
    return made


def results(feed: Feed, made: Comparison) -> Iterator[dg.AssetCheckResult]:
    """One result per rule."""
    differing = [f"{one.table}: {line}" for one in made.tables for line in one.explain]
    untold = [f"{one.table}: {one.says}" for one in made.untold]
    found = {
        GOLD_IS_WHAT_THE_SOURCE_HOLDS.name: (made.differing, differing),
        ALL_OF_GOLD_WAS_COMPARED.name: (len(untold), untold),
    }
    counts = {name: count for name, (count, _) in found.items()}
    says = {name: bullets(lines) for name, (_, lines) in found.items()}
    yield from results_of_rules(key_of(feed).path, comparison_rules(feed), counts, (), says)
