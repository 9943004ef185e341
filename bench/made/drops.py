"""Seeded drops as Arcion writes them: changes of one table that has rows already, and of many small tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from random import Random

from bench.made import row
from bench.made.changes import BASE_LOG, Change, TableState

CATALOG, SCHEMA = "main", "bench"
SNAPSHOT_WINDOW, BASE_WINDOW, WINDOW = "2025-11-19T22", "2025-11-19T23", "2025-11-20T00"
"""The windows of the snapshot, of the changes before the timed ones, and of the timed ones."""

STARTED = 1_763_600_000
RECORDS_PER_OBJECT = 25_000

OPERATIONS = {"insert": "I", "update": "U", "delete": "D"}


def record(change: Change, table: str, named: Collection[str] = row.COLUMNS.keys()) -> str:
    """The change as Arcion's envelope, on one line; ``named``: the columns that its images say."""
    before, after = (_image(change.id, version, named) for version in (change.before, change.after))
    flag = str((change.after is not None) + 2 * (change.before is not None))
    flags = {name: flag if name in named else "0" for name in row.COLUMNS}
    place = (change.log, change.position)
    return envelope(table, change.operation, place, (before, after), flags)


def envelope(
    table: str,
    operation: str,
    place: tuple[int, int],
    images: tuple[Mapping[str, str], Mapping[str, str]],
    flags: Mapping[str, str],
) -> str:
    """One change as Arcion writes it, on one line.

    Args:
        table: The table's name.
        operation: A key of ``OPERATIONS``.
        place: The source's log file, and the position in it.
        images: Before and after: the values that are not null, as texts.
        flags: Each column's flag of existence.
    """
    log, position = place
    # Ten changes a millisecond, and room for a hundred million of them in a log: time rises with the position.
    milliseconds = 1000 * STARTED + (log * 10_000_000_000 + position) // 1000
    cursor = {
        **{"extractorId": 0, "logSeqNum": 1, "slaveServerId": 1, "v": 2},
        **{"timestamp": milliseconds, "extractionTimestamp": milliseconds},
        **{"log": f"log-bin.{log:06}", "position": position},
    }
    before, after = ({name: image.get(name, "null") for name in flags} for image in images)
    return json.dumps(
        {
            "tableName": {"namespace": {"catalog": CATALOG, "schema": SCHEMA}, "name": table},
            "opType": OPERATIONS[operation],
            "cursor": json.dumps(cursor),
            **{"before": before, "after": after, "exists": {**flags}, "operationcount": "{}"},
        }
    )


def _image(id: int, version: int | None, named: Collection[str]) -> dict[str, str]:
    if version is None:
        return {}
    return {name: text for name, text in row.texts(id, version).items() if name in named}


def lay(
    landing: Path,
    table: str,
    changes: Iterable[Change],
    window: str = WINDOW,
    named: Collection[str] = row.COLUMNS.keys(),
) -> int:
    """Write the changes, each saying the columns ``named``, as objects of the window; returns their bytes."""
    records = (record(change, table, named) for change in changes)
    return write_objects(landing / window.replace("T", "/") / table, records, RECORDS_PER_OBJECT)


def lay_apart(landing: Path, table: str, changes: Iterable[Change], window: str, each: int) -> int:
    """Write the changes as objects of the window with ``each`` records in one; returns their bytes."""
    records = (record(change, table) for change in changes)
    return write_objects(landing / window.replace("T", "/") / table, records, each)


def write_objects(folder: Path, records: Iterator[str], each: int) -> int:
    """Write records as objects with ``each`` of them in one; returns their bytes."""
    folder.mkdir(parents=True)
    size, number = 0, 0
    while part := list(islice(records, each)):
        number += 1
        data = "".join(one + "\n" for one in part).encode()
        (folder / f"part_{number:04}.json").write_bytes(data)
        size += len(data)
    return size


def small_names(count: int) -> list[str]:
    """The names of the small tables."""
    return [f"small_{number:03}" for number in range(count)]


def lay_small(landing: Path, names: Iterable[str], seed: int, changes: int = 20) -> None:
    """Two windows: a hundred rows for each table, then some changes of it; a window is one object, tables mixed."""
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
            state, rng = TableState(100), Random(seed + offset)
            for number in range(changes):
                files[WINDOW].write(record(state.changed(rng, number), name) + "\n")
