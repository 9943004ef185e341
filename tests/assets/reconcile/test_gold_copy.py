"""Gold's keys beside those of a source, which has values that gold could not hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from assets.reconcile.gold import GoldCopy
from transforms.reconcile.row_texts import Declared, SourceColumn, columns_of


@pytest.mark.parametrize(
    ("kind", "of_source", "keys", "below", "above"),
    [
        ("decimal(4,1)", "numeric", ["-1", "2"], ["-Infinity"], ["Infinity", "NaN"]),
        (
            *("date", "date", ["0001-01-01", "9999-12-31"]),
            *(["-infinity", "0044-03-15 BC"], ["10000-01-01", "294276-12-31", "infinity"]),
        ),
        (
            *("timestamp_ntz", "timestamp without time zone"),
            *(["0001-01-01 00:00:00", "9999-12-31 23:59:59.5"], ["0044-03-15 10:00:00 BC"]),
            ["10000-01-01 00:00:00"],
        ),
    ],
)
def test_what_gold_could_not_hold_stands_below_or_above_all_of_it(
    kind: str, of_source: str, keys: list[str], below: list[str], above: list[str]
) -> None:
    columns = columns_of({"id": Declared(kind)}, ["id"], {"id": SourceColumn("id", of_source)}, {})
    for odd in (*below, *above):
        # Each copy remembers where keys stand.
        copy = GoldCopy(columns, [pa.array(keys)], np.array([1, 2], np.uint64))
        ((first, last),) = copy.digests([(None, (odd,), None)])
        assert (first.rows, last.rows) == ((0, 2) if odd in below else (2, 0))
