"""An object's window is the date in its path, else the time of its last change, always in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.feed.feed import WindowSize
from transforms.feed.paths import compiled, date_in_path
from transforms.feed.windows import (
    contiguous_ranges,
    day_of_folder,
    parse_window,
    window_of,
    window_of_folder,
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
        # These are read as ever: another hour would move what is read later away from what was read before.
        ("y=2026/m=11/d=20/h=03/x.json", "2025-01-02T03"),
        ("dt=2026-11-20/h=03/x.json", "2026-11-20T00"),
        ("run=2026-11-20-03-12-33/x.json", "2026-11-20T00"),
        ("2026112003/x.json", "2025-01-02T03"),
    ],
)
def test_the_first_date_of_the_path_is_the_window(name: str, hour: str) -> None:
    assert window_of(name, MODIFIED, "hour") == hour
    assert window_of(name, MODIFIED, "day") == hour[:10]


@pytest.mark.parametrize(
    ("window_path", "name", "hour"),
    [
        # The partitions of Kafka Connect's sinks, of Spark and Hive, with keys of any name.
        ("y={year}/m={month}/d={day}/h={hour}", "a/y=2026/m=11/d=6/h=5/x.json", "2026-11-06T05"),
        ("y={year}/m={month}/d={day}", "a/y=2026/m=11/d=06/h=5/x.json", "2026-11-06T00"),
        ("{year}/{month}/{day}/{hour}", "2026/11/06/05/x.json", "2026-11-06T05"),
        # https://docs.aws.amazon.com/firehose/latest/dev/s3-prefixes.html
        ("dt={year}-{month}-{day}/h={hour}", "dt=2026-11-06/h=05/x.json", "2026-11-06T05"),
        ("dt={year}-{month}-{day}-{hour}", "dt=2026-11-06-05/x.json", "2026-11-06T05"),
        # https://docs.aws.amazon.com/dms/latest/userguide/CHAP_Target.S3.html: partitions, and names of files
        ("{year}{month}{day}{hour}", "s/t/2026110605/x.csv", "2026-11-06T05"),
        ("{day}_{month}_{year}", "s/t/06_11_2026/x.csv", "2026-11-06T00"),
        ("{year}{month}{day}-{hour}*.csv", "s/t/20261106-055432123.csv", "2026-11-06T05"),
        # https://docs.fluentd.org/output/s3
        ("{year}{month}{day}{hour}_*", "logs/2026110605_0.gz", "2026-11-06T05"),
        # Snowplow's folders of runs
        ("run={year}-{month}-{day}-{hour}-*", "run=2026-11-06-05-12-33/x.gz", "2026-11-06T05"),
        # The hour may stand before the day, and is 00 where the path has none.
        ("h={hour}/{year}-{month}-{day}", "h=5/2026-11-06/x.json", "2026-11-06T05"),
        ("y={year}/m={month}/d={day}/h={hour}", "y=2026/m=11/d=6/x.json", "2026-11-06T00"),
        ("y={year}/m={month}/d={day}/h={hour}", "y=2026/m=11/d=6/h=24/x.json", "2026-11-06T00"),
        # A number that can be no date is none, and the next place that fits counts.
        ("{year}/{month}/{day}", "2026/02/30/2026/02/03/x.json", "2026-02-03T00"),
        ("*_{year}{month}{day}*", "run_12345678_20261106.csv", "2026-11-06T00"),
        ("*{year}{month}{day}*", "part-00012-20261106.csv", "2026-11-06T00"),
        # What fits nowhere is in the window of its last change, whatever else its path says.
        ("y={year}/m={month}/d={day}", "2026-11-06/x.json", "2025-01-02T03"),
        ("y={year}/m={month}/d={day}", "ay=2026/m=11/d=06/x.json", "2025-01-02T03"),
        ("{year}-{month}-{day}/", "2026-11-06/x.json", "2026-11-06T00"),
        ("v[12]/{year}.{month}.{day}", "v2/2026.11.6/x.json", "2026-11-06T00"),
    ],
)
def test_a_feed_file_says_where_the_date_stands(window_path: str, name: str, hour: str) -> None:
    assert window_of(name, MODIFIED, "hour", window_path) == hour
    assert window_of(name, MODIFIED, "day", window_path) == hour[:10]


SHAPES = (
    "year={year}/month={month}/day={day}/hour={hour}",
    "{year}/{month}/{day}/{hour}",
    "{year}{month}{day}/{hour}",
    "{year}-{month}-{day}/{hour}",
    "dt={year}-{month}-{day}/hr={hour}",
    "date={year}-{month}-{day}/hour={hour}",
    "{year}-{month}-{day}T{hour}",
)
"""The shapes that are known without a ``window_path``."""
OTHER_SHAPES = (
    "y={year}/m={month}/d={day}/h={hour}",
    "dt={year}-{month}-{day}/h={hour}",
    "{year}{month}{day}{hour}",
    "{day}.{month}.{year}-{hour}",
    "run={year}-{month}-{day}-{hour}-*",
    "*_{year}{month}{day}-{hour}*",
)


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31)),
    st.sampled_from([*SHAPES, *OTHER_SHAPES]),
    st.sampled_from(["", "orders/", "a/b=1/"]),
)
def test_the_window_is_the_date_that_was_written(moment: datetime, shape: str, above: str) -> None:
    numbers = {"year": f"{moment:%Y}", "month": f"{moment:%m}", "day": f"{moment:%d}"}
    name = above + shape.replace("*", "x").format(**numbers, hour=f"{moment:%H}") + "/part.json"
    hour = f"{moment:%Y-%m-%dT%H}"
    assert window_of(name, MODIFIED, "hour", shape) == hour
    found = date_in_path(name, shape)
    assert found is not None
    assert found.has_hour
    if shape in SHAPES:
        assert window_of(name, MODIFIED, "hour") == hour
        # What it is said to be read from reads it alike.
        found = date_in_path(name)
        assert found is not None
        assert found.shape == shape


PARTS = (
    *("2026-11-20", "2026-11-20T05", "20261120", "2026", "11", "20", "05", "77", "1969-01-01"),
    *("dt=2026-11-21", "hour=7", "hr=99", "year=2026", "month=11", "day=9", "y=2026", "m=3", "d=4"),
    *("items", "a=b", "part_2026-11-22", "2026-11-20-03", ""),
)


@given(
    st.lists(st.sampled_from(PARTS), max_size=6),
    st.sampled_from([*PARTS, "part"]),
    st.sampled_from([None, *SHAPES, *OTHER_SHAPES[:3]]),
    st.sampled_from(["hour", "day"]),
)
def test_what_a_folder_says_of_the_window_is_true_of_all_files_in_it(
    folders: list[str], file: str, window_path: str | None, size: WindowSize
) -> None:
    folder = "".join(f"{one}/" for one in folders)
    found = window_of_folder(folder, size, window_path)
    if found is not None and "=" not in file:
        assert window_of(f"{folder}{file}.json", MODIFIED, size, window_path) == found


@pytest.mark.parametrize(
    ("window_path", "fault"),
    [
        ("{year}/{month}", "does not say where to find {day}"),
        ("%Y/%m/%d", "does not say where to find {year}, {month}, {day}"),
        ("{year}/{mon}/{day}", "has {mon}, and knows {year}, {month}, {day}, {hour}"),
        ("{year}/{month}/{day}/{year}", "has {year} twice, and one of them has to decide"),
        ("{year}/{month}/{day", "has a brace that stands alone"),
        ("/{year}/{month}/{day}", "begins with a slash or has two in a row"),
        ("{year}//{month}/{day}", "begins with a slash or has two in a row"),
        ("**/{year}/{month}/{day}", "has **, and is found at any depth without it"),
        ("v1{year}/{month}/{day}", "has a digit beside {year}"),
        ("{year}/{month}/{day}0", "has a digit beside {day}"),
        ("[z-a]/{year}/{month}/{day}", "is no pattern of a path: bad character range z-a"),
    ],
)
def test_a_pattern_that_leaves_the_date_open_is_refused(window_path: str, fault: str) -> None:
    with pytest.raises(ValueError) as refused:
        compiled(window_path)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    "window_path",
    [
        None,
        "{year}-{month}-{day}/{hour}",
        "hour={hour}/{year}/{month}/{day}",
        "*{year}-{month}-{day}*",
    ],
)
def test_no_name_below_a_folder_of_a_day_is_of_another(window_path: str | None) -> None:
    """The law that listing by days stands on, over paths that are made of pieces of dates."""
    rng = Random("days")
    pieces = [*"--//Tx.1", "2026", "11", "20", "03", "hour=", "1970", "13"]
    pieces += ["2026-11-20", "2025/01/02", "2024-02-30", "0070/01/01", "/2026/11/"]
    pieces += ["2026-11-20", "/2026-11-20/", "hour=3/2026/11/2", "1971-12-03/", "/2026/1/2/"]
    days = set()
    for _ in range(20_000):
        path = "".join(rng.choices(pieces, k=rng.randrange(4, 16)))
        window = window_of(path, MODIFIED, "hour", window_path)
        for at, sign in enumerate(path):
            day = day_of_folder(path[: at + 1], window_path) if sign == "/" else None
            if day is not None:
                assert window.startswith(day), path
                days.add(day)
    assert len(days) > 1


def test_a_change_in_another_time_zone_is_counted_in_utc() -> None:
    kolkata = timezone(timedelta(hours=5, minutes=30))
    assert (
        window_of("x.json", datetime(2026, 11, 20, 3, 15, tzinfo=kolkata), "hour")
        == "2026-11-19T21"
    )


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


def test_neighbouring_windows_form_ranges() -> None:
    windows = ["2026-11-20", "2026-11-22", "2026-11-21", "2026-11-25", "2026-11-21"]
    assert contiguous_ranges(windows, "day") == [
        ("2026-11-20", "2026-11-22"),
        ("2026-11-25", "2026-11-25"),
    ]
    assert contiguous_ranges([], "hour") == []
