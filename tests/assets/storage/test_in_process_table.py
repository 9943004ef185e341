"""Tables that are read and committed without Spark, side by side with Spark, in a folder and in a store."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from assets.storage import delta_rs
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from tests.services.seaweed import SECRET_KEY, Store
from transforms.errors import TableBusy, UnreadableWarehouse, WarehouseFailed, WarehouseFull

COLUMNS = pa.schema(
    [
        pa.field("window", pa.string()),
        pa.field("number", pa.int64()),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("words", pa.map_(pa.string(), pa.int64())),
        pa.field("parts", pa.list_(pa.struct([pa.field("name", pa.string())]))),
    ]
)
SPARKS = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("number", T.LongType(), False),
        T.StructField("at", T.TimestampType(), True),
        T.StructField("words", T.MapType(T.StringType(), T.LongType()), False),
        T.StructField(
            "parts",
            T.ArrayType(T.StructType([T.StructField("name", T.StringType(), False)]), False),
            True,
        ),
    ]
)
NOON = datetime(2025, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)


def row(window: str, number: int = 1, at: datetime | None = NOON) -> dict[str, object]:
    return {
        "window": window,
        "number": number,
        "at": at,
        "words": {"seen": number},
        "parts": [{"name": window}],
    }


def of_lake(lake: Lake, layer: Layer) -> InProcessTable:
    return InProcessTable.at(f"{layer}.zoo", lake.path(layer, "zoo"), lake.warehouse, COLUMNS)


def table_at(path: Path, columns: pa.Schema = COLUMNS) -> InProcessTable:
    return InProcessTable.at("progress.zoo", str(path / "progress" / "zoo"), str(path), columns)


def numbers(table: InProcessTable) -> dict[object, object]:
    return {one["window"]: one["number"] for one in table.now().rows(["window", "number"])}


@pytest.fixture(params=["folder", pytest.param("store", marks=pytest.mark.services)])
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InProcessTable]:
    """An empty table, in a folder and in a real S3 server."""
    if request.param == "folder":
        yield table_at(tmp_path)
        return
    store: Store = request.getfixturevalue("store")
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    use(store.environment(), patch)
    bucket = f"small-{tmp_path.name.replace('_', '-').lower()}"[:60].rstrip("-")
    store.put(bucket, {})
    warehouse = f"s3a://{bucket}/tables"
    yield InProcessTable.at("progress.zoo", f"{warehouse}/progress/zoo", warehouse, COLUMNS)


def use(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def test_rows_come_back_as_they_were_written(small: InProcessTable) -> None:
    assert not small.exists
    assert small.version == -1
    assert small.rows() == []
    small.append([row("a"), row("b", 2, at=None)])
    small.append([{"window": "c"}])
    assert small.exists
    assert small.version == 1
    assert small.now().version == 1
    assert small.count() == 3
    found = sorted(small.rows(), key=lambda one: str(one["window"]))
    nothing = {"window": "c", "number": None, "at": None, "words": None, "parts": None}
    assert found == [row("a"), row("b", 2, at=None), nothing]
    assert small.read(["number"], {"window": ["b", "x"]}).to_pydict() == {"number": [2]}
    assert small.read().schema == COLUMNS


def test_whoever_opens_a_table_reads_ten_commits_at_most(
    tmp_path: Path, spark: SparkSession
) -> None:
    small = table_at(tmp_path)
    for number in range(24):
        small.append([row("a", number)])
    log = Path(small.path, "_delta_log")
    assert sorted(one.name for one in log.glob("*.checkpoint.parquet")) == [
        f"{number:020}.checkpoint.parquet" for number in (10, 20)
    ]
    # All that came before is in it.
    for one in log.glob("*.json"):
        if int(one.stem) <= 20:
            one.unlink()
    assert sorted(one["number"] for one in small.now().rows()) == [*range(24)]
    by_spark = spark.read.format("delta").load(small.path)
    assert by_spark.count() == 24


def test_windows_are_replaced_in_one_commit_and_the_others_stay(small: InProcessTable) -> None:
    small.replace_windows([row("a"), row("b")], ["a", "b"])
    small.replace_windows([row("b", 7), row("c", 8)], ["b", "c"])
    assert numbers(small) == {"a": 1, "b": 7, "c": 8}
    # Nothing comes: the window's rows go all the same.
    small.replace_windows([], ["c", "d"])
    assert numbers(small) == {"a": 1, "b": 7}
    version = small.version
    assert version == 2
    # Nothing goes and nothing comes.
    small.replace_windows([], ["c", "it's"])
    small.replace_windows([], [])
    assert small.version == version


def test_many_windows_are_replaced_in_one_commit(tmp_path: Path) -> None:
    """delta-rs dies of a list of fifty thousand values."""
    table = table_at(tmp_path)
    names = [f"w{number:05}" for number in range(50_000)]
    table.append([{"window": name, "number": 1} for name in names])
    every_other = names[::2]
    table.replace_windows([{"window": name, "number": 2} for name in every_other], every_other)
    assert table.version == 1
    found = numbers(table)
    assert len(found) == 50_000
    assert {name for name, number in found.items() if number == 2} == {*every_other}


def test_a_row_of_no_replaced_window_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    table = table_at(tmp_path)
    table.append([row("a")])
    with pytest.raises(ValueError, match=r"^progress\.zoo: rows with {'b'} in window"):
        table.replace_windows([row("b")], ["a"])
    assert numbers(table) == {"a": 1}


def test_of_two_writers_that_saw_the_same_one_adds_rows(small: InProcessTable) -> None:
    small.append([row("a")], seen=-1)
    for seen in (-1, 1):
        with pytest.raises(TableBusy):
            small.now().append([row("b")], seen=seen)
    small.now().append([row("c")], seen=0)
    assert set(numbers(small)) == {"a", "c"}


def test_a_commit_that_another_writer_forestalls_is_table_busy(small: InProcessTable) -> None:
    small.append([row("a")])
    late = small.now()
    small.replace_windows([row("a", 2)], ["a"])
    with pytest.raises(TableBusy, match=r"^progress\.zoo: another run is writing"):
        late.replace_windows([row("a", 3)], ["a"])
    assert numbers(small) == {"a": 2}


def test_a_table_stays_as_it_was_opened_until_it_commits_itself(tmp_path: Path) -> None:
    one = table_at(tmp_path)
    one.append([row("a")])
    other = one.now()
    other.append([row("b")])
    assert (one.version, one.count(), [row["window"] for row in one.rows()]) == (0, 1, ["a"])
    one.append([row("c")])
    assert (one.version, one.count()) == (2, 3)


HOSTILE = ["a b", "50%20", "q:é", "x/y", "it's"]
"""Values whose folders Delta spells otherwise than they are."""


def test_the_column_that_a_table_is_cut_by_has_its_value_however_rows_are_read(
    small: InProcessTable,
) -> None:
    cut = InProcessTable.at("silver.zoo", f"{small.path}-cut", small.warehouse)
    columns = pa.schema([("window", pa.string()), ("number", pa.int64()), ("later", pa.string())])
    every = pa.table({"window": HOSTILE, "number": [*range(len(HOSTILE))]})
    cut.append(every, ["window"])
    cut.put_windows(pa.table({"window": [HOSTILE[0]], "number": [7]}), [HOSTILE[0], "none"])
    if "://" not in cut.path:
        # Spark's files have the column themselves.
        for file in cut.files({"window": HOSTILE[1:3]}):
            stored = pq.ParquetFile(Path(cut.path, file.path)).read()
            both = stored.append_column("window", pa.repeat(file.window, len(stored)))
            pq.write_table(both, Path(cut.path, file.path))
    expected = {one: at or 7 for at, one in enumerate(HOSTILE)}
    asked = {"window": HOSTILE[:3]}
    few = {one: expected[one] for one in HOSTILE[:3]}

    def found(*tables: pa.Table) -> dict[str, int]:
        assert all(one.schema == columns for one in tables)
        whole = pa.concat_tables(tables)
        assert whole["later"].null_count == len(whole)
        return dict(zip(whole["window"].to_pylist(), whole["number"].to_pylist(), strict=True))

    for where, those in ((None, expected), (asked, few)):
        assert found(cut.read(columns, where)) == those
        assert found(*cut.each(columns, where)) == those
        assert found(*cut.batches(columns, where)) == those
        number = pa.schema([columns.field("number")])
        for some in (
            cut.read(number, where),
            *cut.each(number, where),
            *cut.batches(number, where),
        ):
            assert some.num_rows and {*some["number"].to_pylist()} <= {*those.values()}
        names = [cut.read_file(file, ["window", "later"]) for file in cut.files(where)]
        assert {one["window"][0].as_py() for one in names} == {*those}
        assert {one.window for one in cut.files(where)} == {*those}
    assert cut.windows == {*HOSTILE}
    assert cut.read(["number"], {"window": [HOSTILE[2]], "number": []}).num_rows == 0
    # Nothing goes and nothing comes.
    before = cut.version
    assert cut.put_windows(every.slice(0, 0), ["none"]) == 0
    assert cut.version == before
    assert cut.put_windows(every, HOSTILE) == len(HOSTILE)
    cut.replace_windows(every.slice(0, 0), HOSTILE[1:])
    assert found(cut.now().read(columns)) == {HOSTILE[0]: 0}


def test_a_new_column_is_null_in_older_rows_and_an_unknown_one_is_left_out(
    tmp_path: Path,
) -> None:
    older, newer = table_at(tmp_path, pa.schema(list(COLUMNS)[:2])), table_at(tmp_path)
    older.append([row("a")])
    newer = newer.now()
    assert newer.rows(["window", "at"]) == [{"window": "a", "at": None}]
    newer.append([row("b")])
    assert older.now().read().column_names == ["window", "number"]
    older.now().replace_windows([row("a", 5)], ["a"])
    assert {one["window"]: one["at"] for one in newer.now().rows()} == {"a": None, "b": NOON}


def test_tidying_leaves_one_file_and_all_rows(small: InProcessTable) -> None:
    for number in range(5):
        small.append([row(f"w{number}", number)])
    small.tidy()
    opened = delta_rs.opened(small.path, small.warehouse)
    assert opened is not None
    assert len(opened.file_uris()) == 1
    assert len(numbers(small)) == 5
    # Whoever opens it next does not read the commits of the tidying, nor those before.
    if "://" not in small.path:
        checkpoints = Path(small.path, "_delta_log").glob("*.checkpoint.parquet")
        assert [one.name for one in checkpoints] == [f"{opened.version():020}.checkpoint.parquet"]
    table_at(Path("/nowhere")).tidy()


def test_spark_and_delta_rs_write_one_table_in_turn(lake: Lake) -> None:
    spark, small = (
        lake.table(Layer.PROGRESS, "zoo"),
        of_lake(lake, Layer.PROGRESS),
    )
    far = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    old = datetime(1600, 2, 29, tzinfo=UTC)

    def frame(*rows: Mapping[str, object]) -> DataFrame:
        made = lake.spark.createDataFrame([tuple(one.values()) for one in rows], SPARKS)
        # One file, so that what stays is rewritten with what goes.
        return made.coalesce(1)

    spark.replace_windows(frame(row("a"), row("b", 2, far), row("c", 3, old)), ["a"], ())
    small = small.now()
    assert sorted(small.rows(), key=str) == sorted(
        [row("a"), row("b", 2, far), row("c", 3, old)], key=str
    )
    # delta-rs rewrites Spark's file, with the rows that stay.
    small.replace_windows([row("a", 4), row("d", 5)], ["a", "d"])
    small.append([row("e", 6, None)])
    mine = {"a": 4, "b": 2, "c": 3, "d": 5, "e": 6}
    assert {one["window"]: one["number"] for one in spark.read().collect()} == mine
    times = spark.read().selectExpr("window", "unix_micros(at) AS at").collect()
    assert {one["window"]: one["at"] for one in times} == {
        "a": micros(NOON),
        "b": micros(far),
        "c": micros(old),
        "d": micros(NOON),
        "e": None,
    }
    spark.replace_windows(frame(row("d", 7)), ["d"], ())
    spark.append(frame(row("f", 8)))
    spark.delete("window = 'e'")
    assert numbers(small) == {"a": 4, "b": 2, "c": 3, "d": 7, "f": 8}
    # One that delta-rs made is Spark's, too.
    other = of_lake(lake, Layer.LANDED)
    other.append([row("a")])
    again = lake.table(Layer.LANDED, "zoo")
    again.replace_windows(frame(row("a", 9)), ["a"], ())
    again.append(frame(row("b")))
    assert numbers(other) == {"a": 9, "b": 1}


def test_rows_that_spark_has_marked_as_deleted_are_not_read(lake: Lake) -> None:
    spark, small = (
        lake.table(Layer.PROGRESS, "zoo"),
        of_lake(lake, Layer.PROGRESS),
    )
    small.append([row(f"w{number}", number) for number in range(6)])
    spark.set_properties({"delta.enableDeletionVectors": "true"})
    spark.delete("number IN (1, 4)")
    small = small.now()
    small.append([row("w6", 6)])
    assert (small.count(), small.stored_rows) == (5, 7)
    assert sorted(numbers(small).values(), key=str) == [0, 2, 3, 5, 6]
    small.replace_windows([row("w3", 30)], ["w3", "w5"])
    small.tidy()
    assert sorted(numbers(small).values(), key=str) == [0, 2, 30, 6]


def micros(at: datetime) -> int:
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@pytest.mark.services
def test_what_a_store_refuses_is_reported_without_its_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("told", {})
    warehouse = "s3a://told/tables"
    place = ("progress.zoo", f"{warehouse}/progress/zoo", warehouse, COLUMNS)
    use(store.environment() | {"AWS_SECRET_ACCESS_KEY": "not-the-secret"}, monkeypatch)
    said = []
    unread = InProcessTable(*place[:3], None, COLUMNS)
    for work in (lambda: InProcessTable.at(*place), lambda: unread.append([row("a")])):
        with pytest.raises(UnreadableWarehouse) as refused:
            work()
        said.append(str(refused.value))
    assert said[0] == (
        f"cannot read the warehouse {warehouse}: the secret key is wrong for the access key. "
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN if temporary), or AWS_PROFILE."
    )
    use(store.environment(), monkeypatch)
    with pytest.raises(UnreadableWarehouse, match=r"the bucket does not exist\. .*the warehouse"):
        InProcessTable.at("progress.zoo", "s3a://nowhere/p", "s3a://nowhere", COLUMNS)
    use({**store.environment(), "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, monkeypatch)
    with pytest.raises(WarehouseFailed, match="nothing answers at the store's address") as failed:
        InProcessTable.at(*place)
    for secret in ("not-the-secret", SECRET_KEY, store.endpoint, "127.0.0.1"):
        assert secret not in f"{said} {failed.value}"


def test_credentials_are_those_that_boto3_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = tmp_path / "credentials"
    profile.write_text(
        "[night]\naws_access_key_id = one\naws_secret_access_key = two\naws_session_token = three\n"
    )
    use({"AWS_SHARED_CREDENTIALS_FILE": str(profile), "AWS_PROFILE": "night"}, monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://store:1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://other:1")
    found = delta_rs.options("s3a://lake/tables")
    assert found["aws_access_key_id"] == "one"
    assert found["aws_secret_access_key"] == "two"
    assert found["aws_session_token"] == "three"
    assert found["aws_endpoint_url"] == "http://store:1"
    assert found["aws_allow_http"] == "true"
    assert found["aws_virtual_hosted_style_request"] == "false"
    assert delta_rs.options("/a/folder") == {}


def test_a_full_disk_is_reported_with_the_free_space(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("a small disk cannot be mounted here, which takes root")
    except FileNotFoundError:
        pytest.skip("there is no `mount` here, so no small disk")
    try:
        table = table_at(disk)
        with pytest.raises(WarehouseFull, match=rf"progress\.zoo: no space left .* free in {disk}"):
            table.append([{"window": os.urandom(32).hex()} for _ in range(5000)])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_other_failures_are_left_as_they_are(tmp_path: Path) -> None:
    table = table_at(tmp_path)
    write_deltalake(table.path, pa.table({"window": [1]}), mode="append")
    with pytest.raises(Exception, match="Cannot cast"):
        table.now().append([row("a")])


def test_the_folders_beside_a_table_are_known(small: InProcessTable) -> None:
    """As gold's tables are: in a folder and in a store."""
    parent = small.path.rpartition("/")[0]
    assert delta_rs.folders(parent, small.warehouse) == frozenset()
    small.append([row("2025-11-20T03")])
    assert delta_rs.folders(parent, small.warehouse) == {small.path.rpartition("/")[2]}


def test_parts_of_a_file_without_the_values_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "progress" / "zoo"
    texts = [f"{number:03}" for number in range(100)]
    rows = pa.table(
        {
            # Leaves come before the column, so that its place among them is another.
            "parts": [[{"one": 1, "other": 2}]] * 100,
            "key_text": texts,
            "number": [*range(100)],
        }
    )
    write_deltalake(folder, rows)
    (path,) = folder.glob("*.parquet")
    pq.write_table(rows, path, row_group_size=10)
    table = InProcessTable.at("progress.zoo", str(folder), str(tmp_path))
    (file,) = table.files()

    def found(*wanted: str) -> list[int]:
        values = ("key_text", pa.array(sorted(wanted)))
        rows: list[int] = table.read_parts_with(file, ["number"], values)["number"].to_pylist()
        return rows

    assert found("005", "059") == [*range(10), *range(50, 60)]
    assert found("999") == []
    assert found("0055") == [*range(10)]
    assert table.read_parts_with(file, ["number"], ("none", pa.array(["1"]))).num_rows == 100
