"""The law of plain rows: what is decided and counted by columns is what each row by itself would come to.

Over the drawn histories of every format whose records have shapes, with many of their records delivered again, in
batches and steps of any size.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from tests.laws.events import product
from tests.laws.events.drawing import worlds
from tests.laws.events.meanings import Drawn
from tests.laws.events.test_laws_of_events import HISTORIES, SEED
from tests.laws.events.test_shapes import SHAPED, one_by_one, single, sizes_of
from transforms.formats import FORMATS
from transforms.silver.accounting import Accounts
from transforms.silver.frames import ACCOUNT, OUTPUT, ROWS, SHARDS, Shards
from transforms.silver.plain_rows import sorted_in_memory
from transforms.silver.stages import Classify, DecodeRows
from transforms.silver.trails import Point, Trail, outermost

BY_COLUMNS = [name for name in SHAPED if not name.startswith("yugabyte")]
"""YugabyteDB's records are taken one by one."""

STEPS = (2, 37, 10_000)
"""How many plain rows are put in order at once."""


def delivered_again(rows: pa.RecordBatch, rng: Random) -> pa.RecordBatch:
    """The rows, and some of them once more, or several times, from another object."""
    count = rng.choice([0, 1, rows.num_rows // 2, 3 * rows.num_rows])
    again = rows.take(pa.array([rng.randrange(rows.num_rows) for _ in range(count)], pa.int64()))
    columns = {
        "object": [f"again/{name}" for name in again["object"].to_pylist()],
        "line": [*range(1, count + 1)],
        "byte_offset": [100 * at for at in range(count)],
    }
    for name, values in columns.items():
        at = again.schema.get_field_index(name)
        again = again.set_column(at, rows.schema.field(at), pa.array(values, again[name].type))
    return product.shuffled(pa.concat_batches([rows, again]), rng)


def decoded(drawn: Drawn, rows: pa.RecordBatch, tasks: int, rng: Random) -> pa.Table:
    """The records as rows: most of them by their shapes, and some by themselves though they need not be."""
    source, alone = FORMATS[drawn.feed.format], rng.choice([0, rows.num_rows // 10])
    stage = DecodeRows(
        drawn.feed, source, {}, product.compaction_watermarks_of(drawn), Shards(tasks=tasks)
    )
    batches, start = [], alone
    for size in sizes_of(rows.num_rows - alone, rng):
        batches.append(rows.slice(start, size))
        start += size
    some = [rows.slice(0, alone)] if alone else []
    return pa.concat_tables([pa.Table.from_batches(stage(batches), ROWS), one_by_one(drawn, some)])


def classified(
    drawn: Drawn, batches: Iterable[pa.RecordBatch], steps: int, rng: Random
) -> tuple[pa.Table, Accounts]:
    """What one task makes of its rows, and its accounts."""
    rows = pa.Table.from_batches(batches, ROWS).sort_by("sort_key").combine_chunks()
    stage = Classify(
        drawn.feed,
        product.compaction_watermarks_of(drawn),
        FORMATS[drawn.feed.format].arrives_by,
        partial(sorted_in_memory, rows_at_once=steps),
    )
    size = rng.choice([2, 40, 10_000])
    made = pa.Table.from_batches(stage(rows.to_batches(max_chunksize=size)), OUTPUT)
    is_account = [kind == ACCOUNT for kind in made["kind"].to_pylist()]
    (told,) = made.filter(pa.array(is_account))["payload"].to_pylist()
    accounts = pickle.loads(told)
    assert isinstance(accounts, Accounts)
    return made.filter(pa.array([not one for one in is_account])), accounts


def of_task(rows: pa.Table, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
    mine = [shard * tasks // SHARDS == task for shard in rows["shard"].to_pylist()]
    yield from rows.filter(pa.array(mine, pa.bool_())).to_batches()


@pytest.mark.parametrize("format_name", BY_COLUMNS)
def test_rows_in_bundles_become_what_each_becomes_by_itself(
    format_name: str, record_property: Callable[[str, object], None]
) -> None:
    rng, bundled, count = Random(SEED), 0, 0
    for drawn in worlds(format_name, SEED + 2, HISTORIES // 4):
        with product.uncollected():
            rows = delivered_again(product.cut(drawn).rows, rng)
            tasks = rng.choice([1, 3])
            made = decoded(drawn, rows, tasks, rng)
            for task in range(tasks):
                mine = [*of_task(made, task, tasks)]
                alone = [*single(mine)]
                expected, by_rows = classified(drawn, alone, 1, rng)
                for steps in STEPS:
                    found, accounts = classified(drawn, mine, steps, rng)
                    same(found, expected)
                    assert accounts.rows() == by_rows.rows()
                    left = (accounts.left_out, accounts.open_events)
                    assert left == (by_rows.left_out, by_rows.open_events)
                count += sum(batch.num_rows for batch in alone)
                bundled += sum(batch.num_rows for batch in alone) - sum(
                    batch["bundle"].null_count for batch in mine
                )
    # Of TigerGraph's, most are deletes that wait, or of tables that nothing declares.
    assert 40 * bundled > count
    record_property("laws", f"{format_name}: {bundled:,} of {count:,} rows came in bundles")


def same(found: pa.Table, expected: pa.Table) -> None:
    assert found.num_rows == expected.num_rows
    for name in expected.column_names:
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        assert not [pair for pair in pairs if pair[0] != pair[1]][:2], name


def points(rng: Random) -> list[Point]:
    """Changes that often share a clock or a position, over a short time or a long one."""
    clocks, places = rng.choice([3, 10**6, 10**9]), rng.choice([2, 5, 10**4])
    return [
        Point(
            (rng.randrange(places), rng.randrange(2)),
            rng.randrange(clocks) << rng.choice([0, 20]),
            rng.choice([None, rng.randrange(3)]),
            0,
            str(rng.randrange(3)),
        )
        for _ in range(rng.choice([1, 5, 30, 400]))
    ]


def added(trail: Trail, some: Sequence[Point]) -> None:
    for one in some:
        trail.add(one)


def kept(trail: Trail) -> object:
    stretches = {at: (set(high), set(low)) for at, (high, low) in trail.stretches.items()}
    return trail.width, stretches


def test_a_trail_is_the_same_without_changes_that_it_would_not_keep() -> None:
    rng, left_out = Random(f"trails {SEED}"), 0
    for _ in range(max(20, HISTORIES // 10)):
        whole, short = Trail(), Trail()
        for _ in range(rng.randrange(1, 4)):
            some = points(rng)
            clocks = np.array([one.clock for one in some], np.int64)
            positions = np.array([one.position for one in some], np.int64)
            added(whole, some)
            places = outermost(short if short.stretches else None, clocks, positions)
            added(short, [some[at] for at in places.tolist()])
            left_out += len(some) - len(places)
        assert kept(short) == kept(whole)
    assert left_out > HISTORIES // 10
