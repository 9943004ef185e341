"""A law of repairing: a record that was damaged and then repaired to what it was makes gold what it would have been."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest

from assets.control.decisions import Signature
from assets.executors.choice import IN_PROCESS
from assets.maintenance import repair as repairing
from assets.maintenance.repair import Repaired
from assets.quarantine.records import quarantine_of
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format, model_histories
from tests.laws.model_worlds import SEED, WINDOWS, Outcome, assert_same, text, world
from tests.laws.oracle.oracle import Key
from tests.support.pet_feed import bring
from transforms.event import Event, Pending
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.source_format import Decode, SourceFormat

HISTORIES = max(2, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 1000)
DAMAGED = b"damaged: "


def decoder(feed: Feed, surveyed: object) -> Decode:
    """The model format's, which has no word for a record that is damaged."""
    whole = model_format.decoder(feed, surveyed)

    def decode(record: BronzeRecord) -> Iterable[Event | Pending]:
        if not (record.payload or b"").startswith(DAMAGED):
            return whole(record)
        fault = Fault("damaged_record", "somebody wrote over it")
        return [Event(operation=None, effect="replace", name=None, fault=fault)]

    return decode


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    damageable = replace(model_format.FORMAT, decoder=decoder)
    monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), "model", damageable)
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))


def damage(landing: Path, damaged: Path, chance: Random) -> dict[str, bytes]:
    """Copy a landing, with one record of every history written over; what these were."""
    lines = {
        (file.relative_to(landing), number): line
        for file in sorted(landing.rglob("*.jsonl"))
        for number, line in enumerate(file.read_bytes().splitlines())
    }
    of_case: dict[str, list[tuple[Path, int]]] = {}
    for source_location, line in lines.items():
        record = json.loads(line)
        values = {**record["before"], **record["after"], **(record["scope"] or {})}
        of_case.setdefault(str(values.get("case_id", record["stream"])), []).append(source_location)
    chosen = {chance.choice(source_locations) for source_locations in of_case.values()}
    originals: dict[str, bytes] = {}
    texts: dict[Path, bytes] = {}
    for source_location, line in lines.items():
        path, number = source_location
        written = line
        if source_location in chosen:
            written = DAMAGED + f"{path}:{number}".encode()
            originals[written.decode()] = line
        texts[path] = texts.get(path, b"") + written + b"\n"
    for path, content in texts.items():
        (damaged / path).parent.mkdir(parents=True, exist_ok=True)
        (damaged / path).write_bytes(content)
    return originals


def repair(
    lake: Lake, feed: Feed, originals: Mapping[str, bytes], chance: Random, some: float
) -> int:
    """Give what they were to a part of the records that are open; how many these are."""
    waiting = [one for one in quarantine_of(lake, feed).open if chance.random() < some]
    rows = repairing.bronze_rows(lake, feed, waiting)
    wanted = [
        Repaired(one, originals[cast("bytes", rows[one.source_location]["payload"]).decode()])
        for one in waiting
    ]
    signed = Signature(datetime.now(UTC), "ann", "as it was")
    return len(repairing.repair_records(lake, feed, wanted, signed))


def gold(lake: Lake, feed: Feed, name: str) -> Outcome:
    """Rows and tombstones by key; of tombstones those of keys that are gone, as ``model_worlds.found`` has them."""
    table = feed.tables[name]
    stored, stones = (
        lake.in_process_table(Layer.GOLD, feed.name, one).table for one in (name, name + TOMBSTONES)
    )
    marks = ("_weir_log_position", "_weir_event_id", "_weir_event_at")
    rows: dict[Key, tuple[object, ...]] = {}
    copies: Counter[Key] = Counter()
    for row in values_of(stored, (*table.columns, *marks)):
        key = tuple(text(row[one]) for one in table.identity)
        copies[key] += 1
        rows[key] = tuple(row.values())
    assert not table.key or max(copies.values(), default=1) == 1, "two rows of one key"
    gone: dict[Key, tuple[object, ...]] = {}
    for row in values_of(stones, (*(table.key or ("_weir_key",)), *marks[:2])):
        key = (
            tuple(text(row[one]) for one in table.key)
            if table.key
            else tuple(json.loads(row["_weir_key"]))
        )
        stone = row[marks[0]], row[marks[1]]
        if key not in rows and (key not in gone or gone[key] < stone):
            gone[key] = stone
    return {key: (copies[key], *row) for key, row in rows.items()}, gone


def values_of(table: Any, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    rows: pa.Table = table.to_pyarrow_table(columns=[*columns])
    return cast("list[dict[str, Any]]", rows.to_pylist())


@pytest.mark.parametrize("kind", model_histories.KINDS)
def test_a_record_that_is_repaired_to_what_it_was_leaves_no_trace_in_gold(
    tmp_path: Path, kind: str
) -> None:
    chance = Random(f"repaired {kind} {SEED}")
    whole = world(kind, tmp_path / "whole", HISTORIES).feed
    originals = damage(tmp_path / "whole", tmp_path / "damaged", chance)
    damaged = replace(whole, landing=str(tmp_path / "damaged"))
    expected, lake = lake_of(str(tmp_path / "expected")), lake_of(str(tmp_path / "repaired"))
    bring(expected, whole, WINDOWS)

    order = chance.sample(WINDOWS, len(WINDOWS))
    bring(lake, damaged, order[:2])
    first = repair(lake, damaged, originals, chance, 0.5)
    # Other windows may come to gold before those of the repaired records are run again.
    bring(lake, damaged, order[2:])
    waited = planning.due(lake, damaged).windows
    assert bool(waited) == bool(first)
    bring(lake, damaged, waited)
    states = [one.state for one in quarantine_of(lake, damaged).records]
    assert sorted(states) == ["open"] * (len(originals) - first) + ["repaired"] * first
    second = repair(lake, damaged, originals, chance, 1)
    assert first + second == len(originals)
    made = bring(lake, damaged)[1]
    assert (made.violations["nothing_quarantined"], made.violations["accounting_is_exact"]) == (
        0,
        0,
    )
    assert planning.due(lake, damaged).windows == []
    for name in whole.tables:
        assert_same(gold(lake, damaged, name), gold(expected, whole, name), name)
