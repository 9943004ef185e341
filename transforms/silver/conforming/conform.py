"""Apply the feed's declarations to events: which table, which key, do the values fit; and the rows that they become.

Put here what becomes of one event. Not here: all events of a record together (``conformer``), what a declaration is
(``declarations``), why an event does not fit (``faults``), and which of several deliveries counts
(``transforms/silver/duplicates.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.change import CONTROL
from transforms.event import Event
from transforms.fault import Fault, shown
from transforms.record import BronzeRecord
from transforms.silver.conforming import faults, masking
from transforms.silver.conforming.changes import (
    DERIVED,
    KEY_CHANGE,
    Key,
    Row,
    Texts,
    is_key_change,
    new_row,
    tally_of,
)
from transforms.silver.conforming.declarations import Declaration
from transforms.silver.conforming.images import canonical, fits_64_bits, key_of
from transforms.silver.facts import facts_of
from transforms.silver.identity import event_id

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
        self.record, self.event, self.declaration, self.ordinal = (
            record,
            event,
            declaration,
            ordinal,
        )
        if declaration.masks is not None:
            # First of all: identity, key, faults and facts are made of what is left.
            masking.mask(event, declaration.masks)
        judges, columns = declaration.judges_of(event), declaration.key_columns
        self.after, unfit_after = canonical(event.after, judges)
        self.before, unfit_before = canonical(event.before, judges)
        self.scope = None if event.scope is None else canonical(event.scope, judges)[0]
        self.undeclared = faults.undeclared_columns(event, declaration)
        of_one_key = event.scope is None and event.effect not in CONTROL
        self.key = self.old_key = None
        if of_one_key and columns is not None:
            new = key_of(columns, self.after, self.before, (unfit_after, unfit_before))
            self.old_key = key_of(columns, self.before, self.after, (unfit_before, unfit_after))
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
        if event.log_position is None or not all(map(fits_64_bits, event.log_position)):
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
        old.derived, old.tally, old.facts, old.is_first = KEY_CHANGE, DERIVED, None, False
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
        is_quarantined = event.fault is not None
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
            record.payload if is_quarantined else None,
            tally_of(event),
            None
            if is_quarantined
            else facts_of(event, declaration, self.undeclared, is_partial=is_partial, key=key),
            event.segment,
            self.ordinal == 0,
        )
