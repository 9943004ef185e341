"""A landing drawn from a seed, and the tables that the oracle expects of its windows."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from tests.laws.drawn.histories import COLUMN_TYPES, COLUMNS, KEY_COLUMNS, deliveries, history
from tests.laws.oracle.oracle import Event, current
from tests.laws.oracle.oracle import Table as OracleTable
from tests.laws.rendering import arcion
from tests.support.pet_feed import lay
from transforms.feed.feed import Feed, Retention, Table

TABLE = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES, tuple(sorted(COLUMNS)))
SHAPE = OracleTable("item", tuple(KEY_COLUMNS), COLUMN_TYPES)
SEED = int(os.environ.get("WEIR_FAULT_SEED") or "20251120")
"""What everything in this suite is drawn from."""
FIRST = datetime(2024, 11, 20)
NEW_ERA = timedelta(days=30)
"""So much later are the windows of the new era, whose changes are of other keys, at higher positions."""
FIRST_NEW_LOG = 2_000_000
CUT_OFF = '{"tableName": {"name": "item"}, "opType": "I", "cut off'

Key = tuple[str | None, ...]
Rows = dict[Key, tuple[object, ...]]


def feed_of(landing: str) -> Feed:
    """The feed over a drawn landing; what is of the old era may be compacted once the new one has begun."""
    return Feed(
        *("faults", "arcion_s3_json", landing),
        tables={"item": TABLE},
        retention=Retention(kept=NEW_ERA / 2),
    )


@dataclass(frozen=True)
class Drawn:
    """What lies in each window: every delivery, the cut off records apart; and which windows are of the old era."""

    seed: int
    delivered: dict[str, list[Event]]
    old: frozenset[str] = frozenset()

    @property
    def windows(self) -> list[str]:
        """All windows, in order."""
        return sorted(self.delivered)

    def objects(self) -> dict[str, bytes]:
        """The landing's objects by name: two a window, so that a window is no single file."""
        rng = Random(f"objects {self.seed}")
        found = {}
        for window, events in self.delivered.items():
            texts = [arcion.to_json(event, COLUMNS, seed=rng.getrandbits(32)) for event in events]
            half = len(texts) // 2
            # What is in quarantine is not decided, and would keep the old era from being compacted.
            damaged = [] if window in self.old else [CUT_OFF]
            for number, some in enumerate((texts[:half], texts[half:] + damaged), start=1):
                name = f"{window.replace('T', '/')}/item/part_{number}.json"
                found[name] = ("\n".join(some) + "\n").encode()
        return found

    def lay(self, folder: Path) -> None:
        """Write the objects into a folder."""
        for name, data in self.objects().items():
            lay(folder, name, data)

    def expected(self, windows: list[str]) -> tuple[Rows, Rows]:
        """By key: the rows and the tombstones of gold after these windows, as texts; the old era is compacted."""
        events = [event for window in windows for event in self.delivered[window]]
        by_case: dict[str | None, list[Event]] = {}
        for event in events:
            by_case.setdefault(event.result["case_id"], []).append(event)
        rows: Rows = {}
        tombstones: Rows = {}
        for some in by_case.values():
            state = current(some, SHAPE)
            for key, row in state.rows.items():
                values = [row.values[name] for name in COLUMNS if name not in KEY_COLUMNS]
                texts = [None if value is None else str(value) for value in values]
                rows[key] = (*texts, list(row.log_position), row.event_id, row.event_at_ms)
            for key, (log_position, last) in state.tombstones.items():
                if self.old and log_position[2] < FIRST_NEW_LOG:
                    continue
                tombstones[key] = (list(log_position), last)
        return rows, tombstones


def draw(seed: int, *, windows: int, histories: int) -> Drawn:
    """Draw the histories and deal their deliveries into windows of an hour."""
    names = [f"{FIRST + timedelta(hours=number):%Y-%m-%dT%H}" for number in range(windows)]
    return Drawn(seed, shuffled(seed, names, histories))


def draw_eras(seed: int, *, windows: int, histories: int) -> Drawn:
    """The same in two eras: all that is of the old one has come before the first window of the new one."""
    at = windows // 2
    starts = [FIRST] * at + [FIRST + NEW_ERA] * (windows - at)
    names = [f"{start + timedelta(hours=n):%Y-%m-%dT%H}" for n, start in enumerate(starts)]
    old, new = (
        shuffled(seed, names[:at], histories // 2),
        shuffled(seed + 1, names[at:], histories // 2),
    )
    moved = {
        window: [moved_on(event) for event in events if event.source != "snapshot"]
        for window, events in new.items()
    }
    return Drawn(seed, old | moved, frozenset(old))


def shuffled(seed: int, names: list[str], histories: int) -> dict[str, list[Event]]:
    """The deliveries of so many histories, by window."""
    delivered: dict[str, list[Event]] = {name: [] for name in names}
    for number in range(histories):
        own = seed * 100_000 + number
        events = history(own, case=f"case-{own}", kind="mysql", events=5 + number % 36)
        for window, some in deliveries(events, own, windows=len(names)).items():
            delivered[names[window]] += some
    return delivered


def moved_on(event: Event) -> Event:
    """The event as it would be in the new era."""
    epoch, phase, log, *rest = event.log_position
    assert event.event_at_ms is not None  # only snapshot rows have no time
    at = event.event_at_ms + int(NEW_ERA.total_seconds() * 1000)
    return replace(event, log_position=(epoch, phase, log + FIRST_NEW_LOG, *rest), event_at_ms=at)
