"""What a feed file says of its history: epochs, retention, schema changes, and how much one delete may remove."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from orchestration.feeds.faults import InvalidKey, check_among
from orchestration.feeds.keys import (
    DeclaredCompaction,
    DeclaredEpoch,
    DeclaredLossGuard,
    DeclaredTablePolicies,
)
from orchestration.feeds.lengths_of_time import length_of
from transforms.feed.decisions import Epoch
from transforms.feed.feed import LossGuard, Retention, Table, WindowSize
from transforms.feed.schema_policies import Policies
from transforms.feed.windows import parse_window

_SHARE: Final = re.compile(r"0|1|0?\.[0-9]{1,9}|1\.0{1,9}")
_ROWS: Final = re.compile(r"[0-9]{1,15}")


def check_window(key: str, window: str, size: WindowSize) -> None:
    """Refuse a text that is no window."""
    try:
        parse_window(window, size)
    except ValueError as fault:
        raise InvalidKey(key, str(fault)) from None


def epoch_from(declared: DeclaredEpoch, size: WindowSize, tables: Collection[str]) -> Epoch:
    """The epoch that was written."""
    check_window("window", declared.window, size)
    if declared.table is not None:
        check_among("table", declared.table, "the feed's tables", tables)
    return Epoch(
        window=declared.window,
        table=declared.table,
        time=None if declared.time is None else moment(declared.time),
        complete=declared.snapshot == "complete",
    )


def moment(text: str) -> datetime:
    """The moment that a text in ISO form names, in UTC where it names no zone."""
    try:
        written = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidKey("time", f"{text!r} is no time such as 2026-11-20T03:15:00Z") from None
    return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)


def retention_from(declared: DeclaredCompaction, window: WindowSize) -> Retention:
    """How long history is kept."""
    retired, dismissed = tuple(declared.retired), tuple(declared.dismissed)
    for text in dismissed:
        check_window("compaction.dismissed", text, window)
    if declared.retention == "forever":
        return Retention(None, retired, dismissed)
    kept = length_of("compaction.retention", declared.retention, "30d, 12h or forever", least=0)
    return Retention(kept, retired, dismissed)


def policies_from(declared: DeclaredTablePolicies | None, usual: Policies) -> Policies:
    """The policies that were written; ``usual`` has the others."""
    given = declared.model_dump(exclude_unset=True) if declared else {}
    return replace(usual, **given)


def check_changes(table: Table, size: WindowSize) -> None:
    """Refuse what a table cannot say of its earlier columns."""
    for old, new in table.renamed.items():
        check_among(f"renamed.{old}", new, "the table's columns", table.source_columns)
        if old in table.source_columns:
            fault = "is declared as a column of its own, so its values are not another's"
            raise InvalidKey(f"renamed.{old}", fault)
    for column, window in table.since.items():
        check_among(f"since.{column}", column, "the table's columns", table.source_columns)
        if column in table.identity:
            fault = "is part of what tells the table's rows apart, so it cannot have come later"
            raise InvalidKey(f"since.{column}", fault)
        check_window(f"since.{column}", window, size)
    if not table.key and table.policies.add_column == "evolve":
        fault = (
            "evolve needs a key: without one, a row is told apart by its declared columns;"
            " say `schema_changes: {add_column: keep}` for this table, or quarantine or fail"
        )
        raise InvalidKey("schema_changes.add_column", fault)


def check_earlier_names(tables: Mapping[str, Table]) -> None:
    """Refuse earlier names that are, or were, another table's."""
    taken: dict[str, str] = {}
    for name, table in tables.items():
        for old in table.was:
            if old in tables:
                raise InvalidKey(f"{name}.was", f"{old!r} is declared as a table of its own")
            if old in taken:
                raise InvalidKey(
                    f"{name}.was", f"{old!r} is an earlier name of {taken[old]} already"
                )
            taken[old] = name


def loss_guard_from(declared: DeclaredLossGuard) -> LossGuard:
    """How many rows one delete may remove without being asked."""
    if not _SHARE.fullmatch(declared.share):
        raise InvalidKey(
            "loss_guard.share", f"{declared.share!r} is no share from 0 to 1, such as 0.5"
        )
    if not _ROWS.fullmatch(declared.rows):
        raise InvalidKey("loss_guard.rows", f"{declared.rows!r} is no whole number, such as 100")
    return LossGuard(float(declared.share), int(declared.rows))
