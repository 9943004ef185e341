"""The rows between silver's stages: their columns, the tasks that get them, and batches that fit into the memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from assets.bronze import from_objects
from assets.columns import layers
from assets.executors.choice import SPARK
from assets.silver import derive
from assets.silver.plan import BronzeFiles
from assets.storage.lake import Lake, Layer
from tests.support import made_bronze
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.silver.conform import Conformer
from transforms.silver.frames import OUTPUT, SHARDS, Shards, row_batches, unpacked
from transforms.silver.record_batches import BATCH_BYTES

FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})
HOURS = [f"2025-11-20T{hour:02}" for hour in range(24)]
TASKS = 10


def test_classified_rows_have_every_column_of_silver_and_of_quarantine() -> None:
    # Times are microseconds since 1970 there, and two columns are made as the rows are written.
    of_tables = {
        one.name: pa.int64() if pa.types.is_timestamp(one.type) else one.type
        for one in (*layers.Silver.schema, *layers.Quarantine.schema)
        if one.name not in ("feed", layers.KEY_TEXT)
    }
    of_stages = {one.name: one.type for one in OUTPUT}
    for_accounts = {"kind", "kept_as", "facts", "segment", "is_first"}
    assert of_stages.keys() - of_tables.keys() == for_accounts
    assert {name: of_stages[name] for name in of_tables} == of_tables


@pytest.mark.parametrize(
    "records",
    [
        dict.fromkeys(HOURS, 1_000),
        {window: 100 * (at + 1) for at, window in enumerate(HOURS)},
        {HOURS[0]: 20_000, HOURS[1]: 3, HOURS[2]: 0, HOURS[3]: 4_000},
        {HOURS[0]: 10_000},
    ],
    ids=["even", "growing", "one large", "one"],
)
def test_each_task_gets_its_share_and_few_windows(records: dict[str, int]) -> None:
    shards = Shards.of(records)
    found = {}
    for window, count in records.items():
        rows = [shards.shard(window, f"{window} {number}".encode()) for number in range(count)]
        assert all(0 <= one < SHARDS for one in rows)
        found[window] = Counter(one * TASKS // SHARDS for one in rows)
    total = sum(found.values(), Counter[int]())
    assert max(total.values()) < 1.2 * sum(records.values()) / TASKS
    # Side by side, windows meet in a task at most once for each border between two of them.
    assert sum(len(tasks) for tasks in found.values()) <= TASKS + len(records) - 1


def test_a_window_that_nobody_counted_is_in_any_shard() -> None:
    shards = Shards.of({HOURS[0]: 1, HOURS[1]: 1})
    others = [shards.shard("2025-11-21T00", str(number).encode()) for number in range(100)]
    assert min(others) < SHARDS // 4 < 3 * SHARDS // 4 < max(others)
    for records in ({}, {HOURS[0]: 0}):
        assert 0 <= Shards.of(records).shard(HOURS[0], b"a") < SHARDS


def test_many_windows_at_once_are_few_files(lake: Lake, folder: Path) -> None:
    windows, feed = HOURS[:6], replace(FEED, landing=str(folder))
    for at, window in enumerate(windows):
        pets = [
            change("I", 1_000 * at + n, after={"id": str(n), "name": "Ada"}) for n in range(1_000)
        ]
        lay(folder, f"{window.replace('T', '/')}/a.json", drop(*pets))
    from_objects.land(lake, feed, windows)
    derive.derive(lake.by(SPARK), feed, windows)
    table = lake.in_process_table(Layer.SILVER, feed.name)
    assert table.count() == 6_000
    assert table.windows == {*windows}
    # Two tasks: six windows and one border.
    assert len(table.files()) <= 7


def test_rows_that_carry_their_record_are_cut_by_bytes() -> None:
    megabyte = b"x" * (1 << 20)
    record = BronzeRecord("2025-11-20T03", "a.json", "g", 1, 0, None, megabyte, None, 0)
    wrong = [
        Event(operation=None, effect="replace", name="pets", fault=Fault("malformed_json", str(at)))
        for at in range(50)
    ]
    rows = Conformer(FEED, describes_tables=False)(record, wrong)
    assert all(row.payload is megabyte for row in rows)
    batches = list(row_batches(rows, Shards()))
    assert len(batches) == 50 * len(megabyte) // BATCH_BYTES + 1
    assert max(batch.nbytes for batch in batches) < BATCH_BYTES + 2 * len(megabyte)
    again = [row for batch in batches for row in unpacked(batch)]
    assert [row.fault for row in again] == [row.fault for row in rows]


def test_what_records_take_is_known_from_files_that_are_much_smaller(lake: Lake) -> None:
    made_bronze.append(lake, FEED, ("2025-11-20T03", "a", "g", 4_000))
    made_bronze.append(lake, FEED, ("2025-11-20T03", "b", "g", 3), ("2025-11-20T04", "c", "g", 5))
    found = BronzeFiles.of(lake, FEED, ["2025-11-20T03"])
    assert found.records() == {"2025-11-20T03": 4_003}
    assert found.payload_bytes() == 4_003 * len(b"{}")
    assert BronzeFiles.of(lake, FEED, []).payload_bytes() == 0
