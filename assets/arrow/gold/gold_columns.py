"""The columns of what comes out of the tasks that fold a gold table, for Spark and for Arrow.

Put here a column that such a task gives. Not here: what fills it (``gold_rows``), and the columns of gold itself
(``assets/columns/gold.py``).
"""

from __future__ import annotations

import pyarrow as pa

from assets.arrow import typed_values
from assets.arrow.gold import history_columns
from assets.columns.gold import (
    BLOB,
    COPY,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    KEY,
    KIND,
    MENTIONS,
    PARTS,
    POSITION,
    RESET,
)
from assets.columns.history import BEGAN_BY, ENDED_BY, FROM_AT, TO_AT, VALID_FROM, VALID_TO
from assets.columns.quoting import quoted
from transforms.feed.feed import Table
from transforms.types import stored

CHANGED, NEEDS_HISTORY, COUNTED, VERSION = "changed", "needs_history", "counted", "version"
"""What a row is: a row that gold has to take, a key whose history has to be read, a task's counts (``Tally``), or a
version of a key's row."""

_TEXTS = pa.list_(pa.field("element", pa.string()))
_PLACE = pa.list_(pa.field("element", pa.int64()))
_FIRST = {
    f"{KIND} string": (KIND, pa.string()),
    f"{PARTS} array<string>": (PARTS, _TEXTS),
    f"{BLOB} binary": (BLOB, pa.binary()),
}
_LAST = {
    f"{POSITION} array<bigint>": (POSITION, _PLACE),
    f"{EVENT_ID} string": (EVENT_ID, pa.string()),
    f"{EVENT_AT} timestamp": (EVENT_AT, pa.timestamp("us", "UTC")),
    f"{RESET} array<bigint>": (RESET, _PLACE),
    f"{EFFECT} string": (EFFECT, pa.string()),
    f"{MENTIONS} array<string>": (MENTIONS, _TEXTS),
}
_VERSION = {
    f"{VALID_FROM} array<bigint>": VALID_FROM,
    f"{VALID_TO} array<bigint>": VALID_TO,
    f"{FROM_AT} timestamp": FROM_AT,
    f"{TO_AT} timestamp": TO_AT,
    f"{BEGAN_BY} string": BEGAN_BY,
    f"{ENDED_BY} string": ENDED_BY,
}


def out_columns(table: Table) -> str:
    """The columns of what comes out, as a Spark schema: Weir's own around the declared ones."""
    own = [] if table.key else [f"{KEY} string", f"{COPY} bigint"]
    declared = [f"{quoted(name)} {stored(kind)}" for name, kind in table.columns.items()]
    return ", ".join([*_FIRST, *declared, *own, *_LAST, *(_VERSION if table.history else ())])


def out_schema(table: Table) -> pa.Schema:
    """``out_columns`` as an Arrow schema."""
    own = [] if table.key else [(KEY, pa.string()), (COPY, pa.int64())]
    declared = [(name, typed_values.arrow_type(kind)) for name, kind in table.columns.items()]
    of_version = history_columns.OWN.items() if table.history else ()
    return pa.schema([*_FIRST.values(), *declared, *own, *_LAST.values(), *of_version])
