"""What each column of Weir's own means, in a sentence for whoever queries the tables: by table and column."""

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


# The columns of the small tables in which Weir keeps account, described.


ACCOUNTING: Final[Described] = {
    "window": "The landing window.",
    "table": "The gold table; null for events that name none.",
    "source_table": "The table as the stream names it.",
    "declared": "The feed file's name for the table.",
    "records": "How many records bronze has of the window.",
    "events": "How many source events they hold.",
    "changes": "How many of the events are changes.",
    "control": "How many change no row: begins and commits of transactions, and what a source says beside its changes.",
    "duplicates": "How many are repeats within the window, or of events that were compacted.",
    "quarantined": "How many are in quarantine.",
    "held": "How many wait for a decision.",
    "too_late": "How many came after the history that they belong to had been compacted.",
    "derived": "How many rows of silver are no events of their own (the delete half of a key change).",
    "derived_quarantined": "How many such rows went to quarantine.",
    "null_keys": "How many changes of a declared table lack a part of the key.",
    "undeclared_columns": "The columns that changes mention and the feed file does not declare.",
    "stream": "The stream that the changes came from; null where there are several, or none.",
    "first_position": "Where the oldest of the changes stands; of several streams only epoch and phase.",
    "last_position": "Where the newest of them stands.",
    "snapshots": "Which stretches of which snapshots the window holds, by which a complete snapshot is known.",
    "trails": "Of each part of the source (a partition, a tablet): the changes that stand highest and lowest.",
    "falls": "Changes that stand below such as were made and read before them, by which a reset is known.",
    "newest_event_at": "When the source made the newest of the changes; null where none carries a time.",
    "change_kinds": "Labels of the kinds of change that the window has for the table.",
    "segments": "The newest times that were seen in each of the source's log files.",
    "warnings": "How many events have each of the format's warnings.",
    "stream_schemas": "What the stream says of the key and the types of a table that is not declared.",
    "declaration": "A digest of what the feed file declared when the window was derived.",
}

PROGRESS: Final[Described] = {
    "window": "A window that is in gold.",
    "objects": "How many object generations or records of it had been read.",
    "declaration": "A digest of what the feed file declared.",
    "finished_at": "When gold had all of the window (UTC).",
}

TRANSACTIONS: Final[Described] = {
    "window": "The window that the event landed in.",
    "id": "The transaction.",
    "event_id": "The event, as in silver.",
    "effect": "What it does, as in silver.",
    "is_derived": "Whether it is no event of its own.",
    "expected": "On the commit: how many changes the transaction has, where the source says so.",
    "has_begin": "Whether its source marks where transactions begin.",
    "log_position": "Where the event stands, as in silver.",
    "event_at": "When the source made it (UTC).",
}

OFFSETS: Final[Described] = {
    "stream": "The CDC stream.",
    "tablet": "The tablet.",
    "consumer": "Who reads the stream: the feed's name.",
    "term": "The term of the checkpoint.",
    "index": "The index of the checkpoint.",
    "write_id": "The write id of the checkpoint.",
    "window": "The window that brought the checkpoint.",
}

DECISIONS: Final[Described] = {
    "decided_at": "When it was decided (UTC).",
    "kind": "What kind of decision it is: epoch, release, hold, dismissal or replacement.",
    "table": "The table that it is for, by its name in the feed file; null for all.",
    "meaning": "What was decided, as JSON.",
    "reason": "What the person who decided it wrote.",
    "decided_by": "Who decided it, where that is known.",
}

REPAIRED: Final[Described] = {
    **{name: QUARANTINE[name] for name in ("window", "table", "reason", "detail")},
    **RECORD,
    "events": "How many events of the record were in quarantine.",
    "how": "`payload` where a person gave another payload; else `window derived again`.",
    "repaired_at": "When the window was derived that took it (UTC).",
}

BASE: Final[Described] = {
    "table": "The gold table.",
    "key": "The key as texts; null on the row that has the table's compaction watermark.",
    "streams": "The streams that the key's changes came from.",
    "state": "What the key is at the watermark, with every column that was ever mentioned.",
    "compaction_watermark": "On one row per table: up to where its history is compacted, when, by which declaration.",
}

COMPACTED: Final[Described] = {
    "table": "The gold table.",
    "identity": "The first 16 bytes of the `event_id` of an event that is in the base.",
}

LEDGER: Final[Described] = {
    "bronze": "The id of the Delta table that bronze is.",
    "version": "The number of bronze's commit.",
    "is_whole": "Whether the row sums up all commits up to that one.",
    "window": "The window of what the commit brought.",
    "object": "The object; null on the row that marks the commit as noted.",
    "generation": "Its generation.",
    "records": "How many records the commit brought of it.",
    "first_offset": "The least byte offset of these records; of a topic the first of their offsets.",
    "last_offset": "The largest byte offset of these records; of a topic the last of their offsets.",
}

LANDED: Final[Described] = {
    "window": "The window that the object landed in.",
    "object": "The object's name.",
    "generation": "Its generation.",
}

RUNS: Final[Described] = {
    "run": "Dagster's id of the run.",
    "ended_at": "When it came to its end.",
    "first_window": "The first of its windows.",
    "last_window": "The last of its windows.",
    "tables": "How many tables gold had then.",
    "rows": "How many rows they had.",
    "tombstones": "How many tombstones they had.",
}

DRIFT: Final[Described] = {
    "table": "The table as the stream or the feed file names it.",
    "column": "The column that was new; empty where the table was.",
    "type": "Its type, where the stream says it; else empty.",
    "first_window": "The first window of the run that met it first.",
}
