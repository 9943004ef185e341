"""Kind log: a table without a key, in which equal rows are counted."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, Table

LOG = Table("log", (), {"case_id": "string", "c1": "int", "c2": "string"})


class _Log(Source):
    """A source that remembers its rows, equal ones too."""

    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.rows: list[Image] = []

    def change(self, operation: str, effect: str, before: Image, after: Image) -> None:
        # Equal rows at one position are different events, so each has a number of its own.
        identity = (*map(str, self.log_position), str(len(self.events)))
        self.emit("log", operation, effect, before, after, identity=identity)
        if before in self.rows:
            self.rows.remove(before)
        if effect != "remove":
            self.rows.append(dict.fromkeys(LOG.columns) | before | after)

    def image(self) -> Image:
        """One of few images, so that many are equal."""
        c2 = self.rng.choice(["a", "b", "", None, None])
        return {"case_id": self.case, "c1": self.rng.choice(["1", "2"]), "c2": c2}

    def present(self) -> Image:
        """A row that is there; sometimes one that is not."""
        return dict(self.rng.choice(self.rows)) if self.rows and self.chance(0.8) else self.image()


def _insert(source: _Log) -> None:
    image = source.image()
    if image["c2"] is None and source.chance(0.5):
        del image["c2"]  # what an insert does not mention is null
    for _ in range(source.rng.choice([1, 1, 2, 3])):
        source.change("insert", "replace", {}, image)
        if source.chance(0.7):
            source.advance()


def _delete(source: _Log) -> None:
    source.change("delete", "remove", source.present(), {})


def _update(source: _Log) -> None:
    """An update, with all columns behind it or with those that changed; or one that changes none."""
    before = source.present()
    after = dict(before) if source.chance(0.2) else source.image()
    if source.chance(0.3):
        after = {name: after[name] for name in ("c1", "c2") if source.chance(0.5)}
    source.change("update", "update", before, after)


def _pass_on(source: _Log) -> None:
    """Two updates at one position, the second of what the first made."""
    before, middle, after = source.present(), source.image(), source.image()
    source.change("update", "update", before, middle)
    source.change("update", "update", middle, after)


def _truncate(source: _Log) -> None:
    identity = ("truncate", str(len(source.events)))
    source.emit("log", "truncate", "remove", {}, {}, scope=source.scoped(), identity=identity)
    source.rows.clear()


_ACTIONS: list[Callable[[_Log], None]] = [
    _insert, _insert, _insert, _insert, _insert, _insert, _delete, _delete, _delete, _update,
    _update, _update, _pass_on, _truncate,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, in the order in which the source made them."""
    source = _Log(rng, case)
    while len(source.events) < events:
        source.drift()
        rng.choice(_ACTIONS)(source)
    return source.events[:events]
