"""A statement of ``weir query`` as a person typed it: how it is read, and the names of Weir's tables in it.

A name of two or three parts that begins with a layer is the table at that path, without a metastore.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser

from assets.storage.lake import Lake, Layer
from assets.storage.leases import is_on_store
from transforms.errors import QueryRefused, UnknownKey
from transforms.feed.names import TOMBSTONES
from transforms.near_names import did_you_mean

Name: TypeAlias = tuple[str, ...]

ALLOWED: Final = (
    "a query reads Weir's tables and computes with functions of Spark's own"
    " (docs/tables.md says with which)"
)


class AsTyped(Spark):
    """Spark's SQL, in which each call of a function keeps the name and the arguments that it has.

    sqlglot makes one thing of functions that mean the same to it, though Spark gives their columns other names.
    """

    class Parser(SparkParser):
        """Knows no function."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}


@dataclass(frozen=True, slots=True)
class Question:
    """One statement that reads: as it was typed, and parsed."""

    sql: str
    statement: exp.Expr


def parsed(sql: str) -> Question:
    """The statement, parsed.

    Raises:
        QueryRefused: it is no SQL, not one statement that reads, or names what is no table of Weir's.
    """
    # A fault is reported once, in Weir's words.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        statements = sqlglot.parse(sql, dialect=AsTyped)
    except SqlglotError as fault:
        # Its text underlines the place with what terminals take for colours.
        raise QueryRefused(sql, re.sub(r"\x1b\[\d*m", "", str(fault)).split("\n")[0]) from fault
    typed = [
        part for part in statements if part is not None and not isinstance(part, exp.Semicolon)
    ]
    if len(typed) != 1:
        raise QueryRefused(sql, f"one statement is run at a time, and here are {len(typed)}")
    if not isinstance(typed[0], exp.Query | exp.Describe | exp.Values):
        first = sql.split()[0].upper()
        known = "SELECT, WITH, VALUES, DESCRIBE, SHOW TABLES"
        refused = f"only statements that read are run ({known}), and this begins with {first}"
        raise QueryRefused(sql, refused)
    _check_tables(sql, typed[0])
    return Question(sql, typed[0])


def _check_tables(sql: str, statement: exp.Expr) -> None:
    """Refuse other tables and files by their paths, before anything is started for the question."""
    own = {query.alias.lower() for query in statement.find_all(exp.CTE)}
    weirs = names_in(statement)
    for table in statement.find_all(exp.Table):
        parts = tuple(part.name for part in table.parts)
        is_own = len(parts) == 1 and parts[0].lower() in own
        is_name = isinstance(table.this, exp.Identifier) and table.find_ancestor(exp.Hint) is None
        if is_name and not is_own and parts not in weirs:
            raise QueryRefused(sql, f"{ALLOWED}, and {'.'.join(parts)} is none of these tables")


def names_in(statement: exp.Expr) -> set[Name]:
    """The dotted names of tables in the statement that begin with a layer."""
    dotted = {tuple(part.name for part in table.parts) for table in statement.find_all(exp.Table)}
    return {name for name in dotted if len(name) in (2, 3) and name[0].lower() in set(Layer)}


def path_of(lake: Lake, name: Name) -> str:
    """The table's path.

    Raises:
        QueryRefused: there is no such table; the error lists the tables that there are.
    """
    layer, feed, *table = name
    try:
        lake_table = lake.table(Layer(layer.lower()), feed, *table)
    except UnknownKey:
        # No table can have this name: it would lead out of its layer, or out of the warehouse.
        raise QueryRefused(".".join(name), f"there is no such table in {lake.warehouse}") from None
    if not lake_table.exists():
        fault = f"there is no such table in {lake.warehouse}"
        known = known_tables(lake)
        near = did_you_mean(".".join(name), known) if known else ""
        raise QueryRefused(".".join(name), fault + near, known)
    return lake_table.path


def asks_for_names(sql: str) -> bool:
    """Whether a statement asks which tables there are."""
    return re.fullmatch(r"(?i)\s*show\s+tables\s*;?\s*", sql) is not None


def names_as_rows(lake: Lake) -> pa.Table:
    """The names of a warehouse's tables, as the answer to ``SHOW TABLES``.

    Raises:
        QueryRefused: it is in a store, whose folders are not listed.
    """
    if is_on_store(lake.warehouse):
        told = "`weir status --details` names those of each feed"
        raise QueryRefused("SHOW TABLES", f"the tables of a store are not listed; {told}")
    return pa.table({"table": pa.array(known_tables(lake), pa.string())})


def known_tables(lake: Lake) -> list[str]:
    """The tables of a warehouse, by the names that a query gives them; none where it is not on this machine.

    In the order in which a person asks for them: gold's, those of the other layers, and Weir's own.
    """
    root = Path(lake.warehouse)
    logs = [log for depth in ("*/*", "*/*/*") for log in root.glob(f"{depth}/_delta_log")]
    names = [".".join(log.parent.relative_to(root).parts) for log in logs]
    known = [name for name in names if name.split(".")[0] in set(Layer)]
    return sorted(known, key=lambda name: (_rank_of(name), name))


def _rank_of(name: str) -> int:
    """How many kinds of tables a person asks for before this one."""
    layer = name.split(".")[0]
    if name.endswith(TOMBSTONES):
        return len(_ASKED_FOR)
    return _ASKED_FOR.index(layer) if layer in _ASKED_FOR else len(_ASKED_FOR) + 1


_ASKED_FOR: Final = (Layer.GOLD, Layer.SILVER, Layer.QUARANTINE, Layer.BRONZE)


def views_of(statement: exp.Expr) -> dict[Name, str]:
    """A view's name for each table: its last part, which columns may be written after, unless that is taken."""
    names = names_in(statement)
    taken = [alias.name.lower() for alias in statement.find_all(exp.TableAlias)]
    taken += [table.name.lower() for table in statement.find_all(exp.Table) if not table.db]
    taken += [name[-1].lower() for name in names]
    return {
        name: name[-1] if taken.count(name[-1].lower()) == 1 else "__".join(name) for name in names
    }


def renamed(
    sql: str,
    statement: exp.Expr,
    new_names: Mapping[Name, str],
    of_the_past: Mapping[Name, str] | None = None,
) -> str:
    """Put the new names where tables are named, alone or before a column, and leave the rest as it was typed.

    Args:
        sql: the statement as it was typed.
        statement: the same, parsed.
        new_names: by the names of tables, what stands in their place.
        of_the_past: the same, where a table is asked for as it was at a version or a time.
    """
    places: dict[int, tuple[int, str]] = {}
    aliases = {alias.name for alias in statement.find_all(exp.TableAlias)}
    past = new_names if of_the_past is None else of_the_past
    named = [
        (list(table.parts), past if table.args.get("version") else new_names)
        for table in statement.find_all(exp.Table)
    ]
    # With bronze as an alias, bronze.shop.x is a field of its column shop.
    named += [
        (column.parts[:-1], new_names)
        for column in statement.find_all(exp.Column)
        if column.parts[0].name not in aliases
    ]
    for parts, given in named:
        name = tuple(part.name for part in parts)
        if name in given:
            places[parts[0].meta["start"]] = (parts[-1].meta["end"] + 1, given[name])
    pieces, at = [], 0
    for start, (end, new_name) in sorted(places.items()):
        pieces += [sql[at:start], new_name]
        at = end
    return "".join([*pieces, sql[at:]])
