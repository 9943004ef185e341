"""What bad input gets: it stands in quarantine with its reason, what is good beside it reaches silver, the run ends.

Each drop has a good record before the bad one and another behind it, so that a bad one that swallows its neighbours
does not go unseen. What Weir has no memory for ends the run with an error that says what to do.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS, SPARK
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from tests.support.golden_landing import Row, made
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.errors import RecordFailed, WorkerLost
from transforms.event import Event, Pending
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.records.compression import MAGIC
from transforms.source_format import Decode, Decoder, SourceFormat

Surveyed = Mapping[str, frozenset[tuple[object, ...]]]

SOUND = dict(FORMATS)
WINDOW = "2025-11-20T03"
FOLDER = "2025-11-20/03"
MILLION = 1_000_000


def insert(id: int, name: str = "Ada") -> bytes:
    return change("I", id, after={"id": str(id), "name": name}).encode()


def named(text: bytes) -> bytes:
    """A record that is good but for this in place of the pet's name."""
    return insert(9, "?").replace(b'"?"', text)


def line_of_500_mb() -> bytes:
    """Half a megabyte on disk: a gzip may have many members. To read it takes 500 MB of memory, and a second or two."""
    piece = gzip.compress(b"x" * 10 * MILLION, 1)
    return gzip.compress(b'{"opType":"') + piece * 50 + gzip.compress(b'"}')


BAD: Mapping[str, tuple[bytes, list[str]]] = {
    "a line of 500 MB": (
        line_of_500_mb(),
        ["damaged_record: the record is longer than 67,108,864 bytes"],
    ),
    "10 million levels": (
        named(b"[" * 10 * MILLION + b"]" * 10 * MILLION),
        ["damaged_record: malformed JSON: nested too deeply, from line 2 on"],
    ),
    "10 million levels that never end": (
        b"[" * 10 * MILLION,
        [
            "damaged_record: malformed JSON: nested too deeply, from line 2 on",
            "damaged_record: malformed JSON: the array that begins at line 2 never ends",
        ],
    ),
    "201 levels": (
        named(b"[" * 199 + b"]" * 199),
        [
            "malformed_json: it is nested too deeply: more than 200 objects and lists within each other"
        ],
    ),
    "a name that stands twice": (
        named(b'"Ada", "name": "Ava"'),
        ["malformed_json: a name stands twice in one object: name"],
    ),
    "a number of a million digits": (
        named(b"1" * MILLION),
        ["malformed_json: not JSON that can be trusted: a number has 1,000,000 digits"],
    ),
    "a NUL byte in a text": (
        named(b'"A\x00a"'),
        [
            "malformed_json: not JSON: Invalid control character at line 1 column 372 of the document"
        ],
    ),
    "NUL bytes before a record": (
        b"\x00" * 4096 + named(b'"Ada"'),
        ["damaged_record: malformed JSON: Expecting value at line 2 column 1"],
    ),
    "JSON that is no object": (
        b'17\n"x"\nnull\n[[]]',
        [
            f"malformed_json: the record is no JSON object: {one}"
            for one in ("17", "x", "null", "[]")
        ],
    ),
}
"""Bad lines, and what quarantine says of them."""


def drop_of(number: int, bad: bytes) -> bytes:
    first, last = insert(10 * number + 1), insert(10 * number + 2)
    if bad.startswith(MAGIC):
        return gzip.compress(first + b"\n") + bad + gzip.compress(b"\n" + last)
    return b"\n".join((first, bad, last))


@pytest.fixture
def feed(folder: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})


WAYS = (IN_PROCESS, SPARK)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_bad_is_in_quarantine_and_what_is_good_beside_it_in_silver(
    lake: Lake, feed: Feed, folder: Path, way: str
) -> None:
    drops = {
        f"{FOLDER}/{name}.json": drop_of(number, bad)
        for number, (name, (bad, _)) in enumerate(BAD.items())
    }
    for name, data in drops.items():
        lay(folder, name, data)
    lake = lake.by(way)
    from_objects.land(lake, feed, [WINDOW])
    done = derive.derive(lake, feed, [WINDOW])
    found = made(lake, feed).windows[WINDOW]

    arrived = {(str(one["object"]), one["key"][0]) for one in found.changes}  # type: ignore[index]
    assert arrived == {
        (name, f"{10 * number + one}") for number, name in enumerate(drops) for one in (1, 2)
    }
    by_object = {name: [one for one in found.quarantine if one["object"] == name] for name in drops}
    assert {
        name: [f"{one['reason']}: {one['detail']}" for one in some]
        for name, some in by_object.items()
    } == {f"{FOLDER}/{name}.json": expected for name, (_, expected) in BAD.items()}
    for name, data in drops.items():
        for quarantined in by_object[name]:
            assert quarantined["feed"] == "zoo"
            stands_where_it_says(quarantined, data)
    bad, good = len(found.quarantine), len(found.changes)
    assert done.violations["accounting_is_exact"] == 0
    assert done.violations["nothing_quarantined"] == bad
    assert [
        (one["table"], one["records"], one["events"], one["changes"], one["quarantined"])
        for one in found.accounts
    ] == [(None, bad, bad, 0, bad), ("pets", good, good, good, 0)]


def stands_where_it_says(quarantined: Row, data: bytes) -> None:
    """What is kept of the record is what the object has there; of one that is too long, its beginning."""
    payload, start = quarantined["payload"], quarantined["byte_offset"]
    assert isinstance(payload, bytes)
    assert isinstance(start, int)
    if data.startswith(MAGIC):
        assert (payload[:12], len(payload)) == (b'{"opType":"x', 1 << 20)
        assert (start, quarantined["line"]) == (len(insert(1)) + 1, 2)
        return
    assert data[start : start + len(payload)] == payload
    assert quarantined["line"] == data.count(b"\n", 0, start) + 1


def spoil(monkeypatch: pytest.MonkeyPatch, format_name: str, **functions: object) -> None:
    """Put these in place of functions of a format."""
    formats = cast("dict[str, SourceFormat]", FORMATS)
    spoilt = replace(SOUND[format_name], **functions)  # type: ignore[arg-type]
    monkeypatch.setitem(formats, format_name, spoilt)


def at_line_2(format_name: str, happen: Callable[[], object]) -> Decoder:
    """The format's decoder, but for what happens when it comes to the second line of an object."""
    sound = SOUND[format_name].decoder

    def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
        decode = sound(feed, surveyed)

        def one(record: BronzeRecord) -> Iterator[Event | Pending]:
            if record.line == 2:
                happen()
            yield from decode(record)

        return one

    return decoder


def written(lake: Lake, feed: Feed) -> list[str]:
    """What a run of silver has left."""
    tables = (Layer.SILVER, Layer.QUARANTINE, Layer.ACCOUNTING, Layer.TRANSACTIONS)
    return [name for name in tables if Path(lake.path(name, feed.name)).exists()]


def test_a_record_too_large_for_memory_and_an_unforeseen_error_are_reported_with_their_place(
    lake: Lake,
    feed: Feed,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lay(folder, f"{FOLDER}/a.json", drop_of(0, insert(3)))
    from_objects.land(lake, feed, [WINDOW])
    faults: Mapping[str, Callable[[], object]] = {
        # More than there is on any machine.
        "it does not fit into the memory of the Python process": lambda: bytearray(1 << 60),
        "ZeroDivisionError: integer division": lambda: 1 // 0,
    }
    for message, happen in faults.items():
        spoil(monkeypatch, feed.format, decoder=at_line_2(feed.format, happen), shapes=None)
        for way in WAYS:
            lake = lake.by(way)
            place = rf"^feed zoo: reading stopped at {FOLDER}/a\.json, line 2: {message}"
            with pytest.raises(RecordFailed, match=place) as failure:
                derive.derive(lake, feed, [WINDOW])
            assert (failure.value.object, failure.value.line) == (f"{FOLDER}/a.json", 2)
    assert written(lake, feed) == []


def test_a_group_too_large_for_memory_is_reported_with_its_beginning(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"operation": "set", "uid": 3, "attr": "name", "value": "Ann", "value_type": "string"}
    line = {"key": "0", "value": {"meta": {"commit_ts": 5}, "type": "mutation", "event": event}}
    lay(folder, f"{FOLDER}/sink.log", drop(*[json.dumps(line)] * 3))
    feed = Feed("graph", "dgraph", str(folder))
    from_objects.land(lake, feed, [WINDOW])

    spoil(monkeypatch, "dgraph", resolver=lambda _: lambda _: bytearray(1 << 60))
    message = "3 records that belong together begin there: together they do not fit into the memory"
    for way in WAYS:
        lake = lake.by(way)
        with pytest.raises(
            RecordFailed, match=rf"stopped at {FOLDER}/sink\.log, line 1: {message}"
        ):
            derive.derive(lake, feed, [WINDOW])
    assert written(lake, feed) == []


def test_a_worker_killed_while_it_decodes_leaves_nothing_and_the_next_run_has_all(
    lake: Lake,
    feed: Feed,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lay(folder, f"{FOLDER}/a.json", drop_of(0, insert(3)))
    from_objects.land(lake, feed, [WINDOW])
    was_killed = tmp_path / "killed"

    def kill() -> None:
        if not was_killed.exists():
            was_killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    spoil(monkeypatch, feed.format, decoder=at_line_2(feed.format, kill), shapes=None)
    lake = lake.by(SPARK)
    with pytest.raises(WorkerLost, match="Nothing is half-written: run again"):
        derive.derive(lake, feed, [WINDOW])
    assert was_killed.exists()
    assert written(lake, feed) == []

    derive.derive(lake, feed, [WINDOW])
    found = made(lake, feed).windows[WINDOW]
    assert [row["key"] for row in found.changes] == [["1"], ["3"], ["2"]]


FEED_FILE = """\
format: arcion_s3_json
landing: {folder}
tables:
  pets: {{key: [id], columns: {{id: int, name: string}}}}
"""


@pytest.mark.spark
def test_records_that_spark_has_no_memory_for_end_the_run_with_what_to_set(
    folder: Path, tmp_path: Path, root: Path
) -> None:
    """A command of its own, for Java ends with it. Each record is as large as it may be; on disk they take no room."""
    for number in range(4):
        large = insert(number, "x" * 60 * MILLION)
        lay(folder, f"{FOLDER}/{number}.json", gzip.compress(large, 1))
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(FEED_FILE.format(folder=folder))
    settings = {
        **{"WEIR_SPARK_MASTER": "local[2]", "WEIR_SPARK_DRIVER_MEMORY": "500m"},
        **{"WEIR_FEEDS": f"{tmp_path}/feeds", "WEIR_WAREHOUSE": f"{tmp_path}/warehouse"},
    }
    done = subprocess.run(
        [sys.executable, "-m", "orchestration.cli.main", "run"],
        cwd=root,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (error,) = (line for line in done.stdout.splitlines() if line.startswith("error: "))
    assert error.startswith("error: Spark's Java process ended in the middle of its work")
    assert "WEIR_SPARK_DRIVER_MEMORY" in error
    assert not [*(tmp_path / "warehouse").glob("silver/zoo/_delta_log/*.json")]
