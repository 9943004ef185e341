"""Rows of silver that name a table and change nothing in it: they never reach gold, and Delta would not let them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from assets.gold import apply
from assets.gold.tables import CONSTRAINT, WHOLE_KEY
from assets.storage.lake import Lake, Layer
from tests.assets.test_yugabyte import feed_of, message, object_name, response
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

FIRST, SECOND = "2026-11-20T03", "2026-11-20T04"


def keys_of(lake: Lake, feed: Feed, table: str, *columns: str) -> set[tuple[object, ...]]:
    """The keys of all rows that gold has."""
    rows = lake.table(Layer.GOLD, feed.name, table).read().select(*columns).collect()
    found = {tuple(row) for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_masked_password_makes_no_row(lake: Lake, folder: Path) -> None:
    events = [
        {"operation": "set", "uid": 3, "attr": "pass", "value": "****", "value_type": "password"},
        {"operation": "set", "uid": 3, "attr": "name", "value": "Ann", "value_type": "string"},
    ]
    lines = [
        {"key": "0", "value": {"meta": {"commit_ts": at}, "type": "mutation", "event": event}}
        for at, event in enumerate(events, start=7)
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines)
    lay(folder, "2026-11-20/03/sink.log", data.encode())
    feed = Feed("graph", "dgraph", str(folder))
    feed = Feed("graph", "dgraph", str(folder), tables=FORMATS["dgraph"].tables(feed))
    _, made = bring(lake, feed, [FIRST])
    assert sum(account["control"] for account in made.accounts) == 1
    found = keys_of(lake, feed, "triples", "predicate", "value")
    assert found == {("name", "Ann")}


def test_the_begin_and_the_commit_of_a_transaction_make_no_row(lake: Lake, folder: Path) -> None:
    feed = feed_of(folder)
    lay(
        folder,
        object_name(FIRST),
        response(
            message(0, None, (1, 2, 0), id=1, name="Rex"),
            message(3),
            message(2, None, (1, 3, 0), id=1),
            message(4, None, (1, 4, 0)),
            message(0, None, (1, 5, 0), id=2, name="Tom"),
            index=5,
        ),
    )
    lay(folder, object_name(SECOND), response(message(3), message(4, None, (1, 7, 0)), index=7))
    bring(lake, feed, [FIRST])
    assert names(lake, feed) == {2: "Tom"}
    bring(lake, feed, [SECOND])
    assert names(lake, feed) == {2: "Tom"}
    assert keys_of(lake, feed, "pets", "id") == {(2,)}


def test_gold_refuses_a_row_without_a_key(lake: Lake, folder: Path) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    lay(folder, "2026-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "Ada"})))
    bring(lake, feed, [FIRST])
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    of_nulls = gold.read().withColumn("id", F.lit(None).cast("int"))
    with pytest.raises((PySparkException, Py4JJavaError), match=WHOLE_KEY):
        gold.append(of_nulls)
    assert keys_of(lake, feed, "pets", "id") == {(1,)}


def test_gold_of_a_table_without_a_key_refuses_a_row_that_is_none(lake: Lake, folder: Path) -> None:
    feed = Feed("bag", "arcion_s3_json", str(folder), tables={"pets": replace(PETS, key=())})
    lay(folder, "2026-11-20/03/a.json", drop(change("I", 1, after={"id": "1"})))
    bring(lake, feed, [FIRST])
    gold = lake.table(Layer.GOLD, "bag", "pets")
    assert keys_of(lake, feed, "pets", "id", "name") == {(1, None)}
    assert "_weir_copy" in gold.properties()[CONSTRAINT]
    with pytest.raises((PySparkException, Py4JJavaError), match=WHOLE_KEY):
        gold.append(gold.read().withColumn("_weir_key", F.lit(None).cast("string")))
    assert apply.apply(lake, feed, feed.tables["pets"], [FIRST]).metrics.keys == 0
