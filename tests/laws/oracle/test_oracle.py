"""The oracle over histories whose outcome was worked out by hand, and cheap laws of its own."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from hashlib import sha256

import pytest

from tests.laws.oracle.oracle import Event, Image, Key, LogPosition, State, Table, current, event_id


def mysql(operation: str, log_position: int, before: Image, after: Image) -> Event:
    return Event(
        "mysql", "t", operation, (0, 1, 7, log_position, 1), log_position * 10, before, after
    )


def cassandra(operation: str, timestamp_ms: int, mut_id: int, before: Image, after: Image) -> Event:
    log_position = (0, 1, timestamp_ms, 1620787053905, mut_id, 1)
    return Event("cassandra", "region", operation, log_position, timestamp_ms, before, after)


def fold(events: Iterable[Event], key: str = "k") -> State:
    """The state of the table that has just the columns which the events mention, all strings."""
    events = list(events)
    columns = dict.fromkeys(
        sorted({column for event in events for column in event.result}), "string"
    )
    return current(events, Table(events[0].table, (key,), columns))


def values(state: State) -> dict[str, dict[str, object]]:
    """The rows without their keys: the key columns of these tests are called k."""
    return {
        str(row.values["k"]): {c: v for c, v in row.values.items() if c != "k"}
        for row in state.rows.values()
    }


# The three statements on tpch.region of the document's "full and realtime mode".
INSERT = cassandra(
    "insert",
    1620788088431,
    326118,
    {},
    {"r_regionkey": "10", "r_comment": "India", "r_name": "India"},
)
UPDATE = cassandra("update", 1620788090478, 326190, {"r_regionkey": "10"}, {"r_comment": "USA"})
DELETE = cassandra("delete", 1620788092539, 326250, {"r_regionkey": "10"}, {})


def test_event_id_is_the_digest_of_the_netstrings_written_by_hand() -> None:
    written = (
        "6:region6:insert1:31:01:113:16207880884311:0"
        "1:39:r_comment5:India6:r_name5:India11:r_regionkey2:101:0-"
    )
    assert event_id(INSERT) == sha256(written.encode()).hexdigest()
    read = Event("snapshot", "é", "read", (0, 0), None, {}, {"a": None, "A": "日本😀"})
    written = "1:é4:read1:21:01:01:01:21:A3:日本😀1:a-1:0-"
    assert event_id(read) == sha256(written.encode()).hexdigest()


def test_the_documents_insert_and_update_merge_into_one_row() -> None:
    state = fold([UPDATE, INSERT], "r_regionkey")
    row = state.rows[("10",)]
    assert row.values == {"r_comment": "USA", "r_name": "India", "r_regionkey": "10"}
    assert row.log_position == (0, 1, 1620788090478, 1620787053905, 326190, 1)
    assert (row.event_id, row.event_at_ms) == (event_id(UPDATE), 1620788090478)
    assert state.tombstones == {}


def test_a_repeat_stands_at_its_smallest_position() -> None:
    write = cassandra("update", 5, 2, {"k": "1"}, {"a": "x"})
    other = cassandra("update", 5, 3, {"k": "1"}, {"a": "y"})
    copy = cassandra("update", 5, 4, {"k": "1"}, {"a": "x"})
    state = fold([copy, other, write])
    assert values(state) == {"1": {"a": "y"}}
    assert state.rows[("1",)].log_position == other.log_position


def test_a_snapshot_row_is_older_than_every_change() -> None:
    read = Event("snapshot", "t", "read", (0, 0), None, {}, {"k": "1", "a": "x", "b": "x"})
    update = mysql("update", 1, {"k": "1"}, {"b": None})
    assert values(fold([update, read])) == {"1": {"a": "x", "b": None}}
    assert fold([read]).rows[("1",)].event_at_ms is None


def test_cassandra_inserts_update_and_replaces_replace() -> None:
    first = cassandra("insert", 1, 1, {}, {"k": "1", "a": "x"})
    second = cassandra("insert", 2, 1, {}, {"k": "1", "b": "y"})
    assert values(fold([second, first])) == {"1": {"a": "x", "b": "y"}}
    third = cassandra("replace", 3, 1, {"k": "1"}, {"b": "z"})
    assert values(fold([second, third, first])) == {"1": {"a": None, "b": "z"}}


@pytest.mark.parametrize("path", ["wxyz", "wxw", "zyxw", "abcde"])
def test_ties_follow_their_images(path: str) -> None:
    images: list[Image] = [{"k": "1", "a": letter} for letter in path]
    tied = [mysql("update", 5, images[i], images[i + 1]) for i in range(len(images) - 1)]
    state = fold(tied[::-1])
    if path != "wxw":
        assert values(state) == {"1": {"a": path[-1]}}
        return
    # Both start from the other's result, so the smaller event id begins.
    last = max(tied, key=event_id)
    assert state.rows[("1",)].values == last.after


def test_ties_that_are_not_chained_go_by_event_id() -> None:
    tied = [mysql("update", 5, {"k": "1", "a": "x"}, {"k": "1", "a": new}) for new in "rstu"]
    assert values(fold(tied)) == {"1": {"a": max(tied, key=event_id).after["a"]}}
    # Images that are empty do not chain.
    tied = [cassandra("insert", 5, 1, {}, {"k": "1", "a": new}) for new in "rstu"]
    assert values(fold(tied)) == {"1": {"a": max(tied, key=event_id).after["a"]}}


def test_two_chains_of_a_tie_are_not_mixed() -> None:
    pairs = ["ab", "bc", "xy", "yz"]
    tied = {
        pair: mysql("update", 5, {"k": "1", "a": pair[0]}, {"k": "1", "a": pair[1]})
        for pair in pairs
    }
    expected = "c" if event_id(tied["xy"]) < event_id(tied["ab"]) else "z"
    assert values(fold(tied.values())) == {"1": {"a": expected}}


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


def test_two_rows_swap_at_one_position() -> None:
    rows = [replace(1, k="1", a="x"), replace(1, k="2", a="y")]
    swap = [move(2, {"k": "1"}, {"k": "2"}), move(2, {"k": "2"}, {"k": "1"})]
    assert shown(current([*swap, *rows], PLAIN)) == {
        "1": {"a": "y", "b": None},
        "2": {"a": "x", "b": None},
    }


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
