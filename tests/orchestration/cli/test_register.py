"""``weir register`` where no catalogue is named, and where none answers; real ones are in tests/assets/catalogues."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands_here import weir

ZOO = """\
format: arcion_s3_json
landing: drops
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds/zoo.yaml").write_text(ZOO)
    return "--feeds", str(tmp_path / "feeds"), "--warehouse", str(tmp_path / "warehouse")


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that nobody answers at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def test_without_a_catalogue_the_setting_is_named(
    place: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEIR_CATALOGUES", raising=False)
    assert weir("register", *place) == 2
    assert "WEIR_CATALOGUES=: this names no catalogue; write hive://" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["hive://127.0.0.1:{}", "unity+http://127.0.0.1:{}/main"])
def test_one_that_does_not_answer_is_told_in_one_line_and_as_json(
    kind: str,
    silent: int,
    place: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = kind.format(silent)
    monkeypatch.setenv("WEIR_CATALOGUES", address)
    assert weir("register", "zoo", "--json", *place) == 1
    said = capsys.readouterr()
    assert said.err.count(f"catalogue {address}: it does not answer: ") == 1
    ((feed,),) = (json.loads(said.out),)
    assert (feed["feed"], feed["ok"], len(feed["errors"])) == ("zoo", False, 1)
    (found,) = feed["catalogues"]
    assert (found["catalogue"], found["schema"], found["ok"]) == (address, "weir_zoo", False)
    assert "`weir register` does at once" in found["fault"]
    # Nobody knows how many tables it has, so that no number is printed.
    assert weir("register", "zoo", *place) == 1
    assert capsys.readouterr().out == ""
