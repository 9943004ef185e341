"""Weir's own columns of gold, of its tombstones and of its versions, and the columns that identify a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transforms.feed.feed import Table

LOG_POSITION, EVENT_ID, EVENT_AT = "_weir_log_position", "_weir_event_id", "_weir_event_at"
RESET = "_weir_reset_position"
"""The position of the newest change below which nothing older can matter (``transforms/gold/stages.py``)."""
LAST_CHANGE = (LOG_POSITION, EVENT_ID, EVENT_AT, RESET)
"""The columns of a row or a tombstone that say which change of the key was the last."""
IS_DELETED, DELETED_AT = "_weir_is_deleted", "_weir_deleted_at"
OF_DELETE = (IS_DELETED, DELETED_AT)
"""The columns of a row that say whether its key is deleted, in a table whose deleted rows stay (``deletes: mark``)."""
KEY, COPY = "_weir_key", "_weir_copy"
EFFECT, MENTIONS = "_weir_effect", "_weir_mentions"
KIND, PARTS, BLOB = "_weir_kind", "_weir_parts", "_weir_blob"
"""On the way to gold: what a row is (``transforms/gold/folded_rows.py``), its key as texts, and pickled values."""

VALID_FROM, VALID_TO = "_weir_valid_from", "_weir_valid_to"
FROM_AT, TO_AT = "_weir_valid_from_at", "_weir_valid_to_at"
BEGAN_BY, ENDED_BY = "_weir_began_by", "_weir_ended_by"
OF_VERSION = (VALID_FROM, VALID_TO, FROM_AT, TO_AT, BEGAN_BY, ENDED_BY)
"""Positions, times (UTC) and identities of the changes that began and ended a version; null while it has not ended."""

Described = Mapping[str, str]
"""A sentence on each column, for whoever queries the tables."""

ROW_SENTENCES: Final[Described] = {
    KEY: "Only in a table without a key: the row's values as texts.",
    COPY: "Only in a table without a key: which of several equal rows this is.",
    LOG_POSITION: "Where the row's last change stands in the source.",
    EVENT_ID: "The id of the last change of the row.",
    EVENT_AT: "When the source made that change (UTC).",
    RESET: "A change that stands before this position cannot change the row any more.",
    IS_DELETED: "Only in a table with `deletes: mark`: whether the source has deleted the row; never null.",
    DELETED_AT: "When the source deleted it (UTC); null in a live row, and where the source does not say when: its"
    " deletes have no time, or a snapshot does not name the row.",
}

TOMBSTONE_SENTENCES: Final[Described] = {
    KEY: ROW_SENTENCES[KEY],
    LOG_POSITION: "Where the delete stands in the source; of several tombstones of a key the newest counts.",
    EVENT_ID: "Which event the delete was.",
    EVENT_AT: ROW_SENTENCES[EVENT_AT],
    RESET: "A change that stands before this position cannot bring the row back.",
}

VERSION_SENTENCES: Final[Described] = {
    VALID_FROM: "The position of the change that began the version.",
    VALID_TO: "The position of the change that ended it; null while it is current.",
    FROM_AT: "When the source made the change that began it (UTC).",
    TO_AT: "When the source made the change that ended it (UTC).",
    BEGAN_BY: "Which event began it.",
    ENDED_BY: "Which event ended it.",
}


def what_a_row_is(table: Table, name: str) -> str:
    """A sentence for whoever meets the table in dbt, in a catalogue or in Dagster's pages; ``name``: as it is shown."""
    last = f", or, marked by {IS_DELETED}, its last one" if table.marks_deletes else ""
    return f"One row for each key of {name}: its current state{last}."


def key_columns(table: Table) -> tuple[str, ...]:
    """The columns that identify a row of gold: the key, or in a table without one its values and the copy's number."""
    return table.key or (KEY, COPY)


def row_columns(table: Table) -> tuple[str, ...]:
    """The columns of a row of gold that say how it stands: its last change, and whether it is deleted."""
    return (*LAST_CHANGE, *OF_DELETE) if table.marks_deletes else LAST_CHANGE


def tombstone_columns(table: Table) -> tuple[str, ...]:
    """The columns that identify the key of a tombstone."""
    return table.key or (KEY,)
