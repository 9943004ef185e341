"""``weir query``: one SQL statement over the tables of a warehouse, and its answer printed.

Put here what happens in which order. Not here: the statement (``sql/statement``, ``sql/in_process``), and how its
answer is printed (``sql/layouts``).
"""

from __future__ import annotations

import sys

from sqlglot import exp

from assets.lake import Lake
from orchestration.cli import session
from orchestration.cli.sql import arrow_answer, in_process, statement
from orchestration.cli.sql.layouts import Answer, print_rows
from orchestration.console import waiting
from orchestration.spark.java import check_java


def query(sql: str, warehouse: str, style: str) -> None:
    """Print what a statement gives.

    Raises:
        QueryRefused: it is no statement that reads, or Spark does not understand it.
    """
    # Before Spark starts, so that a person who mistypes need not wait for it.
    parsed = statement.parsed(sql)
    lake = session.reached(warehouse)
    answer = answered_in_process(lake, parsed)
    if answer is not None:
        print_rows(answer, style, sys.stdout)
        return
    check_java()
    # Spark takes seconds to be there, so that only a question that needs it waits for it.
    from orchestration.cli.sql import spark_answer

    session.start(lake)
    with waiting("reading"):
        print_rows(spark_answer.of_spark(statement.answered(lake, sql)), style, sys.stdout)


def answered_in_process(lake: Lake, parsed: exp.Expr) -> Answer | None:
    """The answer to a plain question to one small table; None where Spark has to answer it."""
    rows = in_process.answered(lake, parsed)
    if rows is None:
        return None
    try:
        return arrow_answer.of_arrow(rows)
    except arrow_answer.Unprintable:
        return None
