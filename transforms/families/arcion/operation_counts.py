"""Arcion's running totals: each operation says how many of each kind its extractor had written with it.

Put here what those totals say. Not here: comparing them with what arrived (``assets/bronze/operation_gaps``).

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", the field ``operationcount``.
"""

from __future__ import annotations

import re
from typing import Final

_TOTALS: Final = re.compile(
    rb"insertCount\W+([0-9]+)\W+updateCount\W+([0-9]+)\W+deleteCount\W+([0-9]+)"
    rb"(?:\W+replaceCount\W+([0-9]+))?"
)
_TABLE: Final = re.compile(rb'"tableName"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\})')


def operations_so_far(payload: bytes) -> tuple[str, int] | None:
    """The table, as the record names it, and the sum of its totals; None of a record without any.

    It is read as it stands in the record, in JSON and in CSV, whose records name no table.
    """
    found = [*_TOTALS.finditer(payload)]
    if not found:
        return None
    # A value of the row may look like it: the totals stand behind the row.
    total = sum(int(count or 0) for count in found[-1].groups())
    table = _TABLE.search(payload)
    return (table[1].decode("utf-8", "replace") if table else ""), total
