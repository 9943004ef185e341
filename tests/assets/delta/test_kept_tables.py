"""A table of an object store that was read is read anew only when it has changed, whoever changed it and however."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from assets.delta import delta_rs, fences, kept_files, kept_tables
from assets.delta.small_table import SmallTable
from tests.services.seaweed import Store, store
from transforms.errors import UnreadableWarehouse

__all__ = ["store"]

pytestmark = pytest.mark.services

WAREHOUSE = "s3a://kept"
PATH = f"{WAREHOUSE}/progress/zoo"
COLUMNS = pa.schema([pa.field("number", pa.int64())])


class Reads:
    """How often delta-rs has read the log of a table."""

    count = 0


@pytest.fixture
def reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    """An empty bucket, nothing kept, and a count of what is read."""
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.put("kept", {})
    client = store.client()
    for one in client.list_objects_v2(Bucket="kept").get("Contents", []):
        client.delete_object(Bucket="kept", Key=one["Key"])
    kept_tables._KEPT.clear()
    kept_files._KEPT.clear()
    counted = Reads()

    def read(*args: object, **options: object) -> DeltaTable:
        counted.count += 1
        return DeltaTable(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(delta_rs, "DeltaTable", read)
    yield counted


def opened() -> DeltaTable:
    table = delta_rs.opened(PATH, WAREHOUSE)
    assert table is not None
    return table


def rows(*numbers: int) -> pa.Table:
    return pa.table({"number": pa.array(numbers, pa.int64())})


def numbers(table: DeltaTable) -> list[int]:
    found = QueryBuilder().register("t", table).execute("SELECT number FROM t ORDER BY number")
    listed: list[int] = pa.table(found.read_all())["number"].to_pylist()
    return listed


def as_another_process(*given: int) -> None:
    """Add rows as a process does that knows nothing of this one."""
    write_deltalake(PATH, rows(*given), mode="append", storage_options=delta_rs.options(WAREHOUSE))


def remove(store: Store) -> None:
    client = store.client()
    for one in client.list_objects_v2(Bucket="kept", Prefix="progress/").get("Contents", []):
        client.delete_object(Bucket="kept", Key=one["Key"])


def test_a_table_is_read_once_until_another_changes_it(reads: Reads) -> None:
    assert delta_rs.opened(PATH, WAREHOUSE) is None
    as_another_process(1)
    before = reads.count
    assert [numbers(opened()) for _ in range(3)] == [[1]] * 3
    assert reads.count == before + 1
    as_another_process(2)
    assert [numbers(opened()) for _ in range(3)] == [[1, 2]] * 3
    assert reads.count == before + 2


def test_what_this_process_commits_it_need_not_read(reads: Reads) -> None:
    as_another_process(1)
    before = reads.count
    for number in range(2, 25):
        fences.commit_rows(opened(), PATH, WAREHOUSE, rows(number), mode="append")
    assert numbers(opened()) == [*range(1, 25)]
    assert reads.count == before + 1
    # Of other commits nothing is noted, and the table is read.
    opened().alter.set_table_properties({"weir.note": "x"}, raise_if_not_exists=False)
    assert opened().metadata().configuration["weir.note"] == "x"
    assert reads.count == before + 2


def test_a_table_in_use_is_not_changed_by_what_another_does_with_it(reads: Reads) -> None:
    as_another_process(1)
    held = opened()
    fences.commit_rows(opened(), PATH, WAREHOUSE, rows(2), mode="append")
    assert (held.version(), numbers(held)) == (0, [1])
    assert numbers(opened()) == [1, 2]
    # An earlier version of it is not what the next one gets.
    opened().load_as_version(0)
    assert numbers(opened()) == [1, 2]


def test_a_table_that_was_removed_and_made_again_is_read_anew(store: Store, reads: Reads) -> None:
    as_another_process(1)
    first = opened().metadata().id
    remove(store)
    assert delta_rs.opened(PATH, WAREHOUSE) is None
    as_another_process(2)
    assert (opened().version(), numbers(opened())) == (0, [2])
    assert opened().metadata().id != first


def test_a_table_is_lent_only_to_whom_the_store_lets_in(
    reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = SmallTable("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    small.append(rows(1))
    assert small.count() == 1
    before = reads.count
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(UnreadableWarehouse, match="secret key"):
        small.count()
    assert reads.count == before + 1


def test_neither_many_tables_nor_large_ones_are_kept(
    reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_tables, "MOST_TABLES", 2)
    paths = [f"{WAREHOUSE}/progress/zoo_{number}" for number in range(3)]
    for path in paths:
        fences.commit_rows(None, path, WAREHOUSE, rows(1), mode="append")
        delta_rs.opened(path, WAREHOUSE)
    assert [key[1] for key in kept_tables._KEPT] == paths[1:]
    monkeypatch.setattr(kept_tables, "MOST_FILES", 1)
    as_another_process(1)
    as_another_process(2)
    before = reads.count
    assert [numbers(opened()) for _ in range(2)] == [[1, 2]] * 2
    assert reads.count == before + 2


def test_a_data_file_is_fetched_once(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    small = SmallTable("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    for number in range(3):
        small.append(rows(number))
    assert [small.read()["number"].to_pylist() for _ in range(3)] == [[2, 1, 0]] * 3
    assert len(kept_files._KEPT) == 3
    fetched: list[str] = []

    def fetch(name: str, data: bytes) -> bytes:
        def read() -> bytes:
            fetched.append(name)
            return data

        return kept_files.content(PATH, name, read)

    kept_files._KEPT.clear()
    monkeypatch.setattr(kept_files, "MOST_OF_ONE", 10)
    monkeypatch.setattr(kept_files, "MOST_OF_ALL", 25)
    asked = [("a", 10), ("b", 10), ("a", 10), ("c", 10), ("a", 10), ("b", 10), ("d", 11), ("d", 11)]
    for name, size in asked:
        assert fetch(name, b"x" * size) == b"x" * size
    # What was asked for last stays, and a large one is never kept.
    assert fetched == ["a", "b", "c", "b", "d", "d"]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_a_table_is_as_if_it_had_been_read_just_now(
    store: Store, reads: Reads, seed: int
) -> None:
    rng, held, state = Random(seed), list[tuple[DeltaTable, Sequence[int]]](), list[int]()
    as_another_process()
    for number in range(60):
        act = rng.choice(["open", "open", "hold", "drop", "commit", "other", "alter", "again"])
        if act == "hold":
            held.append((opened(), [*state]))
        elif act == "drop" and held:
            held.pop(rng.randrange(len(held)))
        elif act == "commit":
            fences.commit_rows(opened(), PATH, WAREHOUSE, rows(number), mode="append")
            state.append(number)
        elif act == "other":
            as_another_process(number)
            state.append(number)
        elif act == "alter":
            opened().alter.set_table_properties({"weir.n": str(number)}, raise_if_not_exists=False)
        elif act == "again" and rng.random() < 0.3:
            # Whoever holds a table that is gone can read nothing.
            held.clear()
            remove(store)
            as_another_process(number)
            state[:] = [number]
        assert numbers(opened()) == state, f"seed {seed}, step {number}: {act}"
        for table, then in held:
            assert numbers(table) == then, f"seed {seed}, step {number}: {act}"
