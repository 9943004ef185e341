"""The rows that an event becomes in silver, one for each key that it changes, with what is to be counted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from transforms.change import CONTROL, HOLD
from transforms.event import Event, Transaction
from transforms.fault import Fault

KEY_CHANGE: Final = "key_change"
"""Why a row is derived that removes the old key of a key change."""

CHANGE, CONTROL_ROW, HELD, DERIVED = "changes", "control", "held", "derived"
"""How the accounting counts a row that silver keeps."""

ERASED: Final = "erased"
"""What a row is ``kept_as`` that stands for an event of an erased record, of which bronze holds nothing any more."""

Key = tuple[str | None, ...]
Texts = Mapping[str, str | None]


@dataclass(slots=True)
class Row:
    """One row on its way to silver or to quarantine.

    The fields are the columns of silver and of quarantine (``assets/columns/layers.py``), and these: ``fault``: why the
    row goes into quarantine; None for a row of silver. ``payload``: the record's bytes, where the row is quarantined or
    may still be (too late). ``kept_as``: how the row is counted where silver keeps it. ``facts``: what the window's
    accounting needs besides counts, as JSON; None for most rows. ``segment``: as in ``Event``. ``is_first``: whether it
    is the first row of its bronze record.
    """

    window: str
    table: str | None
    source_table: str
    declared: str | None
    operation: str | None = None
    effect: str = "note"
    key: Key | None = None
    moved_from: Key | None = None
    derived: str | None = None
    before: Texts = field(default_factory=dict)
    after: Texts = field(default_factory=dict)
    attribute_ops: Mapping[str, str] = field(default_factory=dict)
    scope: Texts | None = None
    stream: str | None = None
    transaction: Transaction | None = None
    log_position: tuple[int | None, ...] | None = None
    dedup_prefix: int = 0
    event_id: str | None = None
    event_at: int | None = None
    extracted_at: int | None = None
    object: str = ""
    generation: str = ""
    line: int = 0
    byte_offset: int = 0
    ordinal: int = 0
    fault: Fault | None = None
    payload: bytes | None = None
    kept_as: str = CHANGE
    facts: str | None = None
    segment: int | None = None
    is_first: bool = False


def how_kept(event: Event) -> str:
    """How an event that silver keeps is counted: events of the source as events, derived ones by themselves."""
    if event.derived is not None:
        return DERIVED
    if event.effect in CONTROL:
        return CONTROL_ROW
    return HELD if event.effect == HOLD else CHANGE


def new_row(event: Event, before: Texts, after: Texts) -> Texts:
    """The new row of a key change, as far as both images say it: a replace says all of it, an update perhaps a part."""
    if event.operation != "update":
        return after
    return {**{name: value for name, value in before.items() if name not in after}, **after}


def is_key_change(event: Event, key: Key | None, old_key: Key | None) -> bool:
    """True where an event changes its row's key; in a table without a key, any change of the row is one."""
    return (
        event.operation in ("update", "replace")
        and key is not None
        and old_key is not None
        and key != old_key
    )
