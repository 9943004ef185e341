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

from assets.delta.in_process_table import DataFile, InProcessTable, at_once
from assets.delta.store_faults import naming_store_faults
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
_COLUMNS = ("window", *_OF_OBJECT, "line", "byte_offset")


class LogIncomplete(Exception):
    """A commit's log entry does not say what bronze holds after it: all of bronze has to be read."""


@dataclass(frozen=True, slots=True)
class BronzeLog:
    """Bronze of one feed as it is at one moment."""

    table: InProcessTable

    @classmethod
    def opened(cls, lake: Lake, feed: Feed) -> BronzeLog | None:
        """Bronze as it is now; None where nothing was ever read."""
        table = lake.in_process_table(Layer.BRONZE, feed.name)
        return cls(table) if table.exists else None

    @property
    def id(self) -> str:
        """The Delta table's own id: a table that was removed and created again has another."""
        return self.table.id

    @property
    def version(self) -> int:
        """The number of the newest commit."""
        return self.table.version

    def brought_by(self, version: int) -> pa.Table:
        """What one commit added (``GROUPS``); nothing where it only rewrote files, as compaction does.

        Raises:
            NotTold: it took rows away, or its log entry or its files are gone by now.
        """
        try:
            with naming_store_faults(self.table.name, self.table.warehouse):
                text = self.table.content(f"_delta_log/{version:020}.json")
                return self._groups(_added(json.loads(line) for line in text.splitlines() if line))
        except FileNotFoundError:
            raise LogIncomplete from None

    def everything(self) -> pa.Table:
        """What all commits together added (``GROUPS``), by the files that there are now."""
        with naming_store_faults(self.table.name, self.table.warehouse):
            return self._groups(self.table.files())

    def _groups(self, parts: Iterable[DataFile]) -> pa.Table:
        found = at_once(self._read, parts)
        return merged(pa.concat_tables([GROUPS.empty_table(), *found]))

    def _read(self, file: DataFile) -> pa.Table:
        rows = self.table.read_file(file, _COLUMNS, repeated=_OF_OBJECT)
        # Millions of records have a few names: as numbers they take a sixteenth of the time.
        rows = rows.unify_dictionaries()
        # Line 0 is the mark of an object without records.
        is_record = pc.greater(rows["line"], 0).cast(pa.int64())
        return merged(
            rows.append_column("records", is_record)
            .append_column("first_offset", rows["byte_offset"])
            .append_column("last_offset", rows["byte_offset"])
        )


def merged(rows: pa.Table) -> pa.Table:
    """Rows of ``GROUPS``, those of one window and object generation made one."""
    by = rows.group_by(["window", "object", "generation"])
    found = by.aggregate([("records", "sum"), ("first_offset", "min"), ("last_offset", "max")])
    names = ["window", "object", "generation", "records_sum", "first_offset_min", "last_offset_max"]
    return found.select(names).rename_columns(GROUPS.names).cast(GROUPS)


def _added(actions: Iterable[Mapping[str, Any]]) -> Iterator[DataFile]:
    """The files with new records, of the actions of one commit."""
    for action in actions:
        if added := action.get("add"):
            # Compaction moves records into other files: no news.
            if not added["dataChange"]:
                continue
            if added.get("deletionVector"):
                raise LogIncomplete
            yield DataFile(unquote(added["path"]), added["size"], 0, added["partitionValues"])
        elif (removed := action.get("remove")) and removed.get("dataChange", True):
            raise LogIncomplete
