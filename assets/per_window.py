"""What a run of several windows shows of each: every window's materialization carries that window's own numbers.

Dagster gives all windows of a range the metadata of the one result. Numbers of a window are added to its own event
here, so that they add up over windows; what is only known of the run as a whole, such as how many keys a single fold of
all windows changed, stands with the run's last window.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import dagster as dg
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION

from assets import partitions

Metadata = Mapping[str, Any]

NOTHING_LANDED: Final = "Nothing landed in this window."

BACKFILL: Final = "dagster/backfill"
"""The tag of the runs of a backfill."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The metadata of an asset's events: what each has, what each window's has besides, and what the last one has."""

    of_each: Metadata
    of_windows: Mapping[str, Metadata] = field(default_factory=dict)
    of_run: Metadata = field(default_factory=dict)


def add(
    context: dg.AssetExecutionContext,
    key: dg.AssetKey,
    of_windows: Mapping[str, Metadata],
    of_run: Metadata,
) -> None:
    """Give each window of the run its own numbers, and the last one what is known of the run as a whole."""
    if key not in context.selected_asset_keys:
        return  # only a check of it was asked for
    windows = partitions.keys_of(context)
    asked = {*windows}
    for window, values in of_windows.items():
        if window in asked:
            context.add_asset_metadata(values, key, window)
    if of_run:
        context.add_asset_metadata(of_run, key, windows[-1])


def made(
    context: dg.AssetExecutionContext, key: dg.AssetKey, shown: Shown, landed: Collection[str]
) -> dg.MaterializeResult[None]:
    """The result of an asset, of which only windows in which something landed are shown as made.

    For all others together there is one observation. A backfill would fail for want of them: its events say it.
    """
    windows = partitions.keys_of(context)
    quiet = {*windows}.difference(landed)
    if not quiet or BACKFILL in context.run.tags:
        add(context, key, shown.of_windows, shown.of_run)
        add(context, key, {window: {"nothing_landed": True} for window in quiet}, {})
        return dg.MaterializeResult(asset_key=key, metadata=shown.of_each)
    last = max(landed, default=None)
    for window in sorted(landed):
        own = {**shown.of_each, **shown.of_windows.get(window, {})}
        own |= shown.of_run if window == last else {}
        context.log_event(dg.AssetMaterialization(key, metadata=own, partition=window))
    context.log_event(_observed(key, shown, sorted(quiet), is_all=not landed))
    # An output that were left out would leave out all steps behind it, and Dagster has no other way to say that the
    # events of this one are there already.
    return dg.MaterializeResult(
        asset_key=key, metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True}
    )


def _observed(
    key: dg.AssetKey, shown: Shown, quiet: Sequence[str], *, is_all: bool
) -> dg.AssetObservation:
    """What is seen of an asset in windows in which nothing landed; ``is_all``: in no other window, either."""
    metadata = {**shown.of_each, **shown.of_run} if is_all else {}
    if len(quiet) == 1:
        return dg.AssetObservation(key, NOTHING_LANDED, metadata=metadata, partition=quiet[0])
    said = f"Nothing landed in {len(quiet):,} windows, {quiet[0]} .. {quiet[-1]}."
    return dg.AssetObservation(key, said, metadata=metadata)
