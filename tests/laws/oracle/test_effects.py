"""What each effect of docs/change_model.md does to one row, worked out by hand."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256

import pytest

from tests.laws.oracle.oracle import Event, Image, LogPosition, State, Table, current, event_id

PLAIN = Table("t", ("k",), {"k": "string", "a": "string", "b": "string"})
COUNTED = Table("t", ("k",), {"k": "string", "n": "int", "s": "string"}, {"n": "5"})


def change(
    effect: str,
    log_position: int | LogPosition,
    before: Image | None = None,
    after: Image | None = None,
    *,
    scope: Image | None = None,
    ops: dict[str, str] | None = None,
    operation: str | None = None,
) -> Event:
    """An event of table t at one number of epoch 0's stream, or at a whole position."""
    log_position = (0, 1, log_position) if isinstance(log_position, int) else log_position
    return Event(
        "model", "t", operation or effect, log_position, log_position[-1] * 10, before or {}, after or {},
        effect=effect, scope=scope, attribute_ops=ops or {},
    )  # fmt: skip


def replace(log_position: int | LogPosition, **columns: str | None) -> Event:
    return change("replace", log_position, {}, dict(columns))


def update(log_position: int | LogPosition, **columns: str | None) -> Event:
    return change("update", log_position, {}, dict(columns))


def remove(log_position: int | LogPosition, **key: str | None) -> Event:
    return change("remove", log_position, dict(key), {})


def shown(state: State) -> dict[str, dict[str, object]]:
    """The rows by key, without the key column."""
    return {str(key[0]): dict(list(row.values.items())[1:]) for key, row in state.rows.items()}


def test_event_id_spells_operations_and_scope_after_the_images() -> None:
    event = change(
        "update", 7, {"k": "1"}, {"k": "1", "n": None}, ops={"n": "Add"}, operation="insert"
    )
    written = "1:t6:insert1:31:01:11:71:11:k1:11:21:k1:11:n-1:11:n3:Add-"
    assert event_id(event) == sha256(written.encode()).hexdigest()
    range_delete = change("remove", 7, scope={"k": "1", "b": None}, operation="truncate")
    written = "1:t8:truncate1:31:01:11:71:01:01:01:21:b-1:k1:1"
    assert event_id(range_delete) == sha256(written.encode()).hexdigest()
    # The whole table is a scope; none at all is something else.
    whole = change("remove", 7, scope={}, operation="truncate")
    written = "1:t8:truncate1:31:01:11:71:01:01:01:0"
    assert event_id(whole) == sha256(written.encode()).hexdigest()
    # Transaction, stream and derivation are not part of the event id; an identity that the format gives is.
    own = Event("model", "t", "x", (9,), 1, {}, {}, derived="d", stream="s", own_identity=("é",))
    assert event_id(own) == sha256("1:t1:x1:11:é1:01:01:0-".encode()).hexdigest()


def test_a_replace_makes_the_row_what_it_says_and_an_update_begins_with_the_defaults() -> None:
    state = current([replace(1, k="1", s="x"), update(1, k="2", s="x"), update(1, k="3")], COUNTED)
    assert shown(state) == {
        "1": {"n": None, "s": "x"},
        "2": {"n": 5, "s": "x"},
        "3": {"n": 5, "s": None},
    }
    state = current([replace(1, k="1", s="x", n="7"), replace(2, k="1", n="8")], COUNTED)
    assert shown(state) == {"1": {"n": 8, "s": None}}


def test_an_insert_only_event_leaves_a_row_that_is_there_as_it_is() -> None:
    events = [replace(1, k="1", n="7", s=None), update(2, k="1")]
    state = current(events, COUNTED)
    assert shown(state) == {"1": {"n": 7, "s": None}}
    assert state.rows[("1",)].log_position == (0, 1, 2)
    assert state.rows[("1",)].event_at_ms == 20


def test_operations_begin_with_the_default_of_a_new_row() -> None:
    def ended(operation: str, *earlier: Event) -> object:
        event = change("update", 9, {}, {"k": "1", "n": "3"}, ops={"n": operation})
        return current([event, *earlier], COUNTED).rows[("1",)].values["n"]

    assert ended("Add") == 8
    assert ended("Minus") == 2
    assert ended("Max") == 5
    assert ended("IgnoreIfExisted") == 3
    assert ended("Add", replace(1, k="1", n="10")) == 13
    assert ended("IgnoreIfExisted", replace(1, k="1", n="10")) == 10
    assert ended("IgnoreIfExisted", replace(1, k="1")) is None
    assert ended("IgnoreIfExisted", replace(1, k="1"), remove(2, k="1")) == 3
    # After a remove, an update makes a new row, which starts from the default and not from the old value.
    assert ended("Add", replace(1, k="1", n="10"), remove(2, k="1")) == 8
    # A replace that does not mention the column leaves null, and the sum starts from that.
    assert ended("Add", replace(1, k="1")) == 3
    assert ended("Minus", replace(1, k="1")) is None


def test_a_column_without_an_operation_is_overwritten() -> None:
    both = change("update", 2, {}, {"k": "1", "n": "3", "s": None}, ops={"n": "Add"})
    assert shown(current([replace(1, k="1", n="1", s="x"), both], COUNTED)) == {
        "1": {"n": 4, "s": None}
    }


def test_an_addition_delivered_twice_counts_once() -> None:
    add = change("update", 2, {}, {"k": "1", "n": "3"}, ops={"n": "Add"})
    same_again = change("update", 3, {}, {"k": "1", "n": "3"}, ops={"n": "Add"})
    assert shown(current([add, add], COUNTED)) == {"1": {"n": 8, "s": None}}
    assert shown(current([add, same_again, add], COUNTED)) == {"1": {"n": 11, "s": None}}


@pytest.mark.parametrize(
    ("before", "is_gone"),
    [
        ({"a": "x", "b": None}, True),
        ({"a": "x"}, True),
        ({}, True),
        ({"a": "y"}, False),
        ({"a": None}, False),
        ({"a": "x", "b": ""}, False),
    ],
)
def test_remove_if_asks_for_the_values_in_before(before: Image, is_gone: bool) -> None:
    row, asked = replace(1, k="1", a="x", b=None), change("remove_if", 2, {"k": "1", **before})
    state = current([asked, row], PLAIN)
    stamp = ((0, 1, 2), event_id(asked))
    if is_gone:
        assert state == State({}, {("1",): stamp})
        return
    assert shown(state) == {"1": {"a": "x", "b": None}}
    # It is a change of the key itself, so it counts though it does nothing.
    assert (state.rows[("1",)].log_position, state.rows[("1",)].event_id) == stamp


def test_remove_if_compares_values_and_not_texts() -> None:
    table = Table("t", ("k",), {"k": "string", "m": "decimal(12,2)", "s": "set<string>"})
    row = replace(1, k="1", m="1.50", s='["b","a"]')
    assert row.after["s"] == '["b","a"]'
    asked = change("remove_if", 2, {"k": "1", "m": "1.5", "s": '["a", "b", "a"]'})
    assert not current([row, asked], table).rows
    assert current([row], table).rows[("1",)].values["m"] == Decimal("1.50")


def test_remove_if_of_an_absent_row_leaves_a_tombstone() -> None:
    asked = change("remove_if", 2, {"k": "1", "a": "x"})
    state = current([asked], PLAIN)
    assert state == State({}, {("1",): ((0, 1, 2), event_id(asked))})


def test_nothing_older_than_a_delete_brings_a_row_back() -> None:
    events = [replace(1, k="1", a="x"), update(2, k="1", b="y"), remove(3, k="1")]
    for arrived in (events, events[::-1], [events[2]]):
        assert current(arrived, PLAIN) == State({}, {("1",): ((0, 1, 3), event_id(events[2]))})
    assert shown(current([*events, update(4, k="1", b="z")], PLAIN)) == {"1": {"a": None, "b": "z"}}


def test_effects_at_one_position_remove_then_replace_then_update() -> None:
    tied = [update(5, k="1", b="m"), replace(5, k="1", a="p"), remove(5, k="1")]
    assert shown(current(tied, PLAIN)) == {"1": {"a": "p", "b": "m"}}
    # The row that is asked about is the one from before, not the one made at the same position.
    asked = change("remove_if", 5, {"k": "1", "a": "p"})
    state = current([replace(4, k="1", a="p"), replace(5, k="1", a="p"), asked], PLAIN)
    assert shown(state) == {"1": {"a": "p", "b": None}}


def test_replaces_that_tie_are_all_applied_by_event_id() -> None:
    tied = [replace(5, k="1", a=letter) for letter in "rstu"]
    assert shown(current(tied, PLAIN))["1"]["a"] == max(tied, key=event_id).after["a"]


def test_a_position_that_begins_another_comes_first() -> None:
    events = [replace((1,), k="1", a="shorter"), replace((1, 0), k="1", a="longer")]
    assert shown(current(events, PLAIN))["1"]["a"] == "longer"
    events = [replace((0, 1, 99), k="1", a="epoch 0"), replace((1, 0), k="1", a="epoch 1")]
    assert shown(current(events, PLAIN))["1"]["a"] == "epoch 1"


def test_operations_in_a_tie_go_by_event_id() -> None:
    double = change("update", 5, {}, {"k": "1", "s": "ab"}, ops={"s": "Add"})
    overwrite = change("update", 5, {}, {"k": "1", "s": "x"})
    expected = "xab" if event_id(overwrite) < event_id(double) else "x"
    assert shown(current([double, overwrite], COUNTED))["1"]["s"] == expected
