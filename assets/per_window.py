"""What a run of several windows shows of each: every window's materialization carries that window's own numbers.

Dagster gives all windows of a range the metadata of the one result. Numbers of a window are added to its own event
here, so that they add up over windows; what is only known of the run as a whole, such as how many keys a single fold of
all windows changed, stands with the run's last window.
Put here how metadata reaches a window. Not here: the numbers (the ``asset`` modules, ``gold/apply_reports``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from assets import partitions

Metadata = Mapping[str, Any]


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
