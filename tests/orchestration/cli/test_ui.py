"""What keeps `weir ui` from starting is said in a sentence, before Dagster is loaded."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from orchestration.cli.options import Place
from orchestration.cli.ui import ADDRESS, ui
from transforms.errors import FeedMisdeclared, SettingMisdeclared


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text("format: arcion_s3_json\nlanding: ../drops\n")
    return Place(tmp_path / "feeds", str(tmp_path / "warehouse"))


def test_a_port_that_is_taken_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with socket.socket() as other:
        other.bind((ADDRESS, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingMisdeclared, match=rf"--port={port}: .* such as {port + 1}"):
            ui(place, port)


def test_a_history_that_cannot_be_kept_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    with pytest.raises(SettingMisdeclared, match="pages show a history"):
        ui(place, 3000)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(SettingMisdeclared, match=r"it cannot be used: .* name another folder"):
        ui(place, 3000)


def test_a_feed_file_that_is_wrong_is_named_first(place: Place) -> None:
    (place.feeds / "zoo.yaml").write_text("format: arcion_s3_jsn\nlanding: ../drops\n")
    with pytest.raises(FeedMisdeclared, match="did you mean arcion_s3_json"):
        ui(place, 3000)
