"""A plain question to one small table, answered by DuckDB in this process, without a Spark session.

delta-rs lists the table's files, pyarrow reads them, DuckDB runs the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import duckdb
import pyarrow as pa
from sqlglot import exp

from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.cli.sql.table_names import names_in, path_of


def answered(lake: Lake, statement: exp.Expr) -> pa.Table | None:
    """The rows that the statement gives; None where Spark has to answer it.

    Raises:
        QueryRefused: it names a table that is not there.
        UnreadableWarehouse: the table cannot be read.
    """
    asked = of_one_table(statement)
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
    sql = for_duckdb(statement, asked, columns)
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
        connection.register(VIEW, rows)
        connection.execute("SET lock_configuration = true")
        yield connection


# Which statements mean the same to DuckDB as they do to Spark: plain questions to one table.
# DuckDB answers a small question in some hundredths of a second, and Spark takes seconds to start. But the two differ
# in what functions, joins of types and conversions give. So only what both say in the same way is taken: columns,
# counts and extremes of them, comparisons of a column with a literal of its own kind, grouping, ordering and limits.


VIEW: Final = "rows_of_the_table"
"""What the table is called in the statement for DuckDB."""

_TAKEN: Final = (
    *(exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Identifier, exp.Column, exp.Star),
    *(exp.Alias, exp.Where, exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE),
    *(exp.LT, exp.LTE, exp.Is, exp.Null, exp.In, exp.Between, exp.Literal, exp.Boolean, exp.Neg),
    *(exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct, exp.Group),
    *(exp.Count, exp.Min, exp.Max),
)
_COMPARING: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)


def of_one_table(statement: exp.Expr) -> exp.Table | None:
    """The table of a plain question; None where there are several, or something in it may differ between engines."""
    if not isinstance(statement, exp.Select):
        return None
    tables = list(statement.find_all(exp.Table))
    if len(tables) != 1 or any(not isinstance(node, _TAKEN) for node in statement.walk()):
        return None
    if len(list(statement.find_all(exp.Select))) > 1:
        return None
    return tables[0]


def for_duckdb(statement: exp.Select, table: exp.Table, columns: pa.Schema) -> str | None:
    """The statement as DuckDB takes it, over ``VIEW``; None where the types make it no plain question.

    Args:
        statement: a plain question, which is left as it is.
        table: its table.
        columns: the table's columns.
    """
    plain = statement.copy()
    if not _put_orders_in_place_of_aliases(plain, columns):
        return None
    qualifiers = _qualifiers(table)
    for column in list(plain.find_all(exp.Column)):
        given = tuple(part.name for part in column.parts[:-1])
        if given not in qualifiers:
            return None
        if isinstance(column.this, exp.Star):
            column.replace(exp.Star())
        elif column.name in columns.names:
            column.replace(exp.column(exp.to_identifier(column.name, quoted=True)))
        else:
            return None
    if not all(_compares_alike(node, columns) for node in plain.find_all(*_COMPARING)):
        return None
    if not all(_orders_alike(node, columns) for node in _ordering(plain)):
        return None
    _name_aggregates(plain)
    (of_plain,) = plain.find_all(exp.Table)
    of_plain.replace(exp.to_table(VIEW))
    return plain.sql(dialect="duckdb")


def _put_orders_in_place_of_aliases(statement: exp.Select, columns: pa.Schema) -> bool:
    """Order by what an alias stands for; False where an alias has a column's name, which engines take differently."""
    named = {one.alias: one.this for one in statement.expressions if isinstance(one, exp.Alias)}
    if any(alias.lower() in map(str.lower, columns.names) for alias in named):
        return all(named[one].name == one for one in named if one in columns.names)
    for ordered in statement.find_all(exp.Ordered):
        column = ordered.this
        if isinstance(column, exp.Column) and not column.table and column.name in named:
            column.replace(named[column.name].copy())
    return True


def _qualifiers(table: exp.Table) -> set[tuple[str, ...]]:
    """What may stand before a column's name: nothing, the table's alias, or its name."""
    if table.alias:
        return {(), (table.alias,)}
    parts = tuple(part.name for part in table.parts)
    return {(), parts, parts[-1:]}


def _kind(columns: pa.Schema, name: str) -> str:
    """What both engines compare alike: texts, whole numbers, truths; else nothing."""
    of_column = columns.field(name).type
    if pa.types.is_string(of_column):
        return "text"
    if pa.types.is_signed_integer(of_column):
        return "number"
    return "truth" if pa.types.is_boolean(of_column) else ""


def _compares_alike(node: exp.Expr, columns: pa.Schema) -> bool:
    """Whether it compares a column with literals of the column's own kind."""
    sides = list(node.args.values())
    operands = [one for side in sides for one in (side if isinstance(side, list) else [side])]
    operands = [one for one in operands if isinstance(one, exp.Expr)]
    of_columns = [one for one in operands if isinstance(one, exp.Column)]
    literals = [one for one in operands if not isinstance(one, exp.Column)]
    if len(of_columns) != 1:
        return False
    kind = _kind(columns, of_columns[0].name)
    return bool(kind) and all(_literal_kind(one) == kind for one in literals)


def _literal_kind(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Neg):
        node = node.this
        return "number" if isinstance(node, exp.Literal) and _is_whole(node) else None
    if isinstance(node, exp.Boolean):
        return "truth"
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return "text"
    return "number" if _is_whole(node) else None


def _is_whole(node: exp.Literal) -> bool:
    return not node.is_string and node.name.isdigit() and len(node.name) <= 18


def _ordering(statement: exp.Select) -> list[exp.Column]:
    """The columns by which rows are ordered, grouped, told apart or of which the extremes are asked."""
    nodes: list[exp.Expr] = [*statement.find_all(exp.Ordered, exp.Group, exp.Min, exp.Max)]
    if statement.args.get("distinct"):
        nodes += statement.expressions
    return [column for node in nodes for column in node.find_all(exp.Column)]


def _orders_alike(column: exp.Column, columns: pa.Schema) -> bool:
    """Whether both engines order the column's values alike: not floating numbers, and nothing that holds others."""
    if isinstance(column.this, exp.Star):
        return all(_is_ordered(one.type) for one in columns)
    return _is_ordered(columns.field(column.name).type)


def _is_ordered(of_column: pa.DataType) -> bool:
    simple = (pa.types.is_string, pa.types.is_signed_integer, pa.types.is_boolean)
    others = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_decimal)
    return any(is_one(of_column) for is_one in (*simple, *others))


def _name_aggregates(statement: exp.Select) -> None:
    """Give counts and extremes without a name the one that Spark gives them."""
    for node in list(statement.expressions):
        if isinstance(node, exp.Count | exp.Min | exp.Max):
            inner = "1" if isinstance(node.this, exp.Star) else node.this.sql(dialect="spark")
            name = f"{node.key}({inner.replace('`', '')})"
            node.replace(exp.alias_(node.copy(), name, quoted=True))
