"""A small zoo: drops of its pets as Arcion writes them, and the steps of a run over them, without Dagster."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from assets.bronze import from_objects
from assets.control import progress
from assets.gold import apply
from assets.gold.fold import Applied
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.runs import planning
from transforms.feed.feed import Feed, Table

PETS = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
CURSOR = {"extractorId": 0, "logSeqNum": 1, "slaveServerId": 1, "v": 2}


def change(
    op: str,
    at: int,
    before: Mapping[str, str | None] | None = None,
    after: Mapping[str, str | None] | None = None,
    *,
    table: str = "pets",
    schema: str = "zoo",
    log: int = 7,
    minute: int | None = None,
    read_minute: int | None = None,
) -> str:
    """One Arcion envelope on one line: ``at`` is the position in the log, a minute apart from the next.

    ``minute`` says otherwise when the source made the change, ``read_minute`` when the extractor read it.
    """
    before, after = before or {}, after or {}
    names = sorted({*before, *after})
    seconds = 1_763_600_000 + 60 * (at if minute is None else minute)
    read = seconds if read_minute is None else 1_763_600_000 + 60 * read_minute
    times = {"timestamp": seconds * 1000, "extractionTimestamp": read * 1000}
    cursor = {**CURSOR, **times, "log": f"log-bin.{log:06}", "position": at}
    record = {
        "tableName": {"namespace": {"catalog": "main", "schema": schema}, "name": table},
        "opType": op,
        "cursor": json.dumps(cursor),
        "before": {name: before.get(name) or "null" for name in names},
        "after": {name: after.get(name) or "null" for name in names},
        "exists": {name: str((name in after) + 2 * (name in before)) for name in names},
        "operationcount": "{}",
    }
    return json.dumps(record)


def drop(*records: str) -> bytes:
    """An object with one record a line."""
    return "".join(record + "\n" for record in records).encode()


def bring(
    lake: Lake, feed: Feed, windows: Sequence[str] | None = None
) -> tuple[from_objects.LandingDiff, derive.Derived]:
    """What a run does, without Dagster around it: the windows that are due, or those asked for."""
    windows = planning.due(lake, feed).windows if windows is None else windows
    arrived = from_objects.land(lake, feed, windows)
    made = derive.derive(lake, feed, windows)
    apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)
    return arrived, made


def applied(lake: Lake, feed: Feed, windows: Sequence[str]) -> Applied:
    """What a run of these windows does to gold, of a feed of one table."""
    from_objects.land(lake, feed, windows)
    derive.derive(lake, feed, windows)
    (made,) = apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)
    return made.done


def names(lake: Lake, feed: Feed, table: str = "pets") -> dict[int, str | None]:
    """Gold's pets by id."""
    return {
        row["id"]: row["name"] for row in lake.table(Layer.GOLD, feed.name, table).read().collect()
    }


def lay(folder: Path, name: str, data: bytes) -> None:
    """Put one object into a folder landing."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
