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
NO_LOG_POSITION = EventWarning(
    "no_log_position",
    "changes_have_a_log_position",
    "A change says where it stands in its source's log.",
    "These changes say file '' and pos 0. They stand as they do in their topic, before all"
    " that have a log position; if those are of the same table, take a new snapshot of it.",
)
