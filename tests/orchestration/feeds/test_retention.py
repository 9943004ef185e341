"""How long history is kept, as feed files declare it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import Feed, Retention

SHOP = """\
format: arcion_s3_json
landing: drops
tables: {customers: {key: [id], columns: {id: int}}}
"""


def loaded(folder: Path, text: str) -> Feed:
    (folder / "shop.yaml").write_text(SHOP + text)
    return load_feed(folder / "shop.yaml")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", timedelta(days=30)),
        ("compaction: {retention: 7d}\n", timedelta(days=7)),
        ("compaction: {retention: 36h}\n", timedelta(hours=36)),
        ("compaction: {retention: forever}\n", None),
    ],
)
def test_a_retention_is_days_hours_or_for_ever(
    text: str, kept: timedelta | None, tmp_path: Path
) -> None:
    assert loaded(tmp_path, text).retention == Retention(kept)


def test_streams_that_have_ended_are_named(tmp_path: Path) -> None:
    feed = loaded(tmp_path, "compaction: {retired: [tablet-7]}\n")
    assert feed.retention == Retention(retired=("tablet-7",))


def test_windows_whose_quarantine_is_dismissed_are_named(tmp_path: Path) -> None:
    feed = loaded(tmp_path, "compaction: {dismissed: [2025-11-20T03]}\n")
    assert feed.retention == Retention(dismissed=("2025-11-20T03",))


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (
            "compaction: {retention: soon}\n",
            "compaction.retention",
            "'soon' is no length of time: write 30d, 12h or forever",
        ),
        (
            "compaction: {retension: 7d}\n",
            "compaction.retension",
            "is not a known key; did you mean retention",
        ),
        (
            "compaction: {dismissed: [yesterday]}\n",
            "compaction.dismissed",
            "'yesterday' is no window of one hour; expected the form 2026-11-20T03",
        ),
        ("compaction: 7d\n", "compaction", "must be a mapping"),
    ],
)
def test_what_is_none_is_said(text: str, key: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FeedMisdeclared) as fault:
        loaded(tmp_path, text)
    assert key in str(fault.value)
    assert message in str(fault.value)
