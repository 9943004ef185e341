"""The table has the ratios first, and the JSON every sample."""

from __future__ import annotations

from pathlib import Path

from bench import aims, lines, report
from bench.aims import DEFAULTS
from bench.answers.judging import Wrong
from bench.finding import Finding
from bench.measuring import Sample

MB = 2**20
FOUND_BY_NUMBER = {"find nothing new, 100 times"}
"""Its name has the number of windows in it."""
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
    lines_of_table = report.table(FINDINGS, MACHINE).splitlines()
    assert lines_of_table[0].startswith("|  | aim | textbook / Weir | Weir / floor | seconds |")
    assert lines_of_table[3] == (
        "| apply changes (1,000 changes)"
        " | 1.5 times as fast as the textbook: reached; 2 times the floor: reached"
        " | 2.00 | 2.00 | 3.00 (2.00 to 4.00) | 6.00 (4.00 to 6.00)"
        " | 1.00 (1.00 to 2.00) | 9, 5, 2 | 300, 90, 70 |"
    )


def test_what_was_counted_is_a_table_of_its_own_and_memory_of_a_process_stands_with_the_heaps() -> (
    None
):
    counts = {"PUT": 29, "GET": 1_273}
    took = Finding("a run", 5, "tables", {"weir": [Sample(2.0, None, None, 300 * MB)]}, (), counts)
    lines_of_table = report.table([took], {}).splitlines()
    assert lines_of_table[3].endswith("| 300 |")
    assert lines_of_table[5:10] == [
        "| a run | count |",
        "| --- | --- |",
        "| GET | 1,273 |",
        "| PUT | 29 |",
        "| together | 1,302 |",
    ]
    of_lines = report.as_json([took], {}, {})["lines"]
    assert isinstance(of_lines, list)
    assert of_lines[0]["counts"] == counts


def test_a_missed_aim_says_by_how_much() -> None:
    of_window = Finding("one small window", 20, "events", {"weir": [Sample(7.25, 9, MB)]})
    slow = {"weir": [Sample(4.0, 9, MB)], DEFAULTS: [Sample(2.0, None, None)]}
    lines_of_table = report.table(
        [of_window, Finding("apply changes", 9, "changes", slow)], {}
    ).splitlines()
    assert lines_of_table[3].startswith("| one small window (20 events) | 5 s: missed, 7.2 |")
    assert "| 2 times as fast as it on Spark's defaults: missed, 0.5 |" in lines_of_table[4]


def test_every_line_that_has_an_aim_is_a_line_of_the_bench() -> None:
    named = "".join(file.read_text() for file in Path(lines.__file__).parent.glob("*.py"))
    for name in aims.AIMS:
        assert f'"{name}"' in named or name in FOUND_BY_NUMBER


def test_the_json_has_ratios_medians_and_every_sample() -> None:
    found = report.as_json(FINDINGS, MACHINE, {"rows": 5})
    assert found["sizes"] == {"rows": 5}
    of_lines = found["lines"]
    assert isinstance(of_lines, list)
    assert of_lines[0]["faster_than_textbook"] == 2.0
    assert of_lines[0]["median_seconds"] == {"weir": 3.0, "textbook": 6.0, "floor": 1.0}
    assert of_lines[0]["aims"][0] == {
        "asked": "1.5 times as fast as the textbook",
        "found": 2.0,
        "is_reached": True,
    }
    assert of_lines[1]["slower_than_floor"] is None
    sample = {"seconds": 0.5, "jobs": 3, "heap": 10 * MB, "resident": None}
    assert of_lines[1]["samples"] == {"weir": [sample]}


def test_who_is_right_is_a_table_of_its_own_which_ends_with_how_many_each_has_right() -> None:
    judged = {
        "late": {"weir": Wrong(), "a tool": Wrong(extra=1, stale=2)},
        "in order": {"weir": Wrong(), "a tool": Wrong()},
    }
    assert report.table([], MACHINE, judged).splitlines() == [
        "| who is right about | Weir | a tool |",
        "| --- | --- | --- |",
        "| late | right | 1 extra, 2 stale |",
        "| in order | right | right |",
        "| right, of 2 | 2 | 1 |",
        "",
        "cores 2",
    ]
