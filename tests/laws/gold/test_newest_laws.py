"""A law of speed: what a comparison of columns decides of a key is what the fold makes of it, counts included."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assets.executors.in_process import InProcess
from assets.gold.fold import TableFold
from assets.gold.range_deletes import RangeDeletes
from tests.laws.drawn import model_format
from tests.laws.gold.test_laws_of_gold import HISTORIES, SEED, WINDOWS, drawn
from transforms.change import Change
from transforms.feed.feed import Table
from transforms.gold import newest
from transforms.gold.columns import BLOB, KIND, MENTIONS
from transforms.gold.fold_rows import (
    CHANGE,
    FOLD_ROWS,
    GOLD,
    TOMBSTONE,
    rows_of_base,
    shaped_rows,
)
from transforms.gold.folded_rows import CHANGED, COUNTED, FoldMetrics
from transforms.gold.key_groups import FoldInput
from transforms.gold.range_deletes import RangeDelete
from transforms.gold.stages import BASE_ROWS, FromHistory, OntoGold, ToBase

MOST = {"stock": 0.5, "replica": 0.2}
"""Kinds of which each change is for one row, and the least share of keys of which the newest change decides.

Replicas agree only in a prefix of their positions, which is a matter for the fold.
"""
CHUNK, FEWEST = 250, 50
"""How many histories share a lake, and how few are compared."""
ROWS_OF_A_BATCH, HOT = (50, 7, 1000, 3), 3
"""In each run: batches of few rows part keys, as Spark's do. Keys of few rows are taken for hot ones."""
TORN = 1
"""Which run ends between tombstones and gold."""


def compared(histories: int) -> int:
    """How many histories are compared where the laws of gold have so many of a kind."""
    return max(FEWEST, histories // 4)


@pytest.mark.parametrize("kind", MOST)
def test_the_newest_change_decides_what_the_fold_decides(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    model_format.register(monkeypatch)
    monkeypatch.setattr(newest, "HOT", HOT)
    decided = folded = 0
    end = SEED + compared(HISTORIES)
    chunk = min(CHUNK, -(-compared(HISTORIES) // 2))
    for number, first in enumerate(range(SEED, end, chunk)):
        numbers, keeps = range(first, min(first + chunk, end)), number % 2 == 1
        lake, _ = drawn(kind, numbers, lambda seed: 2 + seed % 9, keeps_deleted=keeps)
        order = Random(f"{kind} {first}").sample(WINDOWS, len(WINDOWS))
        for at in range(len(order)):
            windows = order[max(0, at - 1) : at + 1]
            for window in windows:
                lake.silver.derive(window, lake.records[window])
            for name, table in lake.feed.tables.items():
                fold = lake.fold(name, table, windows)
                onto = replace(fold, stored=lake.gold[name].stored())
                with_deletes = replace(onto, deletes=drawn_deletes(onto, f"{first} {at}"))
                for whole in (fold, replace(fold, deletes=with_deletes.deletes)):
                    same_from_base(whole, Random(f"{kind} {first} {at}"), ROWS_OF_A_BATCH[at])
                for rows, given, stage in (*inputs(onto), *inputs(with_deletes)):
                    by_columns, by_fold = (
                        result(stage(replace(given, by_newest=one)), rows, ROWS_OF_A_BATCH[at])
                        for one in (True, False)
                    )
                    assert by_columns == by_fold
                    if not given.range_deletes:
                        folded += len(by_fold[0])
                        decided += sum(row[MENTIONS] is None for row in rows_of(stage, given, rows))
            # The next run finds rows beside newer tombstones.
            lake.run(windows, "tombstones" if at == TORN else "")
    assert folded * MOST[kind] < decided


KEYS_OF_A_TASK, MOST_TASKS = 25, 500


def test_positions_of_any_length_are_compared_as_the_fold_compares_them() -> None:
    plain = Table("any", ("id",), {"id": "string", "name": "string"}, ("id", "name"))
    decided = 0
    for seed in range(SEED, SEED + min(MOST_TASKS, compared(HISTORIES))):
        table = replace(plain, deletes="mark" if seed % 2 else "remove")
        rng = Random(f"lengths {seed}")
        rows = InProcess().together(
            of_cells([*drawn_rows(rng, keeps_deleted=table.marks_deletes)]), None
        )
        given = FoldInput(table, by_newest=True, updates_find_rows=True)
        by_columns, by_fold = (
            result(OntoGold(replace(given, by_newest=one)), rows, rng.choice((2, 7, 1000)))
            for one in (True, False)
        )
        assert by_columns == by_fold, seed
        decided += sum(row[MENTIONS] is None for row in rows_of(OntoGold, given, rows))
    assert decided > compared(HISTORIES)


def drawn_rows(rng: Random, *, keeps_deleted: bool) -> Iterator[dict[str, Any]]:
    """What gold has of some keys, and their changes, at positions of one to three numbers."""
    for number in range(KEYS_OF_A_TASK):
        key, lengths = [f"key {number}"], rng.choice([(3,), (2, 3), (1, 2, 3)])
        for what in (GOLD, TOMBSTONE):
            if rng.random() < 0.5:
                at, event_id, _ = drawn_position(rng, lengths)
                older = [one for one in (at, at[:-1], [0], [0, 1]) if one and one <= at]
                reset = rng.choice([[], at, at, rng.choice(older)])
                mark = "remove" if what == GOLD and keeps_deleted and rng.random() < 0.5 else None
                yield {
                    "effect": mark,
                    **{"what": what, "key": key, "log_position": at, "event_id": event_id},
                    **{"reset": reset, "event_at": rng.choice((None, 1, 2))},
                }
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            at, event_id, prefix = drawn_position(rng, lengths)
            effect = rng.choice(("replace", "replace", "remove", "update"))
            image = [] if effect == "remove" else [("name", event_id)]
            yield {
                **{"what": CHANGE, "key": key, "log_position": at, "event_id": event_id},
                **{"dedup_prefix": prefix, "effect": effect, "after": image, "is_new": True},
                **{"event_at": rng.choice((None, 1, 2)), "is_update": effect == "update"},
            }


def drawn_position(rng: Random, lengths: Sequence[int]) -> tuple[list[int], str, int]:
    """A position, the event that stands there, and how much of the position is the same in every delivery of it."""
    at = [rng.randrange(3) for _ in range(rng.choice(lengths))]
    prefix = rng.choice((len(at), len(at), rng.randint(1, len(at))))
    return at, f"{at[:prefix]} {rng.randrange(6) == 0}", prefix


def of_cells(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows with the columns that stages read, each key a group of its own."""
    found = {one.name: pa.array([row.get(one.name) for row in rows], one.type) for one in FOLD_ROWS}
    found["group"] = found["key"]
    return shaped_rows(found, len(rows))


def drawn_deletes(fold: TableFold[pa.Table], seed: str) -> RangeDeletes:
    """Deletes of the whole table, new and past ones, at and around positions of the run's changes."""
    rng = Random(seed)
    met, _ = fold.met(fold.given(full_rebuild=False))
    known = sorted({tuple(one) for one in met["log_position"].to_pylist()})
    found = []
    for number in range(rng.randint(1, 2)):
        at = rng.choice(known)
        ends = rng.choice([at, at[:-1], (*at, 0), (*at[:-1], at[-1] + 1)])
        change = Change(
            *("remove", ends, len(ends), f"delete {number}", None, {}, {}, {}),
            is_range_delete=True,
            is_derived=True,
            is_past=rng.random() < 0.3,
        )
        found.append(RangeDelete({}, None, change))
    return RangeDeletes(found)


def inputs(
    fold: TableFold[pa.Table],
) -> Iterator[tuple[pa.Table, FoldInput, type[OntoGold] | type[FromHistory]]]:
    """What the two stages get, for an apply and for a table that is made from all changes."""
    given = replace(fold.given(full_rebuild=False), depends=False)
    met, _ = fold.met(given)
    yield derived(InProcess().together(met, None)), given, OntoGold
    whole = replace(fold, stored=None)
    given = replace(whole.given(full_rebuild=True), depends=True)
    yield derived(InProcess().together(whole.whole(given, None, 0), None)), given, FromHistory


def same_from_base(fold: TableFold[pa.Table], rng: Random, size: int) -> None:
    """Base rows, and the table that is made of these and all later changes, are the same by columns and by the fold."""
    given = replace(fold, stored=None).given(full_rebuild=True)
    rows = InProcess().together(replace(fold, stored=None).whole(given, None, 0), None)
    rows = with_streams(rows, rng)
    positions = rows["log_position"].to_pylist()
    end = rng.choice(positions)
    is_old = pa.array([one <= end for one in positions], pa.bool_())
    base = same_bases(given, rows.filter(is_old), size)
    of_base = rows_of_base(base)
    of_base = of_base.set_column(0, FOLD_ROWS.field("group"), of_base["key"])
    newer = pa.concat_tables([of_base, rows.filter(pc.invert(is_old))])
    later = InProcess().together(newer, None)
    same_bases(given, later, size)
    by_columns, by_fold = (
        result(FromHistory(replace(given, depends=True, by_newest=one)), later, size)
        for one in (True, False)
    )
    assert by_columns == by_fold


def with_streams(rows: pa.Table, rng: Random) -> pa.Table:
    """The rows as of one or two streams."""
    drawn_streams: list[list[str | None]] = [[None], ["a"], [None, "a"], ["a", "b"]]
    streams = rng.choice(drawn_streams)
    chosen = [rng.choice(streams) for _ in range(rows.num_rows)]
    at = rows.schema.get_field_index("stream")
    return rows.set_column(at, rows.field(at), pa.array(chosen, pa.string()))


def same_bases(given: FoldInput, rows: pa.Table, size: int) -> pa.Table:
    """The base rows of these rows, which are the same by columns and by the fold."""
    batches = rows.combine_chunks().to_batches(max_chunksize=size)
    by_columns, by_fold = (
        pa.Table.from_batches(
            [*ToBase(replace(given, by_newest=one))(iter(batches))], schema=BASE_ROWS
        )
        for one in (True, False)
    )
    told = [sorted(map(shown_base, one.to_pylist())) for one in (by_columns, by_fold)]
    assert told[0] == told[1]
    return by_fold


def shown_base(row: dict[str, Any]) -> str:
    """A base row as a text; the order of its columns means nothing."""
    return repr(row | {"state": row["state"] | {"columns": sorted(row["state"]["columns"])}})


def derived(rows: pa.Table) -> pa.Table:
    """The rows, some of them taken for the second half of a key change: these kinds have none, but whole rows may."""
    marks = [crc32(one.encode()) % 4 == 0 for one in rows["event_id"].to_pylist()]
    at = rows.schema.get_field_index("is_derived")
    return rows.set_column(at, rows.field(at), pa.array(marks, pa.bool_()))


def rows_of(
    stage: type[OntoGold] | type[FromHistory], given: FoldInput, rows: pa.Table
) -> list[dict[str, object]]:
    made = InProcess().staged(rows, stage(replace(given, by_newest=True)))
    return [row for row in made.to_pylist() if row[KIND] == CHANGED]


def result(
    stage: OntoGold | FromHistory, rows: pa.Table, size: int
) -> tuple[list[str], FoldMetrics]:
    """What comes out, in no order, and what was counted."""
    batches = rows.combine_chunks().to_batches(max_chunksize=size)
    made = pa.Table.from_batches([*stage(batches)], schema=stage.schema).to_pylist()
    metrics = FoldMetrics()
    for row in made:
        if row[KIND] == COUNTED:
            metrics.add(pickle.loads(row[BLOB]))
    # An update of every column is a whole row, whichever way it was found out.
    told = [
        {name: value for name, value in row.items() if name not in (MENTIONS, BLOB)}
        for row in made
        if row[KIND] != COUNTED
    ]
    # Which of them are shown is left to whoever counts first.
    metrics.tied_keys.clear()
    metrics.partial_keys.clear()
    return sorted(map(repr, told)), metrics
