"""Weir's own small tables: what was read, what was decided, what is finished; a few rows per window.

They are Delta tables like all others, and Spark may read them, but Weir reads and commits them with delta-rs: Spark
takes 2 jobs and half a second to read a table of ten rows, delta-rs some milliseconds, and planning needs no session.
Spark and delta-rs may write one table in turn. Put here a way to read or write such a table. Not here: which tables
there are (``lake``), locks on them (``locks``), and tables that hold changes (``lake_table``, ``local_table``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, Transaction

from assets.delta import delta_rs, fences
from assets.delta.store_faults import naming_store_faults
from assets.delta.table_files import Files

Rows: TypeAlias = Iterable[Mapping[str, object]] | pa.Table
"""Rows by their columns' names; a column that a row does not name is null."""

Where: TypeAlias = Mapping[str, Iterable[str]]
"""Which rows: those that have in each of these columns one of the texts."""

APP = "weir"
"""By this name Delta keeps the number of Weir's last transaction with a table."""

KEPT_FILES_FOR_HOURS = 168
"""Files that no table needs any more stay a week for whoever is still reading them: Delta's own default."""

# delta-rs looks at such a list value by value, and at one of tens of thousands its stack overflows.
_MANY = 200


@dataclass(frozen=True, slots=True)
class SmallTable:
    """One small table by its path, and the columns that Weir gives it; it need not exist yet.

    ``name`` is what people know it by, ``progress.shop``. Every column may be null on disk, as Spark makes them.
    """

    name: str
    path: str
    warehouse: str
    columns: pa.Schema

    def exists(self) -> bool:
        """True once the table has been written."""
        return self._opened() is not None

    def version(self) -> int:
        """The number of the table's newest commit; -1 where there is none."""
        table = self._opened()
        return -1 if table is None else int(table.version())

    def count(self) -> int:
        """How many rows there are, by the table's own log; none where there is no table."""
        with naming_store_faults(self.name, self.warehouse):
            table = self._opened()
            return (
                0
                if table is None
                else sum(pa.table(table.get_add_actions())["num_records"].to_pylist())
            )

    def read(self, columns: Sequence[str] | None = None, where: Where | None = None) -> pa.Table:
        """These columns, or all, of the rows that ``where`` lets through; no rows where there is no table.

        A column that an earlier version's table does not have is null; one that is not Weir's is left out.
        """
        wanted = [self.columns.field(name) for name in columns or self.columns.names]
        with naming_store_faults(self.name, self.warehouse):
            table = self._opened()
            if table is None:
                return pa.schema(wanted).empty_table()
            found = self._read(table, [one.name for one in wanted], where)
        return delta_rs.conformed(found, _nullable(pa.schema(wanted)))

    def rows(
        self, columns: Sequence[str] | None = None, where: Where | None = None
    ) -> list[dict[str, Any]]:
        """What ``read`` returns, as a dict a row; times are in UTC, maps are dicts."""
        found: list[dict[str, Any]] = self.read(columns, where).to_pylist(maps_as_pydicts="strict")
        return found

    def append(self, rows: Rows, *, seen: int | None = None) -> bool:
        """Add rows in one commit; false where they are not added, for another writer has added its own.

        ``seen``: the version of whatever says which rows are new. Of two writers that saw the same one Delta takes the
        first; the other is refused as concurrent, or adds nothing.

        Raises:
            TableBusy: another writer has just done so.
        """
        transaction = None
        with naming_store_faults(self.name, self.warehouse):
            table = self._opened()
            if seen is not None:
                # Delta's own numbers begin at 0: the first writer has seen none.
                last = None if table is None else table.transaction_version(APP)
                if last is not None and last > seen:
                    return False
                transaction = Transaction(APP, seen + 1)
            how = fences.How(mode="append", schema_mode="merge", transaction=transaction)
            fences.commit_rows(table, self.path, self.warehouse, self._shaped(rows), **how)
        return True

    def replace(self, rows: Rows, column: str, values: Sequence[str]) -> None:
        """Put ``rows`` in place of all rows with one of these values in the column, in one commit.

        None where nothing goes and nothing comes. Each of the rows must have one of these values.

        Raises:
            TableBusy: another writer has added rows with such a value meanwhile.
        """
        new, listed = self._shaped(rows), sorted(set(values))
        if strange := set(new[column].to_pylist()) - set(listed):
            raise ValueError(f"{self.name}: rows with {strange} in {column} take no row's place")
        with naming_store_faults(self.name, self.warehouse):
            table = self._opened()
            if table is None:
                self._write(None, new)
                return
            if not (new.num_rows or self._read(table, [column], {column: listed}).num_rows):
                return
            # Of the very version that was read: what came since makes Delta refuse.
            if len(listed) > _MANY or self._has_times_of_spark(table):
                all_rows = self._read(table, None, None)
                others = all_rows.filter(pc.invert(is_among(all_rows[column], listed)))
                self._write(table, pa.concat_tables([others, new], promote_options="default"))
            else:
                condition = f"{column} IN ({', '.join(map(_quoted, listed))})"
                self._write(table, new, condition)

    def replace_windows(self, rows: Rows, windows: Sequence[str]) -> None:
        """Put ``rows`` in place of all rows of these windows, in one commit."""
        self.replace(rows, "window", windows)

    def rewrite(self, rows: Rows) -> None:
        """Put ``rows`` in place of the whole table, in one commit."""
        with naming_store_faults(self.name, self.warehouse):
            self._write(self._opened(), self._shaped(rows))

    def tidy(self) -> bool:
        """Make large files of many small ones, and remove those that nobody has needed for a week.

        False where only Spark can do that: the table has marks of deleted rows, or files that Spark wrote by partition.
        """
        with naming_store_faults(self.name, self.warehouse):
            table = self._opened()
            if table is None:
                return True
            if not delta_rs.is_written_here(table) or delta_rs.has_marks(table):
                return False
            if self._has_times_of_spark(table):
                if table.metadata().partition_columns:
                    return False
                self._write(table, self._read(table, None, None))
            else:
                table.optimize.compact(commit_properties=fences.properties(self.warehouse))
            table.vacuum(retention_hours=KEPT_FILES_FOR_HOURS, dry_run=False)
            # These commits may have passed the number that would have had one.
            fences.checkpoint(table, self.path)
        return True

    def _write(
        self, table: DeltaTable | None, rows: pa.Table, condition: str | None = None
    ) -> None:
        """Put rows in place of those of which the condition is true, or of all."""
        how = fences.How(mode="overwrite", predicate=condition, schema_mode="merge")
        fences.commit_rows(table, self.path, self.warehouse, rows, **how)

    def _opened(self) -> DeltaTable | None:
        with naming_store_faults(self.name, self.warehouse):
            return delta_rs.opened(self.path, self.warehouse)

    def _read(
        self, table: DeltaTable, columns: Sequence[str] | None, where: Where | None
    ) -> pa.Table:
        """Those of these columns, or of all, that the table has; a small table is read whole and then sifted."""
        asked = where or {}
        there = [
            one
            for one in pa.schema(table.schema().to_arrow())
            if columns is None or one.name in columns or one.name in asked
        ]
        schema = pa.schema(there)
        files = Files.of(table, self.path, self.warehouse)

        def part(file: tuple[str, int]) -> pa.Table:
            return delta_rs.conformed(files.read(*file, schema.names), schema)

        parts = delta_rs.at_once(part, _listed(table))
        found = pa.concat_tables([schema.empty_table(), *parts])
        for column, texts in asked.items():
            found = found.filter(is_among(found[column], texts))
        return found.select([one.name for one in there if columns is None or one.name in columns])

    def _has_times_of_spark(self, table: DeltaTable) -> bool:
        """True where a file has times as Spark writes them: rewriting it, delta-rs would turn far ones into others.

        It reads them as nanoseconds when it rewrites the rows that stay; pyarrow can be told not to.
        """
        files = Files.of(table, self.path, self.warehouse)
        return any(
            column.physical_type == "INT96"
            for name, size in _listed(table)
            for column in files.parquet(name, size).schema
        )

    def _shaped(self, rows: Rows) -> pa.Table:
        if isinstance(rows, pa.Table):
            return delta_rs.conformed(rows, _nullable(self.columns))
        return pa.Table.from_pylist([*rows], schema=_nullable(self.columns))


def _listed(table: DeltaTable) -> list[tuple[str, int]]:
    """The table's data files, each with its size."""
    found = pa.table(table.get_add_actions())
    return [*zip(found["path"].to_pylist(), found["size_bytes"].to_pylist(), strict=True)]


def is_among(column: pa.ChunkedArray, texts: Iterable[str]) -> pa.ChunkedArray:
    """Of each value whether it is one of these texts."""
    return pc.is_in(column, pa.array([*texts], pa.string()))


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
