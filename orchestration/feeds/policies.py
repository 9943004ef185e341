"""What a feed file says of its history: epochs, retention, schema changes, and how much one delete may remove."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from orchestration.feeds.faults import Misdeclared, Unfit
from transforms.feed.decisions import Epoch
from transforms.feed.feed import LossGuard, Retention, Table, WindowSize
from transforms.feed.schema_policies import Policies
from transforms.feed.windows import parse_window
from transforms.silver.schema_drift import did_you_mean

_Text = Annotated[str, Field(min_length=1)]


class DeclaredEpoch(BaseModel):
    """One entry of a feed file's ``epochs``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    window: _Text
    """The first window with events of the epoch."""
    table: _Text | None = None
    """The table that it is for; without it, all tables."""
    time: _Text | None = None
    """The source's time from which on events are of the epoch (ISO, in UTC); without it all of ``window``."""
    snapshot: Literal["complete", "partial"] = "partial"
    """``complete``: rows of older epochs are removed where the new epoch does not name them."""


def epoch_from(declared: DeclaredEpoch, size: WindowSize, tables: Collection[str]) -> Epoch:
    """The epoch that was written.

    Raises:
        Unfit: its window, its time or its table is not valid.
    """
    try:
        parse_window(declared.window, size)
    except ValueError as fault:
        raise Unfit("window", str(fault)) from None
    if declared.table is not None and declared.table not in tables:
        hint = did_you_mean(declared.table, tables)
        raise Unfit("table", f"{declared.table!r} is not among the feed's tables{hint}")
    return Epoch(
        window=declared.window,
        table=declared.table,
        time=None if declared.time is None else moment(declared.time),
        complete=declared.snapshot == "complete",
    )


def moment(text: str) -> datetime:
    """The moment that a text in ISO form names, in UTC where it names no zone.

    Raises:
        Unfit: it is no such text.
    """
    try:
        written = datetime.fromisoformat(text)
    except ValueError:
        fault = f"{text!r} is no time such as 2026-11-20T03:15:00Z"
        raise Unfit("time", fault) from None
    return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)


# Lengths of time, as people write them in a feed file: how long history is kept, how long a transaction may be open.


_LENGTH: Final = re.compile(r"(\d{1,5})([hd])")
_HOURS: Final = {"h": 1, "d": 24}


class DeclaredCompaction(BaseModel):
    """A feed file's ``compaction``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    retention: _Text = "30d"
    """Changes are kept so long, counted back from the newest window: ``30d``, ``12h`` or ``forever``."""
    retired: list[_Text] = Field(default_factory=list)
    """Streams (partitions, tablets) that have ended, so that they no longer hold compaction back."""
    dismissed: list[_Text] = Field(default_factory=list)
    """Windows whose quarantined records will not be repaired, so that they no longer hold compaction back."""


def retention_from(
    declared: DeclaredCompaction, window: WindowSize, refused: Callable[[str, str], Exception]
) -> Retention:
    """How long history is kept; ``refused`` makes the error that is raised where a part of it is not valid."""
    retired, dismissed = tuple(declared.retired), tuple(declared.dismissed)
    for text in dismissed:
        try:
            parse_window(text, window)
        except ValueError as no_window:
            raise refused("compaction.dismissed", str(no_window)) from None
    if declared.retention == "forever":
        return Retention(None, retired, dismissed)
    kept = length_from(declared.retention)
    if kept is None:
        fault = f"{declared.retention!r} is no length of time: write 30d, 12h or forever"
        raise refused("compaction.retention", fault)
    return Retention(kept, retired, dismissed)


def timeout_from(declared: str, refused: Callable[[str, str], Exception]) -> timedelta:
    """How long a transaction may be open; ``refused`` makes the error that is raised where it is no length of time."""
    timeout = length_from(declared)
    if timeout is None:
        fault = f"{declared!r} is no length of time: write 24h or 2d"
        raise refused("transaction_timeout", fault)
    return timeout


def length_from(text: str) -> timedelta | None:
    """A length of time, or None where the text is none."""
    found = _LENGTH.fullmatch(text)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]]) if found else None


# Schema changes as a feed file writes them: policies, earlier names, and columns that came later.


class DeclaredTablePolicies(BaseModel):
    """``schema_changes`` of a table: what is left out is as the feed has it."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    add_column: Literal["keep", "evolve", "quarantine", "fail"] = "keep"
    """Events mention a column that the table does not declare."""
    drop_column: Literal["evolve", "keep", "hold", "fail"] = "evolve"
    """The source drops a column, or gold has one that the file no longer declares."""
    rename_column: Literal["fail", "evolve"] = "fail"
    """The file lacks a column of gold, and has a new one of the same type."""
    widen_type: Literal["evolve", "fail"] = "evolve"
    """The declared type holds every value of gold's."""
    narrow_type: Literal["fail", "quarantine"] = "fail"
    """The declared type does not hold every value of gold's."""


class DeclaredPolicies(DeclaredTablePolicies):
    """``schema_changes`` of a feed."""

    rename_table: Literal["keep", "fail"] = "keep"
    """Events of a table that the file does not declare."""


def policies_from(declared: DeclaredTablePolicies | None, usual: Policies) -> Policies:
    """The policies that were written; ``usual`` has the others."""
    given = declared.model_dump(exclude_unset=True) if declared else {}
    return replace(usual, **given)


def check_changes(table: Table, size: WindowSize) -> None:
    """Refuse what a table cannot say of its earlier columns.

    Raises:
        Unfit: something in it is not valid.
    """
    for old, new in table.renamed.items():
        if new not in table.source_columns:
            hint = did_you_mean(new, table.source_columns)
            raise Unfit(f"renamed.{old}", f"{new!r} is not among the table's columns{hint}")
        if old in table.source_columns:
            fault = "is declared as a column of its own, so its values are not another's"
            raise Unfit(f"renamed.{old}", fault)
    for column, window in table.since.items():
        if column not in table.source_columns:
            hint = did_you_mean(column, table.source_columns)
            raise Unfit(f"since.{column}", f"{column!r} is not among the table's columns{hint}")
        if column in table.identity:
            fault = "is part of what tells the table's rows apart, so it cannot have come later"
            raise Unfit(f"since.{column}", fault)
        try:
            parse_window(window, size)
        except ValueError as unfit:
            raise Unfit(f"since.{column}", str(unfit)) from None
    if not table.key and table.policies.add_column == "evolve":
        fault = (
            "evolve needs a key: without one, a row is told apart by its declared columns;"
            " say `schema_changes: {add_column: keep}` for this table, or quarantine or fail"
        )
        raise Unfit("schema_changes.add_column", fault)


def check_earlier_names(tables: Mapping[str, Table]) -> None:
    """Refuse earlier names that two tables would share.

    Raises:
        Unfit: a name is, or was, another table's.
    """
    taken: dict[str, str] = {}
    for name, table in tables.items():
        for old in table.was:
            if old in tables:
                raise Unfit(f"{name}.was", f"{old!r} is declared as a table of its own")
            if old in taken:
                raise Unfit(f"{name}.was", f"{old!r} is an earlier name of {taken[old]} already")
            taken[old] = name


# ``loss_guard`` of a feed file: how many rows of a table one delete may remove without being asked.


_SHARE: Final = re.compile(r"0|1|0?\.[0-9]{1,9}|1\.0{1,9}")
_ROWS: Final = re.compile(r"[0-9]{1,15}")


class DeclaredLossGuard(BaseModel):
    """How many rows one delete may remove at once; what would remove more waits for ``weir release``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    share: _Text = "0.5"
    """It waits where it would remove more than this share of the table's rows; with 1 it never does."""
    rows: _Text = "100"
    """And at least so many rows."""


def loss_guard_from(declared: DeclaredLossGuard, misdeclared: Misdeclared) -> LossGuard:
    """The guard that was written.

    Raises:
        FeedMisdeclared: The share or the number of rows is none.
    """
    if not _SHARE.fullmatch(declared.share):
        fault = f"{declared.share!r} is no share from 0 to 1, such as 0.5"
        raise misdeclared("loss_guard.share", fault)
    if not _ROWS.fullmatch(declared.rows):
        raise misdeclared("loss_guard.rows", f"{declared.rows!r} is no whole number, such as 100")
    return LossGuard(float(declared.share), int(declared.rows))
