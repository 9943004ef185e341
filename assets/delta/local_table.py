"""One Delta table that is read and written in this process: whole where it is small, or so few rows of it.

Put here what reads or writes users' tables without Spark. Not here: Weir's own small tables, whose columns it knows
(``small_table``), and what a gold table's rows are (``gold/apply/stored_in_process``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake import Schema as DeltaSchema

from assets.delta import delta_rs, fences
from assets.delta.small_table import SmallTable
from assets.delta.store_faults import naming_store_faults
from assets.delta.table_files import Files
from assets.delta.window_files import WindowFile, batches, listed, reader
from transforms.errors import TableBusy

MOST_WINDOWS = 200
"""Up to so many windows are replaced by one commit in this process: delta-rs compares each row with each of them."""


# Without slots: what is read is kept.
@dataclass(frozen=True)
class LocalTable:
    """One Delta table in this process; ``table`` is None where there is none yet."""

    name: str
    path: str
    warehouse: str
    table: DeltaTable | None

    @classmethod
    def at(cls, name: str, path: str, warehouse: str) -> LocalTable:
        """The table at this path as it is now; ``name`` is what messages call it."""
        with naming_store_faults(name, warehouse):
            return cls(name, path, warehouse, delta_rs.opened(path, warehouse))

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The table's own properties."""
        return {} if self.table is None else dict(self.table.metadata().configuration)

    @cached_property
    def _listed(self) -> list[tuple[str, int, int]]:
        if self.table is None:
            return []
        found = pa.table(self.table.get_add_actions())
        columns = ("path", "size_bytes", "num_records")
        return [*zip(*(found[name].to_pylist() for name in columns), strict=True)]

    @property
    def size(self) -> int:
        """How many bytes its files have."""
        return sum(size for _, size, _ in self._listed)

    @property
    def count(self) -> int:
        """How many rows they have, as far as their statistics say."""
        return sum(rows or 0 for _, _, rows in self._listed)

    def read(self, columns: pa.Schema) -> pa.Table:
        """All rows, with these columns; one that the table does not have is null."""
        with naming_store_faults(self.name, self.warehouse):
            if self.table is None:
                return columns.empty_table()
            files = Files.of(self.table, self.path, self.warehouse)
            parts = [files.read(name, size, columns.names) for name, size, _ in self._listed]
        return pa.concat_tables(
            [columns.empty_table(), *(delta_rs.conformed(one, columns) for one in parts)]
        )

    def each(
        self, columns: pa.Schema, parts: Collection[str] | None = None, by: str = "window"
    ) -> Iterator[pa.Table]:
        """``read``, a file at a time: for a table of any size. Of one that is partitioned, with that column.

        ``parts``: only files with one of these values in the column ``by``, by which the table is partitioned.
        """
        if self.table is None:
            return
        with naming_store_faults(self.name, self.warehouse):
            files = Files.of(self.table, self.path, self.warehouse)
            yield from map(reader(files, columns, by), listed(self.table, parts, by))

    @property
    def files(self) -> int:
        """How many files it has."""
        return len(self._listed)

    def add(self, rows: pa.Table, by: str) -> None:
        """Add rows in one commit to a table that is partitioned by this column."""
        with naming_store_faults(self.name, self.warehouse):
            self._write(rows, partition_by=[by], mode="append", schema_mode="merge")

    def put(self, rows: pa.Table, by: str, values: Sequence[str]) -> None:
        """Put rows in place of all that have one of these values in the column by which the table is partitioned."""
        with naming_store_faults(self.name, self.warehouse):
            if self.table is None:
                self._write(rows, partition_by=[by], mode="append", schema_mode="merge")
                return
            quoted = ", ".join("'" + one.replace("'", "''") + "'" for one in sorted(values))
            where = f"{by} IN ({quoted})"
            self._write(rows, mode="overwrite", predicate=where, schema_mode="merge")

    def tidy(self) -> bool:
        """See ``SmallTable.tidy``."""
        return SmallTable(self.name, self.path, self.warehouse, pa.schema([])).tidy()

    def of_windows(self, columns: pa.Schema, windows: Collection[str]) -> pa.Table:
        """The rows of these windows, of a table that is partitioned by them: a store gives some files at once."""
        if self.table is None:
            return columns.empty_table()
        with naming_store_faults(self.name, self.warehouse):
            parts = delta_rs.at_once(self._reader(columns), self._listed_of(windows))
        return pa.concat_tables([columns.empty_table(), *parts])

    def _listed_of(self, asked: Collection[str] | None) -> list[WindowFile]:
        assert self.table is not None
        return listed(self.table, asked)

    def _reader(self, columns: pa.Schema) -> Callable[[WindowFile], pa.Table]:
        assert self.table is not None
        return reader(Files.of(self.table, self.path, self.warehouse), columns)

    def batches_of(self, columns: pa.Schema, windows: Collection[str]) -> Iterator[pa.Table]:
        """``each``, some rows at a time: whoever has seen enough reads no more of them."""
        if self.table is None:
            return
        with naming_store_faults(self.name, self.warehouse):
            files = Files.of(self.table, self.path, self.warehouse)
            for file in self._listed_of(windows):
                yield from batches(files, file, columns)

    @property
    def may_be_written(self) -> bool:
        """Whether it has nothing that only Spark can write."""
        return self.table is None or delta_rs.is_written_here(self.table)

    def has_types(self, columns: pa.Schema) -> bool:
        """Whether those of these columns that the table has are of these types."""
        if self.table is None:
            return True
        stored = self.table.schema()
        wanted = pa.table([pa.nulls(0, one.type) for one in columns], schema=columns)
        asked = {one.name: one.type for one in DeltaSchema.from_arrow(wanted.schema).fields}
        return all(asked.get(one.name, one.type) == one.type for one in stored.fields)

    def append(self, rows: pa.Table, seen: int | None = None) -> None:
        """Add rows in one commit, by window; columns that an older version's table does not have are added to it.

        ``seen``: the table's version that says which rows are new; -1 where there was none.

        Raises:
            TableBusy: another writer has committed since.
        """
        if seen not in (None, -1 if self.table is None else self.table.version()):
            raise TableBusy(self.name)
        with naming_store_faults(self.name, self.warehouse):
            self._append(rows)

    @cached_property
    def windows(self) -> frozenset[str]:
        """Those that it has rows of."""
        if self.table is None:
            return frozenset()
        added = pa.table(self.table.get_add_actions(flatten=True))["partition.window"]
        return frozenset(pc.unique(added).to_pylist())

    def can_put(self, windows: Sequence[str]) -> bool:
        """Whether the rows of these windows can be replaced here; if not, it is Spark's work."""
        return self.may_be_written and len(windows) <= MOST_WINDOWS

    def put_windows(self, rows: pa.Table, windows: Sequence[str]) -> int:
        """Put ``rows`` in place of all rows of these windows, in one commit; how many rows Delta says it wrote.

        Nothing to take away and nothing to put is no commit.
        """
        with naming_store_faults(self.name, self.warehouse):
            there = self.windows.intersection(windows)
            if self.table is not None and not rows.num_rows and not there:
                return 0
            if self.table is not None and (there or "://" in self.path):
                # On an object store rows are replaced, not appended, so that Delta itself notices a concurrent write.
                quoted = ", ".join(f"'{window}'" for window in sorted(windows))
                where = f"window IN ({quoted})"
                self._write(rows, mode="overwrite", predicate=where, schema_mode="merge")
            else:
                self._append(rows)
            return self._written()

    def _append(self, rows: pa.Table) -> None:
        self._write(rows, partition_by=["window"], mode="append", schema_mode="merge")

    def _write(self, rows: pa.Table, **how: Unpack[fences.How]) -> None:
        fences.commit_rows(self.table, self.path, self.warehouse, rows, **how)

    def _written(self) -> int:
        """How many rows the newest commit says that it wrote."""
        table = delta_rs.opened(self.path, self.warehouse)
        assert table is not None  # it was written just now
        metrics = table.history(1)[0].get("operationMetrics") or {}
        return int(metrics.get("num_added_rows", 0))

    def write(
        self,
        rows: pa.Table,
        properties: Mapping[str, str] | None = None,
        constraint: tuple[str, str] | None = None,
    ) -> None:
        """Put these rows in place of the whole table; ``properties``: it is made again, with these.

        They are set last, after the ``constraint``: a table without them was left by a dead run, and is made again.
        """
        with naming_store_faults(self.name, self.warehouse):
            if self.table is not None and properties is not None and constraint is not None:
                name, condition = constraint
                # It may name columns that the new rows do not have.
                if self.properties.get(_of_constraint(name), condition) != condition:
                    self.table.alter.drop_constraint(
                        name, commit_properties=fences.properties(self.warehouse)
                    )
            self._write(
                rows,
                mode="overwrite",
                schema_mode="merge" if properties is None else "overwrite",
            )
            if properties is not None:
                made = delta_rs.opened(self.path, self.warehouse)
                assert made is not None  # it was written just now
                if (
                    constraint is not None
                    and made.metadata().configuration.get(_of_constraint(constraint[0])) is None
                ):
                    made.alter.add_constraint(
                        dict([constraint]), commit_properties=fences.properties(self.warehouse)
                    )
                if properties:
                    made.alter.set_table_properties(
                        dict(properties),
                        raise_if_not_exists=False,
                        commit_properties=fences.properties(self.warehouse),
                    )


def _of_constraint(name: str) -> str:
    """The property under which Delta keeps it."""
    return f"delta.constraints.{name}"
