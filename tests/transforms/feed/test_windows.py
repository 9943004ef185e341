"""An object's window is the date in its path, else the time of its last change, always in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from transforms.feed.feed import WindowSize
from transforms.feed.windows import (
    contiguous_ranges,
    day_of_folder,
    next_window,
    parse_window,
    window_of,
    windows_between,
)

MODIFIED = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "hour"),
    [
        ("region/2026-11-20/03/x.json", "2026-11-20T03"),
        ("region/2026-11-20/x.json", "2026-11-20T00"),
        ("2026/11/20/03/x.json", "2026-11-20T03"),
        ("region/2026/11/20/x.json", "2026-11-20T00"),
        ("2026/11/20.json", "2026-11-20T00"),
        ("dt=2026-11-20/hour=03/x.json", "2026-11-20T03"),
        ("date=2026-11-20/hr=3/x.json", "2026-11-20T03"),
        ("day=2026-11-20/x.json", "2026-11-20T00"),
        ("dt=2026-11-20/region/hour=07/x.json", "2026-11-20T07"),
        ("region/2026-11-20T03.json", "2026-11-20T03"),
        ("2026-11-20T03:15:00Z.json.gz", "2026-11-20T03"),
        ("region_2026-11-20_12.json", "2026-11-20T00"),
        ("2026-11-20/region_12.json", "2026-11-20T00"),
        ("2026-11-20/2026-11-21T05/x.json", "2026-11-20T00"),
        ("2026-13-45/2026-11-21/04/x.json", "2026-11-21T04"),
        ("2026/13/2026/11/20/05/x.json", "2026-11-20T05"),
        ("2026-11-20T25.json", "2026-11-20T00"),
        ("2024-02-29/x.json", "2024-02-29T00"),
        ("2025-02-29/x.json", "2025-01-02T03"),
        ("12026-11-20/x.json", "2025-01-02T03"),
        ("0099-11-20/x.json", "2025-01-02T03"),
        ("region_1.json", "2025-01-02T03"),
        ("20261120/04/x.json", "2026-11-20T04"),
        ("dt=20261120/hour=04/x.json", "2026-11-20T04"),
        ("20261120.json", "2026-11-20T00"),
        ("topics/a/year=2026/month=11/day=20/hour=03/a+0+0.json", "2026-11-20T03"),
        ("year=2026/month=1/day=2/x.json", "2026-01-02T00"),
        ("year=2026/month=13/day=2/x.json", "2025-01-02T03"),
        # A date within a name says less than one that is a part of the path.
        ("lease-2031-01-01/2026-11-20/03/x.json", "2026-11-20T03"),
        ("history-2019-12-31/dt=2026-11-20/hour=03/x.json", "2026-11-20T03"),
        ("history-2019-12-31/x.json", "2019-12-31T00"),
        ("20261120-04/x.json", "2025-01-02T03"),
        ("2026-1120/x.json", "2025-01-02T03"),
    ],
)
def test_the_first_date_of_the_path_is_the_window(name: str, hour: str) -> None:
    assert window_of(name, MODIFIED, "hour") == hour
    assert window_of(name, MODIFIED, "day") == hour[:10]


@pytest.mark.parametrize(
    ("folder", "day"),
    [
        ("2026-11-20/", "2026-11-20"),
        ("2026/11/20/", "2026-11-20"),
        ("orders/dt=2026-11-20/", "2026-11-20"),
        ("a/2026-11-20T03/b/", "2026-11-20"),
        ("2026-13-45/2026-11-21/", "2026-11-21"),
        ("2026/", None),
        ("2026/11/", None),
        ("orders/", None),
        ("12026-11-20/", None),
        ("1899-11-20/", None),
    ],
)
def test_a_folder_whose_path_has_a_date_is_of_that_day(folder: str, day: str | None) -> None:
    assert day_of_folder(folder) == day


def test_no_name_below_a_folder_of_a_day_is_of_another() -> None:
    """The law that listing by days stands on, over paths that are made of pieces of dates."""
    rng = Random("days")
    pieces = [*"--//Tx.1", "2026", "11", "20", "03", "hour=", "1970", "13"]
    pieces += ["2026-11-20", "2025/01/02", "2024-02-30", "0070/01/01", "/2026/11/"]
    days = set()
    for _ in range(20_000):
        path = "".join(rng.choices(pieces, k=rng.randrange(4, 16)))
        window = window_of(path, MODIFIED, "hour")
        for at, sign in enumerate(path):
            day = day_of_folder(path[: at + 1]) if sign == "/" else None
            if day is not None:
                assert window.startswith(day), path
                days.add(day)
    assert len(days) > 5


def test_a_change_in_another_time_zone_is_counted_in_utc() -> None:
    kolkata = timezone(timedelta(hours=5, minutes=30))
    assert (
        window_of("x.json", datetime(2026, 11, 20, 3, 15, tzinfo=kolkata), "hour")
        == "2026-11-19T21"
    )


def test_a_window_is_parsed_to_the_moment_it_begins() -> None:
    assert parse_window("2026-11-20T03", "hour") == datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert parse_window("2026-11-20", "day") == datetime(2026, 11, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "size", "form"),
    [
        ("2026-11-20", "hour", "2026-11-20T03"),
        ("2026-11-20T24", "hour", "2026-11-20T03"),
        ("2026-11-20T3", "hour", "2026-11-20T03"),
        ("2026-11-20T03", "day", "2026-11-20"),
        ("2026-02-30", "day", "2026-11-20"),
        ("", "day", "2026-11-20"),
    ],
)
def test_what_is_no_window_is_refused_with_the_form_expected(
    text: str, size: WindowSize, form: str
) -> None:
    with pytest.raises(ValueError) as refused:
        parse_window(text, size)
    assert str(refused.value) == f"{text!r} is no window of one {size}; expected the form {form}"


def test_windows_between_are_inclusive_and_cross_midnight() -> None:
    assert windows_between("2026-11-20T22", "2026-11-21T01", "hour") == [
        "2026-11-20T22",
        "2026-11-20T23",
        "2026-11-21T00",
        "2026-11-21T01",
    ]
    assert windows_between("2026-02-28", "2026-03-01", "day") == ["2026-02-28", "2026-03-01"]
    assert windows_between("2026-11-20", "2026-11-20", "day") == ["2026-11-20"]
    assert windows_between("2026-11-21", "2026-11-20", "day") == []


def test_the_next_window_begins_where_this_one_ends() -> None:
    assert next_window("2026-12-31T23", "hour") == "2027-01-01T00"
    assert next_window("2028-02-28", "day") == "2028-02-29"


def test_neighbouring_windows_form_ranges() -> None:
    windows = ["2026-11-20", "2026-11-22", "2026-11-21", "2026-11-25", "2026-11-21"]
    assert contiguous_ranges(windows, "day") == [
        ("2026-11-20", "2026-11-22"),
        ("2026-11-25", "2026-11-25"),
    ]
    assert contiguous_ranges([], "hour") == []
