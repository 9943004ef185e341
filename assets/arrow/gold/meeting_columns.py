"""The columns of the rows that Spark brings together by key for the fold of a gold table, and the kinds of such rows.

Put here a column that the tasks read. Not here: how Spark fills it (``assets/gold/fold/meeting_rows.py``), and what the
tasks make of it (``meetings``).
"""

from __future__ import annotations

GOLD, TOMBSTONE, VERSION, BASE, CARRIED, PLACE, CHANGE = range(7)
"""What a row is: of gold, of its tombstones, of its versions, of the base, an earlier stage's word, or a change.

That is a key whose history is asked for, and maybe what that stage has made of rows of gold and tombstones.

Or a change's ``PLACE`` in another stream than its own: ``stream`` and ``position`` are there, ``event_id`` is its own.
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
"""One row per row of gold, tombstone, version, base row and change of a key, as the tasks get them.

``after``: of rows of gold and bases the values, where they are asked for. ``position``, ``event_id``, ``event_at``: of
a version those of the change that began it; ``reset``, ``ended_by``, ``ended_at``: of the one that ended it.

Lists and maps are empty where there is nothing, and never null: while it fills a batch, Spark counts its bytes after
every row, and for a column of lists goes each time through all rows since the last that has one. Of 170,000 rows that
took 10 s, and takes 0.1 s.
"""
