"""What a Debezium feed notices in events that it takes all the same.

Put here what each warning means, and what a person does about it. Not here: when an event has one (``decode``).
"""

from __future__ import annotations

from transforms.warning import EventWarning

UNAVAILABLE = EventWarning(
    "unavailable_value",
    "new_rows_are_sent_whole",
    "An event that makes a row has all of its values.",
    "Postgres did not log a large value that did not change when the row's key did: the column is null. Set REPLICA"
    " IDENTITY FULL on the table, or take a new snapshot of it.",
)
NOT_AWAITED = EventWarning(
    "commit_not_awaited",
    "transactions_are_awaited",
    "Changes that are part of a transaction show when it is committed.",
    "The feed reads no transaction topic, so these changes count as they come: add <prefix>.transaction to its topics.",
)
TEXTS_FOR_BYTES = EventWarning(
    "text_for_bytes",
    "bytes_say_how_they_are_written",
    "A column of bytes is sent as bytes, or as a text of which the schema says how it is written.",
    "The schema says that the column is a text, as with the connector's `binary.handling.mode` hex, base64 or"
    " base64-url-safe, and the feed file declares it as binary: gold has the bytes of the text. Set the mode to bytes,"
    " or declare the column as string.",
)
NO_LOG_POSITION = EventWarning(
    "no_log_position",
    "changes_have_a_log_position",
    "A change says where it stands in its source's log.",
    "These changes say file '' and pos 0. They stand as they do in their topic, before all"
    " that have a log position; if those are of the same table, take a new snapshot of it.",
)
BLOCKING_WITHOUT_KEY = EventWarning(
    "blocking_snapshot_without_key",
    "tables_without_key_have_no_blocking_snapshot",
    "No blocking snapshot was taken of a table without a key.",
    "Such a snapshot says the place of its signal, and is read later: what changed in between comes again, and counts"
    " twice where no key tells the rows apart. Give the table a key, or take an initial snapshot.",
)
COUNTED_BY_OFFSET = EventWarning(
    "counted_by_offset",
    "rows_without_key_count_once",
    "A change of a table without a key says where it stands in its source's log.",
    "Nothing but the record's offset tells such a change from an equal one, as with MariaDB from 11.4 on: what a"
    " connector sends again, after its worker was killed, counts twice. Give the table a key, or take an initial"
    " snapshot after each restart.",
)
