"""A plain question to one small table, answered in this process: no Spark session is started for it.

delta-rs lists the table's files, pyarrow reads them, DuckDB runs the statement. Put here what decides that a question
is small enough, and what runs it. Not here: which statements are plain (``plain_select``), and how rows are printed
(``arrow_answer``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa
from sqlglot import exp

from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from orchestration.cli.sql import plain_select
from orchestration.cli.sql.table_names import names_in, path_of


def answered(lake: Lake, statement: exp.Expr) -> pa.Table | None:
    """The rows that the statement gives; None where Spark has to answer it.

    Raises:
        QueryRefused: it names a table that is not there.
        UnreadableWarehouse: the table cannot be read.
    """
    asked = plain_select.of_one_table(statement)
    names = names_in(statement)
    if asked is None or len(names) != 1:
        return None
    (name,) = names
    path_of(lake, name)
    layer, feed, *of_feed = name
    table = lake.in_process_table(Layer(layer.lower()), feed, *of_feed)
    if not table.exists or not lake.choice.fits_in_process(table.size, table.stored_rows):
        return None
    assert isinstance(statement, exp.Select)
    columns = table.schema
    sql = plain_select.for_duckdb(statement, asked, columns)
    return None if sql is None else _run(sql, _rows(table, columns, statement))


def _rows(table: InProcessTable, columns: pa.Schema, statement: exp.Select) -> pa.Table:
    """The table's rows, with the columns that the statement names."""
    if not any(one.is_star for one in statement.expressions):
        named = {column.name for column in statement.find_all(exp.Column)}
        columns = pa.schema([one for one in columns if one.name in named] or [columns.field(0)])
    return table.read(columns)


def _run(sql: str, rows: pa.Table) -> pa.Table | None:
    """What DuckDB gives; None where it refuses the statement, for it is Spark's words that people know."""
    with locked(rows) as connection:
        try:
            return connection.sql(sql).to_arrow_table()
        except duckdb.Error:
            return None


@contextmanager
def locked(rows: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that has these rows and reaches nothing else: no file, no extension, no variable of Python."""
    with duckdb.connect(
        config={"enable_external_access": False, "python_enable_replacements": False}
    ) as connection:
        connection.register(plain_select.VIEW, rows)
        connection.execute("SET lock_configuration = true")
        yield connection
