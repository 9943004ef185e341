"""The engines under contract, and the warehouse that they read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.executors.engines import Engine, in_process, in_spark
from tests.executors.warehouses import DUE_TABLES, Due, made
from tests.laws.drawn import model_format


@pytest.fixture(
    scope="module", params=["in-process", pytest.param("by Spark", marks=pytest.mark.spark)]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    if request.param == "by Spark":
        return in_spark(request.getfixturevalue("spark"))
    return in_process()


@pytest.fixture(scope="module", autouse=True)
def _model_formats() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        model_format.register(patch)
        yield


@pytest.fixture(scope="session")
def due_tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Due]:
    """The tables that both engines read; nobody writes to them."""
    with pytest.MonkeyPatch.context() as patch:
        model_format.register(patch)
        found = made(tmp_path_factory.mktemp("contract"))
    return {name: found[name] for name in DUE_TABLES}
