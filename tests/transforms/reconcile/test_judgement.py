"""What a key that differs means, and in which way rows differ."""

from __future__ import annotations

import pytest

from transforms.change import BEHIND_ALL_POINTS
from transforms.reconcile.judgement import (
    GoldState,
    LogPlace,
    Row,
    difference,
    fits,
    is_past,
    judgement,
    lsn_text,
)
from transforms.reconcile.row_texts import Compared, Form, SourceColumn

NEW: Row = {"id": "1", "n": "2"}
OLD: Row = {"id": "1", "n": "1"}
FIRST, SECOND = ((0, 1, 10, 1, 10), "a"), ((0, 1, 20, 1, 20), "b")


@pytest.mark.parametrize(
    ("in_source", "before", "after", "has_passed", "said"),
    [
        # Caught up, whatever came between.
        (NEW, GoldState(OLD, FIRST), GoldState(NEW, SECOND), False, "equal"),
        (None, GoldState(OLD, FIRST), GoldState(None, SECOND), False, "equal"),
        (None, GoldState(), GoldState(), False, "equal"),
        # A change came meanwhile: it may stand behind the snapshot.
        (NEW, GoldState(OLD, FIRST), GoldState(OLD, SECOND), True, "ahead"),
        (NEW, GoldState(NEW, FIRST), GoldState(None, SECOND), True, "ahead"),
        (None, GoldState(), GoldState(OLD, FIRST), True, "ahead"),
        # None came, and none is under way.
        (NEW, GoldState(OLD, FIRST), GoldState(OLD, FIRST), True, "different"),
        (NEW, GoldState(), GoldState(), True, "different"),
        (NEW, GoldState(None, FIRST), GoldState(None, FIRST), True, "different"),
        (NEW, GoldState(OLD, FIRST), GoldState(OLD, FIRST), False, "behind"),
    ],
)
def test_a_key_is_judged_by_what_gold_said_before_and_after(
    in_source: Row | None, before: GoldState, after: GoldState, has_passed: bool, said: str
) -> None:
    assert judgement(in_source, before, after, has_passed=has_passed) == said


def compared(name: str, kind: str, form: str) -> Compared:
    return Compared(name, SourceColumn(name, "numeric"), kind, Form(name=form))


COLUMNS = [
    compared("id", "int", "number"),
    compared("n", "decimal(4,2)", "number"),
    compared("word", "string", "text"),
]


@pytest.mark.parametrize(
    ("in_source", "in_gold", "kind", "columns"),
    [
        ({"id": "1", "n": "1", "word": ""}, None, "missing", ()),
        (None, {"id": "1", "n": "1", "word": ""}, "extra", ()),
        (
            {"id": "1", "n": "1", "word": ""},
            {"id": "1", "n": "1", "word": None},
            "column",
            ("word",),
        ),
        (
            {"id": "1", "n": "1", "word": "a"},
            {"id": "1", "n": "2", "word": "b"},
            "stale",
            ("n", "word"),
        ),
        ({"id": "1", "n": "100", "word": "a"}, {"id": "1", "n": "2", "word": "a"}, "type", ("n",)),
        (
            {"id": "1", "n": "0.001", "word": "a"},
            {"id": "1", "n": "0", "word": "b"},
            "type",
            ("n", "word"),
        ),
    ],
)
def test_a_difference_has_its_kind_and_the_columns_that_differ(
    in_source: Row | None, in_gold: Row | None, kind: str, columns: tuple[str, ...]
) -> None:
    found = difference(("1",), in_source, in_gold, COLUMNS)
    assert (found.kind, found.columns) == (kind, columns)


def test_what_gold_cannot_hold_fits_not() -> None:
    assert fits("2147483647", compared("n", "int", "number"))
    assert not fits("2147483648", compared("n", "int", "number"))
    assert not fits("infinity", compared("at", "timestamp", "moment"))
    assert fits(None, compared("n", "int", "number"))
    # Every text is one.
    assert fits("x", compared("n", "string", "text"))


def test_gold_is_past_a_place_once_a_change_stands_behind_it() -> None:
    place = LogPlace((100,), "")
    assert is_past((0, 1, 101, 1, 101), place)
    assert not is_past((0, 1, 100, 1, 100), place)
    assert not is_past(None, place)
    # By an offset: nothing tells.
    assert not is_past((0, 1, 101, 0), place)
    in_file = LogPlace((4, 100), "")
    assert is_past((0, 1, 4, 101, 1, 7), in_file)
    assert is_past((0, 1, 4, 101, 1), in_file)
    assert not is_past((0, 1, 4, 100, 1, 7), in_file)
    # Of its place in the file an offset says nothing.
    assert not is_past((0, 1, 4, BEHIND_ALL_POINTS + 7, 1, 0), in_file)
    assert is_past((0, 1, 5, BEHIND_ALL_POINTS + 7, 1, 0), in_file)
    assert lsn_text(0x16B03D8) == "0/16B03D8"
    assert lsn_text((3 << 32) + 255) == "3/FF"
