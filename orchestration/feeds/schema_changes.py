"""Schema changes as a feed file writes them: policies, earlier names, and columns that came later.

Put here what is checked of these keys. Not here: what a policy does (``transforms/feed/schema_policies``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from orchestration.feeds.faults import nearest
from orchestration.feeds.misdeclared import Unfit
from transforms.feed.feed import Table, WindowSize
from transforms.feed.schema_policies import Policies
from transforms.feed.windows import parse_window


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
            hint = nearest(new, table.source_columns)
            raise Unfit(f"renamed.{old}", f"{new!r} is not among the table's columns{hint}")
        if old in table.source_columns:
            fault = "is declared as a column of its own, so its values are not another's"
            raise Unfit(f"renamed.{old}", fault)
    for column, window in table.since.items():
        if column not in table.source_columns:
            hint = nearest(column, table.source_columns)
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
