"""What each column of Weir's own tables holds, in a sentence for whoever reads it in Dagster's pages.

Put here the sentence of a new column. Not here: its type (``bronze``, ``silver`` and their neighbours), and columns of
gold that a feed file declares, whose sentences are in that file.
"""

from __future__ import annotations

from typing import Final

DESCRIPTIONS: Final = {
    "window": "the landing window, an hour or a day of arrival",
    "feed": "the feed's name",
    "object": "the object's name in the landing, or topic and partition",
    "generation": "the object's etag, or the topic's id: a replaced object is a new generation",
    "line": "the record's line in the object, counted from 1",
    "byte_offset": "the record's first byte in the object, or its offset in the topic",
    "header": "the CSV header of the record's object, where it has one",
    "payload": "the record's bytes as they came",
    "defect": "why the record could not be cut out whole; null for a whole one",
    "landed_at": "when the object was last modified in the landing, or the record's timestamp",
    "headers": "the headers of a Kafka record",
    "table": "the gold table's name",
    "source_table": "the table as the stream names it",
    "declared": "the feed file's name for the table; null where it is not known there",
    "operation": "what the source did: insert, update, delete, truncate, …",
    "effect": "what it does to the row: put, merge, remove, …",
    "key": "the key's values as text, in their declared order; in bronze, the key of a Kafka record",
    "moved_from": "the old key, where a change gives the row another one",
    "derived": "why there is a change that is no event of its own; null for the others",
    "before": "the columns that the event mentions of the row as it was",
    "after": "the columns that the event mentions of the row as it is now",
    "attribute_ops": "how a new value is combined with the old one, where it does not replace it",
    "scope": "the values of all rows that a range delete is for; empty for the whole table",
    "stream": "the part of the source within which positions compare",
    "transaction": "the transaction that the change is part of",
    "log_position": "where the event stands in the order of its source",
    "dedup_prefix": "how many leading numbers of the position are the same in every delivery",
    "event_id": "the same for every delivery of one event",
    "event_at": "when the source made the change",
    "extracted_at": "when the extractor read it",
    "ordinal": "which event of its record this is",
    "key_text": "the key's parts joined into one text, by which files are sorted",
    "reason": "why the event could not become a change, in one word",
    "detail": "why the event could not become a change, in a sentence",
    "stream_id": "the stream's id",
    "tablet": "the tablet's id",
}
"""By column name: a name means the same in every table that has it."""
