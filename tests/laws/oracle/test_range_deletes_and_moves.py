"""Changes that concern several keys: scopes, key changes, and tables without a key; by hand."""

from __future__ import annotations

import pytest

from tests.laws.oracle.oracle import Event, Image, Key, State, Table, current, event_id
from tests.laws.oracle.test_effects import PLAIN, change, remove, replace, shown, update

PAIRED = Table("t", ("k", "m"), {"k": "string", "m": "string", "a": "string"})
BAG = Table("t", (), {"x": "string", "n": "int"})


def truncate(log_position: int, **scope: str | None) -> Event:
    return change("remove", log_position, scope=dict(scope))


def test_a_range_delete_is_applied_at_its_log_position_whenever_it_arrives() -> None:
    older, newer, gone = replace(1, k="1", a="x"), replace(3, k="2", a="y"), truncate(2)
    for arrived in ([older, newer, gone], [gone, older, newer], [newer, gone, older]):
        state = current(arrived, PLAIN)
        assert shown(state) == {"2": {"a": "y", "b": None}}
        assert state.tombstones == {("1",): ((0, 1, 2), event_id(gone))}


def test_a_range_delete_does_nothing_to_an_absent_key() -> None:
    assert current([truncate(2)], PLAIN) == State({}, {})
    # Nor does it change the position of a tombstone that exists.
    gone = remove(1, k="1")
    assert current([gone, truncate(2)], PLAIN).tombstones == {("1",): ((0, 1, 1), event_id(gone))}
    dropped = change("update", 2, {}, {"a": None}, scope={})
    assert current([gone, dropped], PLAIN).tombstones == {("1",): ((0, 1, 1), event_id(gone))}


def test_a_scope_takes_the_keys_that_have_its_values() -> None:
    rows = [replace(1, k=k, m=m, a="x") for k in "12" for m in "12"]

    def left(**scope: str) -> set[Key]:
        return set(current([*rows, truncate(2, **scope)], PAIRED).rows)

    assert left(k="1") == {("2", "1"), ("2", "2")}
    assert left(m="1") == {("1", "2"), ("2", "2")}
    assert left(k="1", m="2") == {("1", "1"), ("2", "1"), ("2", "2")}
    assert left(k="3") == {("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")}
    assert left() == set()


def test_a_dropped_column_is_null_in_the_rows_that_are_there() -> None:
    rows = [replace(1, k="1", a="x", b="x"), replace(3, k="2", a="y", b="y")]
    dropped = change("update", 2, {}, {"a": None}, scope={})
    state = current([dropped, *rows], PLAIN)
    assert shown(state) == {"1": {"a": None, "b": "x"}, "2": {"a": "y", "b": "y"}}
    assert state.rows[("1",)].event_id == event_id(dropped)
    assert state.rows[("1",)].log_position == (0, 1, 2)


def test_range_deletes_tie_like_all_others() -> None:
    dropped = change("update", 5, {}, {"a": None}, scope={})
    # At one position: rows go before others come, and a column goes after.
    state = current([truncate(5), replace(5, k="1", a="x", b="x"), dropped], PLAIN)
    assert shown(state) == {"1": {"a": None, "b": "x"}}
    # An update that makes the row may come before the range delete or after it.
    made = update(5, k="1", a="x", b="x")
    expected = "x" if event_id(dropped) < event_id(made) else None
    assert shown(current([made, dropped], PLAIN))["1"]["a"] == expected


def test_a_range_delete_does_not_make_the_row_that_a_tied_update_makes() -> None:
    table = Table("t", ("k",), {"k": "string", "n": "int", "s": "string"}, {"n": "5"})
    dropped = change("update", 5, {}, {"n": None}, scope={})
    for letter in "abcdefgh":
        after: Image = {"k": "1", "n": "3", "s": letter}
        added = change("update", 5, {}, after, ops={"n": "Add"})
        # What finds no row does nothing, so the sum begins with the default and not with null.
        expected = 8 if event_id(dropped) < event_id(added) else None
        assert shown(current([added, dropped], table))["1"]["n"] == expected


def move(log_position: int, before: Image, after: Image) -> Event:
    return change("update", log_position, before, after, operation="update")


def test_a_move_takes_what_its_images_do_not_say_from_the_old_row() -> None:
    row, moved = replace(1, k="1", a="x", b="x"), move(2, {"k": "1"}, {"k": "2", "a": None})
    state = current([moved, row], PLAIN)
    assert shown(state) == {"2": {"a": None, "b": "x"}}
    assert state.tombstones == {("1",): ((0, 1, 2), event_id(moved))}
    # The before image counts, too, where it says something else than the row.
    moved = move(2, {"k": "1", "a": "y"}, {"k": "2"})
    assert shown(current([row, moved], PLAIN)) == {"2": {"a": "y", "b": "x"}}
    # The row that stood at the new key is replaced, not laid under.
    moved = move(3, {"k": "1"}, {"k": "2"})
    state = current([replace(2, k="1", b="x"), replace(1, k="2", a="old", b="old"), moved], PLAIN)
    assert shown(state) == {"2": {"a": None, "b": "x"}}


def test_a_move_takes_the_row_as_it_was_just_before() -> None:
    moved = move(3, {"k": "1"}, {"k": "2"})
    events = [
        replace(1, k="1", a="x"),
        moved,
        replace(4, k="1", a="later"),
        update(2, k="1", b="late"),
    ]
    assert shown(current(events, PLAIN)) == {
        "1": {"a": "later", "b": None},
        "2": {"a": "x", "b": "late"},
    }


def test_moves_form_chains_and_come_home() -> None:
    row = replace(1, k="1", a="x", b="x")
    there, on = move(2, {"k": "1"}, {"k": "2"}), move(4, {"k": "2"}, {"k": "3", "b": "z"})
    touched = update(3, k="2", a="y")
    state = current([on, touched, there, row], PLAIN)
    assert shown(state) == {"3": {"a": "y", "b": "z"}}
    assert set(state.tombstones) == {("1",), ("2",)}
    home = move(5, {"k": "3"}, {"k": "1"})
    assert shown(current([home, on, touched, there, row], PLAIN)) == {"1": {"a": "y", "b": "z"}}


def test_a_move_of_a_row_never_seen_knows_only_its_images() -> None:
    table = Table("t", ("k",), {"k": "string", "n": "int", "s": "string"}, {"n": "5"})
    moved = move(2, {"k": "1", "s": "x"}, {"k": "2"})
    # As a replace: null, not the default.
    assert shown(current([moved], table)) == {"2": {"n": None, "s": "x"}}
    gone = [replace(1, k="1", n="7"), remove((0, 1, 1, 1), k="1")]
    assert shown(current([*gone, moved], table)) == {"2": {"n": None, "s": "x"}}


def test_images_of_all_columns_make_a_replace_of_both() -> None:
    row = replace(1, k="1", a="stale", b="stale")
    moved = move(2, {"k": "1", "a": "x", "b": "x"}, {"k": "2", "b": "y"})
    assert shown(current([row, moved], PLAIN)) == {"2": {"a": "x", "b": "y"}}


def test_a_replaced_row_forgets_the_old_key() -> None:
    row = replace(1, k="1", a="x", b="x")
    replaced = change("replace", 2, {"k": "1", "a": "x", "b": "x"}, {"k": "2", "a": "y"})
    assert shown(current([row, replaced], PLAIN)) == {"2": {"a": "y", "b": None}}


def test_two_rows_swap_at_one_position() -> None:
    rows = [replace(1, k="1", a="x"), replace(1, k="2", a="y")]
    swap = [move(2, {"k": "1"}, {"k": "2"}), move(2, {"k": "2"}, {"k": "1"})]
    assert shown(current([*swap, *rows], PLAIN)) == {
        "1": {"a": "y", "b": None},
        "2": {"a": "x", "b": None},
    }


def test_what_ties_with_a_move_is_merged_into_it() -> None:
    row = replace(1, k="1", a="x", b="x")
    for letter in "abcdefgh":
        moved = move(2, {"k": "1"}, {"k": "2", "b": letter})
        tied = [update(2, k="2", b="m"), moved, remove(2, k="2")]
        assert shown(current([row, *tied], PLAIN)) == {"2": {"a": "x", "b": "m"}}


def test_a_range_delete_that_ties_with_a_move_may_leave_it_nothing() -> None:
    row, moved, gone = replace(1, k="1", a="x"), move(2, {"k": "1"}, {"k": "2"}), truncate(2)
    taken = None if event_id(gone) < event_id(moved) else "x"
    assert shown(current([row, moved, gone], PLAIN)) == {"2": {"a": taken, "b": None}}


def bag(state: State) -> dict[Key, int]:
    return {key: row.copies for key, row in state.rows.items()}


def test_a_table_without_a_key_counts_copies() -> None:
    added = [replace(n, x="a", n="1") for n in (1, 2, 3)]
    taken = change("remove", 4, {"x": "a", "n": "1"})
    state = current([taken, *added, replace(1, x="a")], BAG)
    assert bag(state) == {("a", "1"): 2, ("a", None): 1}
    assert state.rows[("a", "1")].values == {"x": "a", "n": 1}
    assert state.rows[("a", "1")].log_position == (0, 1, 4)
    # A repeat is no further copy.
    assert bag(current([*added, *added], BAG)) == {("a", "1"): 3}


def test_a_decrement_that_finds_no_copy_leaves_none() -> None:
    taken = change("remove", 1, {"x": "a", "n": "1"})
    assert current([taken], BAG) == State({}, {("a", "1"): ((0, 1, 1), event_id(taken))})
    assert bag(current([replace(2, x="a", n="1"), taken], BAG)) == {("a", "1"): 1}


def test_an_update_without_a_key_takes_one_row_and_adds_one() -> None:
    rows = [replace(n, x="a", n="1") for n in (1, 2)]
    update = move(3, {"x": "a", "n": "1"}, {"n": None})
    assert bag(current([update, *rows], BAG)) == {("a", "1"): 1, ("a", None): 1}
    same = move(3, {"x": "a", "n": "1"}, {"x": "a"})
    state = current([same, *rows], BAG)
    assert bag(state) == {("a", "1"): 2}
    assert state.rows[("a", "1")].log_position == (0, 1, 2)
    # At one position, copies go before they come.
    assert bag(current([change("remove", 1, {"x": "a", "n": "1"}), rows[0]], BAG)) == {
        ("a", "1"): 1
    }


def test_a_truncate_without_a_key_takes_all_copies_in_scope() -> None:
    rows = [replace(n, x="a", n="1") for n in (1, 2, 4)] + [replace(1, x="b", n="1")]
    state = current([truncate(3, x="a"), *rows], BAG)
    assert bag(state) == {("a", "1"): 1, ("b", "1"): 1}
    with pytest.raises(ValueError, match="range delete"):
        current([change("update", 3, {}, {"n": None}, scope={})], BAG)
