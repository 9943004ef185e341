"""Progress at a terminal: no silence is long."""

from __future__ import annotations

import re
import time

import pytest

from orchestration import console


def test_silence_is_broken_with_what_is_being_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "FIRST_SILENCE", 0.2)
    monkeypatch.setattr(console, "SILENCE", 0.2)
    with console.waiting("starting Spark"):
        time.sleep(1.2)
    said = capsys.readouterr().err.splitlines()
    assert len(said) > 1
    assert all(re.fullmatch(r"  … starting Spark \(\d s\)", line) for line in said)
    time.sleep(0.8)
    assert capsys.readouterr().err == ""


def test_who_speaks_often_is_not_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    with console.waiting("reading"):
        console.say("one")
        time.sleep(0.6)
    assert capsys.readouterr().err == "one\n"


def test_the_first_silence_is_the_shortest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert console.FIRST_SILENCE < 2 < console.SILENCE < 10
    monkeypatch.setattr(console, "FIRST_SILENCE", 0.1)
    with console.waiting("reading"):
        time.sleep(1.2)
    assert len(capsys.readouterr().err.splitlines()) == 1
