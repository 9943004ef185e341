"""Who did a step's work is said in a word, and nothing is said where nothing was done."""

from __future__ import annotations

from assets.executors.choice import done_by, executors_of


def test_a_line_of_the_log_ends_with_who_did_the_work() -> None:
    assert done_by("spark") == " (spark)"
    assert done_by("in-process", "spark") == " (in-process, spark)"
    assert done_by() == ""


def test_the_metadata_names_them_or_is_not_there() -> None:
    assert executors_of(["in-process", "spark"]) == {"executor": "in-process, spark"}
    assert executors_of([]) == {}
