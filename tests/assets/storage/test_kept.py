"""A table of an object store that was read is read anew only when it has changed, whoever changed it and however."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from assets.storage import delta_rs
from assets.storage.in_process_table import InProcessTable
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
    delta_rs._KEPT.clear()
    monkeypatch.setattr(delta_rs, "_SHELF", delta_rs._Shelf())
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


def commit(table: DeltaTable | None, given: pa.Table, path: str = PATH) -> None:
    """Add rows as the product does."""
    InProcessTable("progress.zoo", path, WAREHOUSE, table).append(given)


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
        commit(opened(), rows(number))
    assert numbers(opened()) == [*range(1, 25)]
    assert reads.count == before + 1
    # Of other commits nothing is noted, and the table is read.
    opened().alter.set_table_properties({"weir.note": "x"}, raise_if_not_exists=False)
    assert opened().metadata().configuration["weir.note"] == "x"
    assert reads.count == before + 2


def test_a_table_is_lent_only_to_whom_the_store_lets_in(
    reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = InProcessTable.at("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    small.append(rows(1))
    assert small.count() == 1
    del small
    InProcessTable.at("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    before = reads.count
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(UnreadableWarehouse, match="secret key"):
        InProcessTable.at("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    assert reads.count == before + 1


def test_neither_many_tables_nor_large_ones_are_kept(
    reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_rs, "MOST_TABLES", 2)
    paths = [f"{WAREHOUSE}/progress/zoo_{number}" for number in range(3)]
    for path in paths:
        commit(None, rows(1), path)
        delta_rs.opened(path, WAREHOUSE)
    assert [key[1] for key in delta_rs._KEPT] == paths[1:]
    # Of the tables that are kept one has two files now, which is as many as all may have.
    monkeypatch.setattr(delta_rs, "MOST_FILES", 2)
    grown = delta_rs.opened(paths[2], WAREHOUSE)
    assert grown is not None
    commit(grown, rows(2), paths[2])
    del grown
    assert [key[1] for key in delta_rs._KEPT] == paths[2:]
    for number in (1, 2, 3):
        as_another_process(number)
    before = reads.count
    assert [numbers(opened()) for _ in range(2)] == [[1, 2, 3]] * 2
    assert reads.count == before + 2


@pytest.mark.usefixtures("reads")
def test_a_data_file_is_fetched_once(store: Store) -> None:
    small = InProcessTable.at("progress.zoo", PATH, WAREHOUSE, COLUMNS)
    for number in range(3):
        small.append(rows(number))
    assert [small.read()["number"].to_pylist() for _ in range(3)] == [[2, 1, 0]] * 3
    assert len(delta_rs._SHELF.contents) == 3
    # Whoever asks again gets it from here: the store's objects are gone.
    client = store.client()
    for one in client.list_objects_v2(Bucket="kept", Prefix="progress/zoo/part")["Contents"]:
        client.delete_object(Bucket="kept", Key=one["Key"])
    assert small.read()["number"].to_pylist() == [2, 1, 0]


def test_only_small_files_are_kept_and_only_as_many_as_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delta_rs, "_SHELF", delta_rs._Shelf())
    monkeypatch.setattr(delta_rs, "MOST_OF_ONE", 100)
    monkeypatch.setattr(delta_rs, "MOST_OF_ALL", 2 * (100 + delta_rs._COST))

    def names() -> list[str]:
        return [name for _, name, _ in delta_rs._SHELF.contents]

    for name in ("a", "b"):
        delta_rs.keep_content((PATH, name, 100), b"x" * 100)
    assert delta_rs.kept_content((PATH, "a", 100)) == b"x" * 100
    delta_rs.keep_content((PATH, "c", 100), b"x" * 100)
    # What was asked for last stays.
    assert names() == ["a", "c"]
    delta_rs.keep_content((PATH, "large", 101), b"x" * 101)
    # It is not as long as the table's log says.
    delta_rs.keep_content((PATH, "cut", 100), b"x" * 99)
    delta_rs.keep_content((PATH, "c", 100), b"x" * 100)
    assert names() == ["a", "c"]
    assert delta_rs._SHELF.size == delta_rs.MOST_OF_ALL
    assert delta_rs.kept_content((PATH, "a", 99)) is None


class Answers:
    """A store that lists a log as it is told to."""

    def __init__(self, *keys: str, truncated: bool = False, tagged: bool = True) -> None:
        tag = {"ETag": "x"} if tagged else {}
        self.contents = [{"Key": f"progress/zoo/_delta_log/{key}", **tag} for key in keys]
        self.truncated = truncated
        self.asked = 0

    def list_objects_v2(self, **_: object) -> dict[str, object]:
        self.asked += 1
        if not self.contents:
            raise OSError("no answer")
        return {"Contents": self.contents, "IsTruncated": self.truncated}


NEWEST, NEXT = f"{7:020}.json", f"{8:020}"


@pytest.mark.parametrize(
    ("answers", "tag"),
    [
        (Answers(NEWEST), "x"),
        (Answers(NEWEST, "_last_checkpoint", truncated=True), "x"),
        (Answers(NEWEST, f"{NEXT}.json"), None),
        (Answers(NEWEST, f"{NEXT}.checkpoint.0000000001.0000000002.parquet"), None),
        (Answers(f"{NEXT}.json"), None),
        # The page is short, and there are more.
        (Answers(NEWEST, truncated=True), None),
        # Neither in order nor behind what was asked for.
        (Answers(NEWEST, f"{3:020}.json"), None),
        (Answers(NEWEST, "_last_checkpoint", tagged=False), None),
    ],
)
def test_a_commit_is_the_newest_only_where_the_store_says_so(
    monkeypatch: pytest.MonkeyPatch, answers: Answers, tag: str | None
) -> None:
    monkeypatch.setattr(delta_rs, "kept_s3_client", lambda: answers)
    assert delta_rs._tag_of_newest(PATH, 7) == tag


def test_a_store_that_does_not_answer_is_left_alone_for_a_while(
    reads: Reads, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    as_another_process(1)
    silent = Answers()
    with monkeypatch.context() as patch:
        patch.setattr(delta_rs, "kept_s3_client", lambda: silent)
        patch.setattr(delta_rs, "_SILENCE", delta_rs._Silence())
        for number in (2, 3):
            commit(opened(), rows(number))
        assert numbers(opened()) == [1, 2, 3]
        assert silent.asked == 1
        assert "progress/zoo cannot be asked for (OSError)" in caplog.text
        patch.setattr(delta_rs, "SILENT", 0.0)
        delta_rs._SILENCE.until = 0.0
        opened()
        opened()
        assert silent.asked == 3
    before = reads.count
    assert [numbers(opened()) for _ in range(2)] == [[1, 2, 3]] * 2
    assert reads.count == before + 1


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
            commit(opened(), rows(number))
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
