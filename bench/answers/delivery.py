"""How the histories are delivered: as drops of Arcion's, which Weir reads, and as the rows that the others get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.answers.histories import COLUMNS, HISTORIES, History, Row, positions, states
from bench.made import drops
from bench.made.changes import LOG
from transforms.gold.columns import LOG_POSITION

WINDOWS = ("2025-11-20T00", "2025-11-20T01", "2025-11-20T02")
APART = 100
"""The keys of two histories in one table are so far apart."""

ROWS = pa.schema(
    [
        *(("id", pa.int64()), ("name", pa.string()), ("quantity", pa.int32())),
        *(("status", pa.string()), (LOG_POSITION, pa.list_(pa.int64()))),
    ]
)
CHANGES = ROWS.append(pa.field("is_delete", pa.bool_()))


@dataclass(frozen=True, slots=True)
class Group:
    """The histories whose windows are applied in one order: they share a table. ``histories``: by their first key."""

    runs: Sequence[int]
    histories: dict[int, History]

    @property
    def name(self) -> str:
        """A folder's name."""
        return "windows_" + "_".join(str(run) for run in self.runs)


def groups() -> list[Group]:
    """Every history, each in one group."""
    found: dict[tuple[int, ...], dict[int, History]] = {}
    for number, history in enumerate(HISTORIES):
        found.setdefault(tuple(history.runs), {})[APART * number] = history
    return [Group(runs, histories) for runs, histories in found.items()]


def lay_drops(group: Group, landing: Path, table: str) -> None:
    """Write the drops of all windows; histories take turns in the order of their keys."""
    for window, name in enumerate(WINDOWS):
        records = (
            record
            for first, history in group.histories.items()
            for record in _records(first, history, window, table)
        )
        drops.write_objects(landing / name.replace("T", "/") / table, records, 10_000)


def lay_rows(group: Group, folder: Path) -> None:
    """Write the rows of each window as Parquet, in a folder of its own; and a folder of no rows, to begin with."""
    for window, name in enumerate(WINDOWS):
        rows = [
            row
            for first, history in group.histories.items()
            for row in _flat(first, history, window)
        ]
        _write(pa.Table.from_pylist(rows, schema=CHANGES), folder / name)
    _write(ROWS.empty_table(), folder / "none")


def _write(rows: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True)
    pq.write_table(rows, folder / "part.parquet")


def _records(first: int, history: History, window: int, table: str) -> Iterator[str]:
    """One record per delivered event: an update mentions in both images what it mentions."""
    tables, places = states(history), positions(history)
    for number in _delivered(history, window):
        event = history.events[number]
        new_id = event.id if event.new_id is None else event.new_id
        images = (tables[number].get(event.id), tables[number + 1].get(new_id))
        named = {"id", *event.values} if event.is_partial else {*COLUMNS}
        flag = str((images[1] is not None) + 2 * (images[0] is not None))
        before, after = (_texts(first, image, named) for image in images)
        flags = {name: flag if name in named else "0" for name in COLUMNS}
        place = (LOG, places[number])
        yield drops.envelope(table, event.operation, place, (before, after), flags)


def _texts(first: int, image: Row | None, named: set[str]) -> dict[str, str]:
    row = {} if image is None else {**image, "id": first + int(image["id"] or 0)}
    return {name: str(value) for name, value in row.items() if name in named and value is not None}


def _flat(first: int, history: History, window: int) -> Iterator[dict[str, object]]:
    """One row per delivered event, as a source's flattening gives it; a new key is a delete and a row, as Debezium's.

    What an update does not mention is null. The position ends in the number of the delivery, which settles what the
    source's log leaves open.
    """
    tables, places = states(history), positions(history)
    before = sum(len(history.windows[number]) for number in range(window) if _has(history, number))
    for line, number in enumerate(_delivered(history, window), before):
        event = history.events[number]
        place = {LOG_POSITION: [LOG, places[number], line]}
        if event.operation == "delete" or event.new_id is not None:
            yield {"id": first + event.id, **place, "is_delete": True}
        if event.operation != "delete":
            id = event.id if event.new_id is None else event.new_id
            values = event.values if event.is_partial else tables[number + 1][id]
            yield {**values, "id": first + id, **place, "is_delete": False}


def _has(history: History, window: int) -> bool:
    return window < len(history.windows)


def _delivered(history: History, window: int) -> Sequence[int]:
    return history.windows[window] if _has(history, window) else ()
