"""A landing drawn from a seed, and what the oracle makes of its windows.

Histories of a MySQL source as nasty as those of the laws: late, repeated and tied events, and in each window a record
that was cut off.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from tests.assets.zoo import lay
from tests.laws import rendering
from tests.laws.histories import COLUMN_TYPES, COLUMNS, KEY_COLUMNS, deliveries, history
from tests.laws.oracle import Event, current
from tests.laws.oracle import Table as OracleTable
from transforms.feed import Feed, Table

TABLE = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES, tuple(sorted(COLUMNS)))
SHAPE = OracleTable("item", tuple(KEY_COLUMNS), COLUMN_TYPES)
SEED = int(os.environ.get("WEIR_FAULT_SEED") or "20251120")
"""What everything in this suite is drawn from."""
FIRST = datetime(2024, 11, 20)
CUT_OFF = '{"tableName": {"name": "item"}, "opType": "I", "cut off'

Key = tuple[str | None, ...]
Rows = dict[Key, tuple[object, ...]]


def feed_of(landing: str) -> Feed:
    """The feed over a drawn landing."""
    return Feed("faults", "arcion_s3_json", landing, tables={"item": TABLE})


@dataclass(frozen=True)
class Drawn:
    """What lies in each window: every delivery, the cut off records apart."""

    seed: int
    delivered: dict[str, list[Event]]

    @property
    def windows(self) -> list[str]:
        """All windows, in order."""
        return sorted(self.delivered)

    def objects(self) -> dict[str, bytes]:
        """The landing's objects by name: two a window, so that a window is no single file."""
        rng = Random(f"objects {self.seed}")
        found = {}
        for window, events in self.delivered.items():
            texts = [
                rendering.to_json(event, COLUMNS, seed=rng.getrandbits(32)) for event in events
            ]
            half = len(texts) // 2
            for number, some in enumerate((texts[:half], [*texts[half:], CUT_OFF]), start=1):
                name = f"{window.replace('T', '/')}/item/part_{number}.json"
                found[name] = ("\n".join(some) + "\n").encode()
        return found

    def lay(self, folder: Path) -> None:
        """Write the objects into a folder."""
        for name, data in self.objects().items():
            lay(folder, name, data)

    def expected(self, windows: list[str]) -> tuple[Rows, Rows]:
        """By key: the rows and the tombstones of gold after these windows, as texts."""
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
                rows[key] = (*texts, list(row.position), row.event_id, row.event_at_ms)
            for key, (position, last) in state.tombstones.items():
                tombstones[key] = (list(position), last)
        return rows, tombstones


def draw(seed: int, *, windows: int, histories: int) -> Drawn:
    """Draw the histories and deal their deliveries into windows of an hour."""
    names = [f"{FIRST + timedelta(hours=number):%Y-%m-%dT%H}" for number in range(windows)]
    delivered: dict[str, list[Event]] = {name: [] for name in names}
    for number in range(histories):
        own = seed * 100_000 + number
        events = history(own, case=f"case-{own}", kind="mysql", events=5 + number % 36)
        for window, some in deliveries(events, own, windows=windows).items():
            delivered[names[window]] += some
    return Drawn(seed, delivered)
