"""Rows that do not fit into memory come in the order that they have in memory, and leave nothing on disk."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from assets.executors.sorted_runs import SortedRuns
from transforms.silver.plain_rows import PLAIN, sorted_in_memory


def batches(rng: Random, keys: int) -> list[pa.RecordBatch]:
    found = []
    for number in range(12):
        count = rng.choice([1, 30, 700])
        columns = {one.name: pa.nulls(count, one.type) for one in PLAIN}
        columns["sort_key"] = pa.array([b"%06d" % rng.randrange(keys) for _ in range(count)])
        columns["line"] = pa.array([1_000 * number + at for at in range(count)], pa.int64())
        found.append(
            pa.RecordBatch.from_arrays([columns[one] for one in PLAIN.names], schema=PLAIN)
        )
    return found


@pytest.mark.parametrize("most_held", [1, 50_000, 1 << 30])
@pytest.mark.parametrize("keys", [1, 5, 10**6])
def test_rows_on_disk_come_in_the_order_that_they_have_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_held: int, keys: int
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/nowhere")
    given = batches(Random(keys), keys)
    runs = SortedRuns(most_held)(given)
    first = next(runs)
    assert bool([*tmp_path.iterdir()]) is (most_held < 1 << 30)
    found = pa.Table.from_batches([first, *runs])
    expected = pa.Table.from_batches(sorted_in_memory(given))
    assert found["sort_key"].to_pylist() == expected["sort_key"].to_pylist()
    assert sorted(found["line"].to_pylist()) == sorted(expected["line"].to_pylist())
    assert not [*tmp_path.iterdir()]
