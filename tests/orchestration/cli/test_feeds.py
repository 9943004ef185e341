"""`weir feeds check` and `weir feeds list`: every fault of every file at once, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestration.cli.feeds import check_feeds, list_feeds
from transforms.errors import FeedMisdeclared

SOUND = """\
format: arcion_s3_json
landing: ../drops
tables:
  pets:
    key: [id]
    columns: {id: int, name: string}
"""
FAULTY = """\
format: arcion_s3_json
landing: ../drops
windw: day
tables:
  pets:
    key: [no]
    columns: {id: int, name: string}
  cats:
    key: [id]
    columns: {id: whole}
"""


@pytest.fixture
def feeds(tmp_path: Path) -> Path:
    folder = tmp_path / "feeds"
    folder.mkdir()
    (tmp_path / "drops").mkdir()
    return folder


def checked(feeds: Path, *only: str, probes: bool = False, as_json: bool = False) -> int:
    return check_feeds(feeds, only, probes=probes, as_json=as_json)


def test_every_fault_of_every_file_has_its_place(
    feeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (feeds / "good.yaml").write_text(SOUND)
    (feeds / "bad.yaml").write_text(FAULTY.replace("windw: day\n", ""))
    (feeds / "worse.yaml").write_text(FAULTY)
    (feeds / "broken.yaml").write_text("format: [\n")
    assert checked(feeds) == 2
    lines = capsys.readouterr().out.splitlines()
    places = [line.removeprefix(f"{feeds}/").split(": ")[0] for line in lines]
    assert lines[3] == "good: ok, arcion_s3_json, 1 table"
    assert places == ["bad.yaml:5:5", "bad.yaml:9:15", "broken.yaml:2:1", "good", "worse.yaml:3:1"]
    assert "'no' is not among the table's columns" in lines[0]
    assert "windw: is not a known key; did you mean window" in lines[-1]


def test_only_the_feeds_that_are_named_are_checked(
    feeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (feeds / "good.yaml").write_text(SOUND)
    (feeds / "bad.yaml").write_text(FAULTY)
    assert checked(feeds, "good") == 0
    assert capsys.readouterr().out.startswith("good: ok")
    with pytest.raises(FeedMisdeclared, match="there is no such feed here"):
        checked(feeds, "none")


def test_the_landing_is_looked_at(feeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (feeds / "zoo.yaml").write_text(SOUND)
    assert checked(feeds, probes=True) == 0
    assert "landing reachable, and empty" in capsys.readouterr().out
    (feeds.parent / "drops/a.json").write_text("{}")
    (feeds.parent / "drops/b.txt").write_text("{}")
    assert checked(feeds, probes=True) == 0
    out = capsys.readouterr().out
    assert "landing reachable, 1 drop, newest " in out
    assert "1 object left out" in out
    (feeds / "zoo.yaml").write_text(f"{SOUND}window_path: 'd={{day}}.{{month}}.{{year}}'\n")
    (feeds.parent / "drops/d=20.11.2026").mkdir()
    (feeds.parent / "drops/d=20.11.2026/c.json").write_text("{}")
    assert checked(feeds, probes=True) == 0
    assert ", 1 without the date of window_path\n" in capsys.readouterr().out
    (feeds / "zoo.yaml").write_text(SOUND.replace("../drops", "../nowhere"))
    assert checked(feeds, probes=True) == 2
    captured = capsys.readouterr()
    assert "zoo: error" in captured.out
    assert "there is no such folder" in captured.out
    assert "1 landing not readable" in captured.err


def test_programs_get_the_same(feeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (feeds / "good.yaml").write_text(SOUND)
    (feeds / "worse.yaml").write_text(FAULTY)
    assert checked(feeds, probes=True, as_json=True) == 2
    good, worse = json.loads(capsys.readouterr().out)
    assert good["ok"] and good["faults"] == [] and good["landing"]["drops"] == 0
    assert not worse["ok"]
    assert [(one["line"], one["column"], one["key"]) for one in worse["faults"]] == [
        (3, 1, "windw")
    ]


def test_the_list_has_a_line_for_each_feed(feeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (feeds / "zoo.yaml").write_text(SOUND)
    assert list_feeds(feeds, as_json=False) == 0
    # A long path of the landing goes on in further lines.
    heads, _, row, *_ = capsys.readouterr().out.splitlines()
    assert heads.split() == ["feed", "format", "window", "tables", "landing"]
    assert row.split()[:4] == ["zoo", "arcion_s3_json", "hour", "pets"]
    (feeds / "bad.yaml").write_text(FAULTY)
    assert list_feeds(feeds, as_json=True) == 2
    bad, zoo = json.loads(capsys.readouterr().out)
    assert not bad["ok"]
    assert zoo["tables"] == {"pets": {"key": ["id"], "columns": {"id": "int", "name": "string"}}}
