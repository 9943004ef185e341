"""The picture of curves is sound XML, to scale, and has each curve of the files once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from bench import curves, report
from bench.finding import Finding
from bench.measuring import Sample

SVG = "{http://www.w3.org/2000/svg}"


def finding(name: str, **seconds: float) -> Finding:
    samples = {one: [Sample(second, None, None)] for one, second in seconds.items()}
    return Finding(name, 100, "changes", samples)


FINDINGS = [
    finding("changes into 1,000 rows", weir=2.0, textbook=4.0),
    finding("changes into 10,000 rows", weir=2.0, textbook=40.0),
    finding("list all of 10 objects", weir=0.05),
    finding("list all of 500 objects", weir=3.0),
    finding("one small window", weir=1.0),
    finding("100 late keys over 1 days", weir=1.0),
    finding("100 late keys over 30 days", weir=12.0),
]


def run(*findings: Finding) -> dict[str, Any]:
    found = report.as_json([*findings], {"cores": 2}, {"rows": 5000, "repeats": 3})
    return dict(json.loads(json.dumps(found)))


def test_lines_that_differ_in_one_number_are_a_curve_and_others_are_none() -> None:
    found = curves.curves([run(*FINDINGS)])
    assert [(one.title, one.name, one.points) for one in found] == [
        ("changes into … rows", "Weir", ((1e3, 2.0), (1e4, 2.0))),
        ("changes into … rows", "textbook", ((1e3, 4.0), (1e4, 40.0))),
        ("list all of … objects", "Weir", ((10.0, 0.05), (500.0, 3.0))),
        ("100 late keys over … days", "Weir", ((1.0, 1.0), (30.0, 12.0))),
    ]


def test_the_points_of_one_curve_may_be_in_several_files() -> None:
    more = finding("changes into 50,000 rows", weir=5.0), FINDINGS[0]
    (weir,) = [one for one in curves.curves([run(*FINDINGS[:2]), run(*more)]) if one.name == "Weir"]
    assert weir.points == ((1e3, 2.0), (1e4, 2.0), (5e4, 5.0))
    (weir,) = curves.curves([run(more[0]), run(finding("changes into 10 rows", weir=2.0))])
    assert weir.points == ((10.0, 2.0), (5e4, 5.0))


def test_a_tenfold_is_as_long_on_both_axes_as_everywhere_and_all_is_within_the_picture() -> None:
    drawn = ElementTree.fromstring(curves.picture([run(*FINDINGS[:2])]))
    own, other = (
        [one for one in drawn.iter(f"{SVG}line") if one.get("class") == f"{kind} curve"]
        for kind in ("own", "other")
    )
    assert [float(one.get("y1", "")) - float(one.get("y2", "")) for one in own] == [0.0]
    rises = [float(one.get("y1", "")) - float(one.get("y2", "")) for one in other]
    assert rises == pytest.approx([curves.DECADE], abs=0.2)
    assert len([*drawn.iter(f"{SVG}circle")]) == 4
    texts = [one.text or "" for one in drawn.iter(f"{SVG}text")]
    assert {"Weir: 2.00 s, 2.00 s", "textbook: 4.00 s, 40 s", "1,000", "10,000"} <= {*texts}
    assert "cores 2; each run 3 times." in texts
    height, width = float(drawn.get("height", "")), float(drawn.get("width", ""))
    for one in drawn.iter(f"{SVG}text"):
        assert 0 < float(one.get("y", "")) < height
        assert 0 < float(one.get("x", "")) < width


def test_the_command_draws_the_files_that_it_is_given(tmp_path: Path) -> None:
    file, out = tmp_path / "rows.json", tmp_path / "growth.svg"
    file.write_text(json.dumps(run(*FINDINGS)))
    done = CliRunner().invoke(curves.draw, [str(file), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "100 late keys over … days" in out.read_text()
