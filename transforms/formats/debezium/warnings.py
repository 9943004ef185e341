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
