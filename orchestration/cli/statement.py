"""One SQL statement over the tables by their Weir names, without a metastore.

A name of two or three parts that begins with a layer is the table at that path. Delta's catalog takes no three-part
names, so each becomes a temporary view; the rest of the statement stays as it was typed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path

import sqlglot
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame
from sqlglot import exp
from sqlglot.errors import SqlglotError

from assets.lake import Lake
from assets.layers import Layer
from orchestration.feeds.faults import nearest
from transforms.errors import QueryRefused

Name = tuple[str, ...]


def query(lake: Lake, sql: str) -> DataFrame:
    """Run one statement that reads; the names of Weir's tables in it are their paths.

    Raises:
        QueryRefused: It is no such statement, names a table that is not there, or Spark does not understand it.
    """
    statement = parsed(sql)
    paths = {name: path_of(lake, name) for name in names_in(statement)}
    if isinstance(statement, exp.Describe):
        # Of the table itself and not of a view of it, so that its history can be shown, too.
        new_names = {name: f"delta.`{path}`" for name, path in paths.items()}
    else:
        new_names = {name: quoted(view) for name, view in views_of(statement).items()}
        for name, view in views_of(statement).items():
            lake.spark.read.format("delta").load(paths[name]).createOrReplaceTempView(quoted(view))
    try:
        return lake.spark.sql(renamed(sql, statement, new_names))
    except PySparkException as fault:
        raise refusal(sql, fault) from fault


def parsed(sql: str) -> exp.Expr:
    """The statement, if it is one and reads."""
    # A fault is told once, in Weir's words: both would log it before, and the second one its stack, too.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    try:
        statements = sqlglot.parse(sql, dialect="spark")
    except SqlglotError as fault:
        # Its text underlines the place with what terminals take for colours.
        raise QueryRefused(sql, re.sub(r"\x1b\[\d*m", "", str(fault)).split("\n")[0]) from fault
    found = [one for one in statements if one is not None and not isinstance(one, exp.Semicolon)]
    if len(found) != 1:
        raise QueryRefused(sql, f"one statement is run at a time, and here are {len(found)}")
    if not isinstance(found[0], exp.Query | exp.Describe | exp.Values):
        first = sql.split()[0].upper()
        known = "SELECT, WITH, VALUES, DESCRIBE"
        refused = f"only statements that read are run here ({known}), and this begins with {first}"
        raise QueryRefused(sql, refused)
    return found[0]


def names_in(statement: exp.Expr) -> set[Name]:
    """The dotted names of tables in the statement that begin with a layer."""
    dotted = {tuple(part.name for part in table.parts) for table in statement.find_all(exp.Table)}
    return {name for name in dotted if len(name) in (2, 3) and name[0].lower() in set(Layer)}


def path_of(lake: Lake, name: Name) -> str:
    """Where the table lies; an error that says so where it does not exist."""
    layer, feed, *table = name
    found = lake.table(Layer(layer.lower()), feed, *table)
    if not found.exists():
        fault = f"there is no such table in {lake.warehouse}"
        known = known_tables(lake)
        near = nearest(".".join(name), known) if known else ""
        raise QueryRefused(".".join(name), fault + near, known)
    return found.path


def known_tables(lake: Lake) -> list[str]:
    """The tables of a warehouse on this machine, by the names that a query gives them; nothing for one elsewhere."""
    root = Path(lake.warehouse)
    logs = [log for depth in ("*/*", "*/*/*") for log in root.glob(f"{depth}/_delta_log")]
    names = [".".join(log.parent.relative_to(root).parts) for log in logs]
    return sorted(name for name in names if name.split(".")[0] in set(Layer))


def views_of(statement: exp.Expr) -> dict[Name, str]:
    """A view's name for each table: its last part, so that columns can be written after it, if nothing else is so."""
    names = names_in(statement)
    taken = [alias.name.lower() for alias in statement.find_all(exp.TableAlias)]
    taken += [table.name.lower() for table in statement.find_all(exp.Table) if not table.db]
    taken += [name[-1].lower() for name in names]
    return {
        name: name[-1] if taken.count(name[-1].lower()) == 1 else "__".join(name) for name in names
    }


def renamed(sql: str, statement: exp.Expr, new_names: Mapping[Name, str]) -> str:
    """Put the new names where tables are named, alone or before a column, and leave the rest as it was typed."""
    places: dict[int, tuple[int, str]] = {}
    aliases = {alias.name for alias in statement.find_all(exp.TableAlias)}
    named = [list(table.parts) for table in statement.find_all(exp.Table)]
    # With bronze as an alias, bronze.shop.x is a field of its column shop.
    named += [
        column.parts[:-1]
        for column in statement.find_all(exp.Column)
        if column.parts[0].name not in aliases
    ]
    for parts in named:
        name = tuple(part.name for part in parts)
        if name in new_names:
            places[parts[0].meta["start"]] = (parts[-1].meta["end"] + 1, new_names[name])
    pieces, at = [], 0
    for start, (end, new_name) in sorted(places.items()):
        pieces += [sql[at:start], new_name]
        at = end
    return "".join([*pieces, sql[at:]])


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def refusal(what: str, fault: PySparkException | Py4JJavaError) -> QueryRefused:
    """Spark's own words on what is wrong, without the plan and the stack that follow them."""
    text = str(fault)
    if isinstance(fault, Py4JJavaError):
        cause = fault.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        text = str(cause.getMessage() or cause)
    return QueryRefused(what, text.strip().split("\n")[0].strip().removesuffix("."))
