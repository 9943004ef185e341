"""Landing to bronze: every record of every new object, verbatim, with its coordinates."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import dagster as dg

from assets import ledger, partitions
from assets.lake import Lake, columns_of
from assets.landing import LandedObject, open_landing
from assets.object_source import raise_clearly, read_objects
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.record import BRONZE


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What lies in the landing against what bronze holds: the objects to read, and the names read before."""

    new: list[LandedObject]
    replaced: list[str]
    left_out: list[str]


def arrivals(lake: Lake, feed: Feed, windows: Sequence[str] | None = None) -> Arrivals:
    """List the landing and leave out every object generation that bronze holds."""
    landing = open_landing(feed, FORMATS[feed.format].files)
    wanted = None if windows is None else set(windows)
    landed = [one for one in landing.list() if wanted is None or one.window in wanted]
    known = ledger.read_objects(lake, feed, windows)
    generations = {(one.name, one.generation) for one in known}
    names = {one.name for one in known}
    new = [one for one in landed if (one.name, one.generation) not in generations]
    return Arrivals(
        new, sorted(one.name for one in new if one.name in names), list(landing.left_out)
    )


def land(lake: Lake, feed: Feed, windows: Sequence[str]) -> Arrivals:
    """Append the records of these windows' new objects to bronze, in one commit."""
    found = arrivals(lake, feed, windows)
    bronze = lake.table("bronze", feed.name)
    if found.new or not bronze.exists():
        with raise_clearly():
            bronze.append(read_objects(lake.spark, feed, found.new), partition_by=["window"])
    return found


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's bronze asset."""

    @dg.asset(
        key=["bronze", feed.name],
        deps=[["landing", feed.name]],
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"bronze_{feed.name}",
        kinds={"bronze", "deltalake"},
        description=f"Every record that landed in {feed.landing}, verbatim, malformed ones too. It only grows.",
    )
    def bronze(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult[None]:
        started = monotonic()
        found = land(lake, feed, partitions.keys_of(context))
        size = sum(one.size for one in found.new)
        context.log.info(f"bronze.{feed.name}: {len(found.new)} new objects, {size:,} bytes")
        for name in found.replaced:
            context.log.warning(
                f"bronze.{feed.name}: {name} was replaced; its new generation was read beside the old"
            )
        return dg.MaterializeResult(
            metadata={
                "objects": len(found.new),
                "bytes": size,
                "seconds": round(monotonic() - started, 1),
                "replaced_objects": len(found.replaced),
                "replaced": dg.MetadataValue.md(
                    "\n".join(f"- {name}" for name in found.replaced) or "none"
                ),
                "left_out": dg.MetadataValue.md(
                    "\n".join(f"- {line}" for line in found.left_out) or "none"
                ),
                "dagster/table_name": f"bronze.{feed.name}",
                "dagster/column_schema": columns_of(BRONZE),
            }
        )

    return bronze
