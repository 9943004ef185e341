"""What an epoch would do to gold, said before it is opened."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.audit.epoch_effects import effects_of
from assets.executors.choice import IN_PROCESS, SPARK
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.decisions import Epoch
from transforms.feed.feed import Feed

WINDOWS = ["2025-11-20T03", "2025-11-20T04", "2025-11-20T05"]


def lines(tmp_path: Path, epoch: Epoch, executor: str = IN_PROCESS) -> list[str]:
    landing = tmp_path / "landing"
    brought = {
        "03": [change("I", at, after={"id": str(at), "name": "a"}) for at in (1, 2, 3)],
        "04": [change("I", 10, after={"id": "4", "name": "b"})],
        "05": [
            change("U", 20, {"id": "1", "name": "a"}, {"id": "1", "name": "c"}),
            change("D", 21, {"id": "4", "name": "b"}),
        ],
    }
    for hour, records in brought.items():
        lay(landing, f"pets/2025-11-20/{hour}/a.json", drop(*records))
    feed = Feed("zoo", "arcion_s3_json", str(landing), tables={"pets": PETS})
    lake = lake_of(str(tmp_path / "warehouse"))
    bring(lake.by(IN_PROCESS), feed, WINDOWS)
    found = effects_of(lake.by(executor), feed, epoch)
    return [one.in_words("zoo", epoch) for one in found]


def test_it_says_how_many_changes_begin_the_epoch(tmp_path: Path) -> None:
    assert lines(tmp_path, Epoch("2025-11-20T04")) == [
        "gold.zoo.pets has 3 rows; 3 changes of 2025-11-20T04 .. 2025-11-20T05 stand behind all older ones"
    ]


def test_of_a_complete_snapshot_it_names_the_rows_that_would_go(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, Epoch("2025-11-20T05", complete=True))
    assert line.endswith(", and 2 rows that they do not name (key 2; 3) would go")


def test_only_changes_of_the_epochs_time_are_of_it(tmp_path: Path) -> None:
    late = datetime.fromtimestamp(1_763_600_000 + 60 * 21, UTC)
    (line,) = lines(tmp_path, Epoch("2025-11-20T05", time=late, complete=True))
    assert line.endswith(", and 3 rows that they do not name (key 1; 2; 3) would go")


@pytest.mark.parametrize(
    ("epoch", "said"),
    [
        (Epoch("2025-11-20T09"), ["has 3 rows; no change has landed yet from 2025-11-20T09 on"]),
        (Epoch("2025-11-20T03", table="others"), []),
    ],
)
def test_where_there_is_little_to_say(tmp_path: Path, epoch: Epoch, said: list[str]) -> None:
    assert lines(tmp_path, epoch) == [f"gold.zoo.pets {one}" for one in said]


def test_what_is_too_much_to_look_at_is_not_counted(tmp_path: Path) -> None:
    epoch = replace(Epoch("2025-11-20T05"), complete=True)
    (line,) = lines(tmp_path, epoch, SPARK)
    assert line.endswith(" stand behind all older ones, and rows that they do not name would go")
