"""A Kafka record's window is that of its timestamp, and of nothing that differs from one reading to the next."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from assets.landing.kafka_offsets import moment_of, window_of


@pytest.mark.parametrize(
    ("milliseconds", "hour"),
    [
        (1_763_607_600_000, "2025-11-20T03"),
        (1_763_607_599_999, "2025-11-20T02"),
        # None, impossible, in seconds or microseconds instead of milliseconds, or before the first window.
        *((one, "2020-01-01T00") for one in (None, -1, 1_763_607_600, 1_763_607_600_000_000)),
        (946_684_800_000, "2020-01-01T00"),
    ],
)
def test_a_record_without_a_usable_timestamp_stands_in_the_first_window(
    milliseconds: int | None, hour: str
) -> None:
    assert (window_of(milliseconds, "hour"), window_of(milliseconds, "day")) == (hour, hour[:10])


def test_an_old_timestamp_is_kept_as_it_is() -> None:
    assert moment_of(946_684_800_123) == datetime(2000, 1, 1, 0, 0, 0, 123_000, UTC)
    assert moment_of(None) == datetime(2020, 1, 1, tzinfo=UTC)
