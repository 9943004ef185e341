"""Histories of a source, drawn from a seed: plausible, but with every difficulty that a real source may have.

Source time never falls while positions rise: that would be a fault of the source, which a blocking check finds. Texts
leave out what a format cannot carry: the words NULL and null (each a format's null), and a slash before a line break (a
wrapped line in the document's CSV).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from tests.laws.oracle.oracle import Event, Image, LogPosition


def tied_links(
    rng: Random, row: Callable[[], Image], some: Callable[[], Image], narrow: Callable[[], Image]
) -> list[tuple[Image, Image]]:
    """Updates of one row at one position: a chain of images, two, one that returns, or none."""
    length = rng.randint(2, 5)
    images = [row()]
    images += [images[0] | some() for _ in range(length)]
    shape = rng.choice(["chain", "partial chain", "two chains", "return", "fork"])
    if shape == "partial chain":
        images = [narrow() for _ in images]
    if shape == "return":
        images[-1] = images[0]
    links = [(images[0] if shape == "fork" else old, new) for old, new in pairwise(images)]
    if shape == "two chains":
        links.pop(length // 2)
    return links


KEY_COLUMNS = ["case_id", "id"]
COLUMN_TYPES = {
    "case_id": "string", "id": "int",
    "c1": "int", "c2": "string", "c3": "decimal(12,2)", "c4": "timestamp",
}  # fmt: skip
COLUMNS = list(COLUMN_TYPES)
# Few values per column, so that different events often carry the same image.
VALUES = {
    "c1": ["0", "1", "2", "-7", "10", "2147483647", "-2147483648"],
    "c2": [
        "", "", " ", "a", "b", "ab", " a", "a ", "a,b", 'say "hi"', '"', '""', "it's", "a\nb",
        "a\n", "a\r\nb", "\\", "a\\", '\\"', "\\n", "a/b", "\t", "Null", "NULLs", "0", "-", "1:a",
        "{}", "é", "e\u0301", "日本", "😀", "a\u2028b", 'é,"\\\n😀 ',
    ],
    "c3": ["0.00", "0.01", "-0.50", "12.30", "9999999999.99", "-9999999999.99"],
    "c4": [
        "1970-01-01 00:00:00", "1999-12-31 23:59:59", "2024-02-29 12:30:00",
        "2024-03-31 02:30:00", "2024-10-27 01:30:00", "2038-01-19 03:14:08",
    ],
}  # fmt: skip
STARTED_AT_MS = 1_732_060_800_000

Drawable = Mapping[str, Sequence[str]]
"""The columns beside the key, each with the values that it may have."""


class Rows:
    """What a source of one case draws for its rows, which it remembers, so that most before-images are true."""

    rng: Random
    case: str
    rows: dict[str, Image]
    values: Drawable

    def key(self, identifier: str) -> Image:
        return {"case_id": self.case, "id": identifier}

    def full(self, identifier: str) -> Image:
        """A row with a value, or a null, in every column."""
        return self.key(identifier) | {column: self.value(column) for column in self.values}

    def row(self, identifier: str) -> Image:
        """The row as it is, or an invented one: changes of rows never seen do come."""
        return dict(self.rows.get(identifier) or self.full(identifier))

    def value(self, column: str) -> str | None:
        return None if self.rng.random() < 0.2 else self.rng.choice(self.values[column])

    def some(self, at_least: int = 1) -> Image:
        """New values for some columns."""
        columns = self.rng.sample(list(self.values), self.rng.randint(at_least, len(self.values)))
        return {column: self.value(column) for column in columns}


class _Source(Rows):
    """A source of one case that remembers its rows, so that most before-images are true."""

    def __init__(self, rng: Random, *, case: str, kind: str, table: str, values: Drawable) -> None:
        self.rng, self.case, self.kind, self.table = rng, case, kind, table
        self.values = values
        self.ids = [str(i) for i in range(1, rng.randint(1, 4) + 1)]
        self.rows: dict[str, Image] = {}
        self.events: list[Event] = []
        self.now_ms = STARTED_AT_MS
        # Starts just below a new digit show an order by text instead of by number.
        self.log = (rng.choice([1, 9, 99, 999_999]), rng.choice([4, 90, 950, 9_990]), 1)
        self.replica = self.draw_replica()
        # Where a message of MySQL stands in its topic; of bare documents nothing says it.
        self.offset = rng.randint(1, 1 << 40) if kind == "debezium" and rng.random() < 0.7 else 0

    def draw_replica(self) -> LogPosition:
        """The dscId, mutId and partNum that one replica of Cassandra gives a mutation."""
        mutation = self.rng.choice([self.rng.randint(0, 12), self.rng.randint(0, 2_000_000)])
        return (1_620_787_053_904 + self.rng.randint(0, 2), mutation, self.rng.randint(1, 2))

    @property
    def log_position(self) -> LogPosition:
        """Where the next change stands."""
        if self.kind == "cassandra":
            return (0, 1, self.now_ms, *self.replica)
        if self.kind == "debezium":
            self.offset += bool(self.offset)
            return (0, 1, *self.log[:2], 1, self.offset)
        if self.kind == "debezium_bare":
            # The commit before it may stand before it or behind it: the greater of both counts.
            return (0, 1, self.lsn + int(self.lsn % 6 == 0), 1, self.lsn)
        return (0, 1, *self.log)

    @property
    def lsn(self) -> int:
        """The number of a change in Postgres's log."""
        number, offset, row = self.log
        return number * 10**9 + offset * 1000 + row * 2

    @property
    def identity(self) -> tuple[str, ...] | None:
        """What identifies the next change, where its position does not."""
        if self.kind == "debezium":
            return tuple(str(number) for number in self.log)
        return (str(self.lsn),) if self.kind == "debezium_bare" else None

    @property
    def read_at(self) -> tuple[LogPosition, tuple[str, ...] | None]:
        """Where the row of a snapshot stands: Debezium's say where the log was."""
        if self.kind == "debezium":
            file, position, _ = self.log
            return (0, 1, file, position, 0, 0), (str(file), str(position))
        if self.kind == "debezium_bare":
            return (0, 1, self.lsn, 0, 0), (str(self.lsn),)
        return (0, 0), None

    def advance(self) -> None:
        """Go on to a higher position."""
        number, offset, row = self.log
        if self.kind != "cassandra" and self.rng.random() < 0.25:
            self.log = (number, offset, row + 1)  # the next row of the same statement
            return
        rotates = self.rng.random() < 0.1
        self.log = (number + 1, 4, 1) if rotates else (number, offset + self.rng.randint(1, 400), 1)
        self.now_ms += self.rng.choice(
            [1, 7, 1000] if self.kind == "cassandra" else [0, 1000, 60_000]
        )
        self.replica = self.draw_replica()

    def drift(self) -> None:
        """Advance the log between two actions: mostly to a higher position, sometimes not at all, which makes a tie."""
        chance = self.rng.random()
        if chance > 0.2:
            self.advance()
        elif chance > 0.1 and self.kind == "cassandra":
            self.replica = self.draw_replica()  # one timestamp, another position

    def emit(self, operation: str, before: Image, after: Image) -> None:
        """Write down an event and do to the rows what a sane source would mean by it."""
        place = (self.log_position, self.now_ms)
        # Debezium sends whole rows, but for values that it says it does not have.
        is_whole = (
            self.kind == "debezium" and operation == "update" and self.values.keys() <= after.keys()
        )
        effect = "replace" if is_whole else None
        self.events.append(
            Event(
                *(self.kind, self.table, operation, *place, before, after, effect),
                own_identity=self.identity,
            )
        )
        new = before | after
        old_id, new_id = str((after | before)["id"]), str(new["id"])
        row = self.rows.pop(old_id, self.key(new_id) | dict.fromkeys(self.values))
        if operation != "delete":
            self.rows[new_id] = row | new

    def part_of(self, image: Image) -> Image:
        return {column: image[column] for column in image if self.rng.random() < 0.5}


def _insert(source: _Source, identifier: str | None = None) -> None:
    identifier = identifier or source.rng.choice(source.ids)
    # Cassandra's inserts are upserts, mostly of a part; MySQL can log just the columns given.
    part = source.key(identifier) | source.some(at_least=0)
    whole = source.rng.random() < (0.2 if source.kind == "cassandra" else 0.8)
    source.emit("insert", {}, source.full(identifier) if whole else part)


def _update(source: _Source, identifier: str | None = None) -> None:
    identifier, changed = identifier or source.rng.choice(source.ids), source.some()
    row, key = source.row(identifier), source.key(identifier)
    old = key | {column: row[column] for column in changed}
    before = source.rng.choice([key] if source.kind == "cassandra" else [row, row, row, key, old])
    whole = before is row and source.rng.random() < 0.7
    # A key column stands in before, in after or in both; the key must be whole all the same.
    in_after = source.part_of(key)
    hidden = {} if before is row else source.part_of(in_after)
    before = {column: before[column] for column in before if column not in hidden}
    source.emit("update", before, (row if whole else in_after) | changed)


def _delete(source: _Source, identifier: str | None = None) -> None:
    identifier = identifier or source.rng.choice(source.ids)
    # Cassandra logs just the key.
    has_row = source.kind != "cassandra" and source.rng.random() < 0.5
    source.emit("delete", (source.row if has_row else source.key)(identifier), {})


def _recreate(source: _Source) -> None:
    identifier = source.rng.choice(source.ids)
    _delete(source, identifier)
    if source.rng.random() < 0.5:
        source.advance()
    source.emit("insert", {}, source.full(identifier))


def _replace(source: _Source) -> None:
    identifier = source.rng.choice(source.ids)
    source.emit("replace", dict(source.rows.get(identifier, {})), source.full(identifier))


def _move(source: _Source) -> None:
    old, new = source.rng.sample(["5", *source.ids], 2)
    row = source.row(old)
    operation = source.rng.choice(["update", "update", "update", "replace"])
    operation = operation if source.kind == "mysql" else "update"
    source.emit(operation, row, row | source.some(at_least=0) | source.key(new))


def _tied_updates(source: _Source) -> None:
    identifier = source.rng.choice(source.ids)

    def narrow() -> Image:
        return source.key(identifier) | {"c1": source.value("c1")}

    for before, after in tied_links(
        source.rng, lambda: source.row(identifier), source.some, narrow
    ):
        source.emit("update", before, after)


def _overwrite(source: _Source) -> None:
    key, written = source.key(source.rng.choice(source.ids)), source.some()
    before = source.rng.choice([{}, key])
    source.emit("replace", before, written if before else key | written)


def _tied_writes(source: _Source) -> None:
    """Writes of one row at one timestamp, some of them once more from other replicas."""
    identifier, first = source.rng.choice(source.ids), len(source.events)
    for _ in range(source.rng.randint(2, 3)):
        source.rng.choice([_insert, _update, _update, _delete])(source, identifier)
        source.replica = source.draw_replica()
    for event in source.rng.sample(source.events[first:], source.rng.randint(0, 2)):
        _copy(source, event)


def _copy(source: _Source, event: Event | None = None) -> None:
    """The same mutation from another replica, at a lower or a higher position of its timestamp."""
    event = event or source.rng.choice(source.events or [None])
    if event and event.source == "cassandra":
        place = (*event.log_position[:3], *source.draw_replica())
        source.events.append(replace(event, log_position=place))


_ON_KAFKA: list[Callable[[_Source], None]] = [
    _insert, _insert, _update, _update, _update, _update, _update, _delete, _delete, _recreate,
    _move, _tied_updates, _tied_updates,
]  # fmt: skip
_ACTIONS: dict[str, list[Callable[[_Source], None]]] = {
    "mysql": [
        _insert, _insert, _update, _update, _update, _update, _update, _delete, _delete,
        _recreate, _replace, _move, _tied_updates, _tied_updates,
    ],
    "arcion_kafka": _ON_KAFKA,
    "debezium": _ON_KAFKA,
    "debezium_bare": _ON_KAFKA,
    "cassandra": [
        _insert, _insert, _update, _update, _update, _delete, _recreate, _overwrite, _tied_writes,
        _tied_writes, _copy,
    ],
}  # fmt: skip


def history(
    seed: int,
    *,
    case: str,
    kind: str,
    events: int,
    table: str = "item",
    values: Drawable = VALUES,
) -> list[Event]:
    """A source's first events, as many as ``events`` says, in the order it made them."""
    rng = Random(f"history {seed}")
    source = _Source(rng, case=case, kind=kind, table=table, values=values)
    for identifier in source.ids:
        # Two, where the rows of two snapshots tie.
        for _ in range(source.rng.choice([0, 0, 0, 1, 1, 1, 1, 2])):
            source.rows[identifier] = row = source.full(identifier)
            place, identity = source.read_at
            source.events.append(
                Event("snapshot", table, "read", place, None, {}, row, own_identity=identity)
            )
    while len(source.events) < events:
        source.drift()
        source.rng.choice(_ACTIONS[kind])(source)
    return source.events[:events]


def deliveries(events: list[Event], seed: int, *, windows: int) -> dict[int, list[Event]]:
    """The events as they arrive, by window: every one at least once, about a fifth repeated."""
    rng = Random(f"deliveries {seed}")
    arrived: dict[int, list[Event]] = {window: [] for window in range(windows)}
    for event in events:
        window = rng.randrange(windows)
        arrived[window].append(event)
        while rng.random() < 0.2:
            arrived[rng.choice([window, rng.randrange(windows)])].append(_repeat(event, rng))
    for window_events in arrived.values():
        rng.shuffle(window_events)
    return arrived


def _repeat(event: Event, rng: Random) -> Event:
    """The event again; never at a smaller position, so that what is true does not change."""
    if event.source == "debezium" and event.log_position[-1]:
        *same, offset = event.log_position
        return replace(event, log_position=(*same, offset + rng.randint(0, 20)))
    if event.source != "cassandra":
        return event
    *same, dsc_id, mut_id, part = event.log_position
    higher = (*same, dsc_id + rng.randint(0, 2), mut_id + rng.randint(0, 20), part)
    return replace(event, log_position=higher)
