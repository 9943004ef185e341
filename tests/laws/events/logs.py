"""Histories of tables with a log, as Arcion and Debezium write them: each record's text, and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from tests.laws.drawn.histories import KEY_COLUMNS, STARTED_AT_MS, deliveries, history
from tests.laws.drawn.wide import WIDE_TYPES, WIDE_VALUES, in_texts, silver_image
from tests.laws.events import strays
from tests.laws.events.meanings import HOLD, Drawn, Landed, Meaning, Place, Record, Row
from tests.laws.oracle.event import Event, Image, LogPosition, Transaction, event_id
from tests.laws.oracle.event import Table as ScopeShape
from tests.laws.oracle.oracle import Change, changes_of
from tests.laws.rendering import arcion, kafka
from transforms.feed.feed import Feed, RangeDeletePolicy, Table

KINDS: Mapping[str, Sequence[str]] = {
    "arcion_s3_json": ("mysql", "cassandra"),
    "arcion_s3_csv": ("cassandra", "mysql"),
    "arcion_kafka": ("arcion_kafka",),
    "debezium": ("debezium", "debezium_bare"),
}
"""The kinds of source that each format is of."""

COLUMNS = list(WIDE_TYPES)
TABLE = Table("item", tuple(KEY_COLUMNS), WIDE_TYPES, tuple(sorted(COLUMNS)))
SHAPE = ScopeShape("item", tuple(KEY_COLUMNS), WIDE_TYPES)
OF_LOGS: LogPosition = (0, 1, 9, 9_000, 1)
OF_TIMES: LogPosition = (0, 1, STARTED_AT_MS + 500)
"""Compaction watermarks: a log's number, which all of Cassandra's timestamps are beyond; and such a timestamp, beyond
all logs."""

BLOCK, WINDOWS = 8, 3


def drawn(format_name: str, numbers: Sequence[int], range_deletes: RangeDeletePolicy) -> Drawn:
    """The histories with these numbers, and what their records have to become."""
    tables = {"item": TABLE}
    feed = Feed("laws", format_name, "/nowhere", tables=tables, range_deletes=range_deletes)
    objects: dict[Place, Landed] = {}
    kinds = KINDS[format_name]
    is_of_texts = format_name.startswith("arcion_s3")
    for start in range(0, len(numbers), BLOCK):
        block = _Block(feed, f"{format_name} {numbers[start]}", objects)
        for number in numbers[start : start + BLOCK]:
            kind = kinds[number % len(kinds)]
            events = history(
                number,
                case=f"{kind}-{number}",
                kind=kind,
                events=2 + number % 6,
                values=in_texts() if is_of_texts else WIDE_VALUES,
            )
            if kind == "debezium":
                events = _in_transactions(events, f"tx{number}")
            elif number // 2 % 2:
                events = [_in_part(event) for event in events]
            for window, some in deliveries(events, number, windows=WINDOWS).items():
                for event in some:
                    block.land(kind, window, event)
                    block.land_marks(window, event, events)
                if some:
                    block.land_strays(kind, window, block.rng.choice(some))
    for name, landed in objects.items():
        Random(str(name)).shuffle(landed.records)
    return Drawn(feed, objects)


def _in_part(event: Event) -> Event:
    """An update of a row's key as sources log it that send of the new row only what changed."""
    before, after = event.before, event.after
    ids = {image["id"] for image in (before, after) if "id" in image}
    if event.operation != "update" or len(ids) < 2:
        return event
    changed = {
        name: value
        for name, value in after.items()
        if name in KEY_COLUMNS or before.get(name) != value
    }
    return replace(event, after=changed)


def _in_transactions(events: Sequence[Event], name: str) -> list[Event]:
    """The events, those of the log in transactions of two."""
    return [
        event
        if event.source == "snapshot"
        else replace(event, transaction=Transaction(f"{name}.{at // 2}"))
        for at, event in enumerate(events)
    ]


class _Block:
    """Histories that land together."""

    def __init__(self, feed: Feed, name: str, objects: dict[Place, Landed]) -> None:
        self.feed, self.name, self.objects = feed, name, objects
        self.rng = Random(name)
        self.is_of_texts = feed.format.startswith("arcion_s3")

    def land(self, kind: str, window: int, event: Event) -> None:
        """A delivery of an event."""
        holds = self.feed.range_deletes == "hold"
        meaning = told_of(event, holds=holds, bytes_are_texts=self.is_of_texts)
        self.add(kind, window, event, meaning)

    def add(self, kind: str, window: int, event: Event, meaning: Meaning) -> None:
        place, columns = self.place(window, event)
        text = _printed(self.feed.format, kind, event, self.rng, columns)
        header = None
        if columns is not None:
            header = _header(columns, is_snapshot=event.source == "snapshot")
        self.objects.setdefault(place, Landed(header=header)).records.append(
            Record(text, (meaning,))
        )

    def place(self, window: int, event: Event) -> tuple[Place, Sequence[str] | None]:
        """An object of the window; of a CSV one with a header the order of its columns, too."""
        style = self.rng.choice(["part_1", "part_2"])
        columns = None
        if self.feed.format == "arcion_s3_csv" and self.rng.random() < 0.4:
            style = "rows_1" if event.source == "snapshot" else "changes_1"
            columns = Random(f"{self.name} {window} {style}").sample(COLUMNS, len(COLUMNS))
        return self.named(window, style), columns

    def named(self, window: int, file: str) -> Place:
        return f"{self.name} w{window}", f"{self.name}/item/{file}"

    def land_marks(self, window: int, event: Event, events: Sequence[Event]) -> None:
        """Beside most events of a transaction the messages that it began and ended."""
        if event.transaction is None or self.rng.random() < 0.2:
            return
        size = len({event_id(one) for one in events if one.transaction == event.transaction})
        place = self.named(window, "part_2")
        for mark in strays.MARKS:
            record = strays.mark(mark, event.transaction.id, size, self.rng)
            self.objects.setdefault(place, Landed()).records.append(record)

    def land_strays(self, kind: str, window: int, event: Event) -> None:
        """Now and then a record that cannot be taken, or that is for a whole table, or for none."""
        for stray in strays.of_event(self.feed.format, event, self.rng):
            if isinstance(stray, Record):
                place = self.named(window, "part_1")
                self.objects.setdefault(place, Landed()).records.append(stray)
            elif stray.reason is None:
                self.land(kind, window, stray.event)
            else:
                self.add(kind, window, stray.event, Meaning("item", reason=stray.reason))


def told_of(event: Event, *, holds: bool, bytes_are_texts: bool) -> Meaning:
    """What a delivery of an event says; ``holds``: whether what empties a table waits for a decision."""
    before = silver_image(event.before, WIDE_TYPES, bytes_are_texts=bytes_are_texts)
    after = silver_image(event.after, WIDE_TYPES, bytes_are_texts=bytes_are_texts)
    images = (frozenset(event.before.items()), frozenset(event.after.items()))
    name = (event.table, event.operation, tuple(event.identity), *images)
    stable = 3 if event.source == "cassandra" else len(event.log_position)
    if event.source == "debezium" and event.log_position[4]:
        # A change ends with its offset, which is another one in every delivery; a snapshot's row does not.
        stable -= 1
    if event.operation == "truncate":
        rows: Sequence[Row] = [Row("item", "truncate", HOLD if holds else "remove", scope={})]
    else:
        rows = rows_of(event, changes_of(event, SHAPE), before, after)
    return Meaning("item", name, event.log_position, stable, rows, event_id=event_id(event))


def rows_of(event: Event, changes: Sequence[Change], before: Image, after: Image) -> Sequence[Row]:
    """The rows of a change of one row: one for each key that it is for."""
    last = changes[-1]
    if len(changes) == 1:
        key = last.key
        return [Row("item", event.operation, last.effect, key, before=before, after=after)]
    whole = {**before, **after} if event.operation == "update" else after
    effect = (
        "replace" if last.effect == "move" and whole.keys() >= WIDE_TYPES.keys() else last.effect
    )
    old = Row("item", event.operation, "remove", changes[0].key, None, "key_change", before, after)
    return [old, Row("item", event.operation, effect, last.key, old.key, None, before, whole)]


def _printed(
    format_name: str, kind: str, event: Event, rng: Random, columns: Sequence[str] | None
) -> str:
    """One delivery as its format writes it."""
    seed = rng.getrandbits(32)
    if format_name == "arcion_kafka":
        return kafka.arcion(event, seed=seed, columns=COLUMNS)
    if format_name == "debezium":
        has_key = kind == "debezium"
        return kafka.debezium(event, seed=seed, has_key=has_key, columns=COLUMNS)
    if format_name == "arcion_s3_json":
        return arcion.to_json(
            event, COLUMNS, seed=seed, snapshot_form=rng.choice(["bare", "envelope"])
        )
    in_snapshot = event.source == "snapshot"
    usual = COLUMNS if in_snapshot else list(TABLE.cdc_columns)
    return arcion.to_csv(
        event,
        usual if columns is None else list(columns),
        seed=seed,
        # A snapshot row carries no cursor that would show how quotes are escaped.
        quoting="backslash" if not in_snapshot and rng.random() < 0.5 else "doubled",
        eager=True,
    )


def _header(columns: Sequence[str], *, is_snapshot: bool) -> str:
    if is_snapshot:
        return ",".join(columns)
    roles = [f"{name}_{role}" for name in columns for role in ("NEW", "OLD", "EXISTS")]
    return ",".join([*roles, "opType", "cursor", "operationCount"])
