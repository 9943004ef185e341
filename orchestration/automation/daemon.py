"""``weir-daemon``: Dagster's daemon with its own options, which looks at sensors sooner and starts less for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from dagster._core.remote_representation.grpc_server_registry import GrpcServerRegistry
from dagster._daemon import cli, sensor

from orchestration.resources import Deployment
from orchestration.runs import history

LOOP_SECONDS: Final = 1
"""How often the daemon asks which sensors are due. Each says itself how long lies between two of its looks."""

AS_NEW_SECONDS: Final = 600.0
"""After which a code server is started again though no feed file has changed: what has landed since belongs to it."""


def main() -> None:
    """Start it, as ``dagster-daemon`` does."""
    # Dagster has no settings for these: its daemon asks for sensors every five seconds, and starts a code server every
    # minute, which imports everything and has nothing from which it could fork a run.
    assert hasattr(sensor, "MIN_INTERVAL_LOOP_TIME"), "this Dagster looks at sensors otherwise"
    sensor.MIN_INTERVAL_LOOP_TIME = LOOP_SECONDS
    feeds = Deployment.from_environment(os.environ).feeds
    GrpcServerRegistry.clear_all_grpc_endpoints = when_feeds_change(  # type: ignore[method-assign]
        GrpcServerRegistry.clear_all_grpc_endpoints, feeds
    )
    history.write_quickly()
    start: Callable[[], None] = cli.main
    start()


def when_feeds_change(act: Callable[..., None], feeds: Path) -> Callable[..., None]:
    """``act``, which does something only where the feed files are others than at the last call, or it is long ago."""
    seen, acted_at = _files(feeds), monotonic()

    def acted(*given: object) -> None:
        nonlocal seen, acted_at
        files, now = _files(feeds), monotonic()
        if files != seen or now - acted_at >= AS_NEW_SECONDS:
            seen, acted_at = files, now
            act(*given)

    return acted


def _files(feeds: Path) -> frozenset[tuple[str, int, int]]:
    """The files in the folder of feed files, each with when it was changed and its size."""
    found = set()
    with suppress(FileNotFoundError), os.scandir(feeds) as files:
        for file in files:
            status = file.stat()
            found.add((file.name, status.st_mtime_ns, status.st_size))
    return frozenset(found)


if __name__ == "__main__":
    main()
