"""Neither a record with thousands of quarantined events nor a file that repeats one record fills the memory."""

from __future__ import annotations

from assets.silver.plan import BronzeFiles
from assets.storage.lake import Lake
from tests.support import made_bronze
from tests.support.pet_feed import PETS
from transforms.column_types.record_batches import BATCH_BYTES
from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.silver.conform import conformer
from transforms.silver.frames import Shards, row_batches, unpacked

FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})
MEGABYTE = b"x" * (1 << 20)


def test_rows_that_carry_their_record_are_cut_by_bytes() -> None:
    record = BronzeRecord("2025-11-20T03", "a.json", "g", 1, 0, None, MEGABYTE, None, 0)
    wrong = [
        Event(
            operation=None,
            effect="replace",
            name="pets",
            fault=Fault("malformed_json", str(number)),
        )
        for number in range(50)
    ]
    rows = conformer(FEED, describes_tables=False)(record, wrong)
    assert all(row.payload is MEGABYTE for row in rows)
    batches = list(row_batches(rows, Shards()))
    assert len(batches) == 50 * len(MEGABYTE) // BATCH_BYTES + 1
    assert max(batch.nbytes for batch in batches) < BATCH_BYTES + 2 * len(MEGABYTE)
    again = [row for batch in batches for row in unpacked(batch)]
    assert [row.fault for row in again] == [row.fault for row in rows]


def test_what_records_take_is_known_from_files_that_are_much_smaller(lake: Lake) -> None:
    made_bronze.append(lake, FEED, ("2025-11-20T03", "a", "g", 4_000))
    made_bronze.append(lake, FEED, ("2025-11-20T03", "b", "g", 3), ("2025-11-20T04", "c", "g", 5))
    found = BronzeFiles.of(lake, FEED, ["2025-11-20T03"])
    assert found.records() == {"2025-11-20T03": 4_003}
    assert found.payload_bytes() == 4_003 * len(b"{}")
    assert BronzeFiles.of(lake, FEED, []).payload_bytes() == 0
