"""One job per feed: landing to gold, in one run and one Spark session."""

from __future__ import annotations

import dagster as dg

from transforms.feed import Feed


def job_name(feed: Feed) -> str:
    """The job's name: the feed's, said to be one."""
    return f"{feed.name}_to_gold"


def build(feed: Feed) -> dg.UnresolvedAssetJobDefinition:
    """Everything of the feed for the chosen windows.

    In process: a process per step would start a JVM per step, which costs more than the work.
    """
    return dg.define_asset_job(
        job_name(feed),
        selection=dg.AssetSelection.groups(feed.name),
        executor_def=dg.in_process_executor,
        description=f"Landing to gold of feed {feed.name} ({feed.format}).",
        tags={"feed": feed.name},
    )
