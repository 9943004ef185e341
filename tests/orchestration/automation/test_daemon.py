"""When the daemon starts a code server again: as soon as a feed file is another, and else after a while."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.automation import daemon


def test_a_code_server_is_started_again_where_a_feed_file_is_another(tmp_path: Path) -> None:
    feeds, started = tmp_path / "feeds", list[int]()
    act = daemon.when_feeds_change(started.append, feeds)
    for turn, is_due in enumerate((False, True, False, True, True)):
        if turn == 1:
            feeds.mkdir()
            (feeds / "zoo.yaml").write_text("format: avro\n")
        elif turn == 3:
            (feeds / "zoo.yaml").write_text("format: debezium\n")
        elif turn == 4:
            (feeds / "zoo.yaml").unlink()
        act(turn)
        assert (turn in started) == is_due


def test_a_code_server_is_started_again_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    act = daemon.when_feeds_change(started.append, tmp_path)
    act(1)
    monkeypatch.setattr(daemon, "AS_NEW_SECONDS", 0.0)
    act(2)
    assert started == [2]
