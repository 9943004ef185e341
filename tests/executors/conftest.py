"""The engines under contract."""

from __future__ import annotations

import pytest

from tests.executors.engines import Engine, in_process, in_spark


@pytest.fixture(
    scope="module", params=["in this process", pytest.param("by Spark", marks=pytest.mark.spark)]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    if request.param == "by Spark":
        return in_spark(request.getfixturevalue("spark"))
    return in_process()
