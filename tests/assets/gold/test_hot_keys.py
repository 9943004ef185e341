"""A key with very many changes is folded as they come: memory does not grow with them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.arrow.gold import fold_row_columns
from assets.arrow.gold.fold_row_columns import CHANGE
from assets.arrow.gold.gold_fold import OntoGold
from assets.arrow.gold.history_fold import FromHistory
from assets.arrow.gold.key_groups import Folding
from assets.arrow.typed_values import arrow_type
from assets.gold.changes import silver_parts
from assets.gold.fold import spark_fold
from assets.lake import Lake
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change

COUNTS = Table("counts", ("id",), {"id": "int", "hits": "bigint"}, ("id", "hits"))
FEED = Feed("zoo", "model", "/landing", tables={"counts": COUNTS})
BATCHES, ROWS = 40, 500


def batches(alive: Callable[[], None]) -> Iterator[pa.RecordBatch]:
    """Additions to one counter, in the order of their positions."""
    kinds = {name: arrow_type(kind) for name, kind in fold_row_columns.COLUMNS.items()}
    for batch in range(BATCHES):
        alive()
        rows = []
        for number in range(batch * ROWS, (batch + 1) * ROWS):
            said = {"group": ["1"], "key": ["1"], "what": CHANGE, "is_new": True, "effect": "merge"}
            place = {"position": [number], "stable_prefix": 1, "event_id": f"e{number}"}
            images = {"before": [], "after": [("hits", "1")], "attribute_ops": [("hits", "Add")]}
            none = {"moved_from": [], "reset": [], "streams": [], "copies": 0}
            plain = {"is_scoped": False, "is_derived": False}
            rows.append({**said, **place, **images, **none, **plain})
        yield pa.RecordBatch.from_pylist(rows, schema=pa.schema([*kinds.items()]))


@pytest.mark.parametrize("stage", [OntoGold, FromHistory])
def test_no_more_changes_of_a_hot_key_are_held_than_a_batch_has(
    stage: type[OntoGold] | type[FromHistory],
) -> None:
    held: list[int] = []

    def alive() -> None:
        held.append(sum(isinstance(one, Change) for one in gc.get_objects()))

    folding = Folding(FEED, COUNTS, depends=True, full_rebuild=stage is FromHistory)
    rows = [row for batch in stage(folding)(batches(alive)) for row in batch.to_pylist()]
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
    fold = spark_fold.folded

    def folded(*given: Any) -> spark_fold.Folded:
        by_spark.append("pets")
        return fold(*given)

    monkeypatch.setattr(spark_fold, "folded", folded)
    monkeypatch.setattr(silver_parts, "MOST_ROWS", 3)
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ada 3"}
    assert by_spark == ["pets"]
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 9, {"id": "1"}, {"name": "Eve"})))
    bring(lake, feed)
    assert names(lake, feed) == {1: "Eve"}
    assert by_spark == ["pets"]
