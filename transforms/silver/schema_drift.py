"""Schema drift: what a stream has that its feed file does not declare, which of it is new, and near names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple

from transforms.column_types.registry import column_type
from transforms.display import in_yaml
from transforms.feed.feed import Feed


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; None where none is like it.

    What stands before the last dot is a schema, or a type of nodes, and is often left out, so only the rest has to be
    alike; of several with the same rest, the one that is nearest as a whole is taken.
    """
    by_end: dict[str, list[str]] = {}
    for one in known:
        by_end.setdefault(one.rpartition(".")[2], []).append(one)
    close = get_close_matches(name.rpartition(".")[2], by_end, n=1)
    return get_close_matches(name, by_end[close[0]], n=1, cutoff=0)[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: which one was probably meant, if there is one."""
    close = nearest(name, known)
    return f"; did you mean {close}" if close else ""


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
    table, columns = _yaml(drift.table), drift.columns
    pairs = ", ".join(f"{_yaml(name)}: {_yaml(kind or 'string')}" for name, kind in columns.items())
    if drift.kind == "table":
        key = ", ".join(map(_yaml, drift.key)) or "<its key>"
        return ["tables:", f"  {table}: {{key: [{key}], columns: {{{pairs}}}}}"]
    return ["tables:", f"  {table}:", "    columns:"] + [
        f"      {_yaml(name)}: {_yaml(kind or 'string')}" for name, kind in columns.items()
    ]


def _yaml(text: str) -> str:
    """A text as it is where YAML takes it for one, else quoted."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", text)
    words = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
    return text if is_plain and text.lower() not in words else in_yaml(text)
