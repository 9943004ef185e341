"""The certificate of an erasure: what was erased from where, and what Weir cannot reach; no key stands in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from assets.erasure.record import Progress
from assets.landing.landings import open_landing
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.source_repairs import is_of_source

NOT_REACHED: Final = (
    "The landing: its objects or topics belong to the source. Those below still hold the records.",
    "Backups and snapshots of the warehouse, and older versions of objects in a bucket that keeps them.",
    "What readers have copied: other warehouses, exports, pages that were downloaded.",
    "Dagster's own storage: the logs and metadata of runs before the erasure, which may quote keys as samples.",
    "Other tables that hold the person under another key: each has an erasure of its own.",
)
"""What an erasure does not reach, in sentences."""


def certificate(feed: Feed, progress: Progress) -> dict[str, Any]:
    """The certificate as plain values, for JSON."""
    plan = progress.plan
    done = [one for one in progress.steps.values() if one is not None]
    return {
        "erasure": plan.id,
        "feed": feed.name,
        "table": plan.table or None,
        "key_hashes": sorted(plan.hashes),
        "decided_by": plan.by,
        "reason": plan.reason,
        "decided_at": plan.at.isoformat(),
        "finished_at": progress.finished_at and progress.finished_at.isoformat(),
        "records": len(plan.records),
        "windows": plan.windows,
        "up_to": {
            stream: [*position] for one in plan.erasures[:1] for stream, position in one.reached
        },
        "tables": [
            {
                "table": one.table,
                "version_before": one.before,
                "version_after": one.after,
                "rows": one.rows,
                "files_rewritten": one.files,
                "old_files_removed": one.old_files,
            }
            for one in done
        ],
        "unreadable_records_left": plan.left,
        "landing": [
            {"object": name, "records": count} for name, count in in_landing(feed, progress)
        ],
        "not_reached": [*NOT_REACHED],
    }


def in_landing(feed: Feed, progress: Progress) -> list[tuple[str, int]]:
    """The objects of the landing that still hold records that were erased, and how many; of topics their partitions."""
    # What Weir has read again in the source never landed.
    held: Mapping[tuple[str, str], int] = Counter(
        one.source_location[:2]
        for one in progress.plan.records
        if not is_of_source(*one.source_location[:2])
    )
    if not feed.reads_topics and held:
        landing = open_landing(feed, FORMATS[feed.format].files)
        there = {(one.name, one.generation) for one in landing.list(None)}
        held = {object_: count for object_, count in held.items() if object_ in there}
    names = Counter[str]()
    for (name, _), count in held.items():
        names[name] += count
    return sorted(names.items())
