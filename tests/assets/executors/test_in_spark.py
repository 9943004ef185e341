"""Sizes as Spark writes them: what decides whether a side of a join is small."""

from __future__ import annotations

import pytest

from assets.executors.spark import size_in_bytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("5g", 5 * 2**30),
        ("512m", 2**29),
        ("1024MB", 2**30),
        ("2t", 2**41),
        ("64k", 2**16),
        ("3", 3 * 2**20),
    ],
)
def test_a_size_is_read_as_spark_reads_it(size: str, expected: int) -> None:
    assert size_in_bytes(size) == expected
