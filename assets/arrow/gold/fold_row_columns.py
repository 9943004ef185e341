"""The columns of the rows that Spark brings together by key for the fold of a gold table, and the kinds of such rows.

Put here a column that the tasks read. Not here: how Spark fills it (``assets/gold/fold/change_rows.py``), and what the
tasks make of it (``key_groups``).
"""

from __future__ import annotations

GOLD, TOMBSTONE, VERSION, BASE, CARRIED, PLACE, CHANGE = range(7)
"""What a row is (``what``).

``GOLD``, ``TOMBSTONE``, ``VERSION``: a row of gold, a tombstone, a version of a row. ``BASE``: a base row. ``CARRIED``:
a key that an earlier stage asks the history of, with what that stage has made of gold's row and tombstone, if it has
read them. ``PLACE``: a position of a change in another stream than its own: ``stream`` and ``position`` are those of
the other stream, ``event_id`` is the change's. ``CHANGE``: a change. Rows that are folded together are sorted by this
number, so that changes come last.
"""

COLUMNS = {
    "group": "array<string>",
    "what": "int",
    "key": "array<string>",
    "is_new": "boolean",
    "effect": "string",
    "position": "array<bigint>",
    "stable_prefix": "int",
    "event_id": "string",
    "event_at": "bigint",
    "before": "map<string,string>",
    "after": "map<string,string>",
    "attribute_ops": "map<string,string>",
    "moved_from": "array<string>",
    "is_scoped": "boolean",
    "is_derived": "boolean",
    "stream": "string",
    "reset": "array<bigint>",
    "copies": "bigint",
    "streams": "array<string>",
    "carried": "binary",
    "ended_by": "string",
    "ended_at": "bigint",
}
"""One row per row of gold, tombstone, version, base row, carried key, place and change of a key.

Times are microseconds since 1970 (UTC). ``after``: in rows of gold and base rows the values, where they are asked for.
``position``, ``event_id``, ``event_at``: in a version those of the change that began it; ``reset``, ``ended_by``,
``ended_at``: those of the change that ended it.

Lists and maps are empty where there is nothing, and never null: while Spark fills a batch, it counts the batch's bytes
after every row, and for a column of lists goes each time through all rows since the last one that has a list. For
170,000 rows that took 10 s with nulls, and takes 0.1 s without.
"""
