"""The digest of what a window's records are judged by, worked out once for all windows that are judged alike."""

from __future__ import annotations

from transforms.feed import digest
from transforms.feed.decisions import Decisions, Epoch, Release
from transforms.feed.feed import Feed, Table

EPOCHS = (Epoch("2025-11-20T05"), Epoch("2025-11-20T09", table="b"))
FEED = Feed(
    "zoo",
    "arcion_s3_json",
    "/nowhere",
    tables={
        "a": Table("a", ("id",), {"id": "int", "x": "int"}, (), since={"x": "2025-11-20T07"}),
        "b": Table("b", ("id",), {"id": "int", "y": "int"}, (), since={"y": "2025-11-20T05"}),
    },
    decisions=Decisions(EPOCHS, (Release("e", ("2025-11-20T03", "2025-11-20T08")),)),
)
WINDOWS = [f"2025-11-20T{hour:02}" for hour in range(24)]


def test_many_windows_have_the_digests_that_each_has_alone() -> None:
    of_window = digest.feed_digests(FEED)
    alone = {window: digest.feed_digest(FEED, window) for window in WINDOWS}
    assert {window: of_window(window) for window in reversed(WINDOWS)} == alone
    # Before 05, from 05, from 07 and from 09 on, and the two windows of the release.
    assert len({*alone.values()}) == 6


def test_it_is_worked_out_once_for_windows_that_are_judged_alike(digested: list[str]) -> None:
    of_window = digest.feed_digests(FEED)
    for day in range(1, 29):
        for hour in range(24):
            of_window(f"2025-12-{day:02}T{hour:02}")
    assert len(digested) == 1
