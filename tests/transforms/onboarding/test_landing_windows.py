"""What paths suggest of windows: hours or days, the part that says them, and an example of each way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.feed.windows import window_of
from transforms.onboarding.landing_windows import WindowRule, landing_windows

MODIFIED = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
FIRST = datetime(2026, 11, 26, 21, tzinfo=UTC)


def laid(layout: str, first: datetime = FIRST, count: int = 8) -> list[tuple[str, datetime]]:
    """Names of objects of some hours one after another; ``layout`` is a format of ``strftime``."""
    return [((first + timedelta(hours=at)).strftime(layout), MODIFIED) for at in range(count)]


@pytest.mark.parametrize(
    ("layout", "size", "window_path"),
    [
        # The usual dates need no key.
        ("%Y-%m-%d/%H/a.json", "hour", None),
        ("dt=%Y-%m-%d/hour=%H/a.json", "hour", None),
        ("topics/t/year=%Y/month=%m/day=%d/hour=%H/t+0+0000000001.json", "hour", None),
        ("topics/t/year=%Y/month=%m/day=%d/t+0+0000000001.json", "day", None),
        ("%Y/%m/%d/%H/stream-1-%Y-%m-%d-%H-05-12-d3b0.json", "hour", None),
        ("%Y-%m-%d/a.json", "day", None),
        ("%Y/%m/%d/a.json", "day", None),
        # The number of a file is no hour.
        ("orders_%Y-%m-%d_12.json", "day", None),
        ("%Y%m%d/20031112.json", "day", None),
        ("t/y=%Y/m=%m/d=%d/h=%H/a.json", "hour", "y={year}/m={month}/d={day}/h={hour}"),
        ("t/Year=%Y/Mon=%m/Day=%d/a.json", "day", "Year={year}/Mon={month}/Day={day}"),
        ("dt=%Y-%m-%d/h=%H/a.json", "hour", "dt={year}-{month}-{day}/h={hour}"),
        ("p/dt=%Y-%m-%d-%H/a.json", "hour", "dt={year}-{month}-{day}-{hour}"),
        ("ts=%Y-%m-%d %H%%3A00%%3A00/a.json", "hour", "ts={year}-{month}-{day} {hour}*"),
        ("s/t/%Y%m%d%H/a.csv", "hour", "{year}{month}{day}{hour}"),
        ("s/t/%Y_%m_%d_%H/a.csv", "hour", "{year}_{month}_{day}_{hour}"),
        ("s/t/%Y%m%d-%H5432123.csv", "hour", "{year}{month}{day}-{hour}*"),
        ("logs/%Y%m%d-%H_0.gz", "hour", "{year}{month}{day}-{hour}*"),
        ("logs/%Y%m%d%H.gz", "hour", "{year}{month}{day}{hour}*"),
        ("run=%Y-%m-%d-%H-12-33/part.gz", "hour", "run={year}-{month}-{day}-{hour}*"),
        ("%Y%m%d/%Y%m%dT%H0500Z_%Y%m%dT%H1000Z_ab.gz", "hour", "{year}{month}{day}T{hour}*"),
        ("a_%Y.%m.%d-%H:00.json", "hour", "*{year}.{month}.{day}-{hour}*"),
    ],
)
def test_the_part_of_a_path_that_says_its_window_is_found(
    layout: str, size: str, window_path: str | None
) -> None:
    found = landing_windows(laid(layout))
    assert (found.size, found.window_path) == (size, window_path)
    ends = ("2026-11-26T21", "2026-11-27T04") if size == "hour" else ("2026-11-26", "2026-11-27")
    assert (found.names[0], found.names[-1]) == ends
    (rule,) = found.rules
    assert (rule.objects, rule.windows) == (8, len(found.names))
    assert (rule.example, rule.window) == (laid(layout)[0][0], ends[0])
    if window_path is not None:
        assert rule.shape == window_path


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31)),
    st.sampled_from(
        [
            "t/y=%Y/m=%m/d=%d/h=%H/a.json",
            "dt=%Y-%m-%d/hh=%H/a.json",
            "dt=%Y-%m-%d-%H/a.json",
            "%Y%m%d%H/a.json",
            "t/%Y%m%d-%H3015123.csv",
            "run=%Y-%m-%d-%H-12-33/a.gz",
        ]
    ),
)
def test_a_feed_with_what_is_proposed_reads_the_hour_that_was_written(
    moment: datetime, layout: str
) -> None:
    found = landing_windows(laid(layout, moment, 1))
    name = moment.strftime(layout)
    assert found.names == (moment.strftime("%Y-%m-%dT%H"),)
    assert window_of(name, MODIFIED, found.size, found.window_path) == found.names[0]


def test_paths_without_a_date_are_in_the_windows_of_their_last_change() -> None:
    found = landing_windows([("orders/1.json", MODIFIED), ("orders/2026/11/2.json", MODIFIED)])
    assert (found.size, found.window_path) == ("hour", None)
    assert found.names == ("2025-01-02T03",)
    assert found.rules == (WindowRule(None, 1, 2, "orders/1.json", "2025-01-02T03"),)
    assert "window_path names the place of a date" in found.why
    assert landing_windows([]).rules == ()


def test_each_way_of_saying_a_date_has_its_example() -> None:
    objects = [
        *laid("%Y-%m-%d/%H/a.json"),
        *laid("b/%Y/%m/%d/%H/c.json", count=3),
        ("d.json", MODIFIED),
    ]
    found = landing_windows(objects)
    assert found.window_path is None
    assert found.rules == (
        WindowRule("{year}-{month}-{day}/{hour}", 8, 8, "2026-11-26/21/a.json", "2026-11-26T21"),
        WindowRule("{year}/{month}/{day}/{hour}", 3, 3, "b/2026/11/26/21/c.json", "2026-11-26T21"),
        WindowRule(None, 1, 1, "d.json", "2025-01-02T03"),
    )
    assert (
        found.why == "the paths of 11 of 12 objects have the hour, 2026-11-26T21 to 2026-11-27T04"
    )


def test_what_few_paths_have_is_not_proposed() -> None:
    few = laid("y=%Y/m=%m/d=%d/h=%H/a.json", count=2)
    undated = [(f"{number}.json", MODIFIED) for number in range(3)]
    assert landing_windows([*few, *undated]).window_path is None
    assert (
        landing_windows([*few, *undated[:2]]).window_path == "y={year}/m={month}/d={day}/h={hour}"
    )
    # By the usual dates more paths say a time than by the key, which takes the place of all of them.
    assert landing_windows([*few, *laid("%Y-%m-%d/%H/a.json", count=3)]).window_path is None
