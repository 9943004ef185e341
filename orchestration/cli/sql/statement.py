"""One SQL statement that reads, run by Spark over the tables by their Weir names."""

from __future__ import annotations

import logging
import re

import sqlglot
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame
from sqlglot import exp
from sqlglot.errors import SqlglotError

from assets.columns.quoting import quoted
from assets.storage.lake import Lake
from orchestration.cli.sql.allowed import check_allowed
from orchestration.cli.sql.table_names import names_in, path_of, renamed, views_of
from transforms.errors import QueryRefused


def answered(lake: Lake, sql: str) -> DataFrame:
    """The rows of one statement that reads, in which Weir's tables have their Weir names; nothing is computed yet.

    Raises:
        QueryRefused: It is no such statement, does more than to read Weir's tables, or Spark does not understand it.
    """
    statement = parsed(sql)
    paths = {name: path_of(lake, name) for name in names_in(statement)}
    by_path = {name: f"delta.{quoted(path)}" for name, path in paths.items()}
    views = views_of(statement)
    if isinstance(statement, exp.Describe) and isinstance(statement.this, exp.Table):
        # Of the table itself and not of a view of it, so that its history can be shown, too.
        prepared, views = renamed(sql, statement, by_path), {}
    else:
        by_view = {name: quoted(view) for name, view in views.items()}
        # A view is of a table as it is now.
        prepared = renamed(sql, statement, by_view, by_path)
    tables = {(view,) for view in views.values()} | {("delta", path) for path in paths.values()}
    try:
        check_allowed(lake.spark, sql, prepared, tables)
        for name, view in views.items():
            lake.spark.read.format("delta").load(paths[name]).createOrReplaceTempView(quoted(view))
        return lake.spark.sql(prepared)
    except PySparkException as fault:
        raise refusal(sql, fault) from fault


def parsed(sql: str) -> exp.Expr:
    """The statement, parsed.

    Raises:
        QueryRefused: it is no SQL, or not one statement that reads.
    """
    # A fault is reported once, in Weir's words: both loggers would print it too, the second one with its stack.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    try:
        statements = sqlglot.parse(sql, dialect="spark")
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
    return typed[0]


def refusal(what: str, fault: PySparkException | Py4JJavaError) -> QueryRefused:
    """The error that has Spark's own words on what is wrong, without the plan and the stack that follow them."""
    text = str(fault)
    if isinstance(fault, Py4JJavaError):
        cause = fault.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        text = str(cause.getMessage() or cause)
    return QueryRefused(what, text.strip().split("\n")[0].strip().removesuffix("."))
