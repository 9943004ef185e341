"""Gold in its catalogues as an asset of Dagster's: the step behind progress registers what is new or has changed."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Sequence

import dagster as dg

from assets.catalogues.register import Registration, registered
from assets.feed_assets import feed_key, markdown_list, markdown_metadata, spec_of_feed
from assets.quality.checks import results_of_rules, specs_of_rules
from assets.storage.lake import Lake
from expectations.catalogues import GOLD_STANDS_IN_CATALOGUES
from expectations.feed_rules import catalogue_rules
from transforms.display import bullets, own_head, table
from transforms.feed.feed import Feed


def key_of(feed: Feed) -> dg.AssetKey:
    """The asset's key."""
    return feed_key("catalogues", feed)


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's asset of catalogues, which is about no window."""
    spec = dg.AssetSpec(
        key_of(feed),
        deps=[feed_key("progress", feed)],
        kinds={"catalogue"},
        description="Gold in the catalogues of the warehouse: what is new or has changed is registered.",
    )

    @dg.multi_asset(
        name=f"catalogues_{feed.name}",
        specs=[spec_of_feed(feed, spec)],
        check_specs=specs_of_rules(spec.key.path, catalogue_rules(feed)),
    )
    def catalogues(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        done = registered(lake, feed)
        for one in done:
            context.log.info(f"{feed.name}: {one.in_words}")
        yield dg.MaterializeResult(
            asset_key=spec.key,
            metadata={
                "catalogues": markdown_list(one.in_words for one in done),
                "written": markdown_metadata(
                    table(
                        own_head("catalogue", "table", "is"),
                        [
                            (registration.catalogue, one.name, one.state)
                            for registration in done
                            for one in registration.tables
                            if one.state != "same"
                        ],
                    )
                ),
                "left_behind": markdown_list(
                    f"{one.catalogue}: {one.schema}.{name}" for one in done for name in one.left
                ),
            },
        )
        yield from results(feed, done)

    return catalogues


def results(feed: Feed, done: Sequence[Registration]) -> Iterator[dg.AssetCheckResult]:
    """The result of each rule."""
    faults = [fault for one in done for fault in one.faults]
    name = GOLD_STANDS_IN_CATALOGUES.name
    shown = {name: bullets(faults)}
    yield from results_of_rules(
        key_of(feed).path, catalogue_rules(feed), {name: len(faults)}, (), shown
    )
