"""Secrets of the environment are in nothing that Weir prints or keeps, after commands that end well and that fail."""

from __future__ import annotations

import base64
import binascii
import gzip
import os
import re
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.services.kafka import free_ports
from tests.services.seaweed import SECRET_KEY, Store, store
from tests.support.pet_feed import change, drop

__all__ = ["store"]

pytestmark = [pytest.mark.journey, pytest.mark.services]

FEED = """\
format: arcion_s3_json
landing: s3://secret-drops/zoo/
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
CROWD = """\
format: arcion_s3_json
landing: s3://secret-drops/crowd/
tables: {people: {key: [id], columns: {id: int, name: string}, mask: {name: hash}}}
"""
PEOPLE = 6_000
"""So many that Spark's tasks hash their names, and have the secret for that."""
LONG = " of a very long line" * 80
"""So long that Spark's tasks read their drops, too."""
TOPIC = """\
format: debezium
landing: kafka://127.0.0.1:{port}/pets
source: postgresql://127.0.0.1:{port}/zoo
tables: {{pets: {{key: [id], columns: {{id: int, name: string}}}}}}
"""
WRONG, KAFKA, MAIL, HOOK = "wrong+secret/4711", "kafka secret 4712", "mail-secret-4713", "hook-4714"
ADDRESS, MASK = "secret+of/an-address-4715", "mask/secret+of-names-4716"
ERASURE, SOURCE, TOKEN = "erasure/secret+of-keys-4717", "source-secret-4718", "catalogue-4719"


def forms(secret: str) -> set[bytes]:
    """The ways in which it may be written: as it is, in an address, and in base64 wherever it begins there."""
    found = {secret.encode(), quote(secret).encode(), quote(secret, safe="").encode()}
    for shift in range(3):
        whole = base64.b64encode(b"x" * shift + secret.encode())
        # The first and last signs have bits of the neighbours in them.
        found.add(whole[-(-8 * shift // 6) : len(whole) - 4])
    return found


CODED = re.compile(rb"[A-Za-z0-9+/]{64,}={0,2}")


def inflated(data: bytes) -> bytes:
    """What was compressed, or nothing."""
    for inflate in (zlib.decompress, gzip.decompress):
        with suppress(zlib.error, gzip.BadGzipFile, EOFError):
            return inflate(data)
    return b""


def inside(body: bytes) -> Iterator[bytes]:
    """All that a file holds: itself, and what in it is compressed or coded."""
    yield body
    yield inflated(body)
    if body.startswith(b"PAR1"):
        for column in pq.read_table(pa.BufferReader(body)).columns:
            yield str(column.to_pylist()).encode()
    if body.startswith(b"SQLite format 3"):
        with closing(sqlite3.connect(":memory:")) as history:
            # As one that keeps no log beside it: that is a file of its own, which is looked through, too.
            history.deserialize(body[:18] + b"\1\1" + body[20:])
            for (table,) in history.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
                for row in history.execute(f'SELECT * FROM "{table}"'):
                    for cell in row:
                        yield inflated(cell) if isinstance(cell, bytes) else str(cell).encode()
    for coded in CODED.findall(body):
        with suppress(binascii.Error):
            decoded = base64.b64decode(coded)
            yield decoded
            yield inflated(decoded)


@pytest.fixture
def told(store: Store, tmp_path: Path) -> dict[str, str]:
    """The environment of a command, with every secret that Weir may be given."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "AWS_", "DAGSTER_", "PYSPARK_"))
    }
    (tmp_path / "events").mkdir()
    logged = f"spark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir file://{tmp_path}/events\n"
    # With the second one every job of Spark's fails, in the middle of a run.
    for name, more in (("spark", ""), ("failing", "spark.driver.maxResultSize 1b\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "spark-defaults.conf").write_text(logged + more)
    (dead,) = free_ports(1)
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(FEED)
    (tmp_path / "feeds" / "topic.yaml").write_text(TOPIC.format(port=dead))
    (tmp_path / "feeds" / "crowd.yaml").write_text(CROWD)
    people = [
        change(
            "I", n, after={"id": str(n), "name": f"name {n}{LONG}"}, table="people", minute=n // 200
        )
        for n in range(1, PEOPLE + 1)
    ]
    ada, bo = {"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"}
    data = drop(change("I", 1, after=ada), change("I", 2, after=bo)) + b"{broken\n"
    drops = {"zoo/2025-11-20/03/a.json": data, "crowd/2025-11-20/03/a.json": drop(*people)}
    store.put("secret-drops", drops)
    store.put("secret-tables", {})
    return {
        **kept,
        **store.environment(),
        "SPARK_CONF_DIR": str(tmp_path / "spark"),
        "DAGSTER_HOME": str(tmp_path / "history"),
        "WEIR_FEEDS": str(tmp_path / "feeds"),
        "WEIR_WAREHOUSE": "s3://secret-tables/lake",
        "WEIR_METRICS": str(tmp_path / "metrics"),
        "WEIR_KAFKA_SASL_PASSWORD": KAFKA,
        "WEIR_KAFKA_SASL_USERNAME": "weir",
        "WEIR_KAFKA_SASL_MECHANISM": "PLAIN",
        "WEIR_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "WEIR_MASK_KEY": MASK,
        "WEIR_ERASURE_KEY": ERASURE,
        "WEIR_SOURCE_USERNAME": "weir",
        "WEIR_SOURCE_PASSWORD": SOURCE,
        "WEIR_CATALOGUES": f"unity+http://127.0.0.1:{dead}/main",
        "WEIR_CATALOGUE_TOKEN": TOKEN,
        "WEIR_ALERTS": f"http://127.0.0.1:{dead}/services/{HOOK} "
        f"mailto://weir:{MAIL}@127.0.0.1:{dead}?to=somebody@example.com&from=weir@example.com",
    }


def weir(folder: Path, environment: Mapping[str, str], *words: str) -> int:
    """Run a command; what it prints is kept beside all else that is looked through."""
    number = len(list(folder.glob("printed-*")))
    with (folder / f"printed-{number:02}").open("wb") as output:
        return subprocess.run(
            [str(Path(sys.executable).with_name("weir")), *words],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        ).returncode


def kept(folder: Path, store: Store) -> Iterator[tuple[str, bytes]]:
    """Everything that is left behind: files, and the objects of the warehouse."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()
    client = store.client()
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="secret-tables"):
        for entry in page.get("Contents", []):
            body = client.get_object(Bucket="secret-tables", Key=entry["Key"])["Body"].read()
            yield f"s3://secret-tables/{entry['Key']}", body


def test_no_secret_is_printed_or_kept(tmp_path: Path, store: Store, told: dict[str, str]) -> None:
    assert weir(tmp_path, told, "run", "--feed", "zoo") == 0
    # Runs and a query that need Spark, whose event log has its settings and plans.
    assert weir(tmp_path, told, "run", "--feed", "crowd") == 0
    failing = {**told, "SPARK_CONF_DIR": str(tmp_path / "failing")}
    elsewhere = ("--warehouse", "s3://secret-tables/failing")
    assert weir(tmp_path, failing, "run", "--feed", "crowd", *elsewhere) != 0
    assert weir(tmp_path, told, "query", "SELECT count(*), sum(hash(name)) FROM gold.zoo.pets") == 0
    erased = ("erase", "zoo", "pets", "2", "--yes", "--by", "ann", "--reason", "asked to")
    assert weir(tmp_path, told, *erased) == 0
    assert weir(tmp_path, told, "run", "--feed", "topic") == 2
    assert weir(tmp_path, told, "reconcile", "topic") == 2
    assert weir(tmp_path, told, "register", "zoo") == 1
    assert weir(tmp_path, told, "status", "--details") in (0, 1, 2)
    assert weir(tmp_path, told, "notify", "--test") != 0
    denied = {**told, "AWS_SECRET_ACCESS_KEY": WRONG}
    assert weir(tmp_path, denied, "run", "--feed", "zoo") == 2
    assert weir(tmp_path, denied, "onboard", "s3://secret-drops/zoo/", "--print") == 2
    signed = f"s3://AKIAIOSFODNN7EXAMPLE:{ADDRESS}@secret-tables/lake"
    assert weir(tmp_path, told, "run", "--feed", "zoo", "--warehouse", signed) == 2
    assert weir(tmp_path, {**told, "WEIR_WAREHOUSE": signed}, "status") == 2
    assert weir(tmp_path, told, "onboard", signed, "--print") == 2
    found = dict(kept(tmp_path, store))
    # That which was looked through is there: the run's history, Spark's event log, the tables.
    assert b"Job aborted due to stage failure" in found["printed-02"]
    logs = {name.split("/")[1] for name in found if name.startswith("events/")}
    assert len(logs) == 3
    for part in ("history/", "events/", "s3://secret-tables/lake/gold/", "metrics/"):
        assert any(name.startswith(part) for name in found), part
    looked_through = {name: b"\n".join(inside(body)) for name, body in found.items()}
    # The masks of the feed, in Dagster's snapshots or Spark's plans; names that are not masked, in tables.
    texts = {
        part: b"\n".join(body for name, body in looked_through.items() if name.startswith(part))
        for part in ("history/", "events/", "s3://secret-tables/lake/gold/")
    }
    assert b"silver__crowd" in texts["history/"]
    assert b"BatchScan weir_records" in texts["events/"], "Spark's tasks read no drop"
    assert b"Ada" in texts["s3://secret-tables/lake/gold/"]
    secrets = (SECRET_KEY, WRONG, KAFKA, MAIL, HOOK, ADDRESS, MASK, ERASURE, SOURCE, TOKEN)
    for secret in secrets:
        written = forms(secret)
        places = [
            name for name, body in looked_through.items() if any(form in body for form in written)
        ]
        assert not places, f"{secret} is in {places}"


def test_what_is_compressed_or_coded_is_looked_through(tmp_path: Path) -> None:
    deep = base64.b64encode(zlib.compress(f"{WRONG} and more".encode() + os.urandom(99)))
    pq.write_table(pa.table({"name": [f"a {WRONG}"]}), tmp_path / "a.parquet")
    with closing(sqlite3.connect(tmp_path / "a.db")) as history:
        history.execute("PRAGMA journal_mode = wal")
        history.execute("CREATE TABLE snapshots (body BLOB)")
        history.execute("INSERT INTO snapshots VALUES (?)", [zlib.compress(WRONG.encode())])
        history.commit()
    files = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert len(files) == 2
    for body in (*files, b'{"plan": "' + deep + b'"}', gzip.compress(WRONG.encode())):
        assert any(WRONG.encode() in part for part in inside(body))


def test_a_secret_is_found_however_it_is_written() -> None:
    for text in (WRONG, quote(WRONG), quote(WRONG, safe="")):
        assert any(form in text.encode() for form in forms(WRONG))
    for begin in ("", "a", "ab", "abc"):
        written = base64.b64encode(f"{begin}{WRONG} and more".encode())
        assert any(form in written for form in forms(WRONG)), begin
