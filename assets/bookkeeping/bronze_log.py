"""What each commit of bronze added, by its Delta log and a few columns of its files, without Spark.

A commit names the files that it added; each of these has records of some object generations, and of some offsets. Put
here what is read of bronze's log. Not here: keeping the answers (``bronze_ledger``), and questions about what was read
(``ledger``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from assets.delta import delta_rs
from assets.delta.store_faults import naming_store_faults
from assets.delta.table_files import Files
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

GROUPS = pa.schema(
    [
        pa.field("window", pa.string()),
        pa.field("object", pa.string()),
        pa.field("generation", pa.string()),
        pa.field("records", pa.int64()),
        pa.field("first_offset", pa.int64()),
        pa.field("last_offset", pa.int64()),
    ]
)
"""One row per window and object generation: how many records of it there are, and the least and largest byte offset.

Of a topic an object is a partition, its generation the topic's id, and the byte offset the record's offset.
"""

_OF_OBJECT = ("object", "generation")
_COLUMNS = (*_OF_OBJECT, "line", "byte_offset")


class LogIncomplete(Exception):
    """A commit's log entry does not say what bronze holds after it: all of bronze has to be read."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One data file, and the window that its records are in."""

    name: str
    size: int
    window: str


@dataclass(frozen=True, slots=True)
class BronzeLog:
    """Bronze of one feed as it is at one moment."""

    name: str
    warehouse: str
    table: DeltaTable
    files: Files

    @classmethod
    def opened(cls, lake: Lake, feed: Feed) -> BronzeLog | None:
        """Bronze as it is now; None where nothing was ever read."""
        name, path = f"bronze.{feed.name}", lake.path(Layer.BRONZE, feed.name)
        with naming_store_faults(name, lake.warehouse):
            table = delta_rs.opened(path, lake.warehouse)
            if table is None:
                return None
            return cls(name, lake.warehouse, table, Files.of(table, path, lake.warehouse))

    @property
    def id(self) -> str:
        """The Delta table's own id: a table that was removed and created again has another."""
        return str(self.table.metadata().id)

    @property
    def version(self) -> int:
        """The number of the newest commit."""
        return int(self.table.version())

    def brought_by(self, version: int) -> pa.Table:
        """What one commit added (``GROUPS``); nothing where it only rewrote files, as compaction does.

        Raises:
            NotTold: it took rows away, or its log entry or its files are gone by now.
        """
        try:
            with naming_store_faults(self.name, self.warehouse):
                text = self.files.content(f"_delta_log/{version:020}.json")
                return self._groups(_added(json.loads(line) for line in text.splitlines() if line))
        except FileNotFoundError:
            raise LogIncomplete from None

    def everything(self) -> pa.Table:
        """What all commits together added (``GROUPS``), by the files that there are now."""
        found = pa.table(self.table.get_add_actions(flatten=True))
        columns = ("path", "size_bytes", "partition.window")
        rows = zip(*[found[name].to_pylist() for name in columns], strict=True)
        with naming_store_faults(self.name, self.warehouse):
            return self._groups([_Part(*row) for row in rows])

    def _groups(self, parts: Iterable[_Part]) -> pa.Table:
        found = delta_rs.at_once(self._read, parts)
        return merged(pa.concat_tables([GROUPS.empty_table(), *found]))

    def _read(self, part: _Part) -> pa.Table:
        rows = self.files.read(part.name, part.size, _COLUMNS, repeated=_OF_OBJECT)
        # Millions of records have a few names: as numbers they take a sixteenth of the time.
        rows = rows.unify_dictionaries()
        # Line 0 is the mark of an object without records.
        is_record = pc.greater(rows["line"], 0).cast(pa.int64())
        return merged(
            rows.append_column("records", is_record)
            .append_column("first_offset", rows["byte_offset"])
            .append_column("last_offset", rows["byte_offset"])
            .append_column("window", pa.array([part.window] * rows.num_rows, pa.string()))
        )


def merged(rows: pa.Table) -> pa.Table:
    """Rows of ``GROUPS``, those of one window and object generation made one."""
    by = rows.group_by(["window", "object", "generation"])
    found = by.aggregate([("records", "sum"), ("first_offset", "min"), ("last_offset", "max")])
    names = ["window", "object", "generation", "records_sum", "first_offset_min", "last_offset_max"]
    return found.select(names).rename_columns(GROUPS.names).cast(GROUPS)


def _added(actions: Iterable[Mapping[str, Any]]) -> Iterator[_Part]:
    """The files with new records, of the actions of one commit."""
    for action in actions:
        if added := action.get("add"):
            # Compaction moves records into other files: no news.
            if not added["dataChange"]:
                continue
            if added.get("deletionVector"):
                raise LogIncomplete
            yield _Part(unquote(added["path"]), added["size"], added["partitionValues"]["window"])
        elif (removed := action.get("remove")) and removed.get("dataChange", True):
            raise LogIncomplete
