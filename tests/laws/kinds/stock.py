"""Kind stock: a table whose source sends whole rows, apart from an update of some columns now and then."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.drawn.histories import COLUMN_TYPES, KEY_COLUMNS, VALUES
from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, Table

STOCK = Table("stock", tuple(KEY_COLUMNS), COLUMN_TYPES)


class _Stock(Source):
    """A source that remembers its rows, so that before images are true."""

    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.ids = [str(number) for number in range(1, rng.randint(2, 5) + 1)]
        self.rows: dict[str, Image] = {}

    def drawn(self, identifier: str) -> Image:
        """A whole row; a null is said, and not left out."""
        values = {
            column: None if self.chance(0.2) else self.rng.choice(some)
            for column, some in VALUES.items()
        }
        return {"case_id": self.case, "id": identifier, **values}

    def row(self, identifier: str) -> Image:
        """The row as it is, or an invented one."""
        return dict(self.rows.get(identifier) or self.drawn(identifier))

    def change(self, operation: str, effect: str, before: Image, after: Image) -> None:
        """Write down a change and do it."""
        self.emit("stock", operation, effect, before, after)
        identifier = str((before | after)["id"])
        if effect == "remove":
            self.rows.pop(identifier, None)
        else:
            self.rows[identifier] = before | after


def _insert(source: _Stock) -> None:
    source.change("insert", "replace", {}, source.drawn(source.rng.choice(source.ids)))


def _update(source: _Stock) -> None:
    identifier = source.rng.choice(source.ids)
    source.change("update", "update", source.row(identifier), source.drawn(identifier))


def _update_a_part(source: _Stock) -> None:
    identifier = source.rng.choice(source.ids)
    part: Image = {"case_id": source.case, "id": identifier, "c1": source.rng.choice(VALUES["c1"])}
    source.change("update", "update", source.row(identifier), part)


def _remove(source: _Stock) -> None:
    identifier = source.rng.choice(source.ids)
    source.change("delete", "remove", source.row(identifier), {})


def _recreate(source: _Stock) -> None:
    """A delete and an insert of one row, mostly at one position."""
    identifier = source.rng.choice(source.ids)
    source.change("delete", "remove", source.row(identifier), {})
    if source.chance(0.3):
        source.advance()
    source.change("insert", "replace", {}, source.drawn(identifier))


_ACTIONS: list[Callable[[_Stock], None]] = [
    _insert, _insert, _update, _update, _update, _update, _update_a_part, _remove, _remove,
    _recreate,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, in the order in which the source made them."""
    source = _Stock(rng, case)
    while len(source.events) < events:
        source.drift()
        rng.choice(_ACTIONS)(source)
    return source.events[:events]
