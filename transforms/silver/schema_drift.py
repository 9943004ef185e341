"""Schema drift: what a stream has that its feed file does not declare, and which of it is new."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from transforms.column_types.registry import column_type
from transforms.display import yaml_scalar
from transforms.feed.feed import Feed

# A table, a column or a column's type is new once: the first time that a window has it.


class Seen(NamedTuple):
    """Something that the stream has: a table, or a column of it with its type; "" where it is not said."""

    table: str
    column: str
    type: str


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing that is new, and the first window that has it.

    ``is_described``: the stream says the table's key and types, so that it has gold already. ``columns``: of a
    table that is described its columns, by their types, and of a new column itself; ``key``: of such a table.
    """

    kind: Literal["table", "column", "type"]
    table: str
    window: str
    columns: Mapping[str, str] = field(default_factory=dict)
    key: Sequence[str] = ()
    is_described: bool = False

    @property
    def says(self) -> str:
        """What is new, in a line."""
        names = ", ".join(self.columns)
        what = {
            "table": f"new table {self.table}",
            "column": f"new column {names} of {self.table}",
            "type": f"new type {', '.join(self.columns.values())} of column {names} of {self.table}",
        }[self.kind]
        return f"{what}, first in window {self.window}"


def seen_in(feed: Feed, accounts: Iterable[Mapping[str, Any]]) -> dict[Seen, str]:
    """All that these windows have and the feed file does not, each with the first of the windows."""
    found: dict[Seen, str] = {}
    for row in sorted(accounts, key=lambda one: str(one["window"])):
        for seen in _of_account(feed, row):
            found.setdefault(seen, row["window"])
    return found


def _of_account(feed: Feed, row: Mapping[str, Any]) -> Iterator[Seen]:
    declared = row["declared"]
    if declared in feed.tables:
        yield from (Seen(declared, name, "") for name in row["undeclared_columns"])
    elif row["changes"]:
        table = declared or row["source_table"]
        yield Seen(table, "", "")
        for schema in row["stream_schemas"]:
            yield from (Seen(table, one["name"], one["type"]) for one in schema["columns"])


def drift_of(found: Mapping[Seen, str], known: Collection[Seen]) -> list[Drift]:
    """What of it is new, one entry for a table with all its columns."""
    new = [seen for seen in found if seen not in known]
    tables = {seen.table for seen in new if not seen.column}
    columns = {(seen.table, seen.column) for seen in known}
    drift = []
    for seen in new:
        if not seen.column:
            own = {one.column: one.type for one in found if one.table == seen.table and one.column}
            drift.append(Drift("table", seen.table, found[seen], own, is_described=bool(own)))
        elif seen.table not in tables:
            is_known = (seen.table, seen.column) in columns
            own = {seen.column: seen.type}
            drift.append(
                Drift(
                    *("type" if is_known else "column", seen.table, found[seen], own),
                    is_described=bool(seen.type),
                )
            )
    return drift


_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"-?[0-9]{1,12}\.([0-9]{1,6})")


def guessed_type(values: Iterable[str | None]) -> str:
    """A type that all these values of a column fit; ``string`` where nothing narrower is sure."""
    texts = [one for one in values if one is not None]
    if not texts:
        return "string"
    if all(_INTEGER.fullmatch(one) for one in texts):
        return "bigint"
    decimals = [_DECIMAL.fullmatch(one) for one in texts]
    if all(decimals):
        return f"decimal(18,{max(len(one[1]) for one in decimals if one)})"
    for name in ("date", "timestamp"):
        if all("-" in one and column_type(name).judge(one) is not None for one in texts):
            return name
    return "string"


def lines_to_paste(drift: Drift) -> list[str]:
    """Lines for the feed file that take it in: a column, a type, or a table that the stream describes."""

    def quoted(text: str) -> str:
        return yaml_scalar(text, in_brackets=True)

    table = quoted(drift.table)
    columns = [
        f"{quoted(name)}: {quoted(kind or 'string')}" for name, kind in drift.columns.items()
    ]
    if drift.kind == "table":
        key = ", ".join(map(quoted, drift.key)) or "<its key>"
        return ["tables:", f"  {table}: {{key: [{key}], columns: {{{', '.join(columns)}}}}}"]
    return ["tables:", f"  {table}:", "    columns:", *(f"      {column}" for column in columns)]
