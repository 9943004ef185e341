"""The picture is sound XML, and has every figure to scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from bench import plot, report
from bench.finding import Finding
from bench.measuring import Sample

SVG = "{http://www.w3.org/2000/svg}"
FINDINGS = [
    Finding(
        "apply changes",
        1000,
        "changes",
        {
            "weir": [Sample(2.0, 9, 1), Sample(4.0, 9, 1), Sample(3.0, 9, 1)],
            "textbook": [Sample(6.0, 5, 1), Sample(12.0, 5, 1), Sample(6.0, 5, 1)],
        },
    ),
    Finding(
        "beside others",
        1000,
        "changes",
        {"weir": [Sample(1.5, 0, 1)], "a <tool> & more": [Sample(0.0456, None, None)]},
        ("One of them is quick.",),
    ),
]


def run(cores: int) -> dict[str, Any]:
    found = report.as_json(FINDINGS, {"cores": cores, "commit": None}, {"rows": 5000, "repeats": 3})
    return dict(json.loads(json.dumps(found)))


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_figure_of_every_run_is_there() -> None:
    found = texts(plot.picture([run(2), run(64)]))
    assert found.count("apply changes (1,000 changes to 5,000 rows)") == 2
    for figure in ("3.00 s", "6.00 s", "1.50 s", "0.046 s", "One of them is quick."):
        assert found.count(figure) == 2
    assert found.count("a <tool> & more") == 2
    assert [one for one in found if one.startswith("cores")] == [
        "cores 2; each run 3 times.",
        "cores 64; each run 3 times.",
    ]


def test_bars_are_as_long_as_medians_and_stay_within_the_picture() -> None:
    drawn = ElementTree.fromstring(plot.picture([run(2)]))
    bars = [one for one in drawn.iter(f"{SVG}rect") if one.get("class") in ("own", "other")]
    assert [one.get("class") for one in bars] == ["own", "other", "own", "other"]
    widths = [float(one.get("width", "")) for one in bars]
    # The longest stroke of a line takes the whole width: 12 s here, and 1.5 s below.
    whole = plot.RIGHT - plot.LEFT
    expected = [whole * 3 / 12, whole * 6 / 12, whole, whole * 0.0456 / 1.5]
    assert widths == pytest.approx(expected, abs=0.1)
    height = float(drawn.get("height", ""))
    for one in drawn.iter(f"{SVG}text"):
        assert 0 < float(one.get("x", "")) < plot.WIDTH
        assert 0 < float(one.get("y", "")) < height


def test_answers_stand_below_the_seconds_of_their_tools_and_tell_what_is_wrong() -> None:
    right = dict.fromkeys(("missing", "extra", "stale", "mixed"), 0)
    wrong = {"weir": right, "a <tool> & more": right | {"extra": 2, "stale": 1}, "untimed": right}
    answers = {"lines": [], "answers": [{"history": "late", "right rows": 3, "wrong": wrong}]}
    svg = plot.picture([run(2), answers])
    found = texts(svg)
    for text in ("1.5 s", "0.0 s", "not timed", "late", "2 extra 1 stale", "right, of 1"):
        assert found.count(text) == 1
    # What is right is a dot, and not a text.
    assert len([*ElementTree.fromstring(svg).iter(f"{SVG}circle")]) == 2
    last = found.index("right, of 1")
    assert found[last : last + 4] == ["right, of 1", "1", "0", "1"]
    # The line beside other tools is drawn once, and the other line as ever.
    assert found.count("beside others (1,000 changes to 5,000 rows)") == 1
    assert "One of them is quick." not in found
    assert "3.00 s" in found


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(json.dumps(run(2)))
    out = tmp_path / "bench.svg"
    answer = CliRunner().invoke(plot.plot, [str(tmp_path / "bench.json"), "--out", str(out)])
    assert (answer.exit_code, answer.output) == (0, "")
    assert "3.00 s" in texts(out.read_text())
