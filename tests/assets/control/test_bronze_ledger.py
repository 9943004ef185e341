"""What bronze holds is known without reading it: after a crash, a loss, a compaction, and with two writers at once."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from assets.control import ledger
from assets.landing.kafka_offsets import Partition, Range
from assets.storage import delta_rs
from assets.storage.in_process_table import DataFile, InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.services.seaweed import Store
from tests.support import made_bronze
from tests.support.made_bronze import Object
from transforms.feed.feed import Feed

ZOO = Feed("zoo", "arcion_s3_json", "/nowhere")
EARLY, LATE = "2025-11-20T03", "2025-11-20T04"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A warehouse whose session is never started."""
    return lake_of(str(tmp_path / "warehouse"), {})


@pytest.fixture(params=["folder", pytest.param("store", marks=pytest.mark.services)])
def anywhere(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lake:
    """The same, in a folder or in a real S3 server."""
    if request.param == "folder":
        return lake_of(str(tmp_path / "warehouse"), {})
    store: Store = request.getfixturevalue("store")
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.put("ledger", {})
    return lake_of(f"s3a://ledger/{tmp_path.parent.name}", {})


def append(lake: Lake, *objects: Object, first: int = 0) -> None:
    made_bronze.append(lake, ZOO, *objects, first=first)


def bronze(lake: Lake) -> DeltaTable:
    return DeltaTable(
        lake.path(Layer.BRONZE, "zoo"), storage_options=delta_rs.options(lake.warehouse)
    )


def in_ledger(lake: Lake) -> set[Object]:
    """What the ledger says that bronze holds."""
    found = [
        (one.window, one.name, one.generation, one.records)
        for one in ledger.read_objects(lake, ZOO)
    ]
    assert len(found) == len({*found})
    return {*found}


def there(lake: Lake) -> set[Object]:
    """What bronze holds, by its rows."""
    counts: Counter[tuple[str, str, str]] = Counter()
    columns = ["window", "object", "generation", "line"]
    for row in pa.table(bronze(lake).scan(columns=columns)).to_pylist():
        counts[row["window"], row["object"], row["generation"]] += row["line"] > 0
    return {(*one, records) for one, records in counts.items()}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The data files of bronze that were opened."""
    names: list[str] = []
    read = InProcessTable.read_file

    def noted(
        table: InProcessTable, file: DataFile, columns: Sequence[str], repeated: Sequence[str] = ()
    ) -> pa.Table:
        if "/bronze/" in table.path:
            names.append(file.path)
        return read(table, file, columns, repeated)

    monkeypatch.setattr(InProcessTable, "read_file", noted)
    yield names


def ledger_rows(lake: Lake) -> pa.Table:
    return lake.in_process_table(Layer.LEDGER, "zoo").read()


def test_nothing_is_held_where_nothing_was_read(lake: Lake) -> None:
    assert in_ledger(lake) == set()
    assert ledger.read_offsets(lake, ZOO) == {}
    assert ledger.other_windows(ledger.catch_up(lake, ZOO).rows, ZOO) == []
    assert not Path(lake.warehouse).exists()


def test_each_commit_is_looked_at_once_and_bronze_is_not_read_again(
    anywhere: Lake, opened: list[str]
) -> None:
    append(anywhere, (EARLY, "a.json", "1", 3), (LATE, "b é%20.json", "1", 1))
    assert in_ledger(anywhere) == {(EARLY, "a.json", "1", 3), (LATE, "b é%20.json", "1", 1)}
    ledger.catch_up(anywhere, ZOO)
    opened.clear()
    append(anywhere, (EARLY, "a.json", "2", 4), (EARLY, "empty.json", "1", 0))
    everything = {
        (EARLY, "a.json", "1", 3),
        (EARLY, "a.json", "2", 4),
        (EARLY, "empty.json", "1", 0),
        (LATE, "b é%20.json", "1", 1),
    }
    # Whoever asks before it is written down looks at the new commit, and writes nothing.
    assert in_ledger(anywhere) == everything
    assert len({*opened}) == 1
    assert {*ledger_rows(anywhere)["version"].to_pylist()} == {0}
    ledger.catch_up(anywhere, ZOO)
    opened.clear()
    assert in_ledger(anywhere) == everything
    named = ledger.read_objects(anywhere, ZOO, names=["a.json", "nothing"])
    assert {one.generation for one in named} == {"1", "2"}
    assert [one.name for one in ledger.read_objects(anywhere, ZOO, [LATE])] == ["b é%20.json"]
    assert opened == []


def test_catching_up_with_nothing_new_commits_nothing(lake: Lake) -> None:
    append(lake, (EARLY, "a.json", "1", 3))
    ledger.catch_up(lake, ZOO)
    table = lake.in_process_table(Layer.LEDGER, ZOO.name)
    assert table.version == 0
    ledger.catch_up(lake, ZOO)
    assert table.now().version == 0


def test_compaction_of_bronze_is_no_news_and_what_it_removes_is_not_missed(
    lake: Lake, opened: list[str]
) -> None:
    append(lake, (EARLY, "a.json", "1", 3))
    append(lake, (EARLY, "b.json", "1", 2))
    ledger.catch_up(lake, ZOO)
    opened.clear()
    bronze(lake).optimize.compact()
    everything = {(EARLY, "a.json", "1", 3), (EARLY, "b.json", "1", 2)}
    assert in_ledger(lake) == everything
    assert opened == []
    # What came is compacted, and its files are removed, before anybody has looked at it.
    append(lake, (EARLY, "c.json", "1", 1))
    bronze(lake).optimize.compact()
    bronze(lake).vacuum(0, dry_run=False, enforce_retention_duration=False)
    everything.add((EARLY, "c.json", "1", 1))
    assert in_ledger(lake) == everything
    ledger.catch_up(lake, ZOO)
    opened.clear()
    assert in_ledger(lake) == everything
    assert opened == []


def test_a_lost_ledger_costs_one_look_at_bronze(lake: Lake, opened: list[str]) -> None:
    for number in range(4):
        append(lake, (EARLY, f"{number}.json", "1", number))
    ledger.catch_up(lake, ZOO)
    before = in_ledger(lake)
    shutil.rmtree(lake.path(Layer.LEDGER, "zoo"))
    opened.clear()
    ledger.catch_up(lake, ZOO)
    assert sorted(opened) == sorted({*opened})
    assert len(opened) == 4
    opened.clear()
    assert in_ledger(lake) == before == there(lake)
    assert opened == []


def test_a_writer_that_is_forestalled_goes_on_as_if_it_had_written(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(lake, (EARLY, "a.json", "1", 3))
    table, held = lake.in_process_table(Layer.LEDGER, ZOO.name), ledger.bronze_contents

    def held_while_another_catches_up(of: Lake, feed: Feed) -> ledger.BronzeContents:
        found = held(of, feed)
        monkeypatch.setattr(ledger, "bronze_contents", held)
        ledger.catch_up(of, feed)
        return found

    for commit in range(3):
        monkeypatch.setattr(ledger, "bronze_contents", held_while_another_catches_up)
        ledger.catch_up(lake, ZOO)
        assert in_ledger(lake) == there(lake)
        append(lake, (LATE, f"{commit}.json", "1", 1))
    assert table.now().version > 3


def test_the_ledger_of_many_commits_stays_few_files(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "STEPS", 5)
    for number in range(30):
        append(lake, (EARLY, "topic/0", "id", 2), first=2 * number)
        ledger.catch_up(lake, ZOO)
    table = DeltaTable(lake.path(Layer.LEDGER, "zoo"))
    assert len(table.file_uris()) <= ledger.STEPS + 1
    assert ledger_rows(lake).num_rows <= 2 * ledger.STEPS + 2
    assert in_ledger(lake) == there(lake) == {(EARLY, "topic/0", "id", 60)}
    (read,) = ledger.read_offsets(lake, ZOO).values()
    assert (read.next_offset, read.window) == (60, EARLY)


def test_offsets_are_known_by_partition_and_topic(lake: Lake) -> None:
    append(lake, (EARLY, "t/0", "old", 5), (LATE, "t/1", "old", 2))
    append(lake, (LATE, "t/0", "old", 2), first=5)
    # The mark of offsets without records.
    append(lake, (EARLY, "t/0", "old", 0), first=9)
    append(lake, (LATE, "t/0", "new", 1))
    reached = {
        key: (one.next_offset, one.window) for key, one in ledger.read_offsets(lake, ZOO).items()
    }
    assert reached == {
        ("t/0", "old"): (10, EARLY),
        ("t/1", "old"): (2, LATE),
        ("t/0", "new"): (1, LATE),
    }
    partition = Partition("t", "old", 0, 0, 10)
    assert ledger.records_since(lake, ZOO, [Range(partition, 5, 10)], 0) == {LATE: 2}
    assert ledger.records_since(lake, ZOO, [Range(partition, 0, 10)], -1) == {EARLY: 5, LATE: 2}
    assert ledger.records_since(lake, ZOO, [Range(partition, 6, 10)], -1) == {}
    assert ledger.records_since(lake, ZOO, [Range(partition, 0, 10)], 3) == {}


def test_windows_of_another_size_are_seen(lake: Lake) -> None:
    append(lake, (EARLY, "a.json", "1", 1))
    assert ledger.other_windows(ledger.catch_up(lake, ZOO).rows, ZOO) == []
    append(lake, ("2025-11-20", "a.json", "2", 1))
    assert ledger.other_windows(ledger.catch_up(lake, ZOO).rows, ZOO) == ["2025-11-20"]


SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))


@pytest.mark.parametrize("number", range(6))
def test_whatever_happens_in_whatever_order_the_ledger_says_what_bronze_holds(
    lake: Lake, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "STEPS", 4)
    rng = Random(f"ledger {SEED} {number}")
    table, place = (
        lake.in_process_table(Layer.LEDGER, ZOO.name),
        Path(lake.path(Layer.LEDGER, "zoo")),
    )
    folder, kept = Path(lake.path(Layer.BRONZE, "zoo")), Path(lake.warehouse, "kept")
    stale: list[pa.Table] = []
    append(lake, (EARLY, "first.json", "1", 1))

    def new_commit() -> None:
        names = [f"{rng.randrange(10**9)}.json" for _ in range(rng.randrange(1, 4))]
        append(lake, *[(rng.choice([EARLY, LATE]), one, "1", rng.randrange(4)) for one in names])

    def remember_news() -> None:
        stale.append(ledger.bronze_contents(lake, ZOO).news)

    def slow_writer() -> None:
        # It writes what it had found some time ago; only steps: looks at all of bronze replace the table.
        for news in stale:
            if news.num_rows and not any(news["is_whole"].to_pylist()):
                table.append(news)
        stale.clear()

    def vacuum() -> None:
        bronze(lake).vacuum(0, dry_run=False, enforce_retention_duration=False)

    def take_out() -> None:
        held = sorted(there(lake))
        if len(held) > 2:
            bronze(lake).delete(f"object = '{rng.choice(held)[1]}'")
            stale.clear()

    def without_old_log_entries() -> None:
        """As Delta does it some weeks after a checkpoint."""
        bronze(lake).create_checkpoint()
        for version in range(bronze(lake).version()):
            (folder / "_delta_log" / f"{version:020}.json").unlink(missing_ok=True)

    def put_back() -> None:
        """Bronze as it was some time ago, from which it goes on otherwise; else a new one."""
        stale.clear()
        shutil.rmtree(folder)
        if kept.exists() and rng.random() < 0.7:
            shutil.copytree(kept, folder)
        else:
            shutil.rmtree(kept, ignore_errors=True)
            new_commit()

    def keep() -> None:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)

    steps: dict[Callable[[], object], int] = {
        new_commit: 6,
        lambda: ledger.catch_up(lake, ZOO): 5,
        remember_news: 2,
        slow_writer: 2,
        lambda: bronze(lake).optimize.compact(): 1,
        vacuum: 1,
        take_out: 1,
        without_old_log_entries: 1,
        keep: 1,
        put_back: 1,
        lambda: shutil.rmtree(place, ignore_errors=True): 1,
    }
    for step in rng.choices([*steps], [*steps.values()], k=50):
        step()
        assert in_ledger(lake) == there(lake)
    log = lake.in_process_table(Layer.BRONZE, "zoo")
    ledger.catch_up(lake, ZOO)
    assert ledger.trusted_rows(ledger_rows(lake), log.id, log.version)[0] == log.version
