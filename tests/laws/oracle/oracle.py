"""What a set of change events means, in plain Python: the product's results are compared with it.

It shares no code with the packages that it tests and knows nothing of windows, files or Spark. It does what
docs/change_model.md says, and is meant to be checked by eye, so it is slow wherever that is clearer. All changes of a
table are applied one after the other, those of all keys in one order: a range delete then meets the rows that are
there, and a move finds the row that has just left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from tests.laws.oracle.event import Event, Image, Key, LogPosition, Table, Transaction, event_id
from tests.laws.oracle.transactions import visible
from tests.laws.oracle.values import operated, typed

__all__ = [
    "Change", "Event", "Image", "Key", "LogPosition", "Row", "State", "Table", "Transaction",
    "Values", "changes_of", "current", "event_id", "visible",
]  # fmt: skip

Values = dict[str, object]
# The order of changes that share a position.
RANKS = {
    "remove": 0,
    "remove_if": 0,
    "decrement": 0,
    "replace": 1,
    "move": 1,
    "increment": 1,
    "update": 2,
}
# To Arcion, whose events do not say it themselves.
EFFECTS = {
    "insert": "replace", "read": "replace", "replace": "replace", "update": "update", "delete": "remove",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """An event as one key sees it, or as every key in its scope does: a key change is two."""

    event: Event
    event_id: str
    effect: str
    key: Key | None  # None: the event has a scope

    @property
    def slot(self) -> tuple[LogPosition, int]:
        """Changes with one slot tie."""
        return (self.event.log_position, RANKS[self.effect])


@dataclass(frozen=True, slots=True)
class Row:
    """A present row; values has every declared column."""

    values: Values
    log_position: LogPosition
    event_id: str
    event_at_ms: int | None
    copies: int = 1  # more only in a table without a key


@dataclass(frozen=True, slots=True)
class State:
    """Every key that was ever seen stands in exactly one of the three.

    A key of a table that keeps deleted rows is never in ``tombstones`` but in ``deleted``: the row that the delete took
    away, with the delete as its last change; the key alone where there never was one.
    """

    rows: dict[Key, Row]
    tombstones: dict[Key, tuple[LogPosition, str]]
    deleted: dict[Key, Row] = field(default_factory=dict)


def effect_of(event: Event) -> str:
    """What the event does to its row, before its keys are looked at."""
    # A Cassandra insert is an upsert: it leaves alone what it does not mention.
    if event.source == "cassandra" and event.operation == "insert":
        return "update"
    return event.effect or EFFECTS[event.operation]


def changes_of(event: Event, table: Table) -> list[Change]:
    """What the event does, and to which keys."""
    if event.table != table.name:
        raise ValueError(f"these are the events of one table: {table.name}, not {event.table}")
    identifier, effect = event_id(event), effect_of(event)
    if event.scope is not None:
        if effect == "update" and not table.key:
            raise ValueError("a range delete of a column would change what tells rows apart")
        return [Change(event, identifier, effect, None)]
    if not table.key:
        moved = [(c, _image_key(event, c, table)) for c in _copies(event, effect)]
        if len({key for _, key in moved}) < len(moved):
            return []  # an update from an image to the same
        return [Change(event, identifier, change, key) for change, key in moved]
    old_key = tuple((event.after | event.before)[column] for column in table.key)
    key = tuple(event.result[column] for column in table.key)
    # The two differ only where a key column stands in both images, with two values.
    if effect in ("remove", "remove_if") or old_key == key:
        return [Change(event, identifier, effect, key)]
    if effect == "update":
        effect = "move"
    return [Change(event, identifier, "remove", old_key), Change(event, identifier, effect, key)]


def _copies(event: Event, effect: str) -> list[str]:
    """What the event does to the copies of its images, in a table without a key."""
    if effect == "remove":
        return ["decrement"]
    return ["decrement", "increment"] if event.before else ["increment"]


def _image_key(event: Event, effect: str, table: Table) -> Key:
    if effect == "decrement":
        return tuple(event.before[column] for column in table.columns)
    return tuple(event.result.get(column) for column in table.columns)


def meets(change: Change, key: Key, table: Table, streams: Mapping[Key, set[str | None]]) -> bool:
    """True where the change is for the key, or has it in its scope: of a stream, if it names one."""
    if change.key is not None:
        return change.key == key
    scope, stream = change.event.scope or {}, change.event.stream
    if stream is not None and stream not in streams[key]:
        return False
    return all(key[table.key_columns.index(column)] == scope[column] for column in scope)


def chained(changes: list[Change]) -> list[Change]:
    """Changes that tie (given by event id), each after the one whose result it starts from."""

    def continues(change: Change, other: Change) -> bool:
        return bool(change.event.before) and change.event.before == other.event.result

    remaining, ordered = list(changes), list[Change]()
    while remaining:
        follows = [c for c in remaining if ordered and continues(c, ordered[-1])]
        starts = [
            change
            for change in remaining
            if not any(continues(change, other) for other in remaining if other is not change)
        ]
        picked = (follows or starts or remaining)[0]
        ordered.append(picked)
        remaining = [change for change in remaining if change is not picked]
    return ordered


def distinct(deliveries: Iterable[Event]) -> list[Event]:
    """One event per event id, as its delivery with the smallest position has it."""
    first: dict[str, Event] = {}
    for event in sorted(deliveries, key=lambda event: (event.log_position, event.event_at_ms or 0)):
        first.setdefault(event_id(event), event)
    return list(first.values())


def current(
    events: Iterable[Event], table: Table, left_out: Collection[tuple[str, Key]] = ()
) -> State:
    """The state of one table after all events, delivered in any order and any number of times.

    ``left_out``: changes that never happened, each by its event and its key.
    """
    changes = [change for event in distinct(events) for change in changes_of(event, table)]
    changes = [one for one in changes if one.key is None or (one.event_id, one.key) not in left_out]
    state = State(rows={}, tombstones={})
    left: dict[str, Row | None] = {}  # by event: what the remove of a key change found
    streams: dict[Key, set[str | None]] = defaultdict(set)  # from which a key has changes at all
    for change in changes:
        if change.key is not None:
            streams[change.key].add(change.event.stream)
    ordered = sorted(changes, key=lambda change: (change.slot, change.event_id))
    for _, tied in groupby(ordered, key=lambda change: change.slot):
        for change, key in steps(list(tied), state.rows, table, streams):
            row = state.rows.get(key)
            if row is None and change.key is None:
                continue  # a range delete does nothing at all to an absent row
            if change.effect == "remove":
                left[change.event_id] = row
            copies = copies_after(change, row, table)
            stamp = (change.event.log_position, change.event_id)
            state.rows.pop(key, None)
            state.tombstones.pop(key, None)
            gone = state.deleted.pop(key, None)
            if copies:
                values = values_after(change, row, left.get(change.event_id), table)
                values |= typed_image(dict(zip(table.key_columns, key, strict=True)), table)
                state.rows[key] = Row(values, *stamp, change.event.event_at_ms, copies)
            elif table.keeps_deleted:
                kept = row or gone or Row(key_alone(key, table), *stamp, None)
                state.deleted[key] = replace(
                    kept,
                    log_position=stamp[0],
                    event_id=stamp[1],
                    event_at_ms=change.event.event_at_ms,
                )
            else:
                state.tombstones[key] = stamp
    return state


def key_alone(key: Key, table: Table) -> Values:
    """A row of which nothing is known but its key."""
    of_key = typed_image(dict(zip(table.key_columns, key, strict=True)), table)
    return dict[str, object].fromkeys(table.columns) | of_key


def steps(
    tied: list[Change],
    rows: dict[Key, Row],
    table: Table,
    streams: Mapping[Key, set[str | None]],
) -> Iterator[tuple[Change, Key]]:
    """The changes of one slot in order, each with every key that it meets.

    The rows are looked at lazily: what one step does to them, the next one sees.
    """
    if tied[0].effect != "update":
        for change in tied:
            keys = list(rows) if change.key is None else [change.key]
            yield from ((change, key) for key in keys if meets(change, key, table, streams))
        return
    present = list(rows) if any(change.key is None for change in tied) else []
    for key in dict.fromkeys([change.key for change in tied if change.key] + present):
        met = [change for change in tied if meets(change, key, table, streams)]
        for change in chained(met):
            yield change, key


def copies_after(change: Change, row: Row | None, table: Table) -> int:
    """How many of the row there are after the change: in a table with a key, none or one."""
    copies = row.copies if row else 0
    if change.effect == "remove_if":
        before = typed_image(change.event.before, table)
        return int(row is not None and any(row.values[name] != before[name] for name in before))
    return {"remove": 0, "decrement": max(copies - 1, 0), "increment": copies + 1}.get(
        change.effect, 1
    )


def values_after(change: Change, row: Row | None, left: Row | None, table: Table) -> Values:
    """The row after a change that leaves one; its key columns are the caller's concern."""
    event, nothing = change.event, dict[str, object].fromkeys(table.columns)
    after = typed_image(event.after, table)
    if change.effect in ("replace", "increment"):
        return nothing | after
    if change.effect == "move":
        # Where the images hold every column, nothing of the old row is left to see: that is a replace.
        return nothing | (left.values if left else {}) | typed_image(event.before, table) | after
    if change.effect == "update":
        return updated(event, row, table)
    assert row is not None
    return dict(row.values)  # a decrement of one copy of several, a remove_if that does not match


def updated(event: Event, row: Row | None, table: Table) -> Values:
    """The row with the columns in ``after`` set, each by its operation."""
    values = dict[str, object].fromkeys(table.columns) | typed_image(dict(table.defaults), table)
    ops = {c: op for c, op in event.attribute_ops.items() if row or op != "IgnoreIfExisted"}
    if row is not None:
        values = dict(row.values)
    for name, new in typed_image(event.after, table).items():
        if name in ops:
            new = operated(ops[name], values[name], new, table.columns[name])
        values[name] = new
    return values


def typed_image(image: Image, table: Table) -> Values:
    """The values of the declared columns; others have no place in gold."""
    return {
        name: typed(image[name], table.columns[name]) for name in image if name in table.columns
    }
