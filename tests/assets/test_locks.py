"""Two runs never write one table at once, whatever each has read; a failure of the warehouse is reported in words."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from delta.tables import DeltaTable
from pyspark.sql import functions as F

from assets.bronze import from_objects
from assets.control import progress
from assets.gold import apply
from assets.maintenance import rebuild
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from assets.storage.leases import LOCKS
from assets.storage.locks import writing
from assets.storage.store_faults import in_words
from orchestration.resources import lake_of
from orchestration.runs import planning
from orchestration.spark.settings import warehouse_uri
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import (
    NoLocks,
    SettingMisdeclared,
    TableBusy,
    UnwritableWarehouse,
    WarehouseFailed,
    WarehouseFull,
)
from transforms.feed.feed import Feed

HOLD = """
import fcntl, sys, time
lock = open(sys.argv[1], "a")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def held(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
    finally:
        other.kill()
        other.communicate()


@pytest.fixture
def feed(folder: Path) -> Feed:
    """One pet in one window."""
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "Ada"})))
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})


def test_a_step_stops_while_another_run_writes_its_table_and_goes_on_once_that_died(
    lake: Lake, feed: Feed
) -> None:
    window = ["2025-11-20T03"]
    locks = Path(lake.warehouse, LOCKS)
    steps: dict[str, Callable[[], object]] = {
        "bronze.zoo": lambda: from_objects.land(lake, feed, window),
        "silver.zoo": lambda: derive.derive(lake, feed, window),
        "gold.zoo.pets": lambda: apply.apply(lake, feed, PETS, window),
        "progress.zoo": lambda: progress.finish(lake, feed, window),
    }
    for name, step in steps.items():
        with held(locks / name) as other:
            with pytest.raises(TableBusy, match=rf"^{name}: another run is writing .* Run again"):
                step()
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            step()
    assert names(lake, feed) == {1: "Ada"}
    assert planning.due(lake, feed).windows == []


@pytest.mark.parametrize("name", ["silver.zoo", "progress.zoo", "gold.zoo.pets"])
def test_a_rebuild_changes_nothing_while_another_run_writes_its_feed(
    lake: Lake, feed: Feed, name: str
) -> None:
    bring(lake, feed)
    windows = rebuild.windows_of(lake, feed)
    with held(Path(lake.warehouse, LOCKS) / name), pytest.raises(TableBusy, match=name):
        list(rebuild.rebuild_silver(lake, feed, windows))
    assert planning.due(lake, feed).windows == []
    list(rebuild.rebuild_silver(lake, feed, windows))
    assert planning.due(lake, feed).windows == windows


def test_what_another_run_read_and_did_not_bring_to_silver_stays_due(
    lake: Lake, feed: Feed, folder: Path
) -> None:
    window = ["2025-11-20T03"]
    from_objects.land(lake, feed, window)
    derive.derive(lake, feed, window)
    # Another run finds a new object, and dies when it has read it.
    lay(folder, "2025-11-20/03/b.json", drop(change("I", 2, after={"id": "2", "name": "Bo"})))
    assert len(from_objects.land(lake, feed, window).new) == 1
    apply.apply(lake, feed, PETS, window)

    assert progress.finish(lake, feed, window) == 0
    assert names(lake, feed) == {1: "Ada"}
    assert planning.due(lake, feed).windows == window
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}
    assert planning.due(lake, feed).windows == []


def test_a_commit_that_delta_refuses_because_of_another_is_table_busy(
    lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    bring(lake, feed)
    path = lake.table(Layer.GOLD, "zoo", "pets").path
    begun, over = tmp_path / "begun", tmp_path / "over"

    def until_it_is_over(name: str) -> str:
        begun.touch()
        while not over.exists():
            time.sleep(0.05)
        return name + " the slow"

    def update_slowly() -> None:
        slow = F.udf(until_it_is_over, "string", useArrow=False)
        try:
            with writing(lake, Layer.GOLD, "zoo", "pets"):
                DeltaTable.forPath(lake.spark, path).update(set={"name": slow("name")})
        except TableBusy as fault:
            faults.append(fault)

    faults: list[TableBusy] = []
    thread = Thread(target=update_slowly)
    thread.start()
    while thread.is_alive() and not begun.exists():
        time.sleep(0.05)
    DeltaTable.forPath(lake.spark, path).update(set={"name": "'Ava'"})
    over.touch()
    thread.join()
    assert [fault.table for fault in faults] == ["gold.zoo.pets"]
    assert names(lake, feed) == {1: "Ava"}


@pytest.mark.parametrize("code", ["ENOLCK", "ENOTSUP", "ENOSYS", "EINVAL"])
def test_a_disk_without_locks_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    number: int = getattr(errno, code)

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    lay(tmp_path / "drops", "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1"})))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})
    monkeypatch.setattr("fcntl.flock", refuse)
    lake = lake_of(str(tmp_path / "lake"))
    steps: list[Callable[[], object]] = [
        lambda: from_objects.land(lake, feed, ["2025-11-20T03"]),
        lambda: derive.derive(lake, feed, ["2025-11-20T03"]),
        lambda: progress.finish(lake, feed, ["2025-11-20T03"]),
    ]
    for step in steps:
        with pytest.raises(NoLocks) as refusal:
            step()
        assert (
            f"the warehouse {tmp_path}/lake cannot be locked: its file system has no locks"
            in str(refusal.value)
        )
        assert os.strerror(number) in str(refusal.value)
    assert [path.name for path in (tmp_path / "lake").iterdir()] == [LOCKS]


def write(warehouse: str | Path) -> None:
    """Nothing, but with the lock of a table."""
    with writing(lake_of(str(warehouse)), Layer.SILVER, "zoo"):
        raise AssertionError


def test_a_warehouse_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingMisdeclared, match="'gs://lake/tables' is neither s3://"):
        warehouse_uri("gs://lake/tables")
    with pytest.raises(NoLocks, match="the warehouse gs://lake/tables cannot be locked"):
        write("gs://lake/tables")
    (tmp_path / "a_file").write_text("not a folder")
    for place in ("a_file", "a_file/tables"):
        said = "cannot write the warehouse .*a_file: not a directory"
        with pytest.raises(UnwritableWarehouse, match=said):
            write(tmp_path / place)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    number = errno.EIO
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        with pytest.raises(OSError, match="Input/output error"):
            write(tmp_path / "there")
    # Tests may run as root, who may write everywhere.
    monkeypatch.setattr(Path, "mkdir", refuse)
    for number in (errno.EACCES, errno.EROFS):
        said = f"{tmp_path}: {os.strerror(number).lower()}. Nothing was written"
        with pytest.raises(UnwritableWarehouse, match=said):
            write(tmp_path / "lake")


def test_a_full_disk_is_reported_with_the_free_space_and_the_place(tmp_path: Path) -> None:
    failure = in_words(
        OSError(errno.ENOSPC, "No space left on device"), "silver.zoo", str(tmp_path)
    )
    assert isinstance(failure, WarehouseFull)
    assert str(failure).startswith("silver.zoo: no space left on device: ")
    assert f"MB free in {tmp_path} (the warehouse)" in str(failure)


def test_a_stores_error_is_reported_and_other_failures_are_left_as_they_are() -> None:
    stack = (
        "org.apache.hadoop.fs.s3a.AWSStatus500Exception: PUT 0-object on silver/zoo: "
        "software.amazon.awssdk.services.s3.model.S3Exception: We are tired (Status Code: 500)"
    )
    failure = in_words(OSError(stack), "silver.zoo", "s3a://lake/tables")
    assert isinstance(failure, WarehouseFailed)
    assert "s3a://lake/tables failed: AWSStatus500Exception: PUT 0-object on silver/zoo" in str(
        failure
    )
    assert in_words(OSError("something else"), "silver.zoo", "s3a://lake/tables") is None


def test_a_table_whose_whole_name_is_longer_than_any_files_has_a_lock_of_its_own(
    tmp_path: Path,
) -> None:
    """A stream may say whatever it likes of the database and the schema in which a table is."""
    lake, whole = lake_of(str(tmp_path)), f"{'é' * 300}.pets"
    with writing(lake, Layer.GOLD, "zoo", whole):
        with writing(lake, Layer.GOLD, "zoo", f"{'é' * 300}.toys"):
            pass
        with pytest.raises(TableBusy), writing(lake, Layer.GOLD, "zoo", whole):
            pass
    assert len(list((tmp_path / LOCKS).iterdir())) == 2
