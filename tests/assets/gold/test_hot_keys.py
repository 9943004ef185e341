"""A key with very many changes is folded as they come: memory does not grow with them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.executors.choice import AUTO
from assets.gold.silver_by_spark import SilverBySpark
from assets.storage.lake import Lake
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.change import Change
from transforms.feed.feed import Feed, Table
from transforms.gold.fold_rows import CHANGE, FOLD_ROWS
from transforms.gold.key_groups import FoldInput
from transforms.gold.stages import FromHistory, OntoGold

COUNTS = Table("counts", ("id",), {"id": "int", "hits": "bigint"}, ("id", "hits"))
BATCHES, ROWS = 40, 500


def batches(alive: Callable[[], None]) -> Iterator[pa.RecordBatch]:
    """Additions to one counter, in the order of their positions."""
    for batch in range(BATCHES):
        alive()
        rows = []
        for number in range(batch * ROWS, (batch + 1) * ROWS):
            said = {
                "group": ["1"],
                "key": ["1"],
                "what": CHANGE,
                "is_new": True,
                "effect": "update",
            }
            place = {"log_position": [number], "dedup_prefix": 1, "event_id": f"e{number}"}
            images = {"before": [], "after": [("hits", "1")], "attribute_ops": [("hits", "Add")]}
            none = {"moved_from": [], "reset": [], "streams": [], "copies": 0}
            plain = {"is_range_delete": False, "is_derived": False}
            rows.append({**said, **place, **images, **none, **plain})
        yield pa.RecordBatch.from_pylist(rows, schema=FOLD_ROWS)


@pytest.mark.parametrize("stage", [OntoGold, FromHistory])
def test_no_more_changes_of_a_hot_key_are_held_than_a_batch_has(
    stage: type[OntoGold] | type[FromHistory],
) -> None:
    held: list[int] = []

    def alive() -> None:
        held.append(sum(isinstance(one, Change) for one in gc.get_objects()))

    given = FoldInput(COUNTS, depends=True, full_rebuild=stage is FromHistory)
    rows = [row for batch in stage(given)(batches(alive)) for row in batch.to_pylist()]
    assert [row["hits"] for row in rows if row["hits"] is not None] == [BATCHES * ROWS]
    assert len(held) == BATCHES
    assert max(held) < 3 * ROWS


def test_a_table_with_more_changes_than_memory_may_hold_is_sparks_work(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    some = [change("I", at, after={"id": "1", "name": f"Ada {at}"}) for at in range(4)]
    lay(folder, "2025-11-20/03/a.json", drop(*some))
    by_spark: list[str] = []
    read = SilverBySpark.read

    def reads(*given: Any) -> SilverBySpark:
        by_spark.append("pets")
        return read(*given)

    monkeypatch.setattr(SilverBySpark, "read", reads)
    # A change weighs 64 bytes.
    small = lake.by(AUTO, memory=200)
    bring(small, feed)
    assert names(lake, feed) == {1: "Ada 3"}
    assert by_spark == ["pets"]
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 9, {"id": "1"}, {"name": "Eve"})))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Eve"}
    assert by_spark == ["pets"]
