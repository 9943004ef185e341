"""Gold and its checks after crashes, repeats and what should not happen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold import apply
from assets.maintenance import compaction
from assets.silver import derive
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from assets.storage.spark_table import SparkTable
from orchestration.runs import planning
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import to_record
from tests.laws.oracle.event import Event, Image
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed


@pytest.mark.parametrize("executor", [SPARK, IN_PROCESS])
def test_a_run_that_ends_between_tombstones_and_gold_is_finished_by_the_next(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    lake = lake.by(executor)
    inserts = [
        change("I", n, after={"id": str(n), "name": name}) for n, name in ((1, "Ada"), (2, "Bo"))
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*inserts))
    moved = change("U", 5, {"id": "2", "name": "Bo"}, {"id": "3", "name": "Bo"})
    lay(folder, "2025-11-20/04/b.json", drop(change("D", 4, {"id": "1", "name": "Ada"}), moved))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])

    commits: tuple[tuple[type, str], ...] = (
        (SparkTable, "replace_rows"),
        (InProcessTable, "put_rows"),
    )
    with monkeypatch.context() as patch:
        for kind, method in commits:
            patch.setattr(kind, method, dying_at("/pets", getattr(kind, method)))
        with pytest.raises(KeyboardInterrupt):
            bring(lake, feed, ["2025-11-20T04"])
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}
    bring(lake, feed)
    assert names(lake, feed) == {3: "Bo"}


def dying_at(path: str, commit: Callable[..., object]) -> Callable[..., object]:
    """The commit, but of the table at this path, where the run ends."""

    def dying(table: Any, *args: Any, **kwargs: Any) -> object:
        if table.path.endswith(path):
            raise KeyboardInterrupt("killed before gold was written")
        return commit(table, *args, **kwargs)

    return dying


def test_a_window_without_bad_records_is_right_after_one_that_had_them(
    lake: Lake, folder: Path
) -> None:
    good = change("I", 1, after={"id": "1", "name": "Ada"})
    lay(folder, "2025-11-20/03/a.json", drop(good, '{"cut": ', "[1]"))
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 2, after={"id": "2", "name": "Bo"})))
    lay(folder, "2025-11-20/05/c.json", b"")
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    for window in ("2025-11-20T03", "2025-11-20T04", "2025-11-20T05", "2025-11-20T04"):
        _, made = bring(lake, feed, [window])
        assert made.violations["accounting_is_exact"] == 0
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}


def test_a_log_that_starts_again_while_time_goes_on_is_seen_across_windows(
    lake: Lake, folder: Path
) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=1)),
    )
    lay(
        folder,
        "2025-11-20/04/b.json",
        drop(change("I", 4, after={"id": "2", "name": "Bo"}, log=1, minute=9)),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    assert (
        bring(lake, feed, ["2025-11-20T03"])[1].violations["position_rises_with_source_time"] == 0
    )
    assert (
        bring(lake, feed, ["2025-11-20T04"])[1].violations["position_rises_with_source_time"] == 1
    )


def test_a_repeat_that_is_read_later_does_not_hide_that_the_log_was_reset(
    lake: Lake, folder: Path
) -> None:
    born = change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=9)
    again = change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=9, read_minute=30)
    first = change("I", 950, after={"id": "2", "name": "Bo"}, log=1, minute=20)
    lay(folder, "2025-11-20/03/a.json", drop(born, first, again))
    lay(folder, "2025-11-20/04/b.json", drop(again))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T04"])
    made = bring(lake, feed, ["2025-11-20T03"])[1]
    assert made.violations["position_rises_with_source_time"] == 1


def test_a_change_that_began_before_its_log_file_did_is_no_fall(lake: Lake, folder: Path) -> None:
    # MySQL writes a statement's start: one that ends after the rotation is a little older than the file before.
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 900, after={"id": "1"}, log=7, minute=2)))
    late = change("I", 4, after={"id": "2"}, log=8, minute=1, read_minute=3)
    lay(folder, "2025-11-20/04/b.json", drop(late))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])
    made = bring(lake, feed, ["2025-11-20T04"])[1]
    assert made.violations["position_rises_with_source_time"] == 0


def test_a_foreign_second_row_of_a_key_is_counted(lake: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "Ada"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    gold.append(gold.read())
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 2, {"id": "1"}, {"name": "Ava"})))
    from_objects.land(lake, feed, ["2025-11-20T04"])
    derive.derive(lake, feed, ["2025-11-20T04"])
    assert apply.apply(lake, feed, PETS, ["2025-11-20T04"]).metrics.foreign_copies == 1


def test_changes_whose_kind_the_books_do_not_tell_yet_are_folded_by_it(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    counted = replace(PETS, columns={"id": "int", "visits": "int"}, cdc_columns=("id", "visits"))
    feed = Feed("zoo", "model", str(folder), tables={"pets": counted})

    def event(at: int, visits: str, operations: dict[str, str]) -> bytes:
        after: Image = {"id": "1", "visits": visits}
        made = Event("model", "pets", "upsert", (0, 1, at), None, {}, after, "update", operations)
        return (json.dumps(to_record(made)) + "\n").encode()

    lay(folder, "2025-11-20/04/a.jsonl", event(1, "5", {}))
    bring(lake, feed)
    # A run dies when silver already has an addition, and before the accounting says that there are additions.
    lay(folder, "2025-11-20/05/b.jsonl", event(2, "3", {"visits": "Add"}))
    from_objects.land(lake, feed, ["2025-11-20T05"])
    with monkeypatch.context() as broken:
        broken.setattr(
            "assets.storage.in_process_table.InProcessTable.replace_windows", interrupted
        )
        with pytest.raises(KeyboardInterrupt):
            derive.derive(lake, feed, ["2025-11-20T05"])
    assert lake.table(Layer.SILVER, "zoo").read().count() == 2
    # A run on other windows meets it there; then comes its own.
    lay(folder, "2025-11-20/03/c.jsonl", event(0, "1", {}))
    bring(lake, feed, ["2025-11-20T03"])
    assert planning.due(lake, feed).windows == ["2025-11-20T05"]
    bring(lake, feed)
    (row,) = lake.table(Layer.GOLD, "zoo", "pets").read().collect()
    assert row["visits"] == 8


def test_a_late_change_meets_an_older_delete_of_its_key_s_other_stream(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS})

    def upsert(at: int, key: str, stream: str) -> Event:
        after: Image = {"id": key, "name": f"at {at}"}
        return Event(
            "model", "pets", "upsert", (0, 1, at), None, {}, after, "update", stream=stream
        )

    log_position = (0, 1, 30)
    truncate = Event(
        "model", "pets", "truncate", log_position, None, {}, {}, "remove", scope={}, stream="a"
    )
    gone = replace(upsert(10, "1", "a"), effect="remove")
    # Of what is gone already, the truncate leaves no trace in gold.
    early = [gone, upsert(10, "2", "b"), truncate]
    late = [upsert(20, "1", "b"), upsert(20, "2", "b")]
    for name, events in {"2025-11-20/03/a.jsonl": early, "2025-11-20/04/b.jsonl": late}.items():
        lay(folder, name, drop(*[json.dumps(to_record(event)) for event in events]))
    bring(lake, feed, ["2025-11-20T03"])
    assert names(lake, feed) == {2: "at 10"}
    # Nothing new of stream a: that the first key is one of its keys is known from the earlier window only.
    bring(lake, feed, ["2025-11-20T04"])
    assert names(lake, feed) == {2: "at 20"}


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize("executor", [SPARK, IN_PROCESS])
def test_of_several_tombstones_the_newest_counts_and_compaction_keeps_only_that(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    ada, bo = {"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"}
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ada), change("I", 2, after=bo)))
    lay(folder, "2025-11-20/04/b.json", drop(change("D", 3, ada)))
    lay(folder, "2025-11-20/05/c.json", drop(change("I", 5, after=ada)))
    lay(folder, "2025-11-20/06/d.json", drop(change("D", 7, ada)))
    # By Spark, the second delete's tombstone comes beside the first one's.
    lake = lake.by(SPARK)
    for hour in ("03", "04", "05", "06"):
        bring(lake, feed, [f"2025-11-20T{hour}"])
    tombstones = lake.table(Layer.GOLD, "zoo", "pets__tombstones")
    assert tombstones.count() == 2
    # It is late for the newer one alone.
    lake = lake.by(executor)
    lay(folder, "2025-11-20/07/e.json", drop(change("I", 6, after=ada)))
    bring(lake, feed)
    assert names(lake, feed) == {2: "Bo"}
    assert tombstones.count() == 2
    done = compaction.compact(lake, feed, PETS, "pets", dry_run=False)
    assert done is not None
    assert (done.superseded, done.expired, done.tombstones) == (1, 0, 1)
    (left,) = tombstones.read().collect()
    assert 7 in left["_weir_log_position"]


def test_a_row_that_comes_back_before_its_tombstone_takes_that_away(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As replicas tell it: another delivery of the delete stands earlier, and a row that it had hidden is there."""
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS})

    def deliver(
        window: str, log_position: tuple[int, int], effect: str, identity: str, **after: str
    ) -> None:
        image: Image = {"id": "1", **after}
        made = Event(
            *("model", "pets", effect, (0, 1, *log_position), None, {}, image, effect),
            own_identity=(identity,),
        )
        # Of the position only the first three numbers are the same in every delivery.
        line = json.dumps({**to_record(made), "dedup_prefix": 3})
        lay(folder, f"2025-11-20/{window}/a.jsonl", drop(line))

    deliver("03", (7, 1), "replace", "born", name="Ada")
    deliver("04", (7, 3), "remove", "gone")
    deliver("05", (7, 0), "remove", "gone")
    for hour, expected in (("03", {1: "Ada"}), ("04", {}), ("05", {1: "Ada"})):
        bring(lake, feed, [f"2025-11-20T{hour}"])
        assert names(lake, feed) == expected
    # What is newer than both is folded onto the row.
    deliver("06", (8, 0), "update", "seen")
    bring(lake, feed, ["2025-11-20T06"])
    assert names(lake, feed) == {1: "Ada"}
    assert lake.table(Layer.GOLD, "zoo", "pets__tombstones").count() == 0
