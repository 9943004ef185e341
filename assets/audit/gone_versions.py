"""Tables that a cut names at a version which can no longer be read: which, and what has removed it."""

from __future__ import annotations

from collections.abc import Collection

from assets.cuts.record import Cut
from assets.erasure import record as erasures
from assets.storage.in_process_table import KEPT_FILES_FOR_HOURS, InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES


def why_gone(lake: Lake, feed: Feed, cut: Cut, names: Collection[str]) -> str | None:
    """What is gone of the tables that answers at a cut are made of, by what, and what to do; None where all is there.

    ``names``: the gold tables that are asked for. The newest version of a table is taken for there.
    """
    wanted = {name + beside for name in names for beside in ("", TOMBSTONES)}
    for path, version in cut.versions.items():
        layer, _, *rest = path.split("/")
        if rest and rest[0] not in wanted:
            continue
        now = lake.in_process_table(Layer(layer), feed.name, *rest)
        if version < 0 or now.version == version:
            continue
        why = _why_gone(now, version)
        if why is not None:
            why = _erasure_of(lake, feed, now.name, version) or why
            return (
                f"the cut {cut.text} is made of version {version} of {now.name}, and {why}. `weir cut {feed.name}`"
                " records the cut with the tables as they are; where it says that windows are not in gold yet,"
                " `weir run` first"
            )
    return None


def _why_gone(now: InProcessTable, version: int) -> str | None:
    if not now.exists:
        return "the table is gone"
    if now.version < version:
        return f"the table was removed and made again: it is at version {now.version}"
    try:
        then = now.as_of(version)
        missing = then.missing_files()
    except FileNotFoundError:
        return f"its log has no such version any more (it is at version {now.version})"
    if not missing:
        return None
    return (
        f"{len(missing):,} of its files were removed by `weir compact` or another vacuum, which keeps what was replaced"
        f" for {KEPT_FILES_FOR_HOURS} hours"
    )


def _erasure_of(lake: Lake, feed: Feed, title: str, version: int) -> str | None:
    """The erasure that has removed this version of a table."""
    for one in erasures.recorded(lake, feed):
        done = one.steps.get(title)
        if done is not None and done.after > version:
            state = (
                ""
                if one.finished_at
                else ", which is not finished: the next `weir run` goes on with it"
            )
            return (
                f"`weir erase` has removed it, with all older versions (erasure {one.plan.id} of"
                f" {one.plan.at:%Y-%m-%d %H:%M} UTC{state})"
            )
    return None
