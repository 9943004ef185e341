"""What each verb of an executor does, written down a second time over plain rows: every engine has to do the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa
import pytest

from assets.executors.executor import Executor, Ranges
from assets.executors.spark import SMALL
from tests.executors.drawn_frames import Frames, drawn
from tests.executors.engines import Engine, Rows, counted, differing, records_of
from transforms.change import Key
from transforms.column_types.map_columns import TEXTS
from transforms.gold.fold_rows import CARRIED, FOLD_ROWS

Record = dict[str, Any]
Verb = Callable[[Executor[Any], Frames], Any]
Meaning = Callable[[Frames], Iterable[Record]]

MANY = drawn(1)
FRAMES = {"many rows": MANY, "no rows": MANY.each(lambda frame: frame.slice(0, 0))}
SOME_KEYS: list[Key] = [tuple(one) for one in MANY.asked["key"].to_pylist()]


def of(table: pa.Table) -> list[Record]:
    return records_of(table)


def keys_of(table: pa.Table, name: str = "key") -> list[list[str | None]]:
    return [one[name] for one in of(table)]


def root_of(given: Frames) -> Callable[[Record], Record]:
    roots = {repr(one["key"]): one["root"] for one in of(given.roots)}
    return lambda row: {**row, "group": roots.get(repr(row["key"]), row["key"])}


def never_null(row: Record, what: int | None = None) -> Record:
    """The row with all columns of a fold."""
    found: Record = {}
    for one in FOLD_ROWS:
        nothing: Any = None
        if pa.types.is_list(one.type) or pa.types.is_map(one.type):
            nothing = []
        elif pa.types.is_boolean(one.type):
            nothing = False
        elif one.name in ("dedup_prefix", "copies"):
            nothing = 0
        value = row.get(one.name)
        found[one.name] = nothing if value is None else value
    return found if what is None else {**found, "what": what}


@dataclass(frozen=True, slots=True)
class RunsOf:
    """A stage that gives one row per run of rows that agree in some columns, with the others in their order.

    Whoever parts such rows among tasks, or puts others between them, gets other runs.
    """

    by: tuple[str, ...]
    within: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("run", pa.string()), ("cells", TEXTS)])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        found = [*runs(rows, self.by, self.within)]
        yield pa.RecordBatch.from_pylist(found, schema=self.schema)


def runs(rows: Iterable[Record], by: tuple[str, ...], within: tuple[str, ...]) -> Iterator[Record]:
    for run, some in groupby(rows, key=lambda row: repr([row[name] for name in by])):
        yield {"run": run, "cells": [repr([row[name] for name in within]) for row in some]}


def in_order(
    rows: Iterable[Record], by: tuple[str, ...], within: tuple[str, ...]
) -> Iterator[Record]:
    together = sorted(rows, key=lambda row: [row[name] for name in within])
    return runs(sorted(together, key=lambda row: repr([row[name] for name in by])), by, within)


OF_GROUP = ("group",), ("what", "log_position")
OF_LOG_POSITION = ("kind", "by"), ("log_position",)
CLOCKS = [("clock", at) for at in range(0, 99, 7)]
SOME_CLOCKS = [pickle.dumps(one) for one in CLOCKS]
OF_PREFIX = ("dedup_prefix",), ()
NAMES = {"key": "other", "log_position": "key", "is_new": "is_new"}


def together(most: int | None) -> Verb:
    return lambda run, it: run.staged(run.together(it.rows, most), RunsOf(*OF_GROUP))


def among(count: int | None, on: str = "key") -> Verb:
    return lambda run, it: run.among(it.rows, run.select(it.asked, {"key": on}), on, count)


def has(on: str, *, is_wanted: bool = True) -> Meaning:
    def meaning(given: Frames) -> Iterator[Record]:
        asked = keys_of(given.asked)
        return (row for row in of(given.rows) if (row[on] in asked) is is_wanted)

    return meaning


def looked_up(frame: str, column: str) -> Meaning:
    """The root of each row's key in this column; an empty list where it has none."""

    def meaning(given: Frames) -> Iterator[Record]:
        roots = {repr(one["key"]): one["root"] for one in of(given.roots)}
        rows = of(getattr(given, frame))
        return ({**row, column: roots.get(repr(row["key"]), [])} for row in rows)

    return meaning


VERBS: dict[str, tuple[Verb, Meaning]] = {
    "frame_of": (
        lambda run, it: run.frame_of(SOME_KEYS),
        lambda given: ({"key": [*key]} for key in SOME_KEYS),
    ),
    "frame_of nothing": (lambda run, it: run.frame_of([]), lambda given: []),
    "union": (
        lambda run, it: run.union([it.rows, it.rows]),
        lambda given: of(given.rows) * 2,
    ),
    "union of one": (
        lambda run, it: run.union([it.asked]),
        lambda given: of(given.asked),
    ),
    "union with nothing": (
        lambda run, it: run.union([run.where(it.rows, "effect", "no such"), it.rows]),
        lambda given: of(given.rows),
    ),
    "where": (
        lambda run, it: run.where(it.rows, "effect", "replace"),
        lambda given: (row for row in of(given.rows) if row["effect"] == "replace"),
    ),
    "where it is empty": (
        lambda run, it: run.where(it.rows, "stream", ""),
        lambda given: (row for row in of(given.rows) if row["stream"] == ""),
    ),
    "select": (
        lambda run, it: run.select(it.part, NAMES),
        lambda given: ({new: row[old] for old, new in NAMES.items()} for row in of(given.part)),
    ),
    "distinct": (
        lambda run, it: run.distinct(run.select(it.rows, {"key": "key"})),
        lambda given: {repr(key): {"key": key} for key in keys_of(given.rows)}.values(),
    ),
    "among": (among(None), has("key")),
    "among few": (among(3), has("key")),
    "among very many": (among(10**9), has("key")),
    "among groups": (among(None, "group"), has("group")),
    "without": (
        lambda run, it: run.without(it.rows, it.asked, "key"),
        has("key", is_wanted=False),
    ),
    "grouped by key": (
        lambda run, it: run.grouped(it.rows, None),
        lambda given: ({**row, "group": row["key"]} for row in of(given.rows)),
    ),
    "grouped by root": (
        lambda run, it: run.grouped(it.rows, it.roots),
        lambda given: map(root_of(given), of(given.rows)),
    ),
    "grouped, for the first time": (
        lambda run, it: run.grouped(it.part, it.roots),
        lambda given: map(root_of(given), of(given.part)),
    ),
    "shaped": (
        lambda run, it: run.shaped(it.part),
        lambda given: map(never_null, of(given.part)),
    ),
    "shaped as one kind": (
        lambda run, it: run.shaped(it.part, CARRIED),
        lambda given: (never_null(row, CARRIED) for row in of(given.part)),
    ),
    "shaped once more": (
        lambda run, it: run.shaped(it.rows, CARRIED),
        lambda given: (never_null(row, CARRIED) for row in of(given.rows)),
    ),
    "together": (together(None), lambda given: in_order(of(given.rows), *OF_GROUP)),
    "together in one task": (together(1), lambda given: in_order(of(given.rows), *OF_GROUP)),
    "together in several": (
        together(SMALL + 1),
        lambda given: in_order(of(given.rows), *OF_GROUP),
    ),
    "sorted": (
        lambda run, it: run.staged(
            run.sorted(it.log_positions, *OF_LOG_POSITION), RunsOf(*OF_LOG_POSITION)
        ),
        lambda given: in_order(of(given.log_positions), *OF_LOG_POSITION),
    ),
    "sorted in one task": (
        lambda run, it: run.staged(
            run.sorted(it.log_positions, *OF_LOG_POSITION, 1), RunsOf(*OF_LOG_POSITION)
        ),
        lambda given: in_order(of(given.log_positions), *OF_LOG_POSITION),
    ),
    "in order": (
        # All rows belong together, and so are in one order.
        lambda run, it: run.staged(
            run.in_order(it.rows, "dedup_prefix", Ranges("copies", 10**6, 1)), RunsOf(*OF_PREFIX)
        ),
        lambda given: in_order(of(given.rows), *OF_PREFIX),
    ),
    "in order, in several tasks": (
        lambda run, it: run.in_order(it.rows, "dedup_prefix", Ranges("copies", 3, 2)),
        lambda given: of(given.rows),
    ),
    "looked up": (
        lambda run, it: run.looked_up(it.binaries, it.roots, "key", "root"),
        looked_up("binaries", "root"),
    ),
    "looked up in place of what was there": (
        lambda run, it: run.looked_up(
            it.part, run.select(it.roots, {"key": "key", "root": "moved_from"}), "key", "moved_from"
        ),
        looked_up("part", "moved_from"),
    ),
    "containing": (
        lambda run, it: run.containing(it.binaries, "clock", [b"no such", *SOME_CLOCKS]),
        lambda given: (row for row in of(given.binaries) if row["clock"] in CLOCKS),
    ),
    "filled": (
        lambda run, it: run.filled(it.binaries, "clock"),
        lambda given: (row for row in of(given.binaries) if row["clock"]),
    ),
    "kept": (
        lambda run, it: run.kept(run.where(it.rows, "effect", "replace")),
        lambda given: (row for row in of(given.rows) if row["effect"] == "replace"),
    ),
    "cached": (
        lambda run, it: run.cached(run.where(it.rows, "effect", "replace")),
        lambda given: (row for row in of(given.rows) if row["effect"] == "replace"),
    ),
    "collected": (
        lambda run, it: it.rows,
        lambda given: of(given.rows),
    ),
}
"""Each verb as an engine does it, and what it means."""


@pytest.fixture(scope="module")
def done(engine: Engine) -> dict[str, Rows]:
    """What each verb makes of many rows, and of none."""
    frames = {}
    for size, given in FRAMES.items():
        framed = given.each(engine.frame)
        for name, (verb, _) in VERBS.items():
            frames[f"{name}, {size}"] = verb(engine.run, framed)
    return engine.rows(frames)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_does_what_it_means(done: dict[str, Rows], name: str) -> None:
    _, meaning = VERBS[name]
    for size, given in FRAMES.items():
        found, expected = done[f"{name}, {size}"], counted(meaning(given))
        assert differing(found, expected) == "", size


def test_what_comes_out_has_the_columns_that_are_promised(engine: Engine) -> None:
    run = engine.run
    rows = run.shaped(run.grouped(run.frame_of([]), None))
    assert run.collected(rows).column_names == FOLD_ROWS.names
    assert run.collected(run.staged(rows, RunsOf(*OF_GROUP))).column_names == ["run", "cells"]
