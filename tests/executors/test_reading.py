"""Both engines read the same: silver's changes and base rows, and what gold, its tombstones and its versions have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.executors.engines import differing
from tests.executors.sides import Side, by_spark, here
from tests.executors.warehouses import DUE_TABLES, Due
from transforms.change import Key
from transforms.feed.feed import Table
from transforms.gold import fold_rows
from transforms.gold.fold_rows import GOLD, TOMBSTONE, read_fold_rows

WITH_RANGE_DELETES = ("kinds.item", "kinds.account", "graphs.vertex_Person", "graphs.edge_Knows")
MAY_LACK = ("some tombstones",)
SOME = 3
"""One key in so many is asked for."""


def keys_of(side: Side) -> list[Key]:
    """Some of the table's keys, and one that it does not have."""
    silver = side.run.collected(side.run.select(side.silver.changes(None, 0), {"key": "key"}))
    found = sorted({tuple(one) for one in silver["key"].to_pylist()}, key=repr)
    return [*found[::SOME], tuple("no such" for _ in side.plan.table.identity)]


def frames_of(side: Side, keys: list[Key]) -> Mapping[str, Any]:
    """What is read of the table, by name: as rows of a fold, or as what another stage makes of them."""
    run, silver, stored = side.run, side.silver, side.stored
    some = run.frame_of(keys)
    found = {
        "new changes": silver.new_changes(),
        # There may be others beside those that are asked for.
        "some changes": run.among(silver.changes(some, len(keys)), some, "key", len(keys)),
        "gold's rows": stored.last_changes(GOLD, None, with_values=True),
        "some of gold's rows": stored.last_changes(GOLD, some, with_values=False),
        "some tombstones": stored.last_changes(TOMBSTONE, some, with_values=False),
    }
    if (base := silver.base()) is not None:
        found["base rows"] = base
    if side.plan.table.history:
        found["some versions"] = stored.versions(some)
    return {what: run.staged(frame, AsRead(side.plan.table)) for what, frame in found.items()}


@dataclass(frozen=True, slots=True)
class AsRead:
    """A stage that gives the rows as all stages read them: Java's spelling of numbers is not silver's."""

    table: Table

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("read", pa.string())])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        respelled = fold_rows.respelling(self.table)
        texts = [repr(row) for _, row in read_fold_rows(batches, respelled, grouped=False)]
        yield pa.RecordBatch.from_pydict({"read": texts}, schema=self.schema)


@pytest.mark.parametrize("name", DUE_TABLES)
def test_both_read_the_same_rows(
    due_tables: dict[str, Due], spark: SparkSession, name: str
) -> None:
    due = due_tables[name]
    sides = here(due), by_spark(due, spark)
    keys = keys_of(sides[0])
    ours, theirs = (side.engine.rows(frames_of(side, keys)) for side in sides)
    assert theirs.keys() == ours.keys()
    wrong = {what: differing(theirs[what], ours[what]) for what in ours}
    assert {what: said for what, said in wrong.items() if said} == {}
    assert [what for what, rows in ours.items() if not rows and what not in MAY_LACK] == []


@pytest.mark.parametrize("name", [name for name in DUE_TABLES if name in WITH_RANGE_DELETES])
def test_both_read_the_same_range_deletes(
    due_tables: dict[str, Due], spark: SparkSession, name: str
) -> None:
    due = due_tables[name]
    ours, theirs = (
        side.fold(onto_gold=False).deletes for side in (here(due), by_spark(due, spark))
    )
    assert sorted(map(repr, theirs.every)) == sorted(map(repr, ours.every))
    assert (theirs.by_event.keys(), theirs.source_locations) == (
        ours.by_event.keys(),
        ours.source_locations,
    )
    assert ours.every


@pytest.mark.parametrize("name", ["kinds.item", "kinds.account", "described.pets"])
def test_both_know_which_keys_are_linked(
    due_tables: dict[str, Due], spark: SparkSession, name: str
) -> None:
    due = due_tables[name]
    ours, theirs = (linked(side) for side in (here(due), by_spark(due, spark)))
    assert theirs == ours
    assert ours or name == "described.pets"


def linked(side: Side) -> list[list[str]]:
    """The keys that are linked with one another; any of them may be the root."""
    groups: dict[str, list[str]] = defaultdict(list)
    for row in side.run.collected(side.silver.roots()).to_pylist():
        groups[repr(row["root"])].append(repr(row["key"]))
    return sorted(sorted(keys) for keys in groups.values())
