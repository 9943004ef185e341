"""The oracle against histories whose outcome was worked out by hand, and cheap laws of its own."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from random import Random

import pytest

from tests.laws.histories import COLUMN_TYPES, COLUMNS, KEY_COLUMNS, deliveries, history
from tests.laws.oracle import Effect, Event, Image, State, changes_of, current, event_id
from tests.laws.rendering import exists_flag, to_csv, to_json

SEEDS = range(150)


def mysql(operation: str, position: int, before: Image, after: Image) -> Event:
    return Event("mysql", "t", operation, (0, 1, 7, position, 1), position * 10, before, after)


def cassandra(operation: str, timestamp_ms: int, mut_id: int, before: Image, after: Image) -> Event:
    position = (0, 1, timestamp_ms, 1620787053905, mut_id, 1)
    return Event("cassandra", "region", operation, position, timestamp_ms, before, after)


def values(state: State) -> dict[str, Image]:
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
        "1:39:r_comment5:India6:r_name5:India11:r_regionkey2:10"
    )
    assert event_id(INSERT) == sha256(written.encode()).hexdigest()
    read = Event("snapshot", "é", "read", (0, 0), None, {}, {"a": None, "A": "日本😀"})
    written = "1:é4:read1:21:01:01:01:21:A3:日本😀1:a-"
    assert event_id(read) == sha256(written.encode()).hexdigest()


def test_the_documents_insert_and_update_merge_into_one_row() -> None:
    state = current([UPDATE, INSERT], ["r_regionkey"])
    row = state.rows[("10",)]
    assert row.values == {"r_comment": "USA", "r_name": "India", "r_regionkey": "10"}
    assert row.position == (0, 1, 1620788090478, 1620787053905, 326190, 1)
    assert (row.event_id, row.event_at_ms) == (event_id(UPDATE), 1620788090478)
    assert state.tombstones == {}


@pytest.mark.parametrize(
    "arrived", [[INSERT, UPDATE, DELETE], [DELETE, INSERT, UPDATE], [DELETE], [DELETE, UPDATE]]
)
def test_the_documents_delete_wins_whenever_it_arrives(arrived: list[Event]) -> None:
    expected = State({}, {("10",): (DELETE.position, event_id(DELETE))})
    assert current(arrived, ["r_regionkey"]) == expected


def test_a_late_event_does_not_undo_a_newer_one() -> None:
    newer = mysql("update", 20, {"k": "1", "a": "x"}, {"k": "1", "a": "y"})
    late = mysql("insert", 10, {}, {"k": "1", "a": "x"})
    assert values(current([newer, late], ["k"])) == {"1": {"a": "y"}}


def test_positions_are_numbers() -> None:
    ninth = mysql("insert", 9, {}, {"k": "1", "a": "older"})
    tenth = mysql("insert", 10, {}, {"k": "1", "a": "newer"})
    assert values(current([tenth, ninth], ["k"])) == {"1": {"a": "newer"}}


def test_a_repeat_stands_at_its_smallest_position() -> None:
    write = cassandra("update", 5, 2, {"k": "1"}, {"a": "x"})
    other = cassandra("update", 5, 3, {"k": "1"}, {"a": "y"})
    copy = cassandra("update", 5, 4, {"k": "1"}, {"a": "x"})
    state = current([copy, other, write], ["k"])
    assert values(state) == {"1": {"a": "y"}}
    assert state.rows[("1",)].position == other.position


def test_a_snapshot_row_is_older_than_every_change() -> None:
    read = Event("snapshot", "t", "read", (0, 0), None, {}, {"k": "1", "a": "x", "b": "x"})
    update = mysql("update", 1, {"k": "1"}, {"b": None})
    assert values(current([update, read], ["k"])) == {"1": {"a": "x", "b": None}}
    assert current([read], ["k"]).rows[("1",)].event_at_ms is None


def test_a_put_forgets_what_it_does_not_mention_and_a_merge_keeps_it() -> None:
    before = mysql("insert", 1, {}, {"k": "1", "a": "x", "b": "x"})
    put = mysql("replace", 2, {"k": "1"}, {"a": "y"})
    assert values(current([before, put], ["k"])) == {"1": {"a": "y", "b": None}}
    merge = mysql("update", 2, {"k": "1"}, {"a": "y"})
    assert values(current([before, merge], ["k"])) == {"1": {"a": "y", "b": "x"}}
    # Nothing is kept from before a delete, nor from the before-image of a row that is absent.
    delete = mysql("delete", 2, {"k": "1", "a": "x", "b": "x"}, {})
    merge = mysql("update", 3, {"k": "1", "b": "x"}, {"a": "y"})
    assert values(current([merge, before, delete], ["k"])) == {"1": {"a": "y", "b": None}}


def test_cassandra_inserts_merge_and_replaces_put() -> None:
    first = cassandra("insert", 1, 1, {}, {"k": "1", "a": "x"})
    second = cassandra("insert", 2, 1, {}, {"k": "1", "b": "y"})
    assert values(current([second, first], ["k"])) == {"1": {"a": "x", "b": "y"}}
    third = cassandra("replace", 3, 1, {"k": "1"}, {"b": "z"})
    assert values(current([second, third, first], ["k"])) == {"1": {"a": None, "b": "z"}}


def test_a_delete_and_an_insert_at_one_position_leave_the_insert() -> None:
    delete = mysql("delete", 3, {"k": "1", "a": "x"}, {})
    insert = mysql("insert", 3, {}, {"k": "1", "a": "y"})
    assert values(current([insert, delete], ["k"])) == {"1": {"a": "y"}}


@pytest.mark.parametrize("path", ["wxyz", "wxw", "zyxw", "abcde"])
def test_ties_follow_their_images(path: str) -> None:
    images: list[Image] = [{"k": "1", "a": letter} for letter in path]
    tied = [mysql("update", 5, images[i], images[i + 1]) for i in range(len(images) - 1)]
    state = current(tied[::-1], ["k"])
    if path != "wxw":
        assert values(state) == {"1": {"a": path[-1]}}
        return
    # Both start from the other's result, so the smaller event id begins.
    last = max(tied, key=event_id)
    assert state.rows[("1",)].values == last.after


def test_ties_that_are_not_chained_go_by_event_id() -> None:
    tied = [mysql("update", 5, {"k": "1", "a": "x"}, {"k": "1", "a": new}) for new in "rstu"]
    assert values(current(tied, ["k"])) == {"1": {"a": max(tied, key=event_id).after["a"]}}
    # Images that are empty do not chain.
    tied = [cassandra("insert", 5, 1, {}, {"k": "1", "a": new}) for new in "rstu"]
    assert values(current(tied, ["k"])) == {"1": {"a": max(tied, key=event_id).after["a"]}}


def test_two_chains_of_a_tie_are_not_mixed() -> None:
    pairs = ["ab", "bc", "xy", "yz"]
    tied = {
        pair: mysql("update", 5, {"k": "1", "a": pair[0]}, {"k": "1", "a": pair[1]})
        for pair in pairs
    }
    expected = "c" if event_id(tied["xy"]) < event_id(tied["ab"]) else "z"
    assert values(current(tied.values(), ["k"])) == {"1": {"a": expected}}


def test_a_key_change_removes_the_old_key_and_puts_the_new_one() -> None:
    insert = mysql("insert", 1, {}, {"k": "1", "a": "x"})
    move = mysql("update", 2, {"k": "1", "a": "x"}, {"k": "2", "a": "y"})
    state = current([move, insert], ["k"])
    assert values(state) == {"2": {"a": "y"}}
    assert state.tombstones == {("1",): (move.position, event_id(move))}
    assert state.rows[("2",)].event_id == event_id(move)
    back = mysql("update", 3, {"k": "2", "a": "y"}, {"k": "1", "a": "y"})
    state = current([back, move, insert], ["k"])
    assert (values(state), list(state.tombstones)) == ({"1": {"a": "y"}}, [("2",)])


def test_one_table_at_a_time() -> None:
    with pytest.raises(ValueError, match="one table"):
        current([INSERT, mysql("insert", 1, {}, {"k": "1"})], ["k"])


@pytest.mark.parametrize("kind", ["mysql", "cassandra"])
def test_arrival_changes_nothing(kind: str) -> None:
    for seed in SEEDS:
        events = history(seed, case="a", kind=kind, events=seed % 41)
        arrived = deliveries(events, seed, windows=4)
        delivered = [event for window in arrived.values() for event in window]
        Random(seed).shuffle(delivered)
        assert {event_id(e) for e in events} == {event_id(e) for e in delivered}, seed
        state = current(events, KEY_COLUMNS)
        assert current(delivered, KEY_COLUMNS) == state, seed
        assert not state.rows.keys() & state.tombstones.keys(), seed


def test_histories_are_nasty_and_repeatable() -> None:
    seen = dict.fromkeys(["move", "tied merges", "empty", "null", "copies", "gone", "snapshot"], 0)
    for seed in SEEDS:
        kind = ["mysql", "cassandra"][seed % 2]
        events = history(seed, case="a", kind=kind, events=40)
        assert events == history(seed, case="a", kind=kind, events=40)
        assert len(events) == 40
        changes = [change for event in events for change in changes_of(event, KEY_COLUMNS)]
        merges = [(c.key, c.event.position) for c in changes if c.effect is Effect.MERGE]
        written = [value for change in changes for value in change.written.values()]
        seen["move"] += len(changes) > len(events)
        seen["tied merges"] += len(set(merges)) < len(merges)
        seen["empty"] += "" in written
        seen["null"] += None in written
        seen["copies"] += len({event_id(event) for event in events}) < 40
        seen["gone"] += bool(current(events, KEY_COLUMNS).tombstones)
        seen["snapshot"] += events[0].source == "snapshot"
    assert all(count > len(SEEDS) // 10 for count in seen.values()), seen


def test_rendering_prints_what_the_document_prints() -> None:
    columns = ["r_comment", "r_name", "r_regionkey"]
    assert to_csv(INSERT, columns, seed=1).startswith("India,NULL,1,India,NULL,1,10,NULL,1,I,")
    assert to_csv(UPDATE, columns, seed=1).startswith("USA,NULL,1,NULL,NULL,0,NULL,10,2,U,")
    assert to_csv(DELETE, columns, seed=1).startswith("NULL,NULL,0,NULL,NULL,0,NULL,10,2,D,")
    update = json.loads(to_json(UPDATE, columns, seed=1))
    assert update["before"] == {"r_comment": "null", "r_name": "null", "r_regionkey": "10"}
    assert update["after"] == {"r_comment": "USA", "r_name": "null", "r_regionkey": "null"}
    assert update["exists"] == {"r_comment": "1", "r_name": "0", "r_regionkey": "2"}
    assert json.loads(update["cursor"])["mutId"] == 326190


def test_rendering_can_be_read_back() -> None:
    for seed in SEEDS:
        kind = ["mysql", "cassandra"][seed % 2]
        for event in history(seed, case="a", kind=kind, events=10):
            envelope = json.loads(to_json(event, COLUMNS, seed=seed))
            shown = {column: event.after.get(column) or "" for column in COLUMNS}
            assert {c: "" if v == "null" else v for c, v in envelope["after"].items()} == shown
            assert list(envelope["exists"]) == list(envelope["before"])
            assert all(envelope["exists"][c] == str(exists_flag(event, c)) for c in COLUMNS)
            doubled = csv.reader([to_csv(event, COLUMNS, seed=seed)], strict=True)
            escaped = csv.reader(
                [to_csv(event, COLUMNS, seed=seed, quoting="backslash")],
                doublequote=False,
                escapechar="\\",
                strict=True,
            )
            record = next(doubled)
            assert record == next(escaped)
            step = 1 if event.source == "snapshot" else 3
            assert record[: step * len(COLUMN_TYPES) : step] == [
                "NULL" if event.after.get(c) is None else event.after[c] for c in COLUMNS
            ]
