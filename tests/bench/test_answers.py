"""The right answers are known without Weir, and whoever is wrong about one is found out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from bench.answers import appliers, delivery, judging
from bench.answers.histories import COLUMNS, HISTORIES, Row, states
from bench.answers.judging import Wrong
from bench.made.restoring import Workspace
from orchestration.resources import lake_of

BY_NAME = {history.name: history for history in HISTORIES}


def row(id: int, name: str, quantity: int | None, status: str | None) -> Row:
    return {"id": id, "name": name, "quantity": quantity, "status": status}


@pytest.mark.parametrize(
    ("history", "right"),
    [
        ("in order", [row(1, "Ada", 4, "paid"), row(2, "Bo", 5, "back")]),
        ("a column set to null", [row(1, "Ada", None, "new"), row(2, "Bo", None, None)]),
        ("a late update", [row(1, "Ada", 3, "paid"), row(2, "Bo", 2, "sent")]),
        ("a delete before its insert", []),
        ("a late update of some columns", [row(1, "Ada", 2, "paid")]),
        (
            "updates of some columns",
            [row(1, "Ada", 1, "paid"), row(2, "Bo", 5, "paid"), row(3, "Cy", None, "new")],
        ),
        ("a new key, and an older update after it", [row(2, "Ada", 2, "paid")]),
        ("updates at one position", [row(1, "Ada", 4, "done")]),
        ("an insert and its delete at one position", [row(1, "Ada", 1, "new")]),
    ],
)
def test_the_right_answer_is_what_the_source_held_at_last(history: str, right: list[Row]) -> None:
    left = states(BY_NAME[history])[-1]
    assert [left[id] for id in sorted(left)] == right


def test_every_event_is_delivered_and_every_window_is_applied() -> None:
    for history in HISTORIES:
        delivered = {number for window in history.windows for number in window}
        assert delivered == {*range(len(history.events))}, history.name
        assert {*range(len(history.windows))} <= {*history.runs}, history.name


def naive_rows(folder: Path) -> list[Row]:
    """What is left if the change that was delivered last wins, whatever it says of its position."""
    left: list[Row] = []
    for group in delivery.groups():
        delivery.lay_rows(group, folder / group.name)
        table: dict[int, Row] = {}
        for run in group.runs:
            window = folder / group.name / delivery.WINDOWS[run]
            for change in pq.read_table(window / "part.parquet").to_pylist():
                table.pop(change["id"], None)
                if not change["is_delete"]:
                    table[change["id"]] = {name: change[name] for name in COLUMNS}
        left += table.values()
    return left


def test_an_applier_for_which_the_last_delivery_wins_is_wrong_in_every_way(tmp_path: Path) -> None:
    found = {
        name: one["naive"]
        for name, one in judging.judgements({"naive": naive_rows(tmp_path)}).items()
    }
    assert {name: str(one) for name, one in found.items() if one.rows} == {
        "a late update": "2 stale",
        "a late delete": "1 missing",
        "events delivered again": "1 stale",
        "an insert delivered again after its delete": "1 extra",
        "a delete before its insert": "2 extra",
        "an older update after a delete": "1 extra",
        "updates of some columns": "3 mixed",
        "a late update of some columns": "1 mixed",
        "a new key, and an older update after it": "1 extra",
        "an old window applied again": "2 extra, 1 stale",
    }


def test_a_row_that_is_there_twice_and_one_with_a_wrong_cell_are_wrong() -> None:
    history = BY_NAME["a late update"]
    right = [row(1, "Ada", 3, "paid"), row(2, "Bo", 2, "sent")]
    assert judging.judge(history, right) == Wrong()
    assert judging.judge(history, [*right, right[0]]) == Wrong(extra=1)
    assert judging.judge(history, [row(1, "Ada", 9, "paid"), right[1]]) == Wrong(mixed=1)
    assert judging.judge(history, [row(1, "Ada", 2, "sent")]) == Wrong(missing=1, stale=1)


def wrong_about(name: str, applier: appliers.Applier, folder: Path) -> dict[str, str]:
    judged = judging.judgements(appliers.found_rows(folder, {name: applier}))
    return {history: str(one[name]) for history, one in judged.items() if one[name].rows}


def test_weir_is_right_about_all_but_what_follows_from_content(tmp_path: Path) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    # Events of one position apply in an order that follows from their content: see docs/arcion.md.
    assert wrong_about("weir", partial(appliers.by_weir, work), tmp_path) == {
        "an insert and its delete at one position": "1 extra"
    }


def test_the_textbook_brings_deleted_rows_back_and_takes_updates_for_whole_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    assert wrong_about("textbook", partial(appliers.by_textbook, work), tmp_path) == {
        "an insert delivered again after its delete": "1 extra",
        "a delete before its insert": "1 extra",
        "an older update after a delete": "1 extra",
        "updates of some columns": "3 mixed",
        "a late update of some columns": "1 mixed",
        "a new key, and an older update after it": "1 extra",
        "an old window applied again": "2 extra",
    }
