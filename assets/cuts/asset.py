"""The Dagster asset of a feed's cuts, behind progress: each run records how far all tables are whole."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from typing import Final

import dagster as dg

from assets.cuts import manifest
from assets.cuts.words import ahead_in_words, in_a_line, late_in_words
from assets.feed_assets import (
    feed_key,
    markdown_list,
    markdown_metadata,
    spec_of_feed,
    window_step,
)
from assets.quality.checks import results_of_rules, specs_of_rules
from assets.retries import retried
from assets.storage.lake import Lake
from expectations import cuts
from transforms.display import bullets, own_head, table
from transforms.feed.feed import Feed

HEAD: Final = own_head("table", "version", "this version is")
"""The columns of what a run shows of the tables."""


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's asset of cuts, with their check."""
    key = feed_key("cuts", feed)
    spec = dg.AssetSpec(
        key,
        deps=[feed_key("progress", feed)],
        kinds={"cuts", "deltalake"},
        description="One row per position of the source up to which all gold tables of the feed were whole.",
    )

    @dg.multi_asset(
        specs=[spec_of_feed(feed, spec)],
        check_specs=specs_of_rules(key.path, cuts.RULES),
        **window_step(feed, "cuts"),
    )
    @retried
    def recorded_cuts(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        found = manifest.published(lake, feed)
        context.log.info(f"{feed.name}: {in_a_line(found)}")
        metadata: dict[str, dg.RawMetadataValue] = {"late_events": found.late}
        if found.cut is not None and found.cut.is_reached:
            metadata["position"] = found.cut.text
            if found.cut.source_at is not None:
                metadata["source_at"] = dg.MetadataValue.timestamp(found.cut.source_at)
            lines = [(one.name, one.version, ahead_in_words(one)) for one in found.cut.tables]
            metadata["tables"] = markdown_metadata(table(HEAD, lines))
            metadata["exact_tables"] = sum(one.keys_ahead == 0 for one in found.cut.tables)
        if found.held_by:
            metadata["held_by"] = markdown_list(found.held_by)
        yield dg.MaterializeResult(asset_key=key, metadata=metadata)
        (rule,) = cuts.RULES
        says = bullets([late_in_words(found)]) if found.late else None
        yield from results_of_rules(
            key.path, cuts.RULES, {rule.name: found.late}, (), {rule.name: says}
        )

    return recorded_cuts
