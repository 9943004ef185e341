"""YugabyteDB's tablets over several windows: what shows when, and how far the consumer has come."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from assets.bronze import from_objects
from assets.control import yugabyte_checkpoints
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import bring, lay, names
from transforms.feed.feed import Feed, Table

PETS = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
FIRST, SECOND, THIRD = (f"2026-11-20T0{hour}" for hour in (3, 4, 5))


def feed_of(folder: Path) -> Feed:
    return Feed("yuga", "yugabyte", str(folder), tables={"pets": PETS})


def message(
    op: int, txn: str | None = None, at: tuple[int, int, int] | None = None, **row: object
) -> dict[str, object]:
    """A record of the CDC SDK; ``row`` is what its tuple says."""
    datums = [
        {
            "column_name": name,
            "column_type": 23 if isinstance(value, int) else 25,
            "Datum": {"DatumInt32" if isinstance(value, int) else "DatumString": value},
        }
        for name, value in row.items()
    ]
    said: dict[str, object] = {"table": "pets", "op": op, "pgschema_name": "public"}
    said |= {"transaction_id": txn} if txn else {}
    said |= {"old_tuple" if op == 2 else "new_tuple": datums} if datums else {}
    record: dict[str, object] = {"row_message": said}
    if at is not None:
        record["cdc_sdk_op_id"] = dict(zip(("term", "index", "write_id"), at, strict=True))
    return record


def response(
    *records: dict[str, object], term: int = 1, index: int, key: str | None = None
) -> bytes:
    checkpoint = {"term": term, "index": index, "write_id": 1 if key else 0}
    checkpoint |= {"key": key} if key else {}  # type: ignore[dict-item]
    body = {"cdc_sdk_proto_records": list(records), "cdc_sdk_checkpoint": checkpoint}
    return json.dumps(body).encode() + b"\n"


def reached(index: int, term: int = 1) -> bytes:
    """A response with a committed row."""
    return response(message(0, None, (term, index, 0), id=index), term=term, index=index)


def offset(lake: Lake, feed: Feed) -> dict[str, tuple[object, ...]]:
    """Per tablet the stream, term, index and window of the offset."""
    return {
        row["tablet"]: (row["stream"], row["term"], row["index"], row["window"])
        for row in yugabyte_checkpoints.write_offsets(lake, feed)
    }


def object_name(window: str, tablet: str = "t1") -> str:
    day, hour = window.split("T")
    return f"stream=s1/tablet={tablet}/{day}/{hour}/a.jsonl"


BEGUN = response(
    message(0, None, (1, 4, 0), id=1, name="Rex"),
    message(3, "MQ=="),
    message(1, "MQ==", (1, 6, 0), id=1, name="Max"),
    index=6,
    key="aW50ZW50",
)
GOES_ON = response(message(0, "MQ==", (1, 6, 3), id=2, name="Tom"), index=6, key="aW50ZW51")
ENDS = response(message(4, "MQ==", (1, 6, 0)), index=6)


def test_a_transaction_shows_when_all_its_windows_are_read(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    for window, data in ((FIRST, BEGUN), (SECOND, GOES_ON), (THIRD, ENDS)):
        lay(folder, object_name(window), data)
    _, made = bring(lake, feed, [FIRST])
    assert names(lake, feed) == {1: "Rex"}
    assert made.violations["accounting_is_exact"] == 0
    bring(lake, feed, [THIRD])
    assert names(lake, feed) == {1: "Rex"}
    bring(lake, feed, [SECOND])
    assert names(lake, feed) == {1: "Max", 2: "Tom"}


def test_an_offset_is_behind_a_commit(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    before = response(message(0, None, (1, 3, 0), id=9, name="Leo"), index=3)
    lay(folder, object_name(FIRST), before + BEGUN)
    lay(folder, object_name(FIRST, "t2"), response(message(3, "Mg=="), index=8, key="aW50"))
    lay(folder, object_name(SECOND), GOES_ON)
    more = response(message(3, "Mw=="), message(4, "Mw==", (1, 12, 0)), index=12)
    lay(folder, object_name(THIRD), ENDS + more + response(index=13) + reached(11))
    bring(lake, feed, [FIRST])
    assert offset(lake, feed) == {"t1": ("s1", 1, 3, FIRST), "t2": ("s1", None, None, None)}
    bring(lake, feed, [THIRD])
    # The second window has landed and is not read: nothing behind it is done.
    assert offset(lake, feed)["t1"] == ("s1", 1, 3, FIRST)
    bring(lake, feed, [SECOND])
    assert offset(lake, feed)["t1"] == ("s1", 1, 12, THIRD)
    assert lake.table(Layer.OFFSETS, feed.name).read().count() == 2


def test_a_higher_term_is_further_whatever_the_index(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    lay(
        folder,
        object_name(FIRST),
        reached(90) + reached(5, term=2) + reached(91),
    )
    bring(lake, feed, [FIRST])
    assert offset(lake, feed) == {"t1": ("s1", 2, 5, FIRST)}


def test_each_feed_is_a_consumer_of_its_own(lake: Lake, folder: Path) -> None:
    lay(folder, object_name(FIRST), reached(4))
    for name in ("audit", "mirror"):
        feed = replace(feed_of(folder), name=name)
        bring(lake, feed, [FIRST])
        assert [row["consumer"] for row in yugabyte_checkpoints.write_offsets(lake, feed)] == [name]


def test_a_drop_in_an_old_window_holds_the_offset_back(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    lay(folder, object_name(FIRST), reached(4))
    lay(folder, object_name(SECOND), reached(5))
    bring(lake, feed, [FIRST, SECOND])
    assert offset(lake, feed) == {"t1": ("s1", 1, 5, SECOND)}
    lay(folder, object_name(SECOND).replace("a.jsonl", "b.jsonl"), reached(6))
    from_objects.land(lake, feed, [FIRST])
    assert offset(lake, feed) == {"t1": ("s1", 1, 4, FIRST)}


def test_only_a_commit_moves_the_offset(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    commit = message(3, "MQ=="), message(4, "MQ==", (1, 4, 0))
    begun = message(3, "Mg=="), message(0, "Mg==", (1, 6, 0), id=6)
    # A higher term, but no commit: a DDL, and an empty response.
    superseded = response(message(5), term=2, index=3) + response(term=3, index=1)
    lay(folder, object_name(FIRST, "ddl"), superseded)
    lay(folder, object_name(FIRST, "both"), superseded + response(*commit, index=4))
    lay(folder, object_name(FIRST, "within"), response(*commit, *begun, index=6, key="aW50"))
    alone = b"".join(json.dumps(one).encode() + b"\n" for one in (*commit, message(5)))
    lay(folder, object_name(FIRST, "alone"), alone)
    bring(lake, feed, [FIRST])
    assert offset(lake, feed) == {
        "ddl": ("s1", None, None, None),
        "both": ("s1", 1, 4, FIRST),
        "within": ("s1", 1, 4, FIRST),
        "alone": ("s1", 1, 4, FIRST),
    }
