"""The Dagster asset of a feed's cuts, behind progress: each run records how far all tables are whole."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator

import dagster as dg

from assets.cuts import manifest
from assets.cuts.record import Recorded, record
from assets.feed_assets import feed_key, markdown_list, spec_of_feed, window_step
from assets.quality.checks import results_of_rules, specs_of_rules
from assets.retries import retried
from assets.storage.lake import Lake
from assets.wording import counted
from expectations import cuts
from transforms.display import bullets
from transforms.feed.feed import Feed


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
        found = record(lake, feed)
        manifest.write(lake, feed, found)
        context.log.info(f"{feed.name}: {in_a_line(found)}")
        metadata: dict[str, dg.RawMetadataValue] = {"late_events": found.late}
        if found.cut is not None and found.cut.is_reached:
            metadata["position"] = found.cut.text
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


def in_a_line(found: Recorded) -> str:
    """How far all tables are whole, and what keeps the cut from being newer."""
    held = f"; held back: {'; '.join(found.held_by)}" if found.held_by else ""
    if found.cut is None or not found.cut.is_reached:
        return f"no cut yet{held}"
    return f"all tables are whole up to {found.cut.text}{held}"


def late_in_words(found: Recorded) -> str:
    """How many events came below a cut, and which cuts can no longer be asked for."""
    broken = f"; no longer to be asked for: {', '.join(found.broken)}" if found.broken else ""
    return f"{counted(found.late, 'event')} came that stand at or below a recorded cut{broken}"
