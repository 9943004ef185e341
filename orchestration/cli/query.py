"""``weir query``: one SQL statement over the tables of a warehouse, and its answer printed."""

from __future__ import annotations

from sqlglot import exp

from assets.storage.lake import Lake
from orchestration.cli import session
from orchestration.cli.sql import answers, for_people, in_process, statement, table_names
from orchestration.cli.sql.answers import Answer, print_rows
from orchestration.console import say, waiting
from orchestration.spark.java import check_java


def query(sql: str, warehouse: str, style: str, all_columns: bool = False) -> None:
    """Print what a statement gives.

    Args:
        sql: one statement of Spark SQL.
        warehouse: the folder or address of the tables.
        style: how the rows are printed, one of ``layouts.FORMATS``.
        all_columns: whether a table is printed with all columns of a star, and with whole digests.

    Raises:
        QueryRefused: it is no statement that reads, or Spark does not understand it.
    """
    if table_names.asks_for_names(sql):
        names = table_names.names_as_rows(session.reached(warehouse))
        print_rows(answers.of_arrow(names), style)
        return
    # Before Spark starts, so that a person who mistypes need not wait for it.
    parsed = statement.parsed(sql)
    lake = session.reached(warehouse)

    def show(answer: Answer) -> None:
        if style != "table" or all_columns:
            print_rows(answer, style)
            return
        short, hidden = for_people.shortened(answer, parsed)
        print_rows(short, style)
        if hidden:
            say(for_people.notice_of(hidden))

    answer = answered_in_process(lake, parsed)
    if answer is not None:
        show(answer)
        return
    check_java()
    # Spark takes seconds to be there, so that only a question that needs it waits for it.
    from orchestration.cli.sql import spark_answer

    session.start(lake)
    with waiting("reading"):
        show(spark_answer.of_spark(statement.answered(lake, sql)))


def answered_in_process(lake: Lake, parsed: exp.Expr) -> Answer | None:
    """The answer to a plain question to one small table; None where Spark has to answer it."""
    rows = in_process.answered(lake, parsed)
    if rows is None:
        return None
    try:
        return answers.of_arrow(rows)
    except answers.Unprintable:
        return None
