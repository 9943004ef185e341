"""``weir query``: one SQL statement over the tables of a warehouse, and its answer printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assets.executors.choice import AUTO, SPARK
from assets.storage.lake import Lake
from orchestration.cli import session
from orchestration.cli.options import FEEDS, WAREHOUSE
from orchestration.cli.sql import answers, in_duckdb, question
from orchestration.cli.sql.answers import QueryAnswer, print_rows
from orchestration.cli.sql.question import Question
from orchestration.console import say, waiting
from orchestration.spark.java import check_java

if TYPE_CHECKING:
    from orchestration.cli.sql.as_of import Past


@click.command("query")
@click.argument("sql")
@WAREHOUSE
@click.option(
    "--format",
    "style",
    type=click.Choice(answers.STYLES),
    default="table",
    show_default=True,
    help="How the rows are printed.",
)
@click.option(
    "--all-columns",
    is_flag=True,
    help="Print Weir's own columns of gold for a star, too, whole digests, and bytes as base64, as jsonl and csv do.",
)
@click.option(
    "--engine",
    type=click.Choice([AUTO, SPARK]),
    default=AUTO,
    show_default=True,
    help="Who answers: DuckDB, and Spark what only Spark can; or Spark in any case.",
)
@click.option(
    "--at",
    metavar="POSITION",
    help="Gold's tables of one feed as they were at a position of its source, as the source writes it, or at"
    " `latest-cut` (docs/cuts.md).",
)
@FEEDS
def query_command(sql: str, warehouse: str, style: str, all_columns: bool, **how: Any) -> None:
    """Query the tables with one statement of Spark SQL that reads.

    Tables are named bronze.<feed>, silver.<feed>, quarantine.<feed> and gold.<feed>.<table>:

        weir query "SELECT * FROM gold.shop.customers"

    SHOW TABLES lists them. Joins, windows, aggregates and the like of small tables are answered without Java, by
    DuckDB, with the answers that Spark would give; all else by Spark. Files, programs and tables that are not Weir's
    are refused. docs/tables.md says which is which, and what a query may do.
    """
    query(sql, warehouse, style, all_columns, How(**how))


@dataclass(frozen=True, slots=True)
class How:
    """How a statement is answered.

    ``engine``: ``spark`` where Spark is to answer it, whatever it asks. ``at``: a position that gold's tables are to be
    as of; ``feeds``: the folder of feed files, which only then matters.
    """

    engine: str = AUTO
    at: str | None = None
    feeds: Path = Path("feeds")


def query(
    sql: str, warehouse: str, style: str, all_columns: bool = False, how: How | None = None
) -> None:
    """Print what a statement gives.

    Raises:
        QueryRefused: it is no statement that reads, or Spark does not understand it.
        CutRefused: no cut answers it.
    """
    if question.asks_for_names(sql):
        names = question.names_as_rows(session.reached(warehouse))
        print_rows(answers.of_arrow(names), style)
        return
    # Before Spark starts, so that a person who mistypes need not wait for it.
    asked, how = question.parsed(sql), how or How()
    lake = session.reached(warehouse)
    by_engine = lake if how.engine == AUTO else lake.by(SPARK)
    past = None if how.at is None else _past(by_engine, asked, how.feeds, how.at)

    def show(answer: QueryAnswer) -> None:
        if style != "table" or all_columns:
            print_rows(answer, style)
            return
        short, hidden = answers.shortened(answer, asked.statement)
        print_rows(short, style)
        if hidden:
            say(answers.notice_of(hidden))

    answer = answered_in_process(by_engine, asked, past)
    if answer is not None:
        show(answer)
        return
    check_java()
    # Spark takes seconds to be there, so that only a question that needs it waits for it.
    from orchestration.cli.sql import in_spark

    session.start(lake)
    with waiting("reading"):
        show(in_spark.of_spark(in_spark.answered(lake, asked, past)))


def _past(lake: Lake, asked: Question, feeds: Path, at: str) -> Past:
    """The tables of a question as of a position; says which cut that is."""
    # A question about now knows neither feeds nor how gold is folded.
    from orchestration.cli.sql.as_of import past_of

    past = past_of(lake, feeds, asked, at)
    say(past.notice)
    return past


def answered_in_process(
    lake: Lake, asked: Question, past: Past | None = None
) -> QueryAnswer | None:
    """The answer that DuckDB gives; None where Spark has to answer it."""
    rows = in_duckdb.answered(lake, asked, past)
    if rows is None:
        return None
    try:
        return answers.of_arrow(rows)
    except answers.Unprintable:
        return None
