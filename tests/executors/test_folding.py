"""Both engines fold a table to the same rows, versions and counts, by every stage, and commit the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession

from assets.gold.fold import Folded
from tests.executors.engines import differing, rows_of
from tests.executors.sides import Side, by_spark, in_process, tables_of, told
from tests.executors.warehouses import DUE_TABLES, Due
from transforms.gold.columns import EFFECT, MENTIONS, PARTS
from transforms.gold.folded_rows import folded_schema

BASED = ("kinds.item", "marked.item", "kinds.log", "kinds.replica")
CREATED = ("kinds.item", "marked.item", "kinds.typed", "kinds.copied")
"""A fold and a few commits by Spark take seconds: what all tables have in common is compared for some of them."""


@dataclass(frozen=True, slots=True)
class Both:
    """What both engines made of one table, this process first."""

    sides: tuple[Side, Side]
    onto_gold: tuple[Folded[Any], Folded[Any]]
    from_history: tuple[Folded[Any], Folded[Any]]


@pytest.fixture(scope="module", params=DUE_TABLES)
def name(request: pytest.FixtureRequest) -> str:
    """Each table in turn, so that what was folded of one is there for all tests of it."""
    return str(request.param)


@pytest.fixture(scope="module")
def both(due_tables: dict[str, Due], spark: SparkSession, name: str) -> Both:
    """The table, folded by both engines."""
    due = due_tables[name]
    sides = in_process(due), by_spark(due, spark)
    onto, history = ([side.fold(onto_gold=one) for side in sides] for one in (True, False))
    return Both(
        sides,
        (onto[0].onto_gold(), onto[1].onto_gold()),
        (history[0].from_history(), history[1].from_history()),
    )


def assert_same(both: Both, folded: tuple[Folded[Any], Folded[Any]]) -> None:
    """Equal rows, versions and counts."""
    table = both.sides[0].plan.table
    # Whether a whole row was made of its newest change or of several says nothing of it.
    columns = {name: name for name in folded_schema(table).names if name != MENTIONS}
    ours, theirs = (
        side.engine.rows(
            {
                "rows": side.run.select(one.rows, columns),
                "rows that keep values": side.run.where(one.rows, EFFECT, "update"),
                "versions": one.versions,
            }
        )
        for side, one in zip(both.sides, folded, strict=True)
    )
    assert {what: said for what in ours if (said := differing(theirs[what], ours[what]))} == {}
    assert told(folded[1].metrics) == told(folded[0].metrics)


def test_new_changes_make_the_same_of_gold(both: Both) -> None:
    assert_same(both, both.onto_gold)
    assert both.onto_gold[0].metrics.deliveries


def test_all_changes_make_the_same_table(both: Both) -> None:
    assert_same(both, both.from_history)
    assert both.from_history[0].metrics.keys


def test_all_changes_make_the_same_base_and_a_key_has_the_same_story(both: Both, name: str) -> None:
    if name not in BASED:
        return
    ours, theirs = (side.fold(onto_gold=False) for side in both.sides)
    bases = [
        side.engine.rows({"base": one.to_base()})["base"]
        for side, one in zip(both.sides, (ours, theirs), strict=True)
    ]
    assert differing(bases[1], bases[0]) == ""
    made = both.from_history[0].rows
    key = tuple(made[PARTS][made.num_rows // 2].as_py())
    assert theirs.story_of(key) == ours.story_of(key)
    assert ours.story_of(key)[1]


@pytest.fixture(scope="module")
def copies(
    due_tables: dict[str, Due], name: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Due, Due]]:
    """Two copies of the table's warehouse, for both to write into."""
    folder = tmp_path_factory.mktemp("copies")
    due = due_tables[name]
    yield due.copied(folder / "in process"), due.copied(folder / "by Spark")


def test_both_commit_the_same_tables(
    both: Both, name: str, copies: tuple[Due, Due], spark: SparkSession
) -> None:
    ours, theirs = in_process(copies[0]), by_spark(copies[1], spark)
    before = {what: rows_of(rows) for what, rows in tables_of(copies[0]).items()}
    put = ours.stored.put(ours.fold(onto_gold=True).onto_gold())
    theirs_put = theirs.stored.put(both.onto_gold[1])
    assert_equal(copies)
    # Spark leaves an older tombstone beside a newer one until compaction.
    assert theirs_put[0] == put[0]
    assert {what: rows_of(rows) for what, rows in tables_of(copies[0]).items()} != before

    if name not in CREATED:
        return
    feed = both.sides[0].plan.feed
    made = ours.stored.create(both.from_history[0], feed)
    assert theirs.stored.create(both.from_history[1], feed) == made
    assert_equal(copies)


def assert_equal(copies: tuple[Due, Due]) -> None:
    ours, theirs = (
        {what: rows_of(rows) for what, rows in tables_of(due).items()} for due in copies
    )
    assert {what: said for what in ours if (said := differing(theirs[what], ours[what]))} == {}
