"""What is counted over all of quarantine: events by reason, and the records that wait for somebody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.columns.silver import QUARANTINE_ARROW
from assets.quarantine.records import Totals, quarantine_of, totals_of
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS
from transforms.feed.decisions import Decisions, Dismissal
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T03"
FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


def refused(line: int, reason: str = "missing_key", **more: Any) -> dict[str, Any]:
    """A row of quarantine: the record in this line."""
    source_location = {
        "object": "a.json",
        "generation": "1",
        "line": line,
        "byte_offset": 10 * line,
    }
    return {"window": WINDOW, **source_location, "reason": reason, "detail": "x"} | more


def write(lake: Lake, *rows: dict[str, Any]) -> None:
    """One more file of the window."""
    found = pa.Table.from_pylist(
        [*rows], pa.schema([one.with_nullable(True) for one in QUARANTINE_ARROW])
    )
    lake.in_process_table(Layer.QUARANTINE, "zoo").append(found, ["window"])


def test_nothing_is_counted_where_there_is_no_quarantine(lake: Lake) -> None:
    assert totals_of(lake, FEED) == Totals({}, 0, 0)


def test_a_record_with_many_events_waits_once(lake: Lake) -> None:
    write(lake, refused(1), refused(1, table="pets"), refused(2), refused(2, object="b.json"))
    write(lake, refused(1, "unknown_type"), refused(3, "unknown_type"))
    assert totals_of(lake, FEED) == Totals({"missing_key": 4, "unknown_type": 2}, 0, 4)
    assert len(quarantine_of(lake, FEED).open) == 4


def test_what_came_too_late_or_was_dismissed_waits_for_nobody(lake: Lake) -> None:
    write(lake, refused(1), refused(1), refused(2), refused(3, "too_late"), refused(2, "too_late"))
    given_up = Dismissal(WINDOW, "a.json", "1", ((1, 10), (7, 70)))
    feed = replace(FEED, decisions=Decisions(dismissals=(given_up,)))
    assert totals_of(lake, feed) == Totals({"missing_key": 3, "too_late": 2}, 2, 1)
    assert totals_of(lake, FEED) == Totals({"missing_key": 3, "too_late": 2}, 0, 2)
    # Another generation of the object has other records.
    other = replace(feed, decisions=Decisions(dismissals=(replace(given_up, generation="2"),)))
    assert totals_of(lake, other).open_records == 2
