"""Apply the feed's declarations to events: which table, which key, do values fit; and the rows that they become."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, TypeAlias, cast

from transforms.change import CONTROL, EPOCH, HOLD, SNAPSHOT, STREAM
from transforms.column_types.column_type import Judge
from transforms.column_types.ranges import ENDS, LATER, UNKNOWN, side_of
from transforms.compaction_watermarks import CompactionWatermark
from transforms.event import DUMP, Event, Image, SnapshotRow, StreamSchema, Transaction, Value
from transforms.fault import Fault, shown
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import Feed, Table
from transforms.moments import microseconds_of
from transforms.record import SOURCE_LOCATION, BronzeRecord
from transforms.silver import faults
from transforms.silver.change_kinds import facts_of
from transforms.silver.changes import (
    DERIVED,
    KEY_CHANGE,
    Key,
    Row,
    Texts,
    how_kept,
    is_key_change,
    new_row,
)
from transforms.silver.declarations import Declaration, Declarations, with_todays_columns
from transforms.silver.faults import is_covered


def event_id(
    table: str | None,
    operation: str | None,
    identity: Iterable[str | None],
    images: Iterable[Image | Mapping[str, str] | None],
) -> str:
    """SHA-256 over what is the same in every delivery of one event: table, operation, identity, images, scope.

    Values go in as the source wrote them, so that a column that gets another type makes no other event. Each text goes
    in as its length, a colon and itself, so that no two events can spell the same line; bytes go in as base64.
    """
    identity_texts = tuple(identity)
    parts = [
        netstring(table),
        netstring(operation),
        netstring(str(len(identity_texts))),
        *map(netstring, identity_texts),
    ]
    for image in images:
        if image is None:
            parts.append("-")
            continue
        count, names = spelled_names(tuple(image))
        parts.append(count)
        for name, spelled in names:
            value = image[name]
            if type(value) is str:
                parts.append(f"{spelled}{len(value)}:{value}")
            else:
                parts += (spelled, netstring(value))
    return sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def spelled_names(names: tuple[str, ...]) -> tuple[str, list[tuple[str, str]]]:
    """How many names there are, and each name in order, as they are spelled: most images have the same few."""
    return netstring(str(len(names))), [(name, netstring(name)) for name in sorted(names)]


def netstring(value: Value) -> str:
    """A value as its length, a colon and itself; null is a dash."""
    if value is None:
        return "-"
    text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
    return f"{len(text)}:{text}"


# Epochs: the feed's decisions say where the source's positions start again.


class Epochs:
    """The epochs of a feed's tables, those that only their stream describes included."""

    def __init__(self, feed: Feed) -> None:
        decisions = feed.decisions
        of_all = Decisions(epochs=tuple(one for one in decisions.epochs if one.table is None))
        self._others = _beginnings(of_all.for_table(""))
        named = {one.table for one in decisions.epochs if one.table is not None}
        self._of_table = {name: _beginnings(decisions.for_table(name)) for name in named}
        self._any = bool(decisions.epochs)

    def put(self, event: Event, declared: str | None, window: str) -> None:
        """Put an event into its epoch: on top of the format's own, and as a part of its identity.

        The same position in a log that began again is another position.
        """
        if not self._any or declared is None:
            return
        number = 0
        made = event.extracted_at if event.event_at is None else event.event_at
        beginnings = self._of_table.get(declared, self._others)
        for at, (first, time) in enumerate(beginnings, start=1):
            if window >= first and (time is None or made is None or made >= time):
                number = at
        if number:
            if event.log_position:
                own = event.log_position[0]
                event.log_position = (
                    None if own is None else own + number,
                    *event.log_position[1:],
                )
            if event.snapshot is not None and event.snapshot.removes_at is not None:
                own, *numbers = event.snapshot.removes_at
                event.snapshot = event.snapshot._replace(removes_at=(own + number, *numbers))
            event.identity = (f"epoch {number}", *event.identity)


def _beginnings(epochs: Sequence[Epoch]) -> list[tuple[str, int | None]]:
    """The window in which each epoch begins, and the time of its first event."""
    return [(one.window, microseconds_of(one.time)) for one in epochs]


# Tables of which every window brings the whole (``snapshots: replace``). A dump stands at its landing window, and in it
# at the time at which its object was written, since a job may write over its own file.


_DIGITS_OF_HOUR: Final = len("2026112003")


def place_in_dump(event: Event, record: BronzeRecord) -> None:
    """Put a row of a dump to its place; anything else that would change a row is a fault."""
    if event.fault is not None or event.effect in CONTROL or event.log_position is None:
        return
    if event.log_position[1] != SNAPSHOT or event.scope is not None:
        event.fault = Fault(
            "not_of_a_dump",
            f"the feed file says that each window has the whole table (snapshots: replace), and this is a change"
            f" ({event.operation}) of one row; leave the key out where a table has changes beside its snapshots",
        )
        return
    # A number that rises with time: 2026-11-20T03 is 2026112003, and a day is its first hour.
    digits = "".join(character for character in record.window if character.isdigit())
    at = (EPOCH, STREAM, int(digits.ljust(_DIGITS_OF_HOUR, "0")), record.landed_at)
    event.log_position = (*at, record.line)
    event.dedup_prefix = len(event.log_position)
    # Equal rows of a table without a key are told apart by where they stand.
    event.identity = (record.window, record.object, record.generation, str(record.line))
    event.snapshot = SnapshotRow(at, False, False, record.object, 0, 0, DUMP)


# Images as canonical texts, and the key that images hold.


def canonical_image(
    image: Image, judges: Mapping[str, Judge]
) -> tuple[dict[str, str | None], Sequence[str]]:
    """An image as canonical texts, and the names of the columns whose values do not fit their type.

    Values that do not fit, and values of columns whose type nobody declares, stay as they came; bytes are base64.
    """
    texts: dict[str, str | None] = {}
    unfit: Sequence[str] = ()
    for name, value in image.items():
        judge = judges.get(name)
        if value is None:
            texts[name] = None
        elif judge is None:
            texts[name] = text_of_value(value)
        else:
            text = judge(value)
            if text is None:
                unfit = (*unfit, name)
                text = text_of_value(value)
            texts[name] = text
    return texts, unfit


def text_of_value(value: Value) -> str | None:
    """A value of unknown type as text: bytes as base64."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def key_of_images(
    columns: Iterable[str], first: Texts, second: Texts, unfit: Sequence[Collection[str]]
) -> Key:
    """The key's canonical texts, each column from the first image that mentions it; None for what does not fit."""
    if unfit[0] or unfit[1]:
        first, second = (
            {name: None if name in bad else text for name, text in image.items()}
            for image, bad in zip((first, second), unfit, strict=True)
        )
    return tuple([first[name] if name in first else second.get(name) for name in columns])


def _taken_in_range(
    texts: dict[str, str | None], unfit: Sequence[str], declaration: Declaration
) -> Sequence[str]:
    """Put null or an end of the range in the place of what lies beyond it, as the feed says; the other misfits."""
    left = []
    for name in unfit:
        policy, kind = declaration.out_of_range.get(name), (declaration.column_types or {})[name]
        side = None
        if policy is not None and kind is not None:
            side = side_of(texts[name], kind, declaration.encodings.get(name))
        if side is None or kind is None or (policy == "clamp" and side == UNKNOWN):
            left.append(name)
        else:
            texts[name] = ENDS[kind][side == LATER] if policy == "clamp" else None
    return left


# One event under its declaration, and the rows that it becomes.


_REMOVES = ("remove", "remove_if")


class Conformed:
    """One event under its declaration: its canonical images and key, and its fault."""

    __slots__ = (
        *("record", "event", "declaration", "ordinal"),
        *("before", "after", "scope", "key", "old_key", "event_id", "undeclared"),
    )

    def __init__(
        self, record: BronzeRecord, event: Event, declaration: Declaration, ordinal: int
    ) -> None:
        self.record, self.event = record, event
        self.declaration, self.ordinal = declaration, ordinal
        if declaration.masks is not None:
            # First of all: identity, key, faults and facts are made of what is left.
            faults.mask_event(event, declaration.masks)
        judges, columns = declaration.judges_of(event), declaration.key_columns
        self.after, unfit_after = canonical_image(event.after, judges)
        self.before, unfit_before = canonical_image(event.before, judges)
        self.scope = None if event.scope is None else canonical_image(event.scope, judges)[0]
        if declaration.out_of_range and (unfit_after or unfit_before):
            unfit_after = _taken_in_range(self.after, unfit_after, declaration)
            unfit_before = _taken_in_range(self.before, unfit_before, declaration)
        self.undeclared = faults.undeclared_columns(event, declaration)
        of_one_key = event.scope is None and event.effect not in CONTROL
        self.key = self.old_key = None
        if of_one_key and columns is not None:
            new = key_of_images(columns, self.after, self.before, (unfit_after, unfit_before))
            self.old_key = key_of_images(
                columns, self.before, self.after, (unfit_before, unfit_after)
            )
            # A delete is of the row that was there, whatever its new image says.
            self.key = self.old_key if event.effect in _REMOVES else new
            moved = new != self.old_key
        else:
            moved = False
        if event.fault is None:
            event.fault = self._fault(unfit_after, unfit_before, moved=moved)
        self.event_id: str | None = None
        if event.fault is None:
            self.event_id = event_id(
                declaration.table,
                event.operation,
                event.identity,
                (event.before, event.after, event.attribute_ops, self.scope),
            )

    def _fault(
        self, unfit_after: Sequence[str], unfit_before: Sequence[str], *, moved: bool
    ) -> Fault | None:
        """The first fault that the event has; faults are looked for in a fixed order."""
        event, declaration = self.event, self.declaration
        if declaration.fault is not None and not (
            # What changes no row needs no table.
            event.effect in CONTROL and declaration.fault.reason == "missing_table"
        ):
            return declaration.fault
        if event.log_position is None or any(
            number is None or not -(2**63) <= number < 2**63 for number in event.log_position
        ):
            return Fault(
                "unknown_position", f"the event's log position is {shown(event.log_position)}"
            )
        # Of the old image only the key's columns reach gold; on a key change all columns do, because the row moves to
        # the new key.
        unfit = {
            name: event.before[name]
            for name in unfit_before
            if moved or name in (declaration.key_columns or ())
        }
        unfit |= {name: event.after[name] for name in unfit_after}
        if unfit:
            return faults.misfits(unfit, declaration)
        found: Fault | None = None
        if self.scope is not None:
            found = faults.scope_fault(self.scope, declaration)
        elif event.effect not in CONTROL:
            found = faults.key_fault(event, declaration, self.key)
        if found is None and event.attribute_ops:
            found = faults.operation_fault(event.attribute_ops, declaration)
        if found is None and self.undeclared and declaration.policies.add_column == "quarantine":
            found = faults.column_fault(self.undeclared)
        return found

    def rows(self) -> list[Row]:
        """The change of the event's key; of an event that moves a row to another key two, the old key's first."""
        event, declaration = self.event, self.declaration
        if faults.is_column_drop(event) and declaration.policies.drop_column == "keep":
            self.after = {}
        if event.fault is not None:
            return [self._row(event.effect, self.key, self.after)]
        of_one_row = event.scope is None and event.effect not in CONTROL
        if not is_key_change(event, self.key, self.old_key):
            effect = event.effect
            if declaration.is_keyless and of_one_row:
                effect = {"replace": "increment", "remove": "decrement"}.get(effect, effect)
            return [self._row(effect, self.key, self.after)]
        whole = new_row(event, self.before, self.after)
        old = self._row(
            "decrement" if declaration.is_keyless else "remove", self.old_key, self.after
        )
        old.derived, old.kept_as, old.facts, old.is_first = KEY_CHANGE, DERIVED, None, False
        effect = self._effect_of_move(whole)
        new = self._row(effect, self.key, whole, is_partial=effect == "move")
        new.moved_from = self.old_key
        return [old, new]

    def _effect_of_move(self, whole: Texts) -> str:
        """What a key change does to its new key: a move where its images do not say the whole row.

        The rest is then the old key's row's. Where gold takes columns that nothing declares, no image is known to be
        whole.
        """
        if self.declaration.is_keyless:
            return "increment"
        known = self.declaration.column_types or {}
        is_open = self.declaration.policies.add_column == "evolve"
        if self.event.operation == "update" and (is_open or known.keys() - whole.keys()):
            return "move"
        return "replace"

    def _row(self, effect: str, key: Key | None, after: Texts, *, is_partial: bool = False) -> Row:
        record, event, declaration = self.record, self.event, self.declaration
        payload = facts = None
        if event.fault is not None:
            payload = record.payload
        else:
            facts = facts_of(event, declaration, self.undeclared, is_partial=is_partial, key=key)
        return Row(
            record.window,
            declaration.table,
            declaration.source_table,
            declaration.declared,
            event.operation,
            effect,
            key,
            None,
            event.derived,
            self.before,
            after,
            event.attribute_ops,
            self.scope,
            event.stream,
            event.transaction,
            event.log_position,
            event.dedup_prefix,
            self.event_id,
            event.event_at,
            event.extracted_at,
            record.object,
            record.generation,
            record.line,
            record.byte_offset,
            self.ordinal,
            event.fault,
            payload,
            how_kept(event),
            facts,
            event.segment,
            self.ordinal == 0,
        )


# The function that turns a record's events into rows of silver, for a whole feed.


Conform: TypeAlias = Callable[[BronzeRecord, Sequence[Event]], list[Row]]
"""From a record and its events to their rows, in order."""


class Conformer:
    """Applies a feed's declarations to the events of one record; for one process to keep.

    ``describes_tables``: whether the feed's stream may describe tables. ``compaction_watermarks``: of the gold tables
    that have one: what is at or below it keeps its record, for it may be quarantined yet.
    """

    def __init__(
        self,
        feed: Feed,
        *,
        describes_tables: bool,
        compaction_watermarks: Mapping[str, CompactionWatermark] | None = None,
    ) -> None:
        self.feed, self.compaction_watermarks = feed, compaction_watermarks or {}
        self._declarations = Declarations(feed, describes_tables=describes_tables)
        self._epochs = Epochs(feed)
        holds_drops = any(table.policies.drop_column == "hold" for table in feed.tables.values())
        self._holds = feed.range_deletes == "hold" or holds_drops
        self._masks_columns = feed.masks_columns
        self._released = frozenset(one.event_id for one in feed.decisions.releases)

    def __call__(self, record: BronzeRecord, events: Sequence[Event]) -> list[Row]:
        """The rows of a record's events, in order."""
        rows: list[Row] = []
        for one in self.conformed(record, events):
            rows += one.rows()
        if self.compaction_watermarks:
            _keep_payloads(rows, record, self.compaction_watermarks)
        return rows

    def conformed(self, record: BronzeRecord, events: Sequence[Event]) -> list[Conformed]:
        """The events under their declarations."""
        found: list[Conformed] = []
        for ordinal, event in enumerate(events):
            declaration = self._declarations.of(
                event.catalog, event.schema, event.name, event.stream_schema
            )
            if self._masks_columns:
                faults.withhold_values(event)
            if declaration.renamed:
                with_todays_columns(event, declaration.renamed)
            if declaration.has_full_dumps:
                place_in_dump(event, record)
            self._epochs.put(event, declaration.declared, record.window)
            found.append(Conformed(record, event, declaration, ordinal))
        if self._holds:
            _hold(found, self.feed, self._released)
        return found


def _keep_payloads(
    rows: Sequence[Row],
    record: BronzeRecord,
    compaction_watermarks: Mapping[str, CompactionWatermark],
) -> None:
    """What is at or below a compaction watermark keeps its record, for it may be quarantined yet."""
    for row in rows:
        if (
            row.fault is None
            and row.log_position is not None
            and is_covered(
                compaction_watermarks.get(row.table or ""),
                cast("tuple[int, ...]", row.log_position),
                row.dedup_prefix,
            )
        ):
            row.payload = record.payload


def _hold(found: Sequence[Conformed], feed: Feed, released: Collection[str]) -> None:
    """Let deletes over a whole table or column wait for a decision; what follows from their record waits, too."""
    if any(_waits(one, feed) and one.event_id not in released for one in found):
        for one in found:
            if one.event.scope is not None:
                one.event.effect = HOLD


def _waits(one: Conformed, feed: Feed) -> bool:
    event = one.event
    if one.scope is None or one.scope or one.event_id is None:
        return False
    is_held_drop = faults.is_column_drop(event) and one.declaration.policies.drop_column == "hold"
    return is_held_drop or (feed.range_deletes == "hold" and event.effect == "remove")


# Changes that wait in silver until another record of the feed has described their table: a Debezium delete may carry no
# schema. Silver is a function of its own window alone, so such a change is conformed where gold reads it.


WaitingRow = Mapping[str, Any]
"""One row of silver by its columns' names; images are mappings, times are microseconds since 1970."""


def conform_waiting(feed: Feed, table: Table) -> Callable[[WaitingRow], list[Row]]:
    """The function that conforms a waiting row of a table to what the feed's stream says of it.

    It gives one row, or two where the key changes. It gives none where a value does not fit its type, where the key is
    unknown, or where a value could only be decoded with the schema that the record lacks: such a row stays waiting.
    """
    conform = Conformer(feed, describes_tables=True)
    # Silver has the source's names.
    of_source = {gold: source for source, gold in table.spelled.items()}
    key = tuple(of_source.get(name, name) for name in table.identity)
    described = StreamSchema(
        tuple(of_source.get(name, name) for name in table.key),
        tuple((of_source.get(name, name), kind) for name, kind in table.columns.items()),
    )

    def of_row(waiting: WaitingRow) -> list[Row]:
        # Of a removed row only the key's columns matter.
        mentioned = (
            key if waiting["effect"] == "remove" else {*waiting["before"], *waiting["after"]}
        )
        if not table.encoded.isdisjoint(mentioned):
            return []
        source_location = {one: waiting[one] for one in ("window", *SOURCE_LOCATION)}
        record = BronzeRecord(
            **source_location, header=None, payload=None, defect=None, landed_at=0
        )
        rows = conform(record, [_event(waiting, described)])
        if any(row.fault is not None for row in rows):
            return []
        for row in rows:
            # Silver does not hold ``Event.identity``, from which the id was made; so the id itself is copied.
            row.event_id, row.ordinal = waiting["event_id"], waiting["ordinal"]
        return rows

    return of_row


_OF_EVENT: Final = (
    "operation",
    "effect",
    "stream",
    "derived",
    "dedup_prefix",
    "event_at",
    "extracted_at",
)


def _event(waiting: WaitingRow, described: StreamSchema) -> Event:
    *qualifiers, name = waiting["source_table"].split(".")
    catalog, schema = [None, None, *qualifiers][-2:]
    transaction = waiting["transaction"]
    if transaction is not None:
        transaction = Transaction(*(transaction[one] for one in Transaction._fields))
    return Event(
        **{one: waiting[one] for one in _OF_EVENT},
        catalog=catalog,
        schema=schema,
        name=name,
        before=dict(waiting["before"]),
        after=dict(waiting["after"]),
        attribute_ops=dict(waiting["attribute_ops"]),
        scope=None if waiting["scope"] is None else dict(waiting["scope"]),
        transaction=transaction,
        log_position=tuple(waiting["log_position"]),
        stream_schema=described,
    )
