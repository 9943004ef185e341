"""What tables record of the feed that made them: its digest, and what must not change once history is compacted."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest

from transforms.feed import digest
from transforms.feed.decisions import Decisions, Epoch, Release
from transforms.feed.digest import altered_since, compacted_meaning, feed_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKey
from transforms.feed.schema_policies import Policies

EPOCHS = (Epoch("2025-11-20T05"), Epoch("2025-11-20T09", table="b"))
FEED = Feed(
    "zoo",
    "arcion_s3_json",
    "/nowhere",
    tables={
        "a": Table("a", ("id",), {"id": "int", "x": "int"}, (), since={"x": "2025-11-20T07"}),
        "b": Table("b", ("id",), {"id": "int", "y": "int"}, (), since={"y": "2025-11-20T05"}),
    },
    decisions=Decisions(EPOCHS, (Release("e", ("2025-11-20T03", "2025-11-20T08")),)),
)
WINDOWS = [f"2025-11-20T{hour:02}" for hour in range(24)]


def test_many_windows_have_the_digests_that_each_has_alone() -> None:
    of_window = digest.feed_digests(FEED)
    alone = {window: digest.feed_digest(FEED, window) for window in WINDOWS}
    assert {window: of_window(window) for window in reversed(WINDOWS)} == alone
    # Before 05, from 05, from 07 and from 09 on, and the two windows of the release.
    assert len({*alone.values()}) == 6


def test_it_is_worked_out_once_for_windows_that_are_judged_alike(digested: list[str]) -> None:
    of_window = digest.feed_digests(FEED)
    for day in range(1, 29):
        for hour in range(24):
            of_window(f"2025-12-{day:02}T{hour:02}")
    assert len(digested) == 1


REGION = Table("region", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
TPCH = Feed("tpch", "arcion_s3_json", "s3://drops/tpch/", tables={"region": REGION})


def test_the_digest_does_not_see_the_landing_or_the_order_of_tables() -> None:
    other = Table("nation", ("id",), {"id": "int"}, ("id",))
    one = dataclasses.replace(TPCH, tables={"region": REGION, "nation": other})
    two = dataclasses.replace(TPCH, tables={"nation": other, "region": REGION}, landing="/tmp/x")
    assert feed_digest(one, "2025-11-20T03") == feed_digest(two, "2025-11-20T03")


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(TPCH, name="tpch2"),
        dataclasses.replace(TPCH, format="arcion_s3_csv"),
        dataclasses.replace(TPCH, files="*.json"),
        dataclasses.replace(TPCH, window="day"),
        dataclasses.replace(TPCH, table_names="schema"),
        dataclasses.replace(TPCH, tables={}),
        dataclasses.replace(TPCH, tables={"region": dataclasses.replace(REGION, key=("name",))}),
        dataclasses.replace(
            TPCH, tables={"region": dataclasses.replace(REGION, cdc_columns=("name", "id"))}
        ),
        dataclasses.replace(
            TPCH,
            tables={"region": dataclasses.replace(REGION, columns={"name": "string", "id": "int"})},
        ),
        dataclasses.replace(TPCH, tables={"region": dataclasses.replace(REGION, path="r/*")}),
        dataclasses.replace(TPCH, tables={"region": dataclasses.replace(REGION, history=True)}),
    ],
)
def test_the_digest_sees_every_other_difference(other: Feed) -> None:
    assert feed_digest(other, "2025-11-20T03") != feed_digest(TPCH, "2025-11-20T03")


def test_the_digest_stays_what_it_was() -> None:
    """It is recorded in tables: a new way to write it would look like a new declaration."""
    assert feed_digest(TPCH, "2025-11-20T03").startswith("cc7db05379579f24")


WINDOW = "2025-11-20T05"
COLUMNS = {"id": "int", "name": "string", "price": "decimal(10,2)"}
PETS = Table("pets", ("id",), COLUMNS, tuple(COLUMNS), path="pets/*")
FOOD = Table("food", ("id",), {"id": "int"}, ("id",))
ZOO = Feed("zoo", "arcion_s3_json", "/drops", tables={"pets": PETS, "food": FOOD})


def words(feed: Feed, before: Feed = ZOO) -> list[str]:
    """What is altered, by what was written down of it as JSON."""
    then = json.loads(json.dumps(compacted_meaning(before, before.tables["pets"], WINDOW)))
    return altered_since(then, compacted_meaning(feed, feed.tables["pets"], WINDOW))


def with_pets(**parts: object) -> Feed:
    return replace(ZOO, tables={**ZOO.tables, "pets": replace(PETS, **parts)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "feed",
    [
        ZOO,
        with_pets(columns={**COLUMNS, "age": "int"}, cdc_columns=(*COLUMNS, "age")),
        with_pets(columns={**COLUMNS, "price": "decimal(12,4)"}),
        with_pets(columns={"id": "int", "price": "decimal(10,2)"}, cdc_columns=tuple(COLUMNS)),
        with_pets(columns={**COLUMNS, "extra": "string"}, added=("extra",)),
        with_pets(policies=Policies(add_column="evolve")),
        with_pets(history=True),
        # Of another name, and without a path: it takes nothing away from this one.
        replace(ZOO, tables={**ZOO.tables, "farm": replace(FOOD, name="farm")}),
        replace(ZOO, decisions=Decisions(epochs=(Epoch("2025-11-20T06"),))),
        replace(ZOO, decisions=Decisions(epochs=(Epoch("2025-11-20T04", table="food"),))),
    ],
)
def test_what_leaves_compacted_history_as_it_is(feed: Feed) -> None:
    assert words(feed) == []


@pytest.mark.parametrize(
    ("feed", "found"),
    [
        (with_pets(key=("id", "name")), "the key"),
        (
            with_pets(columns={**COLUMNS, "id": "bigint"}),
            "the key's column id (int then, bigint now)",
        ),
        (
            with_pets(columns={**COLUMNS, "price": "int"}),
            "the type of column price (decimal(10,2) then, int now)",
        ),
        (
            with_pets(cdc_columns=("name", "id", "price")),
            "the order of columns in rows of changes",
        ),
        (with_pets(renamed={"title": "name"}), "the columns' earlier names"),
        (with_pets(masks={"name": "null"}), "the masks of columns, or their key"),
        (
            with_pets(
                masks={"name": "drop"},
                columns={"id": "int", "price": "decimal(10,2)"},
                unmasked_columns=COLUMNS,
            ),
            "the masks of columns, or their key",
        ),
        (with_pets(defaults={"name": "?"}), "the defaults"),
        (with_pets(path="beasts/*"), "which drops and names are the table's"),
        (
            replace(ZOO, tables={**ZOO.tables, "cats": replace(FOOD, name="cats", path="pets/c*")}),
            "which drops and names are the table's",
        ),
        (
            replace(ZOO, tables={**ZOO.tables, "farm.pets": replace(FOOD, name="farm.pets")}),
            "which drops and names are the table's",
        ),
        (with_pets(policies=Policies(drop_column="keep")), "the policy of dropped columns"),
        (
            with_pets(policies=Policies(add_column="quarantine")),
            "whether undeclared columns are taken",
        ),
        (replace(ZOO, range_deletes="hold"), "whether range deletes are held"),
        (
            replace(ZOO, decisions=Decisions(epochs=(Epoch("2025-11-20T04"),))),
            "the epochs that begin there",
        ),
    ],
)
def test_what_asks_for_a_rebuild(feed: Feed, found: str) -> None:
    assert words(feed) == [found]


def test_a_table_without_a_key_tells_its_rows_apart_by_all_columns() -> None:
    before = with_pets(key=())
    after = with_pets(key=(), columns={**COLUMNS, "age": "int"}, cdc_columns=(*COLUMNS, "age"))
    assert words(after, before) == ["the key's column age (not declared then, int now)"]


def test_another_secret_is_another_past_for_tables_that_hash() -> None:
    hashed, nulled = with_pets(masks={"name": "hash"}), with_pets(masks={"name": "null"})
    old, new = MaskKey("the secret of old"), MaskKey("another, newer secret")
    told = words(replace(hashed, mask_key=new), replace(hashed, mask_key=old))
    assert told == ["the masks of columns, or their key"]
    assert words(replace(hashed, mask_key=old), replace(hashed, mask_key=old)) == []
    assert words(replace(nulled, mask_key=new), replace(nulled, mask_key=old)) == []
