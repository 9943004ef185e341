"""The one gold table of a Dgraph feed: one row per value of a predicate of a node.

Put here its name, columns and key. Not here: what sets and removes its rows (``triples``).
"""

from __future__ import annotations

from typing import Final

TRIPLES: Final = "triples"

COLUMNS: Final = {
    "namespace": "decimal(20,0)",
    "uid": "decimal(20,0)",
    "predicate": "string",
    "value": "string",
    "value_type": "string",
    "_weir_member": "string",
}
"""``_weir_member``: of a list predicate the value once more, so that each is a row; empty where there is one value."""

KEY: Final = ("namespace", "uid", "predicate", "_weir_member")
