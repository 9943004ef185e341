"""``weir query``: one SQL statement over the tables of a warehouse, and its answer printed.

Put here what happens in which order. Not here: the statement (``sql/statement``), and its answer (``sql/answer``).
"""

from __future__ import annotations

import sys

from orchestration.cli import session
from orchestration.cli.sql import answer, statement
from orchestration.console import waiting
from orchestration.spark.java import check_java


def query(sql: str, warehouse: str, style: str) -> None:
    """Print what a statement gives.

    Raises:
        QueryRefused: it is no statement that reads, or Spark does not understand it.
    """
    check_java()
    # Before Spark starts, so that a person who mistypes need not wait for it.
    statement.parsed(sql)
    lake = session.opened(warehouse)
    with waiting("reading"):
        answer.print_rows(statement.answered(lake, sql), style, sys.stdout)
