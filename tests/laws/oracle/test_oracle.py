"""The oracle over histories whose outcome was worked out by hand, and cheap laws of its own."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from random import Random

import pytest

from tests.laws.drawn.histories import COLUMN_TYPES, KEY_COLUMNS, deliveries, history
from tests.laws.oracle.oracle import Event, Image, State, Table, changes_of, current, event_id

SEEDS = range(150)
ITEM = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES)


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


@pytest.mark.parametrize(
    "arrived", [[INSERT, UPDATE, DELETE], [DELETE, INSERT, UPDATE], [DELETE], [DELETE, UPDATE]]
)
def test_the_documents_delete_wins_whenever_it_arrives(arrived: list[Event]) -> None:
    expected = State({}, {("10",): (DELETE.log_position, event_id(DELETE))})
    assert fold(arrived, "r_regionkey") == expected


def test_a_late_event_does_not_undo_a_newer_one() -> None:
    newer = mysql("update", 20, {"k": "1", "a": "x"}, {"k": "1", "a": "y"})
    late = mysql("insert", 10, {}, {"k": "1", "a": "x"})
    assert values(fold([newer, late])) == {"1": {"a": "y"}}


def test_positions_are_numbers() -> None:
    ninth = mysql("insert", 9, {}, {"k": "1", "a": "older"})
    tenth = mysql("insert", 10, {}, {"k": "1", "a": "newer"})
    assert values(fold([tenth, ninth])) == {"1": {"a": "newer"}}


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


def test_a_replace_forgets_what_it_does_not_mention_and_an_update_keeps_it() -> None:
    before = mysql("insert", 1, {}, {"k": "1", "a": "x", "b": "x"})
    replace = mysql("replace", 2, {"k": "1"}, {"a": "y"})
    assert values(fold([before, replace])) == {"1": {"a": "y", "b": None}}
    update = mysql("update", 2, {"k": "1"}, {"a": "y"})
    assert values(fold([before, update])) == {"1": {"a": "y", "b": "x"}}
    # Nothing is kept from before a delete, nor from the before-image of a row that is absent.
    delete = mysql("delete", 2, {"k": "1", "a": "x", "b": "x"}, {})
    update = mysql("update", 3, {"k": "1", "b": "x"}, {"a": "y"})
    assert values(fold([update, before, delete])) == {"1": {"a": "y", "b": None}}


def test_cassandra_inserts_update_and_replaces_replace() -> None:
    first = cassandra("insert", 1, 1, {}, {"k": "1", "a": "x"})
    second = cassandra("insert", 2, 1, {}, {"k": "1", "b": "y"})
    assert values(fold([second, first])) == {"1": {"a": "x", "b": "y"}}
    third = cassandra("replace", 3, 1, {"k": "1"}, {"b": "z"})
    assert values(fold([second, third, first])) == {"1": {"a": None, "b": "z"}}


def test_a_delete_and_an_insert_at_one_position_leave_the_insert() -> None:
    delete = mysql("delete", 3, {"k": "1", "a": "x"}, {})
    insert = mysql("insert", 3, {}, {"k": "1", "a": "y"})
    assert values(fold([insert, delete])) == {"1": {"a": "y"}}


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


def test_a_key_change_removes_the_old_key_and_writes_the_new_one() -> None:
    insert = mysql("insert", 1, {}, {"k": "1", "a": "x"})
    move = mysql("update", 2, {"k": "1", "a": "x"}, {"k": "2", "a": "y"})
    state = fold([move, insert])
    assert values(state) == {"2": {"a": "y"}}
    assert state.tombstones == {("1",): (move.log_position, event_id(move))}
    assert state.rows[("2",)].event_id == event_id(move)
    back = mysql("update", 3, {"k": "2", "a": "y"}, {"k": "1", "a": "y"})
    state = fold([back, move, insert])
    assert (values(state), list(state.tombstones)) == ({"1": {"a": "y"}}, [("2",)])


def test_one_table_at_a_time() -> None:
    with pytest.raises(ValueError, match="one table"):
        fold([INSERT, mysql("insert", 1, {}, {"k": "1"})])


@pytest.mark.parametrize("kind", ["mysql", "cassandra"])
def test_arrival_changes_nothing(kind: str) -> None:
    for seed in SEEDS:
        events = history(seed, case="a", kind=kind, events=seed % 41)
        arrived = deliveries(events, seed, windows=4)
        delivered = [event for window in arrived.values() for event in window]
        Random(seed).shuffle(delivered)
        assert {event_id(e) for e in events} == {event_id(e) for e in delivered}, seed
        state = current(events, ITEM)
        assert current(delivered, ITEM) == state, seed
        assert not state.rows.keys() & state.tombstones.keys(), seed


def test_histories_have_every_difficulty_and_are_repeatable() -> None:
    seen = dict.fromkeys(["move", "tied updates", "empty", "null", "copies", "gone", "snapshot"], 0)
    for seed in SEEDS:
        kind = ["mysql", "cassandra"][seed % 2]
        events = history(seed, case="a", kind=kind, events=40)
        assert events == history(seed, case="a", kind=kind, events=40)
        assert len(events) == 40
        changes = [change for event in events for change in changes_of(event, ITEM)]
        updates = [(c.key, c.event.log_position) for c in changes if c.effect == "update"]
        written = [value for event in events for value in event.after.values()]
        seen["move"] += len(changes) > len(events)
        seen["tied updates"] += len(set(updates)) < len(updates)
        seen["empty"] += "" in written
        seen["null"] += None in written
        seen["copies"] += len({event_id(event) for event in events}) < 40
        seen["gone"] += bool(current(events, ITEM).tombstones)
        seen["snapshot"] += events[0].source == "snapshot"
    assert all(count > len(SEEDS) // 10 for count in seen.values()), seen
