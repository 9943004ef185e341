"""Rows that a truncate has left, because only other tablets than theirs have sent it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from assets.gold.checks import samples_of, violations_of
from expectations.gold import TRUNCATES_REACH_EVERY_ROW
from orchestration.resources import lake_of
from tests.support.pet_feed import applied, lay
from transforms.feed.feed import Feed, Table

PETS = Table("pets", ("id",), {"id": "int"}, ())
SECOND = 1_000_000 << 12
"""A second of a hybrid time."""


def response(index: int, op: int, pet: int | None) -> str:
    """One row message, made as many seconds after a moment as its index says: an insert (0) or a truncate (6)."""
    new = [] if pet is None else [{"column_name": "id", "Datum": {"DatumInt32": pet}}]
    at = {"term": 1, "index": index, "write_id": 0}
    message = {"op": op, "commit_time": 1_683_814_539 * SECOND + index * SECOND, "table": "pets"}
    records = [{"row_message": {**message, "new_tuple": new}, "cdc_sdk_op_id": at}]
    return json.dumps({"cdc_sdk_proto_records": records, "cdc_sdk_checkpoint": at})


Tablets = dict[str, list[tuple[int, int, int | None]]]

BEFORE: Tablets = {"parent": [(1, 0, 1)], "other": [(2, 0, 2)]}


@pytest.mark.parametrize("in_one_run", [True, False])
@pytest.mark.parametrize(
    ("later", "left"),
    [
        # A child of a split: the parent has the row, and sends nothing more.
        ({"child": [(20, 6, None)], "other": [(20, 6, None)]}, ["1"]),
        ({"child": [(20, 6, None), (21, 0, 3)]}, ["1", "2"]),
        # All tablets send it, and rows come anew.
        ({"parent": [(20, 6, None), (22, 0, 1)], "other": [(21, 6, None), (22, 0, 2)]}, []),
        # A tablet of which nothing was there when it was sent.
        ({"parent": [(20, 6, None)], "other": [(20, 6, None)], "child": [(30, 0, 3)]}, []),
    ],
)
def test_rows_of_other_tablets_that_are_older_than_a_truncate_are_told(
    tmp_path: Path,
    later: Tablets,
    left: list[str],
    *,
    in_one_run: bool,
) -> None:
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    feed = Feed("zoo", "yugabyte", str(tmp_path / "landing"), tables={"pets": PETS})
    windows = ["2025-11-20T01", "2025-11-20T02"]
    for hour, tablets in enumerate((BEFORE, later), 1):
        for tablet, messages in tablets.items():
            lines = "".join(response(*one) + "\n" for one in messages)
            lay(
                tmp_path / "landing",
                f"2025-11-20/{hour:02}/tablet={tablet}/a.jsonl",
                lines.encode(),
            )
    if not in_one_run:
        applied(lake, feed, windows[:1])
    done = applied(lake, feed, windows if in_one_run else windows[1:])
    rule = TRUNCATES_REACH_EVERY_ROW.name
    assert violations_of(done)[rule] == len(left)
    assert all(f"key {key}" in samples_of(done)[rule] for key in left)
