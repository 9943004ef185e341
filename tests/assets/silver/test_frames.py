"""The rows between silver's stages have the columns of silver and quarantine, and what accounting needs of a row."""

from __future__ import annotations

import pyarrow as pa

from assets.columns.silver import KEY_TEXT, QUARANTINE_ARROW, SILVER_ARROW
from transforms.silver.frames import OUTPUT

MADE_LAST = ("feed", KEY_TEXT)
"""Columns that follow from others, and are made as the rows are written."""


def made_of(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The columns that a table has of classified rows; times are microseconds since 1970 there."""
    return {
        one.name: pa.int64() if pa.types.is_timestamp(one.type) else one.type
        for one in schema
        if one.name not in MADE_LAST
    }


def test_classified_rows_have_every_column_of_silver_and_of_quarantine() -> None:
    of_tables = made_of(SILVER_ARROW) | made_of(QUARANTINE_ARROW)
    of_stages = {one.name: one.type for one in OUTPUT}
    for_accounts = {"kind", "tally", "facts", "segment", "is_first"}
    assert of_stages.keys() - of_tables.keys() == for_accounts
    assert {name: of_stages[name] for name in of_tables} == of_tables
