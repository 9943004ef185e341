"""A law of rows that are read again in the source: they stand at their place in its log, however all of it arrives.

The oracle is the plain loop below: for each key the log in its order, and at each reading what was read. It shares no
code with the product. Some changes are lost and never land; what is read again says what they did.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from assets.bronze import source_rows
from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake, Layer
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.bringing import run
from transforms.silver.source_repairs import Described, Operation, SourceRow, position_at

SEEDS = max(2, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 2500)
KEYS = 40
FIRST = datetime(2026, 11, 20, tzinfo=UTC)
NAMES = ("a", "b", "unread")

KINDS = {
    "declared": "tables: {item: {key: [id], columns: {id: int, a: string, b: int, unread: string}}}",
    "history": (
        "tables: {item: {key: [id], columns: {id: int, a: string, b: int, unread: string}, history: true}}"
    ),
    # The stream says what the table has.
    "discovered": "",
    "marked": (
        "tables: {item: {key: [id], columns: {id: int, a: string, b: int, unread: string}, deletes: mark}}"
    ),
}
COLUMNS = (("id", "int"), ("a", "string"), ("b", "int"), ("unread", "string"))
SCHEMA = {
    "type": "struct",
    "fields": [
        {"field": name, "type": {"int": "int32"}.get(kind, kind), "optional": name != "id"}
        for name, kind in COLUMNS
    ],
}
SCHEMA_OF_KEY = {"type": "struct", "fields": SCHEMA["fields"][:1], "name": "d.s.item.Key"}

State = Mapping[str, str | int | None] | None
Row = dict[str, str | int | None]


@dataclass(frozen=True)
class Step:
    """A change at a place in the log, or a reading at one: ``row`` is the row afterwards, or what was read of it."""

    key: int
    at: int
    what: str
    row: Row | None
    read_at: int = 0


def history(key: int, chance: Random) -> tuple[list[Step], list[Step]]:
    """What lands of a key's changes, and the readings of it."""
    changes: list[Step] = []
    truth: Row | None = None
    for at in sorted(chance.sample(range(10, 60), chance.randint(1, 8))):
        if truth is not None and chance.random() < 0.3:
            truth = None
            changes.append(Step(key, at, "d", None))
            continue
        op = "c" if truth is None else "u"
        truth = {
            "a": chance.choice(["x", "y", "", None]),
            "b": chance.randrange(100),
            "unread": chance.choice(["p", "q", None]),
        }
        changes.append(Step(key, at, op, truth))
    readings = []
    for number in range(chance.randint(0, 3)):
        at = chance.randint(5, 65)
        before = [one for one in changes if one.at < at]
        row = before[-1].row if before else None
        # Now and then the source was changed where no log tells of it.
        if chance.random() < 0.3:
            row = None if chance.random() < 0.3 else {"a": "behind its back", "b": 7, "unread": "z"}
        what = "gone" if row is None else chance.choice(["whole", "part"])
        readings.append(Step(key, at, what, row, read_at=1000 + number))
    landing = [one for one in changes if chance.random() < 0.75]
    return landing, readings


def expected(
    landing: Sequence[Step], readings: Sequence[Step]
) -> tuple[dict[int, Row], dict[int, Row]]:
    """The rows, and the last values of deleted ones.

    By each key's log in its order: a reading comes before a change at its place.
    """
    log = [((one.at, 1, 0), one) for one in landing]
    log += [((one.at, 0, one.read_at), one) for one in readings]
    rows: dict[int, Row] = {}
    gone: dict[int, Row] = {}
    for _, one in sorted(log, key=lambda pair: pair[0]):
        if one.row is None:
            gone[one.key] = rows.pop(one.key, gone.get(one.key, dict.fromkeys(NAMES)))
        elif one.what == "part":
            known = rows.get(one.key, dict.fromkeys(NAMES))
            rows[one.key] = {**known, "a": one.row["a"], "b": one.row["b"]}
        else:
            rows[one.key] = one.row
    return rows, {key: row for key, row in gone.items() if key not in rows}


def envelope(one: Step, number: int) -> str:
    source = {"connector": "postgresql", "db": "d", "schema": "s", "table": "item", "lsn": one.at}
    source["sequence"] = json.dumps([str(one.at - 1), str(one.at)])
    source["ts_ms"] = 1_790_000_000_000 + one.at
    key, row = {"id": one.key}, {"id": one.key, **(one.row or {})}
    if one.what == "d":
        before: Row = {**dict.fromkeys(NAMES), **key}
        images: dict[str, Row | None] = {"before": before, "after": None}
    else:
        images = {"before": None, "after": row}
    sides = [{**SCHEMA, "field": side, "optional": True} for side in ("before", "after")]
    value = {
        "schema": {"type": "struct", "fields": sides},
        "payload": {"op": one.what, "source": source, **images},
    }
    message = {"key": {"schema": SCHEMA_OF_KEY, "payload": key}, "value": value}
    return json.dumps({"topic": "d.s.item", "partition": 0, "offset": number, **message})


def as_read(one: Step, kind: str) -> SourceRow:
    operations: dict[str, Operation] = {"whole": "read", "part": "update", "gone": "delete"}
    columns = {"id": str(one.key)}
    row: Row = one.row or {}
    if one.what == "part":
        row = {name: row[name] for name in ("a", "b")}
    texts = {name: None if value is None else str(value) for name, value in row.items()}
    return SourceRow(
        table="d.s.item",
        operation=operations[one.what],
        columns={**columns, **texts},
        log_position=position_at((one.at,), one.read_at),
        read_at=1_790_000_000_000_000 + one.at * 1000,
        by="ann",
        reason="a law",
        described=Described(("id",), COLUMNS) if kind == "discovered" else None,
    )


def gold_rows(lake: Lake) -> tuple[dict[int, Row], dict[int, Row]]:
    """The rows, and those that are marked as deleted."""
    live: dict[int, Row] = {}
    marked: dict[int, Row] = {}
    for row in lake.in_process_table(Layer.GOLD, "law", "item").rows():
        found = marked if row.get("_weir_is_deleted") else live
        found[row["id"]] = {name: row[name] for name in NAMES}
    return live, marked


def arrive(
    lake: Lake, file: Path, kind: str, pieces: Sequence[Sequence[Step]], chance: Random
) -> None:
    """Changes land and readings are added to bronze in this order, each in some window, some of them once more."""
    feed, landing = load_feed(file), file.parent.parent / "landing"
    number = offset = 0
    for piece in pieces:
        for steps in (piece, piece if chance.random() < 0.3 else ()):
            number += 1
            changes = [one for one in steps if one.what in "cud"]
            readings = [one for one in steps if one.what not in "cud"]
            day = FIRST + timedelta(days=chance.randrange(5))
            if changes:
                folder = landing / f"{day:%Y-%m-%d}"
                folder.mkdir(parents=True, exist_ok=True)
                lines = [envelope(one, offset + at) for at, one in enumerate(changes)]
                offset += len(lines)
                text = "\n".join(lines) + "\n"
                (folder / f"{number:04}.jsonl").write_text(text)
            if readings:
                now = day + timedelta(seconds=number)
                records = source_rows.as_bronze(feed, [as_read(one, kind) for one in readings], now)
                source_rows.add(lake, feed, records)
        if chance.random() < 0.5:
            run(lake, feed)
    run(lake, feed)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_read_again_stands_at_its_place_however_it_arrives(
    seed: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    chance = Random(f"source repairs {seed} {kind}")
    landing: list[Step] = []
    readings: list[Step] = []
    for key in range(KEYS):
        some, read = history(key, chance)
        landing += some
        readings += read
    (tmp_path / "feeds").mkdir()
    file = tmp_path / "feeds" / "law.yaml"
    said = f"format: debezium\nlanding: {tmp_path / 'landing'}\nwindow: day\n{KINDS[kind]}\n"
    file.write_text(said)
    (tmp_path / "landing").mkdir()
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    every = [*landing, *readings]
    chance.shuffle(every)
    cuts = sorted(chance.sample(range(1, len(every)), 4))
    pieces = [every[low:high] for low, high in zip([0, *cuts], [*cuts, None], strict=True)]
    arrive(lake, file, kind, pieces, chance)
    rows, gone = expected(landing, readings)
    assert gold_rows(lake) == (rows, gone if kind == "marked" else {})
