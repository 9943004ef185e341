"""Spark's commits on S3: each version of a table has one winner, and no row is lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from assets.storage import delta_rs
from tests.orchestration.spark.committer import BUCKET, BUSY, DONE, ROUNDS, TABLE, WAREHOUSE
from tests.services.seaweed import Store, store

__all__ = ["store"]

pytestmark = [pytest.mark.services, pytest.mark.journey]

WRITERS = ("made", "before once", "before again", "again", "before asleep", "asleep")
"""Who commits once outside the race."""

TAKEN = "java.nio.file.FileAlreadyExistsException"
"""What Delta takes for another's commit."""


@pytest.fixture(scope="module")
def found(store: Store, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the process tells."""
    store.put(BUCKET, {})
    folder = tmp_path_factory.mktemp("committer")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.orchestration.spark.committer", store.endpoint],
        cwd=Path(__file__).resolve().parents[3],
        env={
            **os.environ,
            **store.environment(),
            "WEIR_SPARK_DRIVER_MEMORY": "1g",
            "TMPDIR": str(folder),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    told: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return told


def text_of(store: Store, name: str) -> str:
    """A file of the log store, empty where there is none."""
    client = store.client()
    try:
        body = client.get_object(Bucket=BUCKET, Key=f"files/{name}")["Body"].read()
    except client.exceptions.NoSuchKey:
        return ""
    return body.decode()


def test_a_version_that_is_there_is_refused_unless_it_is_this_writers_own(
    store: Store, found: dict[str, Any]
) -> None:
    log = found["log"]
    assert (log["first"], log["same text"], log["other text"]) == (DONE, DONE, TAKEN)
    assert text_of(store, "a") == "one\n"
    # Delta itself says which files may be replaced: its checksums and the like.
    assert (log["new"], log["overwritten"], text_of(store, "b")) == (DONE, DONE, "two\n")


def test_what_the_store_answers_is_a_commit_or_a_refusal_or_an_error(
    store: Store, found: dict[str, Any]
) -> None:
    log = found["log"]
    # Sent again, it meets what it has written itself.
    assert (log["answer lost"], text_of(store, "c")) == (DONE, "one\n")
    assert (log["another's, 409"], log["another's, 412"]) == (TAKEN, TAKEN)
    for case in ("nobody's, 409", "nobody's, 412"):
        assert log[case] not in (DONE, TAKEN)
    assert (text_of(store, "a"), text_of(store, "d")) == ("one\n", "")


def test_of_two_that_write_a_version_at_once_one_wins(store: Store, found: dict[str, Any]) -> None:
    for number, ends in enumerate(found["log race"]):
        assert sorted(ends) == sorted([DONE, TAKEN])
        assert text_of(store, f"race_{number}") == f"{'xy'[ends.index(DONE)]}\n"


def test_no_row_is_lost_or_doubled_though_others_commit_between_spark_s_look_and_its_commit(
    store: Store, found: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    # As Weir has it, Delta tries no second time; as others have it, it tries again behind the other's commit.
    assert (found["made"], found["once"], found["again"]) == (DONE, BUSY, DONE)
    # One that fell asleep between its look at the leases and Delta's own look at the table comes too late as well.
    assert found["behind another"] == [BUSY, DONE]
    race = [tuple(one) for one in found["race"]]
    expected = Counter((writer, number) for writer, number, end in race if end == DONE)
    assert {number for _, number in expected} == {*range(ROUNDS)}, "somebody wins each round"
    expected.update((writer, 0) for writer in WRITERS)
    table = DeltaTable(TABLE, storage_options=delta_rs.options(WAREHOUSE))
    rows = table.to_pyarrow_table().to_pylist()
    assert Counter((row["writer"], row["number"]) for row in rows) == expected
    assert table.version() + 1 == expected.total()
    # Races in which nobody met another would prove nothing.
    assert BUSY in {end for _, _, end in race}
