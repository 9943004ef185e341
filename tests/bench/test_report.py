"""The table has the ratios first, and the JSON every sample."""

from __future__ import annotations

from bench import report
from bench.measuring import Sample
from bench.report import Finding

MB = 2**20
FINDINGS = [
    Finding(
        "apply changes",
        1000,
        "changes",
        {
            "weir": [Sample(2.0, 9, 300 * MB), Sample(4.0, 9, 200 * MB), Sample(3.0, 9, 250 * MB)],
            "textbook": [Sample(6.0, 5, 90 * MB), Sample(4.0, 5, 80 * MB), Sample(6.0, 5, MB)],
            "floor": [Sample(1.0, 2, 70 * MB), Sample(2.0, 2, 60 * MB), Sample(1.0, 2, MB)],
        },
    ),
    Finding("find nothing new", 1000, "changes", {"weir": [Sample(0.5, 3, 10 * MB)]}),
    Finding("the demo, first time", 40, "objects", {"weir": [Sample(70.0, None, None)]}),
]
MACHINE = {"cores": 2, "commit": None}


def test_ratios_are_medians_of_turns_and_come_first() -> None:
    lines = report.table(FINDINGS, MACHINE).splitlines()
    assert lines[0].startswith("|  | textbook / Weir | Weir / floor | seconds |")
    assert lines[2].startswith("| aim | at least 3 | at most 2 |")
    assert lines[3] == (
        "| apply changes (1,000 changes) | 2.00 | 2.00 | 3.00 (2.00 to 4.00) | 6.00 (4.00 to 6.00)"
        " | 1.00 (1.00 to 2.00) | 9, 5, 2 | 300, 90, 70 |"
    )


def test_what_has_no_competitor_has_no_ratio() -> None:
    lines = report.table(FINDINGS, MACHINE).splitlines()
    assert lines[4] == (
        "| find nothing new (1,000 changes) |  |  | 0.50 (0.50 to 0.50) |  |  | 3 | 10 |"
    )
    assert lines[-1] == "cores 2"


def test_of_a_process_of_its_own_only_the_time_is_known() -> None:
    lines = report.table(FINDINGS, MACHINE).splitlines()
    assert (
        lines[5]
        == "| the demo, first time (40 objects) |  |  | 70.00 (70.00 to 70.00) |  |  |  |  |"
    )


def test_the_json_has_ratios_medians_and_every_sample() -> None:
    found = report.as_json(FINDINGS, MACHINE, {"rows": 5})
    assert found["sizes"] == {"rows": 5}
    assert found["aims"] == {"textbook": 3.0, "floor": 2.0}
    lines = found["lines"]
    assert isinstance(lines, list)
    assert lines[0]["faster_than_textbook"] == 2.0
    assert lines[0]["median_seconds"] == {"weir": 3.0, "textbook": 6.0, "floor": 1.0}
    assert lines[1]["slower_than_floor"] is None
    assert lines[1]["samples"] == {"weir": [{"seconds": 0.5, "jobs": 3, "heap": 10 * MB}]}
