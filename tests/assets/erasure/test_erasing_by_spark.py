"""What Spark has written is erased, too: its checkpoints and checksums, marks of deleted rows, a change data feed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets.erasure import record
from assets.erasure.erase import finish_interrupted
from assets.executors.choice import SPARK
from assets.storage.lake import Lake, Layer
from tests.assets.erasure.test_erasing import (
    KEY,
    NAME,
    PEOPLE,
    PLANTED,
    WINDOWS,
    Stopped,
    a_feed,
    erased,
    lay_all,
    person,
    violations,
)
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed


def people_of(lake: Lake, feed: Feed) -> dict[str, str]:
    """Gold's people by id, as Spark reads them."""
    rows = lake.table(Layer.GOLD, feed.name, "people").read().collect()
    return {row["id"]: row["name"] for row in rows}


def test_a_row_that_spark_has_marked_goes_too(lake: Lake, folder: Path) -> None:
    lake = lake.by(SPARK)
    marking = replace(PEOPLE, deletes="mark", change_feed=True)
    feed = replace(a_feed(folder), tables={"people": marking})
    lay_all(folder)
    bring(lake, feed, WINDOWS[:1])
    bring(lake, feed, WINDOWS[1:2])
    rows = lake.table(Layer.GOLD, feed.name, "people").read().collect()
    assert {row["id"] for row in rows if row["_weir_is_deleted"]} == {KEY}
    erased(lake, feed)
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert people_of(lake, feed) == {"pk-1": "Adele", "pk-9": "Bea"}


def test_what_spark_has_written_is_erased_and_spark_goes_on(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake.by(SPARK)
    people = replace(PEOPLE, change_feed=True)
    feed = replace(a_feed(folder), tables={"people": people})
    lay_all(folder)
    # In two runs, so that the second marks rows of the first as deleted.
    bring(lake, feed, WINDOWS[:2])
    bring(lake, feed, WINDOWS[2:])
    gold = Path(lake.warehouse, "gold/zoo/people")
    assert [*gold.glob("_change_data/*")] and [*gold.glob("_delta_log/*.crc")]
    assert {KEY, NAME} <= layers_with(Path(lake.warehouse), PLANTED)["gold"]
    assert people_of(lake, feed) == {"pk-1": "Adele", KEY: NAME}

    # It dies when all is still to be derived, and who comes next derives by Spark.
    noted = record.note

    def dies(lake: Lake, feed: Feed, erasure: str, step: str, meaning: object) -> None:
        noted(lake, feed, erasure, step, meaning)
        if step == "quarantine.zoo":
            raise Stopped(step)

    with monkeypatch.context() as patched, pytest.raises(Stopped):
        patched.setattr(record, "note", dies)
        erased(lake, feed)
    assert NAME in layers_with(Path(lake.warehouse), PLANTED)["gold"]
    (done,) = finish_interrupted(lake, feed)
    assert done.finished_at is not None
    assert layers_with(Path(lake.warehouse), PLANTED) == {}
    assert people_of(lake, feed) == {"pk-1": "Adele"}
    lay(folder, "2025-11-20/06/d.json", drop(person("I", 40, KEY, "Newname")))
    assert violations(lake, feed) == {}
    assert people_of(lake, feed) == {"pk-1": "Adele", KEY: "Newname"}
