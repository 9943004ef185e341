"""From a CSV record to its event: a row of a snapshot, or a row of an operation.

Put here how fields and layout come together. Not here: cutting a record into fields (``fields``), which column a field
belongs to (``layouts``), and what operations, cursors and flags mean (``transforms/families/arcion``).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from transforms.event import Event
from transforms.families.arcion import rows
from transforms.families.arcion.exists_flags import Row
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.arcion_s3_csv.fields import fields_of, header_of
from transforms.formats.arcion_s3_csv.layouts import (
    TRAILING,
    Layout,
    is_operation_row,
    operation_row,
    snapshot_row,
    unreadable,
)
from transforms.record import BronzeRecord
from transforms.source_format import Decode


def decoder(feed: Feed, surveyed: object) -> Decode:
    """One event per CSV record."""

    @lru_cache(maxsize=4096)
    def layout_of(table: str | None, window: str) -> Layout | None:
        declared = feed.tables.get(table or "")
        if declared is None:
            return None
        known = declared.at(window)
        # Of names that differ only in case the first counts.
        spelled = {name.lower(): name for name in [*known.source_columns][::-1]}
        return Layout(tuple(known.source_columns), known.cdc_columns, spelled)

    def decode(record: BronzeRecord) -> Iterable[Event]:
        layout = layout_of(record.path_table, record.window)
        try:
            text = (record.payload or b"").decode("utf-8")
            fields = fields_of(text)
            fault = None
        except UnicodeDecodeError:
            fields, fault = None, Fault("invalid_utf8", "the record is not valid UTF-8")
        names = None if record.header is None else header_of(record.header)
        is_operation = is_operation_row(fields, names, layout)
        fault = fault or unreadable(fields, names, layout, record, is_operation=is_operation)
        row: Row = ({}, {}, {})
        op = cursor = None
        if fault is None:
            assert fields is not None  # else it were unreadable
            if is_operation:
                op, cursor = fields[-TRAILING].value, fields[-TRAILING + 1].value
                row = operation_row(fields, names, layout)
            else:
                row = snapshot_row(fields, names, layout)
        if record.defect:
            fault = Fault("damaged_record", record.defect)
        if is_operation:
            return (rows.event((None, None, record.path_table), op, cursor, row, fault),)
        return (rows.event_of_bare_row(record.path_table, row, fault),)

    return decode
