"""Where an event stands: in the log of MySQL, MariaDB or Postgres, else as it does in its topic.

Put here which numbers of ``source`` put events in order. Not here: how a log entry is written
(``transforms/families/connect/log_entries.py``), and rows of a snapshot among each other.

Vendor: Debezium documentation, the ``source`` of the connectors for MySQL (file, pos, row) and PostgreSQL (lsn,
sequence).
"""

from __future__ import annotations

from typing import Any, Final

from transforms import json_values
from transforms.families.connect import log_entries
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.log_entries import LogEntry
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.json_values import MalformedJson

_LOGGED: Final = {"mysql": "file and pos", "mariadb": "file and pos", "postgresql": "lsn"}
"""Connectors whose events stand in a log, and where ``source`` says so."""


def numbers_of(envelope: Envelope) -> tuple[int, ...] | None:
    """The numbers of the source's log: those of Postgres, else those of MySQL; None where it is none that is known.

    Of Postgres these are the LSN of the commit before, the event's own, and its number in its transaction.
    """
    own = whole(envelope.source.fields.get("lsn"))
    if own is None:
        return envelope.source.log
    transaction = envelope.body.get("transaction")
    order = transaction.get("total_order") if type(transaction) is dict else None
    last_commit = _last_commit(envelope.source.fields.get("sequence"))
    # Of a source's first transaction no commit stands before it.
    return (own if last_commit is None else last_commit, own, whole(order) or 0)


def _last_commit(sequence: Any) -> int | None:
    """The first of two numbers, which stand as JSON in a text."""
    if type(sequence) is str:
        try:
            sequence = json_values.read(sequence)
        except MalformedJson:
            return None
    return whole(sequence[0]) if type(sequence) is list and sequence else None


def log_entry_of(envelope: Envelope, numbers: tuple[int, ...] | None) -> LogEntry | Fault:
    """In the snapshot, or where the log has it. Sources without a log that is known stand as they do in their topic.

    If a connector's events are ordered by its log, one without a log position is a fault: ordered by its offset it
    would stand after all the others.
    """
    if envelope.is_snapshot:
        return log_entries.in_snapshot(envelope, numbers)
    if numbers is not None:
        return log_entries.in_stream(numbers)
    if has_no_log_position(envelope):
        return log_entries.before_log(envelope)
    connector = (envelope.source.text("connector") or "").lower()
    if connector in _LOGGED:
        needed = f"events of {connector} are put in order by {_LOGGED[connector]} alone"
        return log_entries.unknown(envelope, needed)
    return log_entries.in_topic(envelope)


def has_no_log_position(envelope: Envelope) -> bool:
    """Whether the source says that it does not know its log position, as Flink CDC's of MySQL does."""
    return envelope.source.fields.get("file") == "" and envelope.source.fields.get("pos") == 0
