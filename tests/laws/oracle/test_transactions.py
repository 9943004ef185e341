"""Which events count once some windows have been read, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from tests.laws.oracle.oracle import (
    Event,
    Image,
    LogPosition,
    Row,
    Table,
    Transaction,
    current,
    event_id,
    visible,
)

TABLE = Table("t", ("k",), {"k": "string", "a": "string"})
BEGUN = Transaction("x", has_begin=True)
BARE = Transaction("x")
LATE = Transaction("x", at_commit=True)


def row(
    key: str,
    *log_position: int,
    of: Transaction | None,
    effect: str = "replace",
    derived: str | None = None,
) -> Event:
    after: Image = {"k": key, "a": "".join(map(str, log_position))}
    return Event(
        "model", "t", effect, log_position, 1, {}, after,
        effect=effect, transaction=of, derived=derived, own_identity=("x", key),
    )  # fmt: skip


def control(effect: str, of: Transaction, *log_position: int) -> Event:
    return Event("model", "t", effect, log_position, 1, {}, {}, effect=effect, transaction=of)


def keys(windows: dict[str, list[Event]], derived: str) -> str:
    return "".join(sorted(str(event.after["k"]) for event in visible(windows, list(derived))))


BEGIN, COMMIT = control("begin", BEGUN, 1), control("commit", BEGUN, 9)
COUNTED = Transaction("x", expected=2)


def test_what_is_in_no_transaction_counts_at_once() -> None:
    windows = {"1": [row("p", 1, of=None)], "2": [row("q", 2, of=None)]}
    assert [keys(windows, derived) for derived in ("", "1", "2", "12")] == ["", "p", "q", "pq"]


def test_a_transaction_waits_for_its_commit_and_its_beginning() -> None:
    windows = {"1": [BEGIN], "2": [row("p", 2, of=BEGUN), row("q", 2, of=None)], "3": [COMMIT]}
    seen = {derived: keys(windows, derived) for derived in ("1", "2", "12", "23", "13", "123")}
    # Of 13, the window between is known to hold drops and was not read.
    assert seen == {"1": "", "2": "q", "12": "q", "23": "q", "13": "", "123": "pq"}


def test_only_windows_between_the_first_and_the_last_must_be_read() -> None:
    windows: dict[str, list[Event]] = {"1": [], "2": [BEGIN], "3": [], "4": [], "5": []}
    windows["4"] = [row("p", 2, of=BEGUN), COMMIT]
    assert keys(windows, "24") == ""
    assert keys(windows, "234") == "p"
    # A repeat in a later window is a row of the transaction, too.
    windows["5"] = [COMMIT]
    assert keys(windows, "235") == ""
    assert keys(windows, "2345") == "p"


def test_without_beginnings_all_windows_before_the_last_must_be_read() -> None:
    commit = control("commit", BARE, 9)
    windows: dict[str, list[Event]] = {"1": [], "2": [row("p", 2, of=BARE)], "3": [commit], "4": []}
    assert [keys(windows, derived) for derived in ("3", "23", "123", "12")] == ["", "", "p", ""]


def test_a_commit_that_counts_needs_so_many_distinct_changes() -> None:
    one, two, three = (row(key, 2, of=BARE) for key in "pqr")
    commit = control("commit", COUNTED, 9)
    windows = {"1": [one, one], "2": [commit], "3": [two], "4": [three]}
    # A repeat is no second change, and unread windows do not matter.
    seen = [keys(windows, derived) for derived in ("12", "13", "23", "123", "24", "234", "1234")]
    assert seen == ["", "", "", "ppq", "", "qr", "ppqr"]


def test_derived_and_control_rows_are_no_changes_of_a_count() -> None:
    commit = control("commit", COUNTED, 9)
    windows = {"1": [row("p", 2, of=BARE), row("q", 2, of=BARE, derived="edge_source"), commit]}
    assert keys(windows, "1") == ""
    windows["1"].append(row("r", 2, of=BARE))
    assert keys(windows, "1") == "pqr"
    begun = Transaction("x", expected=0, has_begin=True)
    empty = {"1": [control("commit", begun, 9)], "2": [control("begin", begun, 1)]}
    assert visible(empty, ["1", "2"]) == []


def test_where_the_commit_tells_the_count_nothing_else_is_asked_for() -> None:
    terms = Transaction("x", expected=1, has_begin=True)
    windows = {
        "1": [control("begin", terms, 1)],
        "2": [row("p", 2, of=BEGUN), control("commit", terms, 9)],
    }
    assert keys(windows, "2") == "p"
    assert keys(windows, "12") == "p"


def test_changes_that_take_effect_at_their_commit_stand_there() -> None:
    def ended(commit_at: LogPosition, between: Event) -> Row:
        change = replace(row("p", 1, of=LATE), own_identity=None)
        windows = {"1": [change, between, control("commit", LATE, *commit_at)]}
        events = visible(windows, ["1"])
        assert {event_id(event) for event in events} == {event_id(change), event_id(between)}
        return current(events, TABLE).rows[("p",)]

    other = Event(
        "model", "t", "replace", (0, 1, 50), 1, {}, {"k": "p", "a": "other"}, effect="replace"
    )
    late = ended((0, 1, 60), other)
    assert (late.values["a"], late.log_position) == ("1", (0, 1, 60, 1))
    early = ended((0, 1, 40), other)
    assert early.values["a"] == "other"
    # A change at the commit's own position comes before it.
    tied = ended((0, 1, 50), other)
    assert tied.log_position == (0, 1, 50, 1)
