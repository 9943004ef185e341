"""A few large frames of drawn records through Spark, which must give what the stages give without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from assets.columns.layers import Silver
from assets.executors import spark as in_spark
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.silver import classify
from assets.silver.files import ChangesInFiles
from tests.laws.events import product
from tests.laws.events.drawing import DRAWINGS
from tests.laws.events.test_laws_of_events import SEED
from transforms.silver.frames import CHANGES, COVERED, OUTPUT, TO_QUARANTINE

BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
KINDS = (CHANGES, COVERED, TO_QUARANTINE)
HISTORIES = {"arcion_s3_json": 4_000, "debezium": 1_500, "dgraph": 1_500, "yugabyte": 1_500}


@pytest.fixture
def small_batches(spark: SparkSession) -> Iterator[None]:
    """Many batches to a task, so that groups and the deliveries of an event are cut by them."""
    usual = str(spark.conf.get(BATCH))
    spark.conf.set(BATCH, "300")
    yield
    spark.conf.set(BATCH, usual)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("format_name", HISTORIES)
def test_a_large_frame_through_spark_is_what_it_is_in_this_process(
    spark: SparkSession,
    tmp_path: Path,
    format_name: str,
    record_property: Callable[[str, object], None],
) -> None:
    first = 100_000 * SEED
    numbers = range(first, first + HISTORIES[format_name])
    with product.uncollected():
        drawn = DRAWINGS[format_name].draw(numbers, "hold")
        drawn.compaction_watermarks = DRAWINGS[format_name].compaction_watermarks(numbers)
        rows = product.cut(drawn).rows
        compaction_watermarks = product.compaction_watermarks_of(drawn)
        table = pa.Table.from_batches([rows])
        here = classify.classified(InProcess(), drawn.feed, table, {}, compaction_watermarks)
    shuffled = pa.Table.from_batches([product.shuffled(rows, Random(SEED))])
    bronze = spark.createDataFrame(shuffled).repartition(5)
    assert in_spark.tasks_for(bronze, rows.num_rows) > 1
    windows = Counter(rows["window"].to_pylist())
    writing = ChangesInFiles(str(tmp_path), drawn.feed)
    run = InSpark(spark, drawn.feed, writing)
    by_spark = classify.classified(run, drawn.feed, bronze, windows, compaction_watermarks)
    assert by_spark.files
    by_spark = replace(by_spark, of_files=partial(writing.rows, spark))
    from_spark = by_spark.of_kind(*KINDS).toArrow()
    by_spark.free()

    assert by_spark.accounts == here.accounts
    expected = product.sorted_rows(here.of_kind(*KINDS))
    found = product.sorted_rows(from_spark)
    assert found.num_rows == expected.num_rows
    for name in ("kind", "reason", *Silver.schema.names):
        if name in OUTPUT.names:
            assert found[name].to_pylist() == expected[name].to_pylist(), name
    record_property(
        "laws", f"{format_name}: {rows.num_rows:,} records in one frame, from seed {SEED}"
    )
