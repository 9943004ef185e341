"""``weir query``: one SQL statement over the tables of a warehouse, and its answer printed."""

from __future__ import annotations

import sys

from orchestration.cli import answer, session, statement
from orchestration.console import waiting
from orchestration.spark.java import check_java


def query(sql: str, warehouse: str, style: str) -> None:
    """Print what a statement gives.

    Raises:
        QueryRefused: it is no statement that reads, or Spark does not understand it.
    """
    check_java()
    # Before Spark starts: what is no statement is said at once.
    statement.parsed(sql)
    lake = session.opened(warehouse)
    with waiting("reading"):
        answer.show(statement.query(lake, sql), style, sys.stdout)
