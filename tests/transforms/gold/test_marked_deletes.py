"""What a row shows that its source has deleted, where deleted rows stay: the same in whatever order events come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import pyarrow as pa
import pytest

from tests.laws.drawn import model_format
from tests.laws.gold.in_memory import Lake
from tests.laws.oracle.event import Event, Image
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import DELETED_AT, EVENT_AT, IS_DELETED

KINDS = {"id": "string", "name": "string", "age": "int"}
PETS = Table("pets", ("id",), KINDS, tuple(KINDS), defaults={"age": "7"}, deletes="mark")


def event(
    effect: str, at: int, before: Image | None = None, *, scope: Image | None = None, **after: str
) -> Event:
    """An event at a position, made as many seconds after 1970."""
    images = (before or {}, dict[str, str | None](after))
    return Event(
        "model", "pets", effect, (0, 1, at), 1000 * at, *images, effect=effect, scope=scope
    )


def removed(at: int, **said: str) -> Event:
    """The delete of pet 1; ``said``: what else is in its before image."""
    return event("remove", at, {"id": "1", **said})


DROPPED = Event(
    "model", "pets", "alter", (0, 1, 4), 4000, {}, {"age": None}, effect="update", scope={}
)
ADA = event("replace", 1, id="1", name="Ada", age="3")

Shown = tuple[str | None, int | None, int | None]
"""Of a row its name and age, and the second in which it was deleted; None while it is live."""


@dataclass(frozen=True)
class Case:
    """Events, in the order of the source, and the rows that they make, by their ids."""

    events: Sequence[Event]
    rows: Mapping[str, Shown]


CASES = {
    "a deleted row keeps its last values": Case(
        [ADA, event("update", 2, id="1", age="4"), removed(3)], {"1": ("Ada", 4, 3)}
    ),
    "the before image of a delete says nothing of them": Case(
        [ADA, removed(3, name="Eve", age="9")], {"1": ("Ada", 3, 3)}
    ),
    "a delete of a key that was never seen is a row of the key alone": Case(
        [removed(3, name="Eve")], {"1": (None, None, 3)}
    ),
    "of several deletes the last one counts": Case(
        [ADA, removed(3), removed(5)], {"1": ("Ada", 3, 5)}
    ),
    "a row that is inserted again is live": Case(
        [ADA, removed(3), event("replace", 4, id="1", name="Bo")], {"1": ("Bo", None, None)}
    ),
    "an update behind the delete begins with the defaults, not with the deleted row": Case(
        [ADA, removed(3), event("update", 4, id="1", name="Bo")], {"1": ("Bo", 7, None)}
    ),
    "and its values are the last ones of the next delete": Case(
        [ADA, removed(3), event("update", 4, id="1", name="Bo"), removed(5)], {"1": ("Bo", 7, 5)}
    ),
    "a row that comes again at the delete's position is live": Case(
        [ADA, removed(3), event("replace", 3, id="1", name="Bo", age="1")], {"1": ("Bo", 1, None)}
    ),
    "a truncate marks the rows that are live, and touches no other": Case(
        [
            *(ADA, removed(2), event("replace", 3, id="2", name="Bo", age="5")),
            event("remove", 4, scope={}),
        ],
        {"1": ("Ada", 3, 2), "2": ("Bo", 5, 4)},
    ),
    "a truncate of nothing marks nothing": Case([event("remove", 4, scope={})], {}),
    "a column that is dropped stays in rows that were deleted before": Case(
        [
            *(ADA, event("replace", 2, id="2", name="Bo", age="5"), removed(3)),
            DROPPED,
        ],
        {"1": ("Ada", 3, 3), "2": ("Bo", None, None)},
    ),
    "a delete that asks for values marks the row that has them": Case(
        [ADA, event("remove_if", 3, {"id": "1", "name": "Ada"})], {"1": ("Ada", 3, 3)}
    ),
    "and leaves one that has others": Case(
        [ADA, event("remove_if", 3, {"id": "1", "name": "Eve"})], {"1": ("Ada", 3, None)}
    ),
    "a key that changes leaves a marked row, and the new key takes its values": Case(
        [ADA, event("update", 3, {"id": "1"}, id="2")], {"1": ("Ada", 3, 3), "2": ("Ada", 3, None)}
    ),
    "a key that changes after its row was deleted takes nothing along": Case(
        [ADA, removed(2), event("update", 3, {"id": "1"}, id="2", name="Bo")],
        {"1": ("Ada", 3, 3), "2": ("Bo", None, None)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_deleted_row(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    model_format.register(monkeypatch)
    case = CASES[name]
    windows = [f"2024-11-20T{hour:02}" for hour in range(len(case.events))]
    feed = Feed("zoo", "model", "/nowhere", tables={"pets": PETS})
    for order in permutations(windows):
        lake = Lake(feed, {one: [said] for one, said in zip(windows, case.events, strict=True)})
        for window in order:
            lake.run([window])
        assert shown(lake.gold["pets"].gold.read(pa.schema([]))) == case.rows, order
        assert shown(lake.rebuilt("pets").gold.read(pa.schema([]))) == case.rows
        assert not lake.gold["pets"].tombstones.count()


def shown(rows: pa.Table) -> dict[str, Shown]:
    """The rows as the cases have them; a mark is there where the time of the delete is."""
    found = {}
    for row in rows.to_pylist():
        assert (row[DELETED_AT] is not None) == row[IS_DELETED]
        assert row[DELETED_AT] in (None, row[EVENT_AT])
        at = row[DELETED_AT] and int(row[DELETED_AT].timestamp())
        found[row["id"]] = (row["name"], row["age"], at)
    return found


def test_a_delete_without_a_time_is_a_mark_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model_format.register(monkeypatch)
    gone = Event("model", "pets", "delete", (0, 1, 3), None, {"id": "1"}, {}, effect="remove")
    feed = Feed("zoo", "model", "/nowhere", tables={"pets": PETS})
    lake = Lake(feed, {"2024-11-20T00": [ADA, gone]})
    lake.run(["2024-11-20T00"])
    (row,) = lake.gold["pets"].gold.read(pa.schema([])).to_pylist()
    assert (row["name"], row[IS_DELETED], row[DELETED_AT]) == ("Ada", True, None)
