"""Seeded drops as Arcion writes them: changes of one table that has rows already, and of many small tables.

What a table holds before its changes: every key below ``rows`` came with the snapshot (version 0); every fifth was
updated in log 5 (version 1); a hundredth more keys was deleted there. ``base`` writes the same with Spark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from bench.made import row

CATALOG, SCHEMA = "main", "bench"
SNAPSHOT_WINDOW, BASE_WINDOW, WINDOW = "2025-11-19T22", "2025-11-19T23", "2025-11-20T00"
LATE_LOG, BASE_LOG, LOG = 4, 5, 6
STARTED = 1_763_600_000
RECORDS_PER_OBJECT = 25_000

DELETES, INSERTS, REDELIVERED, LATE = 0.10, 0.05, 0.05, 0.02
"""The parts of all changes; half of the redelivered repeat one of their own window, half one that gold has seen."""

SCATTER = 7_368_787
"""Numbers times this one lie scattered over a table: a prime that divides no usual size, so that no two meet."""

OPERATIONS = {"insert": "I", "update": "U", "delete": "D"}


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row: ``before`` and ``after`` are versions, None where there is no such image."""

    operation: str
    id: int
    log: int
    position: int
    before: int | None
    after: int | None


def changes(*, rows: int, count: int, seed: int) -> Iterator[Change]:
    """So many changes of a table of so many rows, in the order of delivery."""
    rng = Random(seed)
    stand = _Stand(rows)
    recent: list[Change] = []
    for number in range(count):
        draw = rng.random()
        if draw < LATE:
            id = 5 * rng.randrange(max(1, rows // 5))
            change = Change("update", id, LATE_LOG, 100 * number, 0, count + number)
        elif draw < LATE + REDELIVERED / 2:
            id = 5 * rng.randrange(max(1, rows // 5))
            change = Change("update", id, BASE_LOG, id, 0, 1)
        elif draw < LATE + REDELIVERED and recent:
            change = rng.choice(recent)
        else:
            change = stand.changed(rng, number)
            recent.append(change)
            # What is delivered again lies not far behind.
            if len(recent) > 10_000:
                recent.clear()
        yield change


class _Stand:
    """What the table holds while its changes are drawn: the keys whose version is not the first, and those deleted."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._versions: dict[int, int | None] = {}
        self._next = 2 * rows

    def changed(self, rng: Random, number: int) -> Change:
        kind = rng.random()
        if kind < INSERTS:
            id, self._next = self._next, self._next + 1
            before = None
        else:
            id = skewed(rng, self._rows)
            before = self._versions.get(id, 1 if id % 5 == 0 else 0)
        after = None if before is not None and kind < INSERTS + DELETES else number + 2
        self._versions[id] = after
        operation = "insert" if before is None else "delete" if after is None else "update"
        return Change(operation, id, LOG, 100 * number, before, after)


def skewed(rng: Random, rows: int) -> int:
    """A key: half of all draws meet an eighth of the keys, and the hottest gets thousands; they lie scattered."""
    hot = int(rows * rng.random() ** 3)
    return hot * SCATTER % rows


def record(change: Change, table: str, named: Collection[str] = row.COLUMNS.keys()) -> str:
    """The change as Arcion's envelope, on one line; ``named``: the columns that its images say."""
    before, after = (_image(change.id, one, named) for one in (change.before, change.after))
    milliseconds = 1000 * STARTED + (change.log * 1_000_000_000 + change.position) // 100
    cursor = {
        **{"extractorId": 0, "logSeqNum": 1, "slaveServerId": 1, "v": 2},
        **{"timestamp": milliseconds, "extractionTimestamp": milliseconds},
        **{"log": f"log-bin.{change.log:06}", "position": change.position},
    }
    flag = str((change.after is not None) + 2 * (change.before is not None))
    return json.dumps(
        {
            "tableName": {"namespace": {"catalog": CATALOG, "schema": SCHEMA}, "name": table},
            "opType": OPERATIONS[change.operation],
            "cursor": json.dumps(cursor),
            "before": {name: before.get(name, "null") for name in row.COLUMNS},
            "after": {name: after.get(name, "null") for name in row.COLUMNS},
            "exists": {name: flag if name in named else "0" for name in row.COLUMNS},
            "operationcount": "{}",
        }
    )


def _image(id: int, version: int | None, named: Collection[str]) -> dict[str, str]:
    if version is None:
        return {}
    return {name: text for name, text in row.texts(id, version).items() if name in named}


def lay(
    landing: Path,
    table: str,
    some: Iterable[Change],
    window: str = WINDOW,
    named: Collection[str] = row.COLUMNS.keys(),
) -> int:
    """Write the changes, each saying the columns ``named``, as objects of the window; returns their bytes."""
    folder = landing / window.replace("T", "/") / table
    folder.mkdir(parents=True)
    records, size, number = iter(some), 0, 0
    while part := list(islice(records, RECORDS_PER_OBJECT)):
        number += 1
        data = "".join(record(change, table, named) + "\n" for change in part).encode()
        (folder / f"part_{number:04}.json").write_bytes(data)
        size += len(data)
    return size


def small_names(count: int) -> list[str]:
    """The names of the small tables."""
    return [f"small_{number:03}" for number in range(count)]


def lay_small(landing: Path, names: Iterable[str], seed: int) -> None:
    """Two windows: a hundred rows for each table, then twenty changes of it; a window is one object, tables mixed."""
    with ExitStack() as stack:
        files = {}
        for window in (BASE_WINDOW, WINDOW):
            folder = landing / window.replace("T", "/")
            folder.mkdir(parents=True)
            files[window] = stack.enter_context((folder / "part_0001.json").open("w"))
        for offset, name in enumerate(names):
            for id in range(100):
                first = Change("insert", id, BASE_LOG, id, None, 1 if id % 5 == 0 else 0)
                files[BASE_WINDOW].write(record(first, name) + "\n")
            stand, rng = _Stand(100), Random(seed + offset)
            for number in range(20):
                files[WINDOW].write(record(stand.changed(rng, number), name) + "\n")
