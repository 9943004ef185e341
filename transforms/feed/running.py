"""How a feed is run and watched, and what people are told of it: nothing here changes what its data means.

None of it enters a digest, so that a new owner makes no window due. Put here such a fact, with its default. Not here:
what decides rows (``feed``), and reading the YAML (``orchestration/feeds/running``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long after its last run a feed's tables count as late: ``warn`` and ``fail``."""

    fail: timedelta
    warn: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Automation:
    """Which of the feed's schedules and its sensor are on from the start; a switch in the UI overrides it.

    ``look_every``: seconds between two looks of the sensor.
    """

    schedule: bool = False
    sensor: bool = False
    compaction: bool = False
    look_every: int = 30


@dataclass(frozen=True, slots=True)
class Described:
    """What a table holds, in words, and what its columns do."""

    description: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running:
    """All of it, for one feed.

    ``start``: the first window; None begins with the first drop. ``owners``: mail addresses, or ``team:<name>``.
    ``tables``: descriptions, by the declared table's name. ``windows``: those of a run that has no
    others, not even between them; empty: all since the start.
    """

    start: str | None = None
    description: str | None = None
    owners: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    freshness: Freshness | None = None
    automation: Automation = field(default_factory=Automation)
    tables: Mapping[str, Described] = field(default_factory=dict)
    windows: tuple[str, ...] = ()
