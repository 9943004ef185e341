"""The rows between silver's stages as Arrow has them, from a record to what is written of it."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from transforms.arrow.nested_types import IMAGE, NUMBERS, TEXTS

PENDING: Final = pa.schema([("group", pa.binary()), ("order", NUMBERS), ("blob", pa.binary())])
"""One row per record that cannot be decoded without its neighbours, pickled in ``blob``."""

ROWS: Final = pa.schema(
    [
        *[("group", pa.binary()), ("sort_key", pa.binary()), ("shard", pa.int32())],
        *[("row", pa.binary()), ("transaction", pa.binary()), ("part", pa.binary())],
        ("commit", NUMBERS),
    ]
)
"""One row per change or quarantined event, before duplicates are found: packed (``packed_rows``).

``row`` is the ``conforming.changes.Row``, ``group`` and ``sort_key`` are the ``duplicates`` module's, ``shard`` says
which task gets it. Of an event that is part of a transaction, ``transaction`` is that one's window and name, ``part``
what it says of it (``transactions.TransactionEvent``), and ``commit`` the position of its commit, where the window
holds all of it, else empty.
"""

CHANGES, TO_QUARANTINE, ACCOUNT = "change", "quarantined", "account"
COVERED, IN_BASE = "covered", "in base"
"""What a row of ``OUTPUT`` is: a row of silver, one of quarantine, or a part of the window's accounts.

Or a change at or below its table's compaction watermark, of which it is still open whether the base has it
(``COVERED``), and one that the base has (``IN_BASE``).
"""

_TRANSACTION = pa.struct(
    [
        *[("id", pa.string()), ("expected", pa.int64()), ("has_begin", pa.bool_())],
        *[("at_commit", pa.bool_()), ("commit", NUMBERS)],
    ]
)

OUTPUT: Final = pa.schema(
    [
        *[("kind", pa.string()), ("window", pa.string()), ("table", pa.string())],
        *[("source_table", pa.string()), ("declared", pa.string()), ("operation", pa.string())],
        *[("effect", pa.string()), ("key", TEXTS), ("moved_from", TEXTS), ("derived", pa.string())],
        *[(name, IMAGE) for name in ("before", "after", "attribute_ops", "scope")],
        *[("stream", pa.string()), ("transaction", _TRANSACTION), ("log_position", NUMBERS)],
        *[("dedup_prefix", pa.int32()), ("event_id", pa.string())],
        # Microseconds since 1970.
        *[("event_at", pa.int64()), ("extracted_at", pa.int64())],
        *[("object", pa.string()), ("generation", pa.string()), ("line", pa.int64())],
        *[("byte_offset", pa.int64()), ("ordinal", pa.int32())],
        *[("reason", pa.string()), ("detail", pa.string()), ("payload", pa.binary())],
        # What accounting needs of a row.
        *[("tally", pa.string()), ("facts", pa.string()), ("segment", pa.int64())],
        ("is_first", pa.bool_()),
    ]
)
"""One row per row of silver, per row of quarantine, and per task's accounts (their text in ``payload``).

Its columns are those of silver but for the ones that are made last (``assets.columns.silver``), and quarantine's.
"""
