"""Laws of deliveries, over drawn histories: what identifies an event, and where it stands, is the source's alone.

A client may begin again at an earlier checkpoint, cut responses elsewhere and write in the other encoding; leader and
followers deliver the same records. Whatever comes, and in whatever order, an event has one identity, and the smallest
of its positions is where it stands in its tablet's log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from tests.laws.drawn import xcluster_histories, yugabyte_histories
from tests.laws.oracle import event as model
from tests.transforms.formats.yugabyte.writing import decoded, message, response
from transforms.event import Event
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = 1_000
WINDOWS = ("w1", "w2")
ITEMS = Table("items", ("id",), {"id": "int", "a": "string", "b": "int"}, ())

LogPosition = tuple[int, ...]
History = yugabyte_histories.History | xcluster_histories.History


def reader(form: str) -> Callable[[str], list[Event]]:
    """What reads a response of a client that has added the tablet: its events without the note."""
    decoder = FORMATS[form].decoder
    decode = decoder(Feed("laws", form, "/landing", tables={"items": ITEMS}), {})

    def read(document: str) -> list[Event]:
        record = BronzeRecord("w", "items/a.json", "g", 1, 0, None, document.encode(), None, 0)
        record.path_table = "items"
        return [one for one in decode(record) if isinstance(one, Event)][1:]

    return read


def identity(event: Event) -> Hashable:
    """All that deliveries of one event have in common."""
    images = [tuple(sorted(image.items(), key=str)) for image in (event.before, event.after)]
    return event.operation, event.identity, *images


def is_as_in_history(event: Event, expected: model.Event) -> bool:
    """Whether a delivery says what the history had it say."""
    part, whole = event.transaction, expected.transaction
    same_transaction = (part is None) is (whole is None) and (
        part is None or whole is None or part.at_commit is whole.at_commit
    )
    return same_transaction and (
        (event.effect, event.before, event.after, event.scope, event.stream, event.fault)
        == (expected.effect, expected.before, expected.after, expected.scope, expected.stream, None)
    )


Delivery = tuple[Event, model.Event, int]
"""A delivery: what it was read as, what it is, and the number of the record that it is of."""


def check(history: History, read: Callable[[str], list[Event]], same: Mapping[int, int]) -> int:
    """How many deliveries a history has, after each was held against what it is a delivery of.

    ``same``: of records that say what the one before them of their row said, by number, the first that said it.
    """
    deliveries: list[Delivery] = []
    for _, tablet, records in history.delivered(WINDOWS):
        found = read(history.document(records, tablet))  # type: ignore[arg-type]
        of_history = history.events(tablet, records)  # type: ignore[arg-type]
        numbers = [same.get(id(one), id(one)) for one in records]
        deliveries += zip(found, of_history, numbers, strict=True)
    whose: dict[Hashable, Hashable] = {}
    places: dict[int, LogPosition] = {}
    expected: dict[int, LogPosition] = {}
    for event, expected_event, number in deliveries:
        assert is_as_in_history(event, expected_event), (event, expected_event)
        # One record has one identity, and no other record has it.
        assert whose.setdefault(identity(event), number) == number
        assert whose.setdefault(number, identity(event)) == identity(event)
        if event.effect != "begin":
            places[number] = min(places.get(number, place_of(event)), place_of(event))
            expected[number] = min(
                expected.get(number, expected_event.log_position), expected_event.log_position
            )
    assert places == expected
    return len(deliveries)


def place_of(event: Event) -> LogPosition:
    """The position of an event, which has one and all numbers of it."""
    assert event.log_position is not None
    return tuple([number for number in event.log_position if number is not None])


def test_an_event_of_the_cdc_sdk_is_one_event_however_it_is_delivered() -> None:
    read = reader("yugabyte")
    histories = [yugabyte_histories.History(SEED + one) for one in range(HISTORIES)]
    found = [check(one, read, one.said_before()) for one in histories]
    assert sum(found) > 10 * HISTORIES


def test_an_event_of_xcluster_is_one_event_however_it_is_delivered() -> None:
    read = reader("yugabyte_xcluster")
    histories = [xcluster_histories.History(SEED + one) for one in range(HISTORIES)]
    found = [check(one, read, {}) for one in histories]
    assert sum(found) > 10 * HISTORIES


def batch(rng: Random) -> list[dict[str, Any]]:
    """Rows under one op id that often say what one before them said."""
    found = []
    for _ in range(rng.randint(1, 7)):
        op, key = rng.choice([0, 0, 1, 2]), rng.randint(1, 2)
        row = {"id": key} if op == 2 else {"id": key, "name": rng.choice("xy")}
        found.append(message(op, (1, 5, 0), **row))
    return found


def placed(events: Iterable[Event]) -> dict[Hashable, LogPosition]:
    """The smallest position of each event."""
    found: dict[Hashable, LogPosition] = {}
    for event in events:
        found[identity(event)] = min(found.get(identity(event), place_of(event)), place_of(event))
    return found


def test_any_part_of_a_batch_that_comes_again_changes_nothing() -> None:
    """A batch that came whole once: parts of it, cut anywhere, are repeats, and move nothing."""
    repeated = 0
    for seed in range(3 * HISTORIES):
        rng = Random(SEED + seed)
        rows = batch(rng)
        whole = decoded(response(*rows))[1:]
        again: list[Event] = []
        for _ in range(rng.randint(0, 4)):
            start = rng.randrange(len(rows))
            again += decoded(response(*rows[start : rng.randint(start, len(rows))]))[1:]
        assert placed([*whole, *again]) == placed(whole)
        assert placed([*again, *whole]) == placed(whole)
        repeated += len(again)
        # Equal records of a row that follow each other are one event; with another between them they are two.
        said = [(one["row_message"]["op"], str(one["row_message"])) for one in rows]
        turns = [at for at in range(len(said)) if not repeats_its_own(said, rows, at)]
        assert len(placed(whole)) == len(turns)
    assert repeated > HISTORIES


def repeats_its_own(
    said: Sequence[tuple[object, str]], rows: Sequence[Mapping[str, Any]], at: int
) -> bool:
    """Whether a row says what the one before it of the same row said."""
    before = [one for one in range(at) if key_of(rows[one]) == key_of(rows[at])]
    return bool(before) and said[before[-1]] == said[at]


def key_of(record: Mapping[str, Any]) -> object:
    row = record["row_message"]
    return (row.get("new_tuple") or row["old_tuple"])[0]["Datum"]
