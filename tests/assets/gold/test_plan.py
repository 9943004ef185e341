"""What is known of a feed is read once, before the work on its gold tables begins, and not again for each of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS
from assets.gold import apply
from assets.gold.plan import FeedPlan
from assets.silver import derive
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

COLUMNS = {**PETS.columns, "kind": "string"}
ANIMALS = replace(PETS, columns=COLUMNS, cdc_columns=tuple(COLUMNS))
OWNERS = replace(ANIMALS, name="owners")
LATER, EARLIER = "2025-11-20T04", "2025-11-20T03"


class Reads:
    """How often each control table was read, before the plan of the feed was made and afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.while_planning: Counter[str] = Counter()
        self.afterwards: Counter[str] = Counter()
        self.is_planned = False
        read, planned = InProcessTable.read, FeedPlan.read

        def counted(table: InProcessTable, *arguments: Any) -> Any:
            if table.columns is not None:
                # One whose columns are Weir's own.
                (self.afterwards if self.is_planned else self.while_planning)[table.name] += 1
            return read(table, *arguments)

        def planning(*arguments: Any) -> FeedPlan:
            found = planned(*arguments)
            self.is_planned = True
            return found

        monkeypatch.setattr(InProcessTable, "read", counted)
        monkeypatch.setattr(FeedPlan, "read", planning)


def land(lake: Lake, feed: Feed, window: str) -> None:
    from_objects.land(lake, feed, [window])
    derive.derive(lake, feed, [window])


def test_the_control_tables_are_read_once_for_all_gold_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, folder = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS), tmp_path / "landing"
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": ANIMALS, "owners": OWNERS})
    for window, at, image in (
        (LATER, 9, {"id": "1", "name": "Bo"}),
        (EARLIER, 5, {"id": "1", "kind": "cat"}),
    ):
        of_both = [change("U", at, image, image, table=name) for name in ("pets", "owners")]
        lay(folder, f"{window.replace('T', '/')}/a.json", drop(*of_both))

    land(lake, feed, LATER)
    apply.apply_tables(lake, feed, [ANIMALS, OWNERS], [LATER])
    # What comes late asks for history, and so for more of silver than the window.
    land(lake, feed, EARLIER)
    with monkeypatch.context() as patch:
        reads = Reads(patch)
        results = apply.apply_tables(lake, feed, [ANIMALS, OWNERS], [EARLIER])
    assert [result.done.metrics.keys_with_late_events for result in results] == [1, 1]
    assert reads.afterwards == {}
    assert set(reads.while_planning.values()) == {1}
    assert "accounting.zoo" in reads.while_planning
    columns = pa.schema([("name", pa.string()), ("kind", pa.string())])
    for table in ("pets", "owners"):
        rows = lake.in_process_table(Layer.GOLD, "zoo", table).read(columns)
        assert rows.to_pylist() == [{"name": "Bo", "kind": "cat"}]
