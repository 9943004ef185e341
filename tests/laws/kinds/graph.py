"""Kind graph: vertices and edges whose attributes are added to, and what each implies of others.

An edge implies both its vertices, and a deleted vertex deletes its edges. What is implied has the position of what
implies it, and is never cut off from it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.kinds.attributes import changed, value
from tests.laws.kinds.source import Source
from tests.laws.oracle.oracle import Event, Image, Table

VERTEX = Table(
    "vertex",
    ("case_id", "id"),
    {
        "case_id": "string", "id": "string", "big": "bigint", "n": "int", "f": "float",
        "d": "double", "m": "decimal(12,2)", "b": "boolean", "s": "string", "t": "timestamp",
        "words": "array<string>", "nums": "array<bigint>", "ids": "set<bigint>",
        "tags": "set<string>", "scores": "map<string,bigint>", "names": "map<string,string>",
    },
    {
        "big": "0", "n": "0", "f": "0.0", "d": "0.0", "m": "0.00", "b": "false", "s": "",
        "words": "[]", "ids": "[]", "scores": "{}", "names": "{}",
    },
)  # fmt: skip
EDGE = Table(
    "edge",
    ("case_id", "from_id", "to_id"),
    {
        "case_id": "string", "from_id": "string", "to_id": "string", "weight": "double",
        "tiny": "tinyint", "small": "smallint", "day": "date", "since": "timestamp",
        "marks": "map<bigint,double>", "flags": "map<string,boolean>", "sums": "array<double>",
    },
    {"weight": "0.0", "tiny": "0", "small": "7", "day": "1970-01-01", "marks": "{}"},
)  # fmt: skip


class _Graph(Source):
    def __init__(self, rng: Random, case: str) -> None:
        super().__init__(rng, case)
        self.ids = ["1", "2", "10", "é"][: rng.randint(2, 4)]
        # Few columns get most of the changes, so that operations pile up in them.
        self.favourites = {
            table.name: rng.sample(_attributes(table), 3) for table in (VERTEX, EDGE)
        }

    def pick(self) -> str:
        return self.rng.choice(self.ids)

    def vertex(self, identifier: str) -> Image:
        return self.scoped(id=identifier)

    def edge(self, from_id: str, to_id: str) -> Image:
        return self.scoped(from_id=from_id, to_id=to_id)

    def columns(self, table: Table) -> list[str]:
        """A few columns to change."""
        names = self.favourites[table.name] if self.chance(0.8) else _attributes(table)
        return self.rng.sample(names, self.rng.randint(1, 3))

    def update(self, table: Table, key: Image, columns: list[str]) -> None:
        after, ops = changed(self.rng, table, columns)
        self.emit(table.name, "insert", "update", {}, key | after, attribute_ops=ops)


def _attributes(table: Table) -> list[str]:
    return [name for name in table.columns if name not in table.key]


def _insert(source: _Graph) -> None:
    source.update(VERTEX, source.vertex(source.pick()), source.columns(VERTEX))


def _insert_only(source: _Graph) -> None:
    source.emit("vertex", "insert-only", "update", {}, source.vertex(source.pick()))


def _sum(source: _Graph) -> None:
    """Many changes of the same attributes of one vertex or edge: some at one position."""
    from_id, to_id = source.pick(), source.pick()
    of_vertex, of_edge = source.columns(VERTEX), source.columns(EDGE)
    if source.chance(0.4):
        # Whole numbers are what overflows.
        of_vertex, of_edge = ["big", "n", "scores"], ["tiny", "small"]
    is_edge, stays = source.chance(0.3), source.rng.choice([0.0, 0.5, 1.0])
    for _ in range(source.rng.randint(2, 5)):
        if is_edge:
            _connect(source, from_id, to_id, of_edge)
        else:
            source.update(VERTEX, source.vertex(from_id), of_vertex)
        if not source.chance(stays):
            source.advance()


def _replace(source: _Graph) -> None:
    """A whole vertex, or one of which some attributes are not known."""
    _read_vertex(source, source.pick(), "replace")


def _read_vertex(source: _Graph, identifier: str, operation: str) -> None:
    known = [name for name in _attributes(VERTEX) if source.chance(0.7)]
    after: Image = {name: value(source.rng, VERTEX.columns[name]) for name in known}
    log_position = (0, 0) if operation == "read" else None
    key = source.vertex(identifier)
    source.emit("vertex", operation, "replace", {}, key | after, log_position=log_position)


def _snapshot(source: _Graph) -> None:
    """All vertices as they were read, and perhaps an edge between them."""
    for identifier in source.ids:
        _read_vertex(source, identifier, "read")
    if source.chance(0.5):
        edge = source.edge(source.pick(), source.pick()) | {"weight": value(source.rng, "double")}
        source.emit("edge", "read", "replace", {}, edge, log_position=(0, 0))


def _connect_some(source: _Graph) -> None:
    columns = source.columns(EDGE) if source.chance(0.8) else []
    _connect(source, source.pick(), source.pick(), columns)


def _connect(source: _Graph, from_id: str, to_id: str, columns: list[str]) -> None:
    """An edge, and at its place the vertex where it begins and the one where it ends."""
    source.update(EDGE, source.edge(from_id, to_id), columns)
    key = source.vertex(from_id)
    source.emit("vertex", "insert", "update", {}, key, derived="edge_source")
    source.emit("vertex", "insert-only", "update", {}, source.vertex(to_id))


def _remove(source: _Graph) -> None:
    identifier = source.pick()
    source.emit("vertex", "delete", "remove", source.vertex(identifier), {})
    for end in ("from_id", "to_id"):
        scope = source.scoped(**{end: identifier})
        source.emit("edge", "delete", "remove", {}, {}, scope=scope, derived="vertex_removed")


def _remove_all(source: _Graph) -> None:
    scope = source.scoped()
    source.emit("vertex", "delete", "remove", {}, {}, scope=scope)
    source.emit("edge", "delete", "remove", {}, {}, scope=scope, derived="vertex_removed")


def _disconnect(source: _Graph) -> None:
    source.emit("edge", "delete", "remove", source.edge(source.pick(), source.pick()), {})


def _disconnect_many(source: _Graph) -> None:
    """All edges that begin at a vertex, or those from one vertex to another."""
    scope = source.scoped(from_id=source.pick())
    if source.chance(0.5):
        scope |= {"to_id": source.pick()}
    source.emit("edge", "delete", "remove", {}, {}, scope=scope)


_ACTIONS: list[Callable[[_Graph], None]] = [
    _insert, _insert, _insert, _insert, _insert, _insert, _insert_only, _sum, _sum, _sum, _sum,
    _replace, _connect_some, _connect_some, _connect_some, _remove, _remove, _remove_all, _disconnect,
    _disconnect_many, _disconnect_many,
]  # fmt: skip


def history(rng: Random, case: str, events: int) -> list[Event]:
    """As many events of one case as ``events`` says, or a few more: an edge comes with its vertices."""
    source = _Graph(rng, case)
    if source.chance(0.3):
        _snapshot(source)
    while len(source.events) < events:
        source.drift()
        rng.choice(_ACTIONS)(source)
    return source.events
