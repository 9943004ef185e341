"""Whether objects are read in this process: by what they weigh, as they land and inflated, or by what is asked for."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assets.executors.choice import AUTO, BYTES_OF_A_PAYLOAD, IN_PROCESS, MEMORY, SPARK, Choice
from assets.landing.landings import open_landing
from assets.landing.read_objects import read_here
from tests.support.pet_feed import lay
from transforms.feed.feed import Feed

LINE = b'{"a":1}\n'
LARGE = LINE * 10_000
"""A tenth of a megabyte inflated, and next to nothing as it lands."""
SMALL = BYTES_OF_A_PAYLOAD * (64 << 10) + BYTES_OF_A_PAYLOAD * 1_000
"""Enough memory for one object of up to a thousand bytes, and 65,536 more that each costs."""


@pytest.mark.parametrize(
    ("choice", "data", "records"),
    [
        (Choice(), LARGE, 10_000),
        (Choice(AUTO, SMALL), LINE, 1),
        (Choice(AUTO, SMALL), LARGE, None),
        (Choice(AUTO, SMALL), gzip.compress(LARGE), None),
        (Choice(IN_PROCESS, 0), gzip.compress(LARGE), 10_000),
        (Choice(SPARK, MEMORY), LINE, None),
    ],
)
def test_objects_are_read_here_or_left_to_spark(
    tmp_path: Path, choice: Choice, data: bytes, records: int | None
) -> None:
    lay(tmp_path, "2025-11-20/03/a.json", data)
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path))
    rows = read_here(feed, [*open_landing(feed).list()], choice)
    assert (None if rows is None else rows.num_rows) == records


def test_nothing_is_read_here_but_where_spark_is_asked_for(tmp_path: Path) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path))
    rows = read_here(feed, [], Choice(AUTO, 0))
    assert rows is not None
    assert rows.num_rows == 0
    assert read_here(feed, [], Choice(SPARK)) is None
