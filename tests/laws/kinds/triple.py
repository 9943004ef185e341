"""Kind triple: one row per value of a node, removed by its value, by a star, or by drops.

A scalar predicate has one row, whose member is empty. A list predicate has a row for each value.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.drawn.histories import VALUES
from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, LogPosition, Table

TRIPLE = Table(
    "triple",
    ("case_id", "uid", "predicate", "member"),
    dict.fromkeys(["case_id", "uid", "predicate", "member", "value", "value_type"], "string"),
)
SCALARS = {"name": VALUES["c2"], "age": ["9", "10", "-1"]}
LISTS = {"nick": ["a", "b", "a b", "é"], "visited": ["1", "2", "10"]}
TYPES = {"name": "default", "age": "int", "nick": "string", "visited": "int"}


class _Triples(Source):
    """A source whose positions are the timestamp of a commit and an ordinal within it."""

    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.uids = ["0x1", "0x2", "0xa"][: rng.randint(1, 3)]
        self.values: dict[tuple[str, str], str] = {}

    def draw_log(self) -> LogPosition:
        return (self.rng.choice([8, 96, 995, 99_990]), 0)

    def advance(self) -> None:
        """The next transaction; some are long, so that their ordinals get a new digit."""
        self.log = (self.log[0] + self.rng.randint(1, 4), self.rng.choice([0, 0, 0, 8]))
        self.now_ms += 1000

    def mutate(self, operation: str, effect: str, key: Image, before: Image, after: Image) -> None:
        """Write down one mutation; the transaction goes on behind it, with few exceptions."""
        images = (before, key | after) if effect == "replace" else (key | before, after)
        self.emit("triple", operation, effect, *images)
        if not self.chance(0.15):
            self.log = (self.log[0], self.log[1] + 1)

    def key(self, uid: str, predicate: str, member: str) -> Image:
        return self.scoped(uid=uid, predicate=predicate, member=member)

    def uid(self) -> str:
        return self.rng.choice(self.uids)


def _typed(predicate: str, value: str) -> Image:
    return {"value": value, "value_type": TYPES[predicate]}


def _set(source: _Triples) -> None:
    uid, predicate = source.uid(), source.rng.choice(list(SCALARS))
    value = source.rng.choice(SCALARS[predicate])
    source.values[(uid, predicate)] = value
    source.mutate("set", "replace", source.key(uid, predicate, ""), {}, _typed(predicate, value))


def _delete_value(source: _Triples) -> None:
    """A delete that names the value: the right one, or one that is no longer there."""
    uid, predicate = source.uid(), source.rng.choice(list(SCALARS))
    value = source.values.get((uid, predicate))
    if value is None or source.chance(0.4):
        value = source.rng.choice(SCALARS[predicate])
    image = _typed(predicate, value)
    if source.chance(0.1):
        image["value_type"] = "password"  # the same text, but another value
    source.mutate("del", "remove_if", source.key(uid, predicate, ""), image, {})


def _delete(source: _Triples) -> None:
    predicate = source.rng.choice(list(SCALARS))
    source.mutate("del", "remove", source.key(source.uid(), predicate, ""), {}, {})


def _add_member(source: _Triples) -> None:
    predicate = source.rng.choice(list(LISTS))
    value = source.rng.choice(LISTS[predicate])
    key = source.key(source.uid(), predicate, value)
    source.mutate("set", "replace", key, {}, _typed(predicate, value))


def _remove_member(source: _Triples) -> None:
    predicate = source.rng.choice(list(LISTS))
    value = source.rng.choice(LISTS[predicate])
    before = _typed(predicate, value) if source.chance(0.7) else {}
    source.mutate("del", "remove", source.key(source.uid(), predicate, value), before, {})


def _star(source: _Triples) -> None:
    """All values of a predicate of one node; often new ones follow in the same transaction."""
    predicate = source.rng.choice([*SCALARS, *LISTS])
    scope = source.scoped(uid=source.uid(), predicate=predicate)
    source.emit("triple", "del", "remove", {}, {}, scope=scope)
    source.log = (source.log[0], source.log[1] + 1)


def _drop(source: _Triples) -> None:
    """A predicate or all data, as of a timestamp that may lie behind, and before all its ordinals."""
    scope = source.scoped()
    if source.chance(0.7):
        scope |= {"predicate": source.rng.choice([*SCALARS, *LISTS])}
    started = source.log[0] - source.rng.choice([0, 0, 1, 3])
    source.emit("triple", "drop", "remove", {}, {}, scope=scope, log_position=(0, 1, started))


_MUTATIONS: list[Callable[[_Triples], None]] = [
    _set, _set, _set, _set, _delete_value, _delete_value, _delete, _add_member, _add_member,
    _add_member, _remove_member, _star,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, in the order in which the source made them."""
    source = _Triples(rng, case)
    while len(source.events) < events:
        source.advance()
        if source.chance(0.1):
            _drop(source)
        for _ in range(rng.randint(1, 5)):
            rng.choice(_MUTATIONS)(source)
    return source.events[:events]
