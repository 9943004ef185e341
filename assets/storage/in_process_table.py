"""One Delta table that is read and written in this process, by delta-rs and pyarrow, without a Spark session.

Spark may write the same table in turn. On an object store a process that stood still for longer than its lease may wake
in the middle of a commit, when another has begun. So it looks at its leases just before; and where it wakes after that
look, the store refuses a commit whose number another has taken, and delta-rs is told not to try the next number.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import time
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import AddAction, create_table_with_add_actions

from assets.storage import data_files, delta_rs, row_commits
from assets.storage.data_files import NewFile
from assets.storage.leases import check_leases, is_on_store
from assets.storage.row_commits import Numbers
from assets.storage.store_faults import naming_store_faults
from transforms.errors import TableBusy, TableNotErased

_LOG = logging.getLogger(__name__)

Item = TypeVar("Item")
Found = TypeVar("Found")

Rows: TypeAlias = Iterable[Mapping[str, object]] | pa.Table
"""Rows by their columns' names; a column that a row does not name is null."""

Columns: TypeAlias = pa.Schema | Sequence[str]
"""Columns with their types, or the names of some of those that the table is known to have."""

Where: TypeAlias = Mapping[str, Iterable[str]]
"""Which rows: those that have in each of these columns one of the texts."""

CHECKPOINT_EVERY = 10
"""After about so many commits the state of a table is written down in one file, as Spark does it: whoever opens it
reads each commit since then."""

KEPT_FILES_FOR_HOURS = 168
"""Files that no table needs any more stay a week for whoever is still reading them: Delta's own default."""

MOST_VALUES = 200
"""Maximum number of values in the condition of a commit: at tens of thousands delta-rs's stack overflows."""

SMALL_FILE, MOST_SMALL_FILES = 8 << 20, 16
"""Bytes of a data file that is sooner written anew than marked, and how many such files may lie side by side."""

WRITTEN = frozenset(
    {
        *("appendOnly", "invariants", "checkConstraints", "deletionVectors", "timestampNtz"),
        # delta-rs 1.6.6 gives it to each table with times that have no zone, though no column is a variant.
        "variantType",
        # Delta lets no table lose it again, but asks nothing of writers once the property is off.
        "changeDataFeed",
    }
)
"""Delta's features of tables that delta-rs writes as Spark does."""

_READERS, _LOCAL_READERS = 8, 4
# A smaller object of a store costs less than the requests for its parts.
_WHOLE_BYTES = 8 << 20
_BATCH = 20_000


class DataFile(NamedTuple):
    """One data file of a table: its path below the table, how many bytes and rows it has, and what its rows share.

    ``rows`` counts those that are marked as deleted, too. ``values``: its value of each column by which the table is
    partitioned.
    """

    path: str
    size: int
    rows: int
    values: Mapping[str, str | None]

    @property
    def window(self) -> str:
        """The window that its rows are of, in a table that is partitioned by windows."""
        return self.values["window"] or ""


class Rewriting(NamedTuple):
    """What a rewriting of files did: the table's version before and after, files written anew, rows that were meant."""

    before: int
    after: int
    files: int
    rows: int


# Without slots: what is read of the marks is kept.
@dataclass
class InProcessTable:
    """One table as it was when it was opened, and after each commit of its own as that commit left it.

    On an object store a commit is refused where another writer has committed since. ``name``: what people know it by,
    ``progress.shop``. ``table``: delta-rs's own; None while there is none. ``columns``: those that Weir gives it; None
    where only its log tells them.
    """

    name: str
    path: str
    warehouse: str
    table: DeltaTable | None
    columns: pa.Schema | None = None
    _known: tuple[int, pa.Table] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def at(cls, name: str, path: str, warehouse: str, columns: pa.Schema | None = None) -> Self:
        """The table at this path as it is now; it need not exist yet."""
        with naming_store_faults(name, warehouse):
            return cls(name, path, warehouse, delta_rs.opened(path, warehouse), columns)

    def now(self) -> Self:
        """The same table as it is now, with what others have committed since this one was opened."""
        return self.at(self.name, self.path, self.warehouse, self.columns)

    def as_of(self, version: int) -> Self:
        """The same table as it was at a version, for reading; -1 is from before it was written.

        Raises:
            FileNotFoundError: it has no such version, or not any more.
        """
        if version < 0:
            return replace(self, table=None)
        options = delta_rs.options(self.warehouse)
        try:
            past = DeltaTable(
                delta_rs.address(self.path), version=version, storage_options=options or None
            )
        except DeltaError as fault:
            raise FileNotFoundError(f"{self.name}: version {version}") from fault
        return replace(self, table=past)

    # What its log says.

    @property
    def exists(self) -> bool:
        """Whether it has been written."""
        return self.table is not None

    @property
    def version(self) -> int:
        """The number of its newest commit; -1 where there is none."""
        return -1 if self.table is None else int(self.table.version())

    @property
    def id(self) -> str:
        """Delta's own id of an existing table: one that was removed and made again has another."""
        return str(self._there.metadata().id)

    @property
    def properties(self) -> dict[str, str]:
        """Its own properties; none where there is no table."""
        return {} if self.table is None else dict(self.table.metadata().configuration)

    @property
    def schema(self) -> pa.Schema:
        """The columns that it has, with Arrow's types; none where there is no table."""
        return pa.schema([] if self.table is None else self.table.schema().to_arrow())

    @property
    def may_be_written(self) -> bool:
        """Whether it has nothing that only Spark can write: Spark may be set up to use features that delta-rs lacks."""
        if self.table is None:
            return True
        if self.properties.get(delta_rs.CHANGE_FEED) == "true":
            # What changed would be missing from the files that tell it to those who follow the table.
            return False
        return WRITTEN.issuperset(self.table.protocol().writer_features or ())

    def can_put(self, windows: Collection[str]) -> bool:
        """Whether the rows of these windows can be replaced in this process; if not, it is Spark's work."""
        return self.may_be_written and len(windows) <= MOST_VALUES

    @property
    def takes_files(self) -> bool:
        """Whether Spark's tasks can write files of it by themselves, for ``put_files`` and ``append_files`` to add.

        Into a folder they can. A store they may not reach but through Java, which has its settings.
        """
        if not self._is_local or self.columns is None or not self.may_be_written:
            return False
        return self.table is None or {*self.schema.names} == {*self.columns.names}

    def has_types(self, columns: pa.Schema) -> bool:
        """Whether those of these columns that the table has are of these types."""
        if self.table is None:
            return True
        asked = {one.name: one.type for one in DeltaSchema.from_arrow(columns).fields}
        return all(asked.get(one.name, one.type) == one.type for one in self.table.schema().fields)

    def files(self, where: Where | None = None) -> list[DataFile]:
        """Its data files, but for those that have no such rows by their values of the columns that it is cut by."""
        if self.table is None:
            return []
        found, partitioned_by = self._actions, self._partition_columns
        for column, texts in (where or {}).items():
            if column in partitioned_by:
                found = found.filter(_is_among(found[f"partition.{column}"], texts))
        if not found.num_rows:
            return []
        cells = (found[name].to_pylist() for name in ("path", "size_bytes", "num_records"))
        values = zip(
            *(found[f"partition.{one}"].to_pylist() for one in partitioned_by), strict=True
        )
        shared = values if partitioned_by else [()] * found.num_rows
        return [
            DataFile(unquote(path), size, rows or 0, dict(zip(partitioned_by, some, strict=True)))
            for path, size, rows, some in zip(*cells, shared, strict=True)
        ]

    def missing_files(self) -> list[str]:
        """Those of its data files that are no longer there: of an older version, a vacuum may have removed them."""
        paths = [file.path for file in self.files()]
        if self._is_local:
            return [one for one in paths if not self._local(one).exists()]
        there = {*self._paths()}
        return [one for one in paths if one not in there]

    @property
    def size(self) -> int:
        """How many bytes its files have."""
        return sum(file.size for file in self.files())

    @property
    def stored_rows(self) -> int:
        """How many rows its files have, those that are marked as deleted among them."""
        return sum(file.rows for file in self.files())

    def count(self) -> int:
        """How many rows it has, by its log and by the marks of those that are deleted and still in their file."""
        marked = sum(len(one) - (pc.sum(one).as_py() or 0) for one in self._marks.values())
        return int(self.stored_rows - marked)

    def rows_written(self) -> int:
        """How many rows the newest commit says that it wrote: delta-rs counts them, and Spark where any came."""
        metrics = self._there.history(1)[0].get("operationMetrics") or {}
        return int(metrics.get("num_added_rows", metrics.get("numOutputRows", 0)))

    @property
    def windows(self) -> frozenset[str]:
        """The windows that it has files of, where it is partitioned by them."""
        return frozenset(file.window for file in self.files())

    # Reading.

    def read(self, columns: Columns | None = None, where: Where | None = None) -> pa.Table:
        """The rows that ``where`` lets through, with these columns, or all; no rows where there is no table.

        A column that the table does not have is null.
        """
        wanted, asked = self._wanted(columns), _lists(where)
        with self._faults():
            parts = self.at_once(lambda file: self._rows(file, wanted, asked), self.files(asked))
        return pa.concat_tables([wanted.empty_table(), *parts])

    def rows(
        self, columns: Columns | None = None, where: Where | None = None
    ) -> list[dict[str, Any]]:
        """What ``read`` returns, as a dict a row; times are in UTC, maps are dicts."""
        found: list[dict[str, Any]] = self.read(columns, where).to_pylist(maps_as_pydicts="strict")
        return found

    def at_once(self, work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
        """What the work, which reads this table, makes of each item, some at once.

        A store answers slowly, and many at a time; of files in a folder each is read by one core.
        """
        some = [*items]
        if len(some) <= 1:
            return [*map(work, some)]
        # All threads share the marks.
        _, readers = self._marks, _LOCAL_READERS if self._is_local else _READERS
        with ThreadPoolExecutor(readers) as threads:
            return [*threads.map(work, some)]

    def each(
        self, columns: Columns | None = None, where: Where | None = None
    ) -> Iterator[pa.Table]:
        """``read``, a file at a time: for a table of any size."""
        wanted, asked = self._wanted(columns), _lists(where)
        with self._faults():
            for file in self.files(asked):
                yield self._rows(file, wanted, asked)

    def batches(self, columns: Columns, where: Where | None = None) -> Iterator[pa.Table]:
        """``each``, some rows at a time: whoever has seen enough reads no more of them."""
        wanted, asked = self._wanted(columns), _lists(where)
        with self._faults():
            for file in self.files(asked):
                at, parquet = 0, self._parquet(file)
                names = _stored(parquet, file, _names(wanted, asked))
                for batch in parquet.iter_batches(
                    _BATCH, columns=names, use_threads=self._is_local
                ):
                    rows = self._whole(file, pa.Table.from_batches([batch]), wanted.names, at)
                    at += batch.num_rows
                    yield delta_rs.conformed(_sifted(rows, file, asked), wanted)

    def read_file(
        self, file: DataFile, columns: Sequence[str], repeated: Sequence[str] = ()
    ) -> pa.Table:
        """Those of these columns that a data file has, or shares, of its rows that are not deleted.

        ``repeated``: columns that have few values, which are read as numbers of these.

        Raises:
            FileNotFoundError: there is none.
        """
        parquet = self._parquet(file, repeated)
        # Not through delta-rs's own dataset: that hands Python's files to threads of Arrow's, and a process that ends
        # soon after is aborted by them, now and then, whatever it has done. So these are read by this thread alone.
        rows = parquet.read(_stored(parquet, file, columns), use_threads=self._is_local)
        return self._whole(file, rows, columns)

    def read_parts_with(
        self, file: DataFile, columns: Sequence[str], wanted: tuple[str, pa.Array]
    ) -> pa.Table:
        """``read_file`` without those parts of the file that have none of some values in a column.

        ``wanted``: the column, and the values, sorted.
        """
        parquet = self._parquet(file)
        column, values = wanted
        if _last(file.path) in self._marks or column not in parquet.schema_arrow.names:
            return self.read_file(file, columns)
        leaves = [parquet.schema.column(at).path for at in range(parquet.metadata.num_columns)]
        at, asked, groups = leaves.index(column), values.to_pylist(), []
        for group in range(parquet.num_row_groups):
            said = parquet.metadata.row_group(group).column(at).statistics
            bounds = (said.min, said.max) if said is not None and said.has_min_max else None
            has_nulls = said is None or not said.has_null_count or said.null_count > 0
            if has_nulls or _may_have(bounds, asked):
                groups.append(group)
        names = _stored(parquet, file, columns)
        rows = parquet.read_row_groups(groups, names, use_threads=self._is_local)
        return self._whole(file, rows, columns)

    def content(self, path: str) -> bytes:
        """A whole file by its path below the table.

        Raises:
            FileNotFoundError: there is none.
        """
        if self._is_local:
            return self._local(path).read_bytes()
        data: bytes = self._handler.open_input_file(path).read()
        return data

    def files_with(self, column: str, values: pa.Array) -> list[DataFile]:
        """Its data files, but for those that have none of these values in the column by their statistics."""
        files = self.files()
        if not (_has_bounds(values.type) and len(files) > 1):
            return files
        actions = self._actions
        if f"min.{column}" not in actions.column_names:
            return files
        paths = [unquote(path) for path in actions["path"].to_pylist()]
        bounds = (actions[f"{one}.{column}"].to_pylist() for one in ("min", "max"))
        known = dict(zip(paths, zip(*bounds, strict=True), strict=True))
        asked = values.drop_null().sort().to_pylist()
        return [file for file in files if _may_have(known.get(file.path), asked)]

    def numbered(
        self, file: DataFile, columns: pa.Schema, among: RowGroups | None = None
    ) -> tuple[Numbers, pa.Table]:
        """A file's rows that are not deleted, with these columns, and the number of each in the file.

        ``among``: which of its parts (Parquet's row groups) are read, by what their footer says; None for all.
        """
        parquet = self._parquet(file)
        ends = _ends_of_groups(parquet)
        groups = [*range(len(ends))] if among is None else [*among(parquet.metadata, ends)]
        names = _stored(parquet, file, columns.names)
        rows = parquet.read_row_groups(groups, names, use_threads=self._is_local)
        starts = [0, *ends]
        spans = [np.arange(starts[group], starts[group + 1]) for group in groups]
        numbers: Numbers = np.concatenate([np.arange(0), *spans])
        if (marks := self._marks.get(_last(file.path))) is not None:
            # Rows behind the end of the marks are all there.
            there = np.ones(starts[-1], bool)
            there[: len(marks)] = marks.to_numpy(zero_copy_only=False)
            there = there[numbers]
            numbers, rows = numbers[there], rows.filter(pa.array(there))
        return numbers, delta_rs.conformed(rows, columns)

    def rows_at(self, path: str, numbers: Numbers, columns: pa.Schema) -> pa.Table:
        """The rows of a file with these numbers, in their order; parts of the file that have none are not read."""
        (file,) = (one for one in self.files() if one.path == path)
        parquet = self._parquet(file)
        names, start, found = _stored(parquet, file, columns.names), 0, [columns.empty_table()]
        for group in range(parquet.num_row_groups):
            end = start + parquet.metadata.row_group(group).num_rows
            if len(own := numbers[(numbers >= start) & (numbers < end)]):
                rows = parquet.read_row_group(group, names, use_threads=self._is_local)
                found.append(delta_rs.conformed(rows.take(pa.array(own - start)), columns))
            start = end
        return pa.concat_tables(found)

    # Writing: each of these is one commit.

    def append(
        self, rows: Rows, partition_by: Sequence[str] = (), *, seen: int | None = None
    ) -> None:
        """Add rows; columns that the table does not have are added to it.

        ``partition_by``: by which columns a new table is cut into files. ``seen``: the table's version that says which
        rows are new; -1 where there was none.

        Raises:
            TableBusy: another writer has committed since.
        """
        if seen not in (None, self.version):
            raise TableBusy(self.name)
        with self._faults():
            self._commit(self._shaped(rows), "append", partition_by=partition_by)

    def replace(
        self, rows: Rows, column: str, values: Iterable[str], partition_by: Sequence[str] = ()
    ) -> None:
        """Put ``rows`` in place of all rows with one of these values in the column.

        No commit where nothing goes and nothing comes. Each of the rows must have one of these values.

        Raises:
            TableBusy: another writer has added rows with such a value meanwhile.
        """
        new, listed = self._shaped(rows), sorted({*values})
        if strange := {*new[column].unique().to_pylist()}.difference(listed):
            raise ValueError(f"{self.name}: rows with {strange} in {column} take no row's place")
        with self._faults():
            if self.table is None:
                self._commit(new, "append", partition_by=partition_by)
            elif not new.num_rows and not self.read([column], {column: listed}).num_rows:
                return
            elif len(listed) <= MOST_VALUES and (
                column in self._partition_columns or not self._has_times_of_spark()
            ):
                # Of the very version that was read: what came since makes Delta refuse.
                quoted = ", ".join("'" + one.replace("'", "''") + "'" for one in listed)
                self._commit(new, "overwrite", predicate=f"{column} IN ({quoted})")
            else:
                every = self.read(self.schema)
                others = every.filter(pc.invert(_is_among(every[column], listed)))
                whole = pa.concat_tables([others, new], promote_options="default")
                self._commit(whole, "overwrite")

    def replace_windows(self, rows: Rows, windows: Iterable[str]) -> None:
        """Put ``rows`` in place of all rows of these windows."""
        self.replace(rows, "window", windows)

    def put_windows(self, rows: pa.Table, windows: Iterable[str]) -> int:
        """``replace_windows`` in a table that is partitioned by them; how many rows Delta says it wrote."""
        before = self.version
        self.replace(rows, "window", windows, ["window"])
        return 0 if self.version == before else self.rows_written()

    def put_files(self, files: Sequence[NewFile], windows: Collection[str]) -> int:
        """Put files that others have written below it in place of the windows' rows; how many rows Delta knows of them.

        Raises:
            TableBusy: another writer has added rows to one of the windows meanwhile.
        """
        if self.table is not None and not files and not self.windows.intersection(windows):
            return 0
        self._add_files(files, "overwrite", [("window", "in", sorted(windows))])
        paths = {one.path for one in files}
        return sum(one.rows for one in self.files() if one.path in paths)

    def append_files(self, files: Sequence[NewFile], *, seen: int) -> None:
        """``append`` of files that others have written below it."""
        if seen != self.version:
            self.remove_unadded(files)
            raise TableBusy(self.name)
        self._add_files(files, "append", None)

    def _add_files(
        self, files: Sequence[NewFile], mode: str, instead: list[tuple[str, str, Any]] | None
    ) -> None:
        assert self.columns is not None
        now = int(time() * 1000)
        added = [
            AddAction(one.path, one.size, {"window": one.window}, now, True, one.statistics)
            for one in files
        ]
        schema, cut_by = DeltaSchema.from_arrow(self.columns), ["window"]
        with self._faults():
            if self.table is None:
                create_table_with_add_actions(
                    delta_rs.address(self.path), schema, added, partition_by=cut_by
                )
            else:
                self.table.create_write_transaction([*added], mode, schema, cut_by, instead)
                self.table.update_incremental()
            self._committed()

    def remove_unadded(self, files: Sequence[NewFile]) -> None:
        """Remove those of these files that no commit has added."""
        added = {one.path for one in self.files()}
        paths = [one.path for one in files if one.path not in added]
        data_files.remove(self.path, paths)

    def rewrite(
        self,
        rows: Rows,
        properties: Mapping[str, str] | None = None,
        constraint: tuple[str, str] | None = None,
    ) -> None:
        """Put these rows in place of the whole table; ``properties``: it is made again, with these.

        They are set last: a table without them was left by a dead run, and is made again. The ``constraint`` is a name
        and a condition, which holds for these rows.
        """
        with self._faults():
            if properties is None:
                self._commit(self._shaped(rows), "overwrite")
                return
            name, condition = constraint or ("", "")
            is_kept = f"delta.constraints.{name}"
            if self.table is not None and self.properties.get(is_kept, condition) != condition:
                # It may name columns that the new rows do not have.
                self.table.alter.drop_constraint(name, commit_properties=self._of_commit())
            self._commit(self._shaped(rows), "overwrite", schema_mode="overwrite")
            told = dict(properties)
            if name and is_kept not in self.properties:
                # delta-rs spells a condition anew, without the quotes of names that look like any other, and cannot
                # read a column `interval` or `exists` then. So this brings but the protocol, and the condition follows.
                self._there.alter.add_constraint(
                    {name: "1 = 1"}, commit_properties=self._of_commit()
                )
                told[is_kept] = condition
            if told:
                self._set(told)

    def put_rows(
        self, gone: Mapping[str, Numbers], rows: pa.Table, checked: Collection[str] = ()
    ) -> None:
        """Take the rows with these numbers out of their files, and add ``rows``; no commit where there are neither.

        Rows of large files are marked as deleted by deletion vectors. Small files are written anew, and so are those
        that have lost half of their rows: what is left of them comes into the file of the new rows. Where there are
        many small files, all of them become one. ``checked``: the properties of constraints that hold for ``rows``.

        Raises:
            TableBusy: another writer has committed since the table was opened.
        """
        gone = {path: numbers for path, numbers in gone.items() if len(numbers)}
        if not gone and not rows.num_rows:
            return
        with self._faults():
            files = {one.path: one for one in self.files()}
            taken = self._written_anew(files, gone)
            if not {*files} - taken:
                self._commit(pa.concat_tables([*self._left(files, taken, gone), rows]), "overwrite")
            elif not gone and not taken:
                self._commit(self._shaped(rows), "append")
            else:
                self._commit_rows(files, taken, gone, rows, checked)

    def _written_anew(self, files: Mapping[str, DataFile], gone: Mapping[str, Numbers]) -> set[str]:
        """The files whose rows are to be written anew, those of ``gone`` left out."""
        small = {path for path, file in files.items() if file.size <= SMALL_FILE}
        taken = {path for path in gone if path in small or self._is_hollow(files[path], gone[path])}
        return taken | small if len(small) > MOST_SMALL_FILES else taken

    def _is_hollow(self, file: DataFile, gone: Numbers) -> bool:
        marks = self._marks.get(_last(file.path))
        there = (
            file.rows if marks is None else file.rows - len(marks) + (pc.sum(marks).as_py() or 0)
        )
        return 2 * (there - len(gone)) < file.rows

    def _left(
        self, files: Mapping[str, DataFile], taken: Iterable[str], gone: Mapping[str, Numbers]
    ) -> Iterator[pa.Table]:
        """The rows that stay of these files."""
        for path in sorted(taken):
            numbers, rows = self.numbered(files[path], self.schema)
            if path in gone:
                rows = rows.filter(pa.array(~np.isin(numbers, gone[path])))
            yield rows

    def _commit_rows(
        self,
        files: Mapping[str, DataFile],
        taken: Collection[str],
        gone: Mapping[str, Numbers],
        rows: pa.Table,
        checked: Collection[str],
    ) -> None:
        """Commit what delta-rs cannot; where this process cannot either, write the whole table anew."""
        log = self._log()
        if log is None or not row_commits.may_be_written(log, checked):
            whole = [*self._left(files, files, gone), delta_rs.conformed(rows, self.schema)]
            self._commit(pa.concat_tables(whole), "overwrite")
            return
        new = [*self._left(files, taken, gone), delta_rs.conformed(rows, self.schema)]
        marked = {path: self._deleted(path, gone[path]) for path in gone if path not in taken}
        commit = row_commits.RowCommit(marked, frozenset(taken), pa.concat_tables(new))
        self._enter(row_commits.actions_of(log, commit, self._write))

    def _enter(self, actions: list[dict[str, Any]]) -> None:
        """Commit these actions as the log's next entry."""
        entry = row_commits.entry_of(actions)
        place = f"{self.path}/_delta_log/{self.version + 1:020}.json"
        if is_on_store(self.warehouse):
            check_leases(self.warehouse)
            row_commits.commit_to_store(place, entry, self.name)
        else:
            row_commits.commit_local(
                Path(self._local("_delta_log"), Path(place).name), entry, self.name
            )
        self._there.update_incremental()
        self._committed()

    # Erasing: what older versions and the log say of rows goes, too.

    def rewrite_files(
        self,
        columns: Sequence[str],
        find: Callable[[pa.Table], pa.Array],
        change: Callable[[pa.Table, pa.Array], pa.Table],
        *,
        work: str,
        is_news: bool = True,
    ) -> Rewriting:
        """Write anew each file that has some rows, those that are marked as deleted included; one commit in any case.

        ``find``: which of some rows, with these columns, are meant. ``change``: what is written of a file's rows that
        are not deleted, given which of them are meant. ``work``: what it is part of: where the newest commit was made
        for the same, this goes on with it, and counts what that has done. ``is_news``: see ``row_commits.Rewritten``.

        Raises:
            TableBusy: another writer has committed since the table was opened.
            TableNotErased: the table has features that this process does not know.
        """
        with self._faults():
            log = self._readable_log()
            asked, every = pa.schema([self.schema.field(one) for one in columns]), self.schema
            new: dict[str, pa.Table] = {}
            count = 0
            for file in self.files():
                if not pc.any(find(self._rows_ever(file, asked))).as_py():
                    continue
                rows = delta_rs.conformed(self.read_file(file, every.names), every)
                meant = find(rows)
                count += pc.sum(meant).as_py() or 0
                new[file.path] = change(rows, meant).drop_columns([*file.values])
            before, files = self.version, len(new)
            known = row_commits.note_of(self.content(f"_delta_log/{before:020}.json"))
            if known.get("work") == work:
                before = known["before"]
                files, count = files + known["files"], count + known["rows"]
            note = {"work": work, "before": before, "files": files, "rows": count}
            rewritten = row_commits.Rewritten(new, is_news, note)
            self._enter(row_commits.actions_of_rewritten(log, rewritten, self._write))
        return Rewriting(before, self.version, files, count)

    def _readable_log(self) -> row_commits.Log:
        known = {*WRITTEN, "deletionVectors"}
        if not known.issuperset(self._there.protocol().writer_features or ()):
            raise TableNotErased(self.name, "it has features of Delta that Weir does not give it")
        log = self._log()
        if log is None:
            # A checkpoint that Spark wrote in parts.
            self._checkpoint()
            log = self._log()
        if log is None:
            raise TableNotErased(self.name, "its log has entries that this process cannot read")
        return log

    def _rows_ever(self, file: DataFile, columns: pa.Schema) -> pa.Table:
        """The rows of a file with these columns, deleted ones included."""
        parquet = self._parquet(file)
        rows = parquet.read(_stored(parquet, file, columns.names), use_threads=self._is_local)
        for column, value in file.values.items():
            if column in columns.names:
                shared = pa.repeat(pa.scalar(value, pa.string()), rows.num_rows)
                rows = rows.append_column(column, shared)
        return delta_rs.conformed(rows, columns)

    def forget_versions(self) -> int:
        """Remove all that is not of the newest version: data files, the log before it, what it says of their rows.

        The newest entry of the log must say nothing that is to be forgotten (``rewrite_files``). Whoever reads an older
        version, or writes the table and has not committed, fails. Returns how many data files there were.
        """
        with self._faults():
            # Not as after a commit: without a checkpoint nothing may go.
            self._there.create_checkpoint()
            kept = {one.path for one in self.files()}
            gone, data = [], 0
            for path in self._paths():
                folder, _, name = path.rpartition("/")
                if path.startswith("_delta_log/"):
                    if not self._is_of_newest(path.removeprefix("_delta_log/")):
                        gone.append(path)
                elif path not in kept and not name.endswith(".bin"):
                    # A checksum that Hadoop wrote beside a file.
                    of = f"{folder}/{name[1:-4]}".lstrip("/")
                    if not (name.startswith(".") and name.endswith(".crc") and of in kept):
                        gone.append(path)
                        data += not name.startswith(".")
            self._remove(gone)
            return data

    def _is_of_newest(self, name: str) -> bool:
        if not name[:20].isdigit():
            return name == "_last_checkpoint"
        return int(name[:20]) >= self.version and not name.endswith(".crc")

    def _paths(self) -> list[str]:
        """Every file below the table, by its path there."""
        if self._is_local:
            root = self._local("")
            return [one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file()]
        return row_commits.listed_in_store(self.path)

    def _remove(self, paths: Sequence[str]) -> None:
        if not self._is_local:
            row_commits.remove_from_store(self.path, paths)
            return
        for path in paths:
            self._local(path).unlink(missing_ok=True)

    def takes_marks(self, checked: Collection[str]) -> bool:
        """Whether ``put_rows`` marks rows of it; if not, it would write the whole table anew."""
        with self._faults():
            log = self._log()
        return log is not None and row_commits.may_be_written(log, checked)

    def _log(self) -> row_commits.Log | None:
        try:
            return row_commits.read_log(self.version, self.content)
        except row_commits.NotReadable:
            return None

    def _deleted(self, path: str, gone: Numbers) -> Numbers:
        """The rows of a file that are deleted when these go."""
        marks = self._marks.get(_last(path))
        before = [] if marks is None else [np.flatnonzero(~marks.to_numpy(zero_copy_only=False))]
        return np.unique(np.concatenate([*before, gone]))

    def _write(self, path: str, data: bytes) -> None:
        """Write a new file below the table."""
        if self._is_local:
            self._local(path).write_bytes(data)
            return
        row_commits.write_to_store(f"{self.path}/{path}", data)

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set these of the table's properties, and leave the others."""
        with self._faults():
            self._set(properties)

    def _set(self, properties: Mapping[str, str]) -> None:
        self._there.alter.set_table_properties(
            dict(properties), raise_if_not_exists=False, commit_properties=self._of_commit()
        )

    def tidy(self) -> bool:
        """Make large files of many small ones, and remove those that nobody needed for ``KEPT_FILES_FOR_HOURS``.

        False where only Spark can do that: the table has marks of deleted rows or files that Spark wrote, by partition.
        """
        with self._faults():
            if self.table is None:
                return True
            if not self.may_be_written:
                return False
            if not (self._marks or self._has_times_of_spark()):
                self.table.optimize.compact(commit_properties=self._of_commit())
            elif self._partition_columns:
                return False
            else:
                self._commit(self.read(self.schema), "overwrite")
            self.table.vacuum(retention_hours=KEPT_FILES_FOR_HOURS, dry_run=False)
            # These commits may have passed the number that would have had one.
            self._checkpoint()
        return True

    def _commit(
        self,
        rows: pa.Table,
        mode: Literal["append", "overwrite"],
        *,
        schema_mode: Literal["merge", "overwrite"] = "merge",
        predicate: str | None = None,
        partition_by: Sequence[str] = (),
    ) -> None:
        how: dict[str, Any] = {"mode": mode, "schema_mode": schema_mode, "predicate": predicate}
        if self.table is None:
            how |= {"partition_by": [*partition_by] or None, "predicate": None}
            how["storage_options"] = delta_rs.options(self.warehouse)
            if is_on_store(self.warehouse):
                # One that another has made meanwhile is not to be added to, nor replaced.
                how |= {"mode": "error", "schema_mode": None}
        target = delta_rs.address(self.path) if self.table is None else self.table
        if len({tuple(map(len, column.chunks)) for column in rows.columns}) > 1:
            # delta-rs is given the pieces that all columns have in common, and ends the process over a part of structs
            # within each other.
            rows = rows.combine_chunks()
        write_deltalake(target, rows, commit_properties=self._of_commit(), **how)
        self._committed()

    def _committed(self) -> None:
        """Take note of a commit of this table's own."""
        # Other files have other marks.
        vars(self).pop("_marks", None)
        if self.table is None:
            self.table = delta_rs.opened(self.path, self.warehouse)
            return
        delta_rs.note_commit(self.table)
        if self.version % CHECKPOINT_EVERY == 0:
            self._checkpoint()

    def _of_commit(self) -> CommitProperties | None:
        """What delta-rs has to know of a commit that is made now; looks at the leases first."""
        if not is_on_store(self.warehouse):
            return None
        check_leases(self.warehouse)
        return CommitProperties(max_commit_retries=0)

    def _checkpoint(self) -> None:
        """Write down the table's state as of its newest commit; where that fails, readers read some commits more."""
        try:
            self._there.create_checkpoint()
        except Exception as fault:  # whatever it is, the commits stand
            _LOG.warning("no checkpoint of %s at version %s: %s", self.path, self.version, fault)

    def _shaped(self, rows: Rows) -> pa.Table:
        """Rows to be written: with the columns that Weir gives the table, or with those that they have."""
        if self.columns is None:
            return rows if isinstance(rows, pa.Table) else pa.Table.from_pylist([*rows])
        if isinstance(rows, pa.Table):
            return delta_rs.conformed(rows, self.columns)
        return pa.Table.from_pylist([*rows], schema=self.columns)

    # How its files are read.

    @property
    def _there(self) -> DeltaTable:
        assert self.table is not None  # whoever asks has written it, or knows that it is there
        return self.table

    @property
    def _actions(self) -> pa.Table:
        """What the log says of each data file; asked of delta-rs once for each version."""
        version = self.version
        if self._known is None or self._known[0] != version:
            self._known = version, delta_rs.files_of(self._there)
        return self._known[1]

    @property
    def _partition_columns(self) -> list[str]:
        """The columns by which it is partitioned, whose values are in its log, not in its files."""
        return [] if self.table is None else [*self.table.metadata().partition_columns]

    def _faults(self) -> AbstractContextManager[None]:
        return naming_store_faults(self.name, self.warehouse)

    def _wanted(self, columns: Columns | None) -> pa.Schema:
        if isinstance(columns, pa.Schema):
            return columns
        known = self.schema if self.columns is None else self.columns
        return known if columns is None else pa.schema([known.field(name) for name in columns])

    def _rows(
        self, file: DataFile, wanted: pa.Schema, asked: Mapping[str, Sequence[str]]
    ) -> pa.Table:
        rows = self.read_file(file, _names(wanted, asked))
        return delta_rs.conformed(_sifted(rows, file, asked), wanted)

    def _whole(
        self, file: DataFile, rows: pa.Table, columns: Sequence[str], at: int = 0
    ) -> pa.Table:
        """Rows of a file, from the one with this number on: those that are not deleted, with what they share."""
        marks = self._marks.get(_last(file.path))
        if marks is not None:
            # Rows behind the end of the marks are all there.
            some = marks[at : at + rows.num_rows]
            rest = pa.repeat(pa.scalar(True), rows.num_rows - len(some))
            rows = rows.filter(pa.concat_arrays([some, rest]))
        for column, value in file.values.items():
            if column in columns:
                shared = pa.repeat(pa.scalar(value, pa.string()), rows.num_rows)
                rows = rows.append_column(column, shared)
        return rows

    @cached_property
    def _marks(self) -> Mapping[str, pa.BooleanArray]:
        """Of each file with rows that are marked as deleted and still in it: which of its rows are there."""
        if self.table is None:
            return {}
        if "deletionVectors" not in (self.table.protocol().reader_features or ()):
            return {}
        marked = pa.table(self.table.deletion_vectors())
        names = (_last(path) for path in marked["filepath"].to_pylist())
        return {name: rows.values for name, rows in zip(names, marked[1], strict=True)}

    def _has_times_of_spark(self) -> bool:
        """True where a file has times as Spark writes them: rewriting it, delta-rs would turn far ones into others.

        It reads them as nanoseconds when it rewrites the rows that stay; pyarrow can be told not to.
        """
        return any(
            column.physical_type == "INT96"
            for file in self.files()
            for column in self._parquet(file).schema
        )

    def _parquet(self, file: DataFile, repeated: Sequence[str] = ()) -> pq.ParquetFile:
        """A data file, to be read column by column; times are in microseconds.

        Raises:
            FileNotFoundError: there is none.
        """
        if self._is_local:
            return _parquet_of(self._local(file.path), repeated)
        if file.size > _WHOLE_BYTES:
            return _parquet_of(self._handler.open_input_file(file.path), repeated)
        what = (self.path, file.path, file.size)
        known = delta_rs.kept_content(what)
        data = self.content(file.path) if known is None else known
        parquet = _parquet_of(pa.BufferReader(data), repeated)
        if known is None:
            delta_rs.keep_content(what, data)
        return parquet

    @cached_property
    def _handler(self) -> DeltaStorageHandler:
        return DeltaStorageHandler(delta_rs.address(self.path), delta_rs.options(self.warehouse))

    @property
    def _is_local(self) -> bool:
        return "://" not in self.path or self.path.startswith("file://")

    def _local(self, path: str) -> Path:
        return Path(self.path.removeprefix("file://"), path)


def _parquet_of(source: object, repeated: Sequence[str]) -> pq.ParquetFile:
    # Spark writes times as INT96, which are read as nanoseconds unless said: those end in the year 2262.
    return pq.ParquetFile(
        source, pre_buffer=False, coerce_int96_timestamp_unit="us", read_dictionary=[*repeated]
    )


RowGroups: TypeAlias = Callable[[pq.FileMetaData, Sequence[int]], Iterable[int]]
"""Which row groups of a data file are read, by its footer and by the number of the row behind each group."""


def groups_with(column: str, values: pa.Array) -> RowGroups:
    """The row groups but for those that have none of these values in the column by their statistics."""
    asked = values.drop_null().sort().to_pylist() if _has_bounds(values.type) else None

    def among(footer: pq.FileMetaData, ends: Sequence[int]) -> Iterable[int]:
        columns = [footer.schema.column(at).path for at in range(footer.num_columns)]
        if asked is None or column not in columns:
            return range(len(ends))
        at = columns.index(column)
        return (
            group
            for group in range(len(ends))
            if _may_have(_bounds_of(footer.row_group(group).column(at).statistics), asked)
        )

    return among


def _bounds_of(statistics: pq.Statistics | None) -> tuple[Any, Any] | None:
    if statistics is None or not statistics.has_min_max:
        return None
    return statistics.min, statistics.max


def groups_of(numbers: Numbers) -> RowGroups:
    """The row groups that hold the rows with these numbers."""

    def among(_: pq.FileMetaData, ends: Sequence[int]) -> Iterable[int]:
        groups: list[int] = np.unique(np.searchsorted(ends, numbers, "right")).tolist()
        return groups

    return among


def _ends_of_groups(parquet: pq.ParquetFile) -> list[int]:
    """The number of the row behind each row group."""
    footer = parquet.metadata
    sizes = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
    return [int(one) for one in np.cumsum(sizes)]


def _stored(parquet: pq.ParquetFile, file: DataFile, columns: Sequence[str]) -> list[str]:
    """Those of the columns that are read of the file itself: Spark writes into it what its rows share, too."""
    there = {*parquet.schema_arrow.names}.difference(file.values)
    return [one for one in columns if one in there]


def _sifted(rows: pa.Table, file: DataFile, asked: Mapping[str, Sequence[str]]) -> pa.Table:
    """The rows with one of the texts in each column; what the whole file shares was looked at before."""
    for column, texts in asked.items():
        if column in file.values:
            continue
        if column not in rows.column_names:
            return rows.slice(0, 0)
        rows = rows.filter(_is_among(rows[column], texts))
    return rows


def _names(wanted: pa.Schema, asked: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns that are read of a file: those that are wanted, and those that say which rows are."""
    return [*dict.fromkeys((*wanted.names, *asked))]


def _lists(where: Where | None) -> dict[str, list[str]]:
    return {column: [*texts] for column, texts in (where or {}).items()}


def _is_among(column: pa.ChunkedArray, texts: Iterable[str]) -> pa.ChunkedArray:
    return pc.is_in(column, pa.array([*texts], pa.string()))


def _has_bounds(kind: pa.DataType) -> bool:
    """Whether the bounds of such values in the log are exact, or wide enough."""
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date32(kind))


def _may_have(bounds: tuple[Any, Any] | None, asked: Sequence[Any]) -> bool:
    """Whether a value that is asked for (sorted) may be within the bounds of a file."""
    if bounds is None or None in bounds:
        return True
    if asked and type(asked[0]) is not type(bounds[0]):
        # Keys of floating numbers are looked for by their texts, and the bounds are numbers.
        return True
    at = bisect_left(asked, bounds[0])
    return at < len(asked) and asked[at] <= bounds[1]


def _last(path: str) -> str:
    """The name of a file itself, of which no two of a table have the same: logs quote the folders differently."""
    return path.rpartition("/")[2]
