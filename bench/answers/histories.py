"""Small histories of a source, in its own order and as they are delivered, and the table that each must leave.

``states`` is the oracle: it replays a history over a dictionary in the order of the source. It shares no code with
Weir, and knows nothing of windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Final, Literal

Row = Mapping[str, int | str | None]
State = Mapping[int, Row]

COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {"id": "bigint", "name": "string", "quantity": "int", "status": "string"}
)


@dataclass(frozen=True, slots=True)
class Event:
    """One change of one row of the source.

    - ``values``: the columns that the event mentions, the key left out.
    - ``is_partial``: an update that mentions only columns that it changes; all other events have whole rows.
    - ``new_id``: the key that an update gives to the row.
    - ``shares_position``: it stands in the log where the event before it stands, as changes of one transaction may.
    """

    operation: Literal["insert", "update", "delete"]
    id: int
    values: Row = field(default_factory=dict)
    is_partial: bool = False
    new_id: int | None = None
    shares_position: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """What happened, and how it is delivered.

    - ``events``: in the order of the source.
    - ``windows``: the numbers of the events that each window delivers, in the order of delivery.
    - ``runs``: the numbers of the windows that are applied, one after another.
    """

    name: str
    events: Sequence[Event]
    windows: Sequence[Sequence[int]]
    runs: Sequence[int] = (0, 1, 2)


def states(history: History) -> list[State]:
    """The table before the first event and after each one, replayed in the order of the source."""

    def after(state: State, event: Event) -> State:
        rows = dict(state)
        old = rows.pop(event.id, {})
        if event.operation != "delete":
            id = event.id if event.new_id is None else event.new_id
            rows[id] = {**old, **event.values, "id": id}
        return rows

    none: State = {}
    return [*accumulate(history.events, after, initial=none)]


def positions(history: History) -> list[int]:
    """Where each event stands in the source's log."""
    steps = (0 if event.shares_position else 10 for event in history.events)
    return [*accumulate(steps)]


def insert(id: int, name: str, quantity: int | None, status: str | None, at: bool = False) -> Event:
    """A new row; ``at``: at the position of the event before it."""
    return Event("insert", id, _whole(name, quantity, status), shares_position=at)


def update(id: int, name: str, quantity: int | None, status: str | None, at: bool = False) -> Event:
    """A row as it is from now on; ``at``: at the position of the event before it."""
    return Event("update", id, _whole(name, quantity, status), shares_position=at)


def partial(id: int, **values: int | str | None) -> Event:
    """An update that mentions these columns alone."""
    return Event("update", id, values, is_partial=True)


def moved(id: int, new_id: int, name: str, quantity: int, status: str) -> Event:
    """An update of the key."""
    return Event("update", id, _whole(name, quantity, status), new_id=new_id)


def delete(id: int, at: bool = False) -> Event:
    """The end of a row; ``at``: at the position of the event before it."""
    return Event("delete", id, shares_position=at)


def _whole(name: str, quantity: int | None, status: str | None) -> Row:
    return {"name": name, "quantity": quantity, "status": status}


HISTORIES: Final = (
    History(
        "in order",
        (
            *(insert(1, "Ada", 1, "new"), insert(2, "Bo", 2, "new"), insert(3, "Cy", 3, "new")),
            *(update(1, "Ada", 4, "paid"), delete(2), insert(2, "Bo", 5, "back"), delete(3)),
        ),
        ((0, 1, 2), (3, 4), (5, 6)),
    ),
    History(
        "a column set to null",
        (insert(1, "Ada", 1, "new"), update(1, "Ada", None, "new"), insert(2, "Bo", None, None)),
        ((0,), (1, 2)),
    ),
    History(
        "a late update",
        (
            *(insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "sent"), update(1, "Ada", 3, "paid")),
            *(insert(2, "Bo", 1, "new"), update(2, "Bo", 2, "sent")),
        ),
        ((0, 2), (1, 4, 3)),
    ),
    History(
        "a late delete",
        (insert(1, "Ada", 1, "new"), delete(1), insert(1, "Ada", 2, "back")),
        ((0,), (2,), (1,)),
    ),
    History(
        "events delivered again",
        (insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "sent"), update(1, "Ada", 3, "paid")),
        ((0, 1, 1), (2,), (0, 1)),
    ),
    History(
        "an insert delivered again after its delete",
        (insert(1, "Ada", 1, "new"), delete(1), insert(2, "Bo", 1, "new")),
        ((0,), (1, 2), (0,)),
    ),
    History(
        "a delete before its insert",
        (insert(1, "Ada", 1, "new"), delete(1), insert(2, "Bo", 1, "new"), delete(2)),
        ((1,), (0,), (3, 2)),
    ),
    History(
        "an older update after a delete",
        (insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "sent"), delete(1)),
        ((0,), (2,), (1,)),
    ),
    History(
        "updates of some columns",
        (
            *(insert(1, "Ada", 1, "new"), insert(2, "Bo", 2, "new"), insert(3, "Cy", 3, "new")),
            *(partial(1, status="paid"), partial(2, quantity=5), partial(2, status="paid")),
            partial(3, quantity=None),
        ),
        ((0, 1, 2), (3, 4, 5), (6,)),
    ),
    History(
        "a late update of some columns",
        (insert(1, "Ada", 1, "new"), partial(1, quantity=2), partial(1, status="paid")),
        ((0,), (2,), (1,)),
    ),
    History(
        "a new key",
        (insert(1, "Ada", 1, "new"), moved(1, 2, "Ada", 1, "new"), update(2, "Ada", 2, "paid")),
        ((0,), (1,), (2,)),
    ),
    History(
        "a new key, and an older update after it",
        (insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "new"), moved(1, 2, "Ada", 2, "paid")),
        ((0,), (2,), (1,)),
    ),
    History(
        "updates at one position",
        (
            *(insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "sent")),
            *(update(1, "Ada", 3, "paid", True), update(1, "Ada", 4, "done", True)),
        ),
        ((0,), (1, 2, 3)),
    ),
    History(
        "one position over two windows",
        (
            *(insert(1, "Ada", 1, "new"), update(1, "Ada", 2, "sent")),
            update(1, "Ada", 3, "paid", True),
        ),
        ((0,), (1,), (2,)),
    ),
    History(
        "an insert and its delete at one position",
        (insert(1, "Ada", 1, "new"), insert(2, "Bo", 1, "new"), delete(2, True)),
        ((0,), (1, 2)),
    ),
    History(
        "a window applied twice, as after a crash",
        (
            *(insert(1, "Ada", 1, "new"), insert(2, "Bo", 2, "new"), insert(3, "Cy", 3, "new")),
            *(update(1, "Ada", 4, "paid"), delete(2), moved(3, 4, "Cy", 3, "new")),
        ),
        ((0, 1, 2), (3, 4, 5)),
        (0, 1, 1),
    ),
    History(
        "an old window applied again",
        (
            *(insert(1, "Ada", 1, "new"), insert(2, "Bo", 2, "new"), insert(3, "Cy", 3, "new")),
            *(update(1, "Ada", 4, "paid"), delete(2), moved(3, 4, "Cy", 3, "new")),
        ),
        ((0, 1, 2), (3, 4, 5)),
        (0, 1, 0),
    ),
)
