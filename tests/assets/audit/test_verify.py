"""The proof of gold on real tables: it holds for what Weir made, and names what somebody else changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from delta.tables import DeltaTable

from assets.audit import verify
from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.cli import verify as cli_verify
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window


@pytest.fixture
def feed(lake: Lake, folder: Path) -> Feed:
    """Three pets over two windows: one came twice, one was renamed before it was born, one is gone."""
    born = [
        change("I", n, after={"id": str(n), "name": name})
        for n, name in ((1, "Ada"), (2, "Bo"), (3, "Cleo"))
    ]
    renamed = change("U", 9, {"id": "3"}, {"name": "Cleopatra"})
    gone = change("D", 8, {"id": "2", "name": "Bo"})
    lay(folder, "2025-11-20/03/a.json", drop(born[0], renamed, gone))
    lay(folder, "2025-11-20/04/b.json", drop(born[0], *born, '{"cut": '))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    return feed


@pytest.mark.parametrize("by_spark", [False, True], ids=["here", "by Spark"])
def test_gold_is_proved_and_a_row_that_somebody_changed_is_named(
    lake: Lake,
    feed: Feed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    by_spark: bool,
) -> None:
    if by_spark:
        lake = lake.by(SPARK)
        monkeypatch.setattr(verify, "compared_in_process", None)
    else:
        monkeypatch.setattr(verify, "compared_by_spark", None)
    assert cli_verify.not_yet(lake, feed) is None
    assert cli_verify.prove(lake, lake_of(str(tmp_path / "one")), feed, seed=1) == 0
    said = capsys.readouterr().out
    assert "proved   gold.zoo.pets: 2 rows and 1 tombstone, the same row for row" in said

    gold = DeltaTable.forPath(lake.spark, lake.table(Layer.GOLD, "zoo", "pets").path)
    gold.update("id = 3", {"name": "'Cleo'"})
    gold.delete("id = 1")
    assert cli_verify.prove(lake, lake_of(str(tmp_path / "two")), feed, seed=2) == 1
    said = capsys.readouterr().out
    assert "DIFFERS  gold.zoo.pets: 2 keys" in said
    assert '{"id":1}: gold has no row, and its events make one' in said
    assert '{"id":3}: gold has another row than its events make' in said


def test_what_is_not_in_gold_yet_is_not_proved(lake: Lake, feed: Feed, folder: Path) -> None:
    lay(folder, "2025-11-20/05/c.json", drop(change("I", 10, after={"id": "4", "name": "Dan"})))
    from_objects.land(lake, feed, ["2025-11-20T05"])
    assert (
        cli_verify.not_yet(lake, feed)
        == "1 window not in gold yet (2025-11-20T05); `weir run` first"
    )


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
def test_records_of_days_are_dealt_into_days(
    lake: Lake, folder: Path, tmp_path: Path, executor: str
) -> None:
    born = [change("I", n, after={"id": str(n), "name": "Ada"}) for n in range(1, 9)]
    lay(folder, "2025-11-20/a.json", drop(*born))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, window="day")
    from_objects.land(lake, feed, ["2025-11-20"])
    shuffled = verify.shuffle(lake.by(executor), lake_of(str(tmp_path / "proof")), feed, seed=1)
    assert shuffled.records == 8
    made = lake_of(str(tmp_path / "proof")).table(Layer.BRONZE, feed.name)
    assert made.count() == 8 + shuffled.repeated
    windows = [window for run in shuffled.runs for window in run]
    assert len(windows) > 1
    for window in windows:
        parse_window(window, feed.window)
