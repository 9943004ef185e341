"""A landing lists what belongs to the feed, says what it left out, and reads what is there now."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.landing.landings import FolderLanding, S3Landing, open_landing
from tests.services.seaweed import ACCESS_KEY, SECRET_KEY, Store
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed

JSON_FILES = ("**/*.json*", "**/*.ndjson*")
WRITTEN = datetime(2026, 11, 20, 3, 30, tzinfo=UTC)


def feed(landing: str | Path, files: str | None = None) -> Feed:
    return Feed(name="tpch", format="arcion_s3_json", landing=str(landing), files=files)


def write(root: Path, *names: str, data: bytes = b"{}") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (WRITTEN.timestamp(), WRITTEN.timestamp()))


def names_in(root: Path, files: str | None = None) -> list[str]:
    return [one.name for one in open_landing(feed(root, files), JSON_FILES).list()]


def test_a_folder_is_listed_with_generation_time_and_window(tmp_path: Path) -> None:
    write(tmp_path, "region/2026-11-19/07/b.json", "a.json.gz")
    nanoseconds = (tmp_path / "a.json.gz").stat().st_mtime_ns
    landing = open_landing(feed(tmp_path), JSON_FILES)
    first, second = landing.list()
    assert isinstance(landing, FolderLanding)
    assert (first.name, first.generation, first.size) == ("a.json.gz", f"2-{nanoseconds}", 2)
    assert (first.modified_at, first.window) == (WRITTEN, "2026-11-20T03")
    assert (second.name, second.window) == ("region/2026-11-19/07/b.json", "2026-11-19T07")
    assert landing.left_out.count == 0


def test_what_is_left_out_is_said_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.json", "a.csv", ".hidden.json", ".git/b.json", "_SUCCESS", "c.json.tmp")
    write(tmp_path, "_temporary/0/d.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    landing = open_landing(feed(tmp_path), JSON_FILES)
    assert [one.name for one in landing.list()] == ["a.json"]
    assert landing.left_out.count == 7
    assert list(landing.left_out) == [
        ".git/b.json: hidden",
        ".hidden.json: hidden",
        "_SUCCESS: a marker: its name begins with an underscore",
        "_temporary/0/d.json: temporary",
        "a.csv: does not match **/*.json* or **/*.ndjson*",
        "c.json.tmp: temporary",
        "gone.json: no regular file, or a link to nothing",
    ]
    (tmp_path / os.fsdecode(b"\xff.json")).write_bytes(b"{}")
    assert len(list(landing.list())) == 1
    assert "?.json: its name is not valid UTF-8" in landing.left_out


def test_of_many_left_out_twenty_are_named(tmp_path: Path) -> None:
    write(tmp_path, *(f"{n:02}.csv" for n in range(25)))
    landing = open_landing(feed(tmp_path), JSON_FILES)
    assert list(landing.list()) == []
    named = list(landing.left_out)
    assert (landing.left_out.count, len(named), named[-1]) == (25, 21, "and 5 more")


def test_what_a_sink_wrote_beside_the_values_is_told_once_and_counted(tmp_path: Path) -> None:
    ends = ("json", "keys.json", "headers.json", "keys.json.gz")
    write(tmp_path, *(f"t/{n:02}/t+0+{n:010}.{end}" for n in range(30) for end in ends))
    # No sink writes such names.
    write(tmp_path, "house.keys.json", "t+0+x.keys.json", "other.csv")
    landing = open_landing(feed(tmp_path), JSON_FILES)
    drops = [one.name for one in landing.list()]
    assert len(drops) == 32
    assert {"house.keys.json", "t+0+x.keys.json"} < {*drops}
    assert landing.left_out.count == 91
    assert [one.partition(" of Kafka")[0] for one in landing.left_out] == [
        "other.csv: does not match **/*.json* or **/*.ndjson*",
        "t/00/t+0+0000000000.headers.json and 29 more: headers",
        "t/00/t+0+0000000000.keys.json and 59 more: keys",
    ]


@pytest.mark.parametrize(
    ("files", "count"), [("**/*.json", 1), ("**/*.keys.json", 1), ("**/*.{keys,headers}.json", 0)]
)
def test_they_are_read_where_the_feed_file_asks_for_them(
    tmp_path: Path, files: str, count: int
) -> None:
    write(tmp_path, *(f"t+0+0{end}.json" for end in ("", ".keys", ".headers")))
    assert len(names_in(tmp_path, files)) == count


def test_what_a_link_inside_leads_to_is_met_once(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    write(landing, "region/a.json")
    (landing / "region" / "loop").symlink_to(landing)
    (landing / "latest").symlink_to(landing / "region")
    (landing / "itself").symlink_to(landing / "itself")
    opened = open_landing(feed(landing), JSON_FILES)
    assert [one.name for one in opened.list()] == ["region/a.json"]
    assert list(opened.left_out) == ["itself: does not match **/*.json* or **/*.ndjson*"]


def test_what_is_read_is_what_is_there_now(tmp_path: Path) -> None:
    write(tmp_path, "a.json")
    landing = open_landing(feed(tmp_path), JSON_FILES)
    (one,) = landing.list()
    assert landing.read(one.name, one.generation, 100) == (b"{}", one.generation)
    (tmp_path / "a.json").write_bytes(b'{"new":1}')
    data, generation = landing.read(one.name, one.generation, 100)
    assert (data, generation[:2]) == (b'{"new":1}', "9-")


def refused(landing: str | Path) -> str:
    with pytest.raises(UnreadableLanding) as refusal:
        list(open_landing(feed(landing), JSON_FILES).list())
    return str(refusal.value)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refused(missing) == (
        f"feed tpch: cannot read {missing}: there is no such folder. "
        "Create it, or correct the feed's landing."
    )
    write(tmp_path, "file")
    assert "it is no folder" in refused(tmp_path / "file")


def test_an_address_that_is_no_place_of_objects_is_refused() -> None:
    assert "kafka:// addresses are not supported here" in refused("kafka://broker:9092/topic")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment without any AWS configuration."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    return monkeypatch


@pytest.fixture
def s3(store: Store, aws: pytest.MonkeyPatch) -> Store:
    for name, value in store.environment().items():
        aws.setenv(name, value)
    return store


@pytest.mark.services
def test_a_bucket_is_listed_below_its_prefix_and_read(s3: Store) -> None:
    objects = {
        "tpch/region/2026-11-20/03/é b+c.json": b'{"a":1}',
        "tpch/region/": b"",
        "tpch/empty.json": b"",
        "tpch/_SUCCESS": b"",
        "tpch/x.csv": b"1",
        "tpch2/other.json": b"{}",
    }
    s3.put("drops", objects)
    for address in ("s3://drops/tpch/", "s3://drops/tpch"):
        landing = open_landing(feed(address), JSON_FILES)
        empty, region = landing.list()
        assert isinstance(landing, S3Landing)
        assert (empty.name, empty.size) == ("empty.json", 0)
        assert (region.name, region.size) == ("region/2026-11-20/03/é b+c.json", 7)
        assert region.window == "2026-11-20T03"
        assert landing.left_out.count == 2
        assert landing.read(region.name, region.generation, 100) == (b'{"a":1}', region.generation)
        assert '"' not in region.generation


@pytest.mark.services
def test_a_replaced_object_is_read_with_its_new_generation(s3: Store) -> None:
    s3.put("replaced", {"a.json": b"old"})
    landing = open_landing(feed("s3://replaced"), JSON_FILES)
    (before,) = landing.list()
    s3.client().put_object(Bucket="replaced", Key="a.json", Body=b"new")
    data, generation = landing.read(before.name, before.generation, 100)
    (after,) = landing.list()
    assert (data, generation) == (b"new", after.generation)
    assert generation != before.generation


@pytest.mark.services
def test_more_objects_than_a_page_holds_are_all_listed(s3: Store) -> None:
    s3.put("many", {})
    client = s3.client()
    keys = [f"d/{n:04}.json" for n in range(1203)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: client.put_object(Bucket="many", Key=key, Body=b"{}"), keys))
    listed = [f"d/{one.name}" for one in open_landing(feed("s3://many/d/"), JSON_FILES).list()]
    assert listed == keys


@pytest.mark.services
def test_what_s3_refuses_is_said_without_the_secrets(s3: Store, aws: pytest.MonkeyPatch) -> None:
    s3.put("guarded", {"a.json": b"{}"})
    assert "s3://nowhere/: the bucket does not exist" in refused("s3://nowhere")
    with pytest.raises(UnreadableLanding, match="gone since it was listed"):
        open_landing(feed("s3://guarded")).read("b.json", "x", 100)
    assert "the bucket's name is not valid" in refused("s3://Not A Bucket/")

    aws.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret")
    messages = refused("s3://guarded")
    assert "the secret key is wrong for the access key" in messages
    assert "AWS_SECRET_ACCESS_KEY" in messages
    aws.setenv("AWS_ACCESS_KEY_ID", "wrong-key")
    messages += refused("s3://guarded")
    assert "the store does not know the access key" in messages
    aws.delenv("AWS_SECRET_ACCESS_KEY")
    assert "the credentials are incomplete" in refused("s3://guarded")
    aws.delenv("AWS_ACCESS_KEY_ID")
    messages += refused("s3://guarded")
    assert "there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in messages
    aws.setenv("AWS_PROFILE", "nobody")
    messages += refused("s3://guarded")
    assert "AWS_PROFILE names a profile that does not exist" in messages
    for secret in ("wrong-secret", "wrong-key", "nobody", ACCESS_KEY, SECRET_KEY, s3.endpoint):
        assert secret not in messages


def test_a_dead_endpoint_fails_fast(aws: pytest.MonkeyPatch) -> None:
    aws.setenv("AWS_ACCESS_KEY_ID", "key")
    aws.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    aws.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    start = time.monotonic()
    assert "nothing answers at the store's address. Check AWS_ENDPOINT_URL_S3" in refused(
        "s3://x-y-z"
    )
    assert time.monotonic() - start < 20
    aws.setenv("AWS_ENDPOINT_URL_S3", "nonsense")
    assert "the store's address is not valid" in refused("s3://x-y-z")
