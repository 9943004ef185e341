"""The columns of bronze, silver, quarantine, gold, tombstones and versions, described.

Put here the sentence of a column of a table with data. Not here: the tables that keep account (``accounts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transforms.gold.columns import (
    BEGAN_BY,
    COPY,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    FROM_AT,
    KEY,
    LOG_POSITION,
    RESET,
    TO_AT,
    VALID_FROM,
    VALID_TO,
)

Described = Mapping[str, str]
"""A sentence for each column."""

RECORD: Final[Described] = {
    # Where a record was read.
    "object": "The object's name relative to the landing; of a topic `<topic>/<partition>`.",
    "generation": "The object's etag, or in a folder its size and time of change; of a topic its id.",
    "line": "The record's place in the object, from 1.",
    "byte_offset": "Where the record begins in the decompressed object, from 0; of a topic its offset.",
}

BRONZE: Final[Described] = {
    "window": "The landing window, such as `2026-11-20T03`; the table is partitioned by it.",
    **RECORD,
    "header": "The CSV header line of the object, where it has one.",
    "payload": "The record's bytes, without the end of the line; null where the object holds no record.",
    "defect": "Why the record could not be cut out whole; null for a whole one.",
    "landed_at": "When the object was last modified in the landing; of a topic the record's timestamp.",
    "key": "The key of a record of a topic.",
    "headers": "The headers of a record of a topic.",
}

SILVER: Final[Described] = {
    "window": "The landing window of the record that the change was read from.",
    "feed": "The feed's name.",
    "table": "The gold table; null on control rows.",
    "source_table": "The table as the stream names it, `catalog.schema.table`.",
    "declared": "The feed file's name for the table; of an undeclared one the stream's, where it tells key and types.",
    "operation": "What the source did, in its own words: insert, update, delete, truncate and so on.",
    "effect": "What it does to the current row: `replace`, `update`, `remove` and so on (docs/change_model.md).",
    "key": "The key's values as canonical text, in declared order; null on rows of range deletes and control rows.",
    "moved_from": "The old key, on the second half of a key change.",
    "derived": "Why a change that is no event of its own exists (`key_change`); null for the others.",
    "before": "The columns that the event mentions of the row before it, as texts.",
    "after": "The columns that the event mentions of the row after it, as texts.",
    "attribute_ops": "What is done to columns in `after` that are not plainly overwritten.",
    "scope": "Of a delete of many rows, the values that these have (empty: the whole table); null for other changes.",
    "stream": "The part of the source within which positions compare, such as a tablet or a partition.",
    "transaction": "Which transaction of the source the change is part of.",
    "log_position": "Where the event stands in the order of its source, as numbers that are compared one by one.",
    "dedup_prefix": "How many leading numbers of the position are the same in every delivery of the event.",
    "event_id": "The same for every delivery of one event.",
    "event_at": "When the source made the change (UTC).",
    "extracted_at": "When the extractor read it (UTC).",
    **RECORD,
    "ordinal": "Which of its record's events this is.",
    "key_text": "The key's parts as one text, by which the rows of a file are sorted.",
}

QUARANTINE: Final[Described] = {
    "window": "The landing window of the record.",
    "feed": "The feed's name.",
    "table": "The table, where the record names it.",
    "reason": "The kind of fault in one word, such as `unknown_operation`.",
    "detail": "A sentence with what was found.",
    "key": "The key, where the record says it whole.",
    "log_position": "The position, where the record says it whole.",
    **RECORD,
    "payload": "The record itself, verbatim.",
}

GOLD: Final[Described] = {
    KEY: "Only in a table without a key: the row's values as texts.",
    COPY: "Only in a table without a key: which of several equal rows this is.",
    LOG_POSITION: "Where the row's last change stands in the source.",
    EVENT_ID: "The id of the last change of the row.",
    EVENT_AT: "When the source made that change (UTC).",
    RESET: "A change that stands before this position cannot change the row any more.",
}

TOMBSTONES: Final[Described] = {
    KEY: GOLD[KEY],
    LOG_POSITION: "Where the delete stands in the source; of several tombstones of a key the newest counts.",
    EVENT_ID: "Which event the delete was.",
    EVENT_AT: GOLD[EVENT_AT],
    RESET: "A change that stands before this position cannot bring the row back.",
}

HISTORY: Final[Described] = {
    VALID_FROM: "The position of the change that began the version.",
    VALID_TO: "The position of the change that ended it; null while it is current.",
    FROM_AT: "When the source made the change that began it (UTC).",
    TO_AT: "When the source made the change that ended it (UTC).",
    BEGAN_BY: "Which event began it.",
    ENDED_BY: "Which event ended it.",
}
