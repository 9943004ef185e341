"""What the fault suite counts: each kind of fault, how often it happened, and what it cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.services.seaweed import store

__all__ = ["store"]


@pytest.fixture
def tell(
    record_property: Callable[[str, object], None], spark: SparkSession
) -> Callable[..., None]:
    """Write down one line of the table that is printed at the end."""

    def line(fault: str, times: int, lost: int, wrong: int) -> None:
        record_property("faults", (fault, times, lost, wrong))

    return line
