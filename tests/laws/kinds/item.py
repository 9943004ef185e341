"""Kind item: rows of a relational table, whose keys change, and which is truncated or read again in a new snapshot."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.drawn.histories import COLUMN_TYPES, KEY_COLUMNS, VALUES, Rows, tied_links
from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, Table

ITEM = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES)
NEVER_SEEN = ["7", "8", "9", "10"]


class _Items(Source, Rows):
    """A source that remembers its rows, so that most before images are true."""

    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.ids = [str(i) for i in range(1, rng.randint(2, 4) + 1)]
        self.rows, self.values = {}, VALUES

    def change(self, operation: str, effect: str, before: Image, after: Image) -> None:
        """Write down a change and do to the rows what a sane source would mean by it."""
        self.emit("item", operation, effect, before, after)
        new = before | after
        old_id, new_id = str((after | before)["id"]), str(new["id"])
        row = self.rows.pop(old_id, {})
        if effect != "remove":
            kept = row if effect == "update" else {}
            self.rows[new_id] = dict.fromkeys(VALUES) | kept | new

    def pick(self) -> str:
        return self.rng.choice(self.ids)

    def part(self, identifier: str) -> Image:
        """A before image that holds the key, and perhaps something of the row."""
        row = self.row(identifier)
        return self.key(identifier) | {c: row[c] for c in VALUES if self.chance(0.3)}


def _insert(source: _Items) -> None:
    identifier = source.pick()
    part = source.key(identifier) | source.some(at_least=0)
    source.change("insert", "replace", {}, source.full(identifier) if source.chance(0.7) else part)


def _upsert(source: _Items) -> None:
    source.change("insert", "update", {}, source.key(source.pick()) | source.some(at_least=0))


def _update(source: _Items) -> None:
    identifier, changed = source.pick(), source.some()
    before = source.rng.choice([source.row, source.row, source.part, source.key])(identifier)
    # The key stands in before, in after or in both; an after image holds all columns or some.
    bases: list[Image] = [before, source.key(identifier), {}]
    after = source.rng.choice(bases) | changed
    if source.chance(0.1):
        before, after = {}, source.key(identifier) | changed
    source.change("update", "update", before, after)


def _remove(source: _Items) -> None:
    identifier = source.rng.choice([*source.ids, "7"])
    before = source.rng.choice([source.row, source.part, source.key])(identifier)
    source.change("delete", "remove", before, {})


def _recreate(source: _Items) -> None:
    """A delete and an insert, half of them at one position."""
    _remove(source)
    if source.chance(0.5):
        source.advance()
    _insert(source)


def _replace(source: _Items) -> None:
    identifier = source.pick()
    before = source.rng.choice([source.row, source.key])(identifier)
    after = source.full(identifier) if source.chance(0.7) else source.some()
    source.change("replace", "replace", before, after)


def _move(source: _Items, old: str | None = None, new: str | None = None) -> None:
    """A key change: with images of all columns, with less, or as a replacement."""
    rng = source.rng
    old = old or rng.choice([*source.ids, *source.rows, rng.choice(NEVER_SEEN)])
    new = new or rng.choice([i for i in [*source.ids, "7"] if i != old])
    form = rng.choice(["full", "full", "partial", "partial", "partial", "replaced"])
    if form == "full":
        row = source.row(old)
        source.change("update", "update", row, row | source.some(at_least=0) | {"id": new})
    elif form == "partial":
        key: Image = source.key(new) if source.chance(0.5) else {"id": new}
        after = source.some(at_least=0) if source.chance(0.5) else {}
        before = rng.choice([source.key, source.part])(old)
        source.change("update", "update", before, key | after)
    else:
        before = rng.choice([source.key, source.row])(old)
        after = source.full(new) if source.chance(0.6) else source.key(new) | source.some()
        source.change("replace", "replace", before, after)


def _moves(source: _Items) -> None:
    """A row whose key changes several times, perhaps back to the first; or two that exchange keys."""
    a, b, c = source.rng.sample([*source.ids, "7"], 3)
    for old, new in source.rng.choice([
        [(a, b), (b, c)], [(a, b), (b, a)], [(a, b), (b, c), (c, a)],
        [(a, c), (b, a), (c, b)], [(a, b), (b, a)],
    ]):  # fmt: skip
        _move(source, old, new)
        if source.chance(0.6):  # else both are parts of one statement, at one position
            source.advance()


def _tied_updates(source: _Items) -> None:
    identifier = source.pick()

    def narrow() -> Image:
        return source.key(identifier) | {"c1": source.value("c1")}

    for before, after in tied_links(
        source.rng, lambda: source.row(identifier), source.some, narrow
    ):
        source.change("update", "update", before, after)


def _truncate(source: _Items) -> None:
    source.emit("item", "truncate", "remove", {}, {}, scope=source.scoped())
    source.rows.clear()


def _drop_column(source: _Items) -> None:
    """A column that is dropped; or added, where all rows get its value."""
    column = source.rng.choice(list(VALUES))
    value = source.value(column) if source.chance(0.2) else None
    source.emit("item", "alter", "update", {}, {column: value}, scope=source.scoped())
    for row in source.rows.values():
        row[column] = value


def _snapshot(source: _Items) -> None:
    """The table is read again in a second snapshot, once: rows of the first epoch that it does not name are gone."""
    if source.epoch:
        return
    source.epoch, source.log = 1, source.draw_log()
    source.emit("item", "snapshot", "remove", {}, {}, log_position=(1,), scope=source.scoped())
    _read(source)


def _read(source: _Items) -> None:
    """The rows of a snapshot, most as they are; two reads of one row tie."""
    for identifier in source.ids:
        for _ in range(source.rng.choice([0, 0, 1, 1, 1, 1, 1, 2])):
            row = source.row(identifier) if source.chance(0.7) else source.full(identifier)
            source.emit("item", "read", "replace", {}, row, log_position=(source.epoch, 0))
            source.rows[identifier] = row


_ACTIONS: list[Callable[[_Items], None]] = [
    _insert, _insert, _insert, _upsert, _update, _update, _update, _update, _remove, _remove,
    _recreate, _replace, _move, _move, _move, _moves, _moves, _tied_updates, _truncate,
    _drop_column, _snapshot,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, in the order in which the source made them."""
    source = _Items(rng, case)
    if source.chance(0.5):
        _read(source)
    while len(source.events) < events:
        source.drift()
        rng.choice(_ACTIONS)(source)
    return source.events[:events]
