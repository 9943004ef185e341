"""A question answered in this process by DuckDB: no Java is started for it.

delta-rs lists the tables' files, pyarrow reads them, DuckDB gets the rows and nothing else of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
from deltalake import DeltaTable
from sqlglot import exp

from assets.storage import delta_rs
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from assets.storage.leases import is_on_store
from orchestration.cli.sql.question import Question, names_in, path_of
from orchestration.cli.sql.translation import Asked, Rows, Scan, Scope, Translation
from orchestration.cli.sql.values import AT, LOCAL, LeftToSpark

if TYPE_CHECKING:
    from orchestration.cli.sql.as_of import Past

_SETTINGS: Final[Mapping[str, str | bool]] = {
    "enable_external_access": False,
    "python_enable_replacements": False,
    # What needs more is left to Spark, which spills to its own folders.
    "memory_limit": "2GB",
    "temp_directory": "",
}
_MOST_BYTES: Final = 512 << 20
"""An answer is printed from memory once it is whole: one with more bytes is left to Spark, which prints it in parts."""


@dataclass(frozen=True, slots=True)
class _Given:
    """Rows that stand in a table's place."""

    rows: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    @property
    def size(self) -> int:
        return int(self.rows.nbytes)

    @property
    def stored_rows(self) -> int:
        return int(self.rows.num_rows)

    def read(self, columns: pa.Schema) -> pa.Table:
        return delta_rs.conformed(self.rows, columns)


def answered(lake: Lake, question: Question, past: Past | None = None) -> pa.Table | None:
    """The rows that the statement gives; None where Spark has to answer it. ``past``: its tables as they were.

    Raises:
        QueryRefused: it names a table that is not there.
        UnreadableWarehouse: a table cannot be read.
    """
    for name in sorted(names_in(question.statement)):
        path_of(lake, name)
    if not isinstance(question.statement, exp.Query) or re.search(r"\\(?!')", question.sql):
        # sqlglot has other escapes in texts than Spark.
        return None
    try:
        return _answered(lake, question.statement, past)
    except (LeftToSpark, duckdb.Error, FileNotFoundError, pa.ArrowInvalid):
        # Where it is wrong, it is Spark's words that people know.
        return None


def _answered(lake: Lake, statement: exp.Expr, past: Past | None) -> pa.Table:
    tables: dict[Asked, InProcessTable | _Given] = {}

    def schema_of(asked: Asked) -> pa.Schema:
        there = _opened(lake, asked) if past is None else _Given(past.rows[asked.name])
        tables[asked] = there
        return pa.schema([one for one in tables[asked].schema if _is_offered(one.type)])

    translation = Translation(schema_of, _mentioned(statement))
    rows = translation.question(statement, Scope())
    size = sum(table.size for table in tables.values())
    stored = sum(table.stored_rows for table in tables.values())
    if not lake.choice.fits_in_process(size, stored):
        raise LeftToSpark("tables too large for this process")
    read = {scan.view: _read(tables[asked], scan) for asked, scan in translation.scans.items()}
    return _run(rows, read)


def _mentioned(statement: exp.Expr) -> frozenset[str] | None:
    """All names in small letters, of which the columns are read; None where a star asks for all columns."""
    for star in statement.find_all(exp.Star):
        if not isinstance(star.parent, exp.Anonymous):
            return None
    return frozenset(one.name.lower() for one in statement.find_all(exp.Identifier))


def _is_offered(kind: pa.DataType) -> bool:
    """Whether DuckDB has such values without a loss: times in UTC only by themselves."""
    if pa.types.is_map(kind):
        parts = [kind.key_type, kind.item_type]
    elif pa.types.is_nested(kind):
        parts = [kind.field(at).type for at in range(kind.num_fields)]
    else:
        return True
    return all(_is_offered(part) and part != AT for part in parts)


def _opened(lake: Lake, asked: Asked) -> InProcessTable:
    """The newest version of a table, or the one that is asked for."""
    layer, feed, *of_feed = asked.name
    table = lake.in_process_table(Layer(layer.lower()), feed, *of_feed)
    if not table.exists:
        raise LeftToSpark("a table that is not there")
    version = asked.version
    if asked.time is not None:
        version = _version_at(table, asked.time)
    if version is None or version == table.version:
        return table
    if version > table.version:
        raise LeftToSpark("a version that is not there")
    options = delta_rs.options(table.warehouse)
    try:
        past = DeltaTable(
            delta_rs.address(table.path), version=version, storage_options=options or None
        )
    except Exception as fault:  # whatever it is, Spark says it in its own words
        raise LeftToSpark(str(fault)) from fault
    return replace(table, table=past)


def _version_at(table: InProcessTable, time: datetime) -> int:
    """The version that a table had at a time, as Delta has it: by when the files of its commits were written.

    A commit that seems to be written before the one before it came a millisecond after that.
    """
    if is_on_store(table.warehouse) or "delta.enableInCommitTimestamps" in table.properties:
        raise LeftToSpark("times that are not in a folder")
    log = Path(table.path.removeprefix("file://"), "_delta_log")
    commits = sorted(one for one in log.glob("*.json") if one.stem.isdecimal())
    found, last = None, datetime.min.replace(tzinfo=UTC)
    for commit in commits:
        written = datetime.fromtimestamp(commit.stat().st_mtime_ns // 1_000_000 / 1000, UTC)
        last = max(written, last + timedelta(milliseconds=1))
        if last <= time:
            found = int(commit.stem)
    if found is None or last < time:
        raise LeftToSpark("a time that the table does not know")
    return found


def _read(table: InProcessTable | _Given, scan: Scan) -> pa.Table:
    """The rows of a table, in which no column has the name that it has in the table."""
    rows = table.read(scan.columns)
    for at, one in enumerate(scan.columns):
        if one.type == AT:
            rows = rows.set_column(at, one.name, rows[one.name].cast(LOCAL))
    return rows.rename_columns([f"a{at}" for at in range(len(scan.columns))])


def _run(rows: Rows, tables: Mapping[str, pa.Table]) -> pa.Table:
    """What DuckDB gives, in the types that Spark has for it."""
    schema = pa.schema([(f"c{at}", one.value.type) for at, one in enumerate(rows.columns)])
    with locked(tables) as connection:
        found, size = [], 0
        reader = connection.sql(rows.sql).to_arrow_reader()
        try:
            for batch in reader:
                size += batch.nbytes
                if size > _MOST_BYTES:
                    raise LeftToSpark("an answer too large for this process")
                found.append(batch)
        except OSError as fault:
            # What DuckDB cannot compute in the midst of an answer, Arrow's reader passes on so.
            raise LeftToSpark(str(fault)) from fault
        made = pa.Table.from_batches(found, reader.schema)
    for one, expected in zip(made.schema, schema, strict=True):
        asked = LOCAL if expected.type == AT else expected.type
        if not pa.types.is_nested(asked) and one.type != asked:
            raise LeftToSpark(f"DuckDB has {one.type} where Spark has {expected.type}")
    typed = made.rename_columns(schema.names).cast(schema)
    return typed.rename_columns([column.name for column in rows.columns])


@contextmanager
def locked(tables: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB that has these rows and reaches nothing else: no file, no extension, no variable of Python."""
    with duckdb.connect(config={**_SETTINGS}) as connection:
        for view, rows in tables.items():
            connection.register(view, rows)
        connection.execute("SET lock_configuration = true")
        yield connection
