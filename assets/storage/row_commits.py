"""A commit to a Delta table that takes single rows away by deletion vectors and adds rows in files of their own.

delta-rs reads deletion vectors and writes none: to change a row it writes each file anew that has one of the rows. So
this process writes such a commit itself, by Delta's protocol
(https://github.com/delta-io/delta/blob/master/PROTOCOL.md): the new files, one file of vectors, and the log's entry,
which is refused where another writer has taken its number.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote
from uuid import UUID, uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from assets.storage.data_files import statistics
from assets.storage.s3 import kept_s3_client
from transforms.errors import TableBusy

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
"""The numbers of rows in a file, counted from 0, those that are marked as deleted among them."""

FEATURE: Final = "deletionVectors"
PROPERTY: Final = "delta.enableDeletionVectors"

_MAGIC: Final = struct.pack("<i", 1681511377)
_Z85: Final = bytes.maketrans(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
)
_LEGACY: Final = {
    2: ("appendOnly", "invariants"),
    3: ("appendOnly", "invariants", "checkConstraints"),
}
"""The features that a table of an older version of writers has without naming them."""

ROW_GROUP: Final = 100_000
ROWS_OF_A_FILE: Final = 200_000
MOST_FILES: Final = 4
"""How many files new rows are written into side by side at most, each with at least so many of them."""

NOTE: Final = "weirNote"
"""What an entry of the log says of Weir's own work, in its ``commitInfo``."""


def note_of(entry: bytes) -> Mapping[str, Any]:
    """The note of an entry of the log; empty where it has none."""
    for line in entry.splitlines():
        if line.strip() and (info := json.loads(line).get("commitInfo")) is not None:
            found: Mapping[str, Any] = info.get(NOTE) or {}
            return found
    return {}


class NotReadable(Exception):
    """The log has something that this process does not read: another kind of checkpoint, or entries that are gone."""


@dataclass(frozen=True, slots=True)
class Log:
    """What the newest version of a table's log says: its files by their paths, each as its ``add`` was written.

    ``protocol`` and ``metadata``: the newest of these actions; None where no entry since the checkpoint has one and the
    checkpoint was not asked.
    """

    files: Mapping[str, Mapping[str, Any]]
    protocol: Mapping[str, Any]
    metadata: Mapping[str, Any]


def read_log(version: int, content: Callable[[str], bytes]) -> Log:
    """The log as of this version; ``content`` reads a file by its path below the table.

    Raises:
        NotReadable: see there.
    """
    start, found = 0, _Replay({}, {}, {})
    try:
        hint = json.loads(content("_delta_log/_last_checkpoint"))
    except FileNotFoundError:
        hint = None
    if hint is not None and int(hint["version"]) <= version:
        if hint.get("parts") or hint.get("v2Checkpoint"):
            raise NotReadable
        start = int(hint["version"])
        data = content(f"_delta_log/{start:020}.checkpoint.parquet")
        found.take_checkpoint(pq.read_table(pa.BufferReader(data)))
        start += 1
    for number in range(start, version + 1):
        try:
            entry = content(f"_delta_log/{number:020}.json")
        except FileNotFoundError:
            raise NotReadable from None
        for line in entry.splitlines():
            if line.strip():
                found.take(json.loads(line))
    return Log(found.files, found.protocol, found.metadata)


@dataclass(slots=True)
class _Replay:
    """The state of a table while its log is read."""

    files: dict[str, Mapping[str, Any]]
    protocol: Mapping[str, Any]
    metadata: Mapping[str, Any]

    def take(self, action: Mapping[str, Any]) -> None:
        if (add := action.get("add")) is not None:
            self.files[unquote(add["path"])] = add
        elif (remove := action.get("remove")) is not None:
            path = unquote(remove["path"])
            known = self.files.get(path)
            # One entry may take a file away with its old vector and add it with another, in any order.
            if known is not None and _vector_id(known) == _vector_id(remove):
                del self.files[path]
        elif (protocol := action.get("protocol")) is not None:
            self.protocol = protocol
        elif (metadata := action.get("metaData")) is not None:
            self.metadata = metadata

    def take_checkpoint(self, rows: pa.Table) -> None:
        if "sidecar" in rows.column_names and rows["sidecar"].null_count < rows.num_rows:
            raise NotReadable
        for name in ("protocol", "metaData", "add"):
            column = rows[name]
            for one in column.filter(column.is_valid()).to_pylist(maps_as_pydicts="strict"):
                self.take({name: _without_parsed(one)})


def _without_parsed(action: Mapping[str, Any]) -> dict[str, Any]:
    """An action of a checkpoint as an entry of the log writes it."""
    return {name: value for name, value in action.items() if not name.endswith("_parsed")}


def _vector_id(action: Mapping[str, Any]) -> tuple[Any, ...] | None:
    vector = action.get("deletionVector")
    if not vector:
        return None
    return vector["storageType"], vector["pathOrInlineDv"], vector.get("offset")


@dataclass(frozen=True, slots=True)
class RowCommit:
    """What one commit changes.

    ``marked``: by the paths of files, which of their rows are deleted afterwards, those that were so before included.
    ``gone``: files that go. ``rows``: those that come, in files one after the other.
    """

    marked: Mapping[str, Numbers]
    gone: frozenset[str]
    rows: pa.Table


def actions_of(
    log: Log, commit: RowCommit, write: Callable[[str, bytes], None]
) -> list[dict[str, Any]]:
    """The entry of the log that a commit is; its files are written by ``write`` (a path below the table, the bytes)."""
    now = int(time.time() * 1000)
    said = [_info(commit, now)]
    if commit.marked:
        said += _with_vectors(log)
    descriptors = _written_vectors(commit.marked, write)
    for path in sorted({*commit.marked, *commit.gone}):
        add = log.files[path]
        said.append({"remove": _removed(add, now)})
        if path in descriptors:
            said.append({"add": _marked(add, descriptors[path])})
    files = max(1, min(commit.rows.num_rows // ROWS_OF_A_FILE, MOST_FILES))
    ends = [number * commit.rows.num_rows // files for number in range(files + 1)]
    parts = [commit.rows.slice(start, end - start) for start, end in pairwise(ends) if start < end]
    with ThreadPoolExecutor(MOST_FILES) as threads:
        said += threads.map(lambda rows: _written(rows, write, now), parts)
    return said


def _written(
    rows: pa.Table, write: Callable[[str, bytes], None], now: int
) -> dict[str, dict[str, Any]]:
    """The action that adds a new file of these rows."""
    path = f"part-00000-{uuid4()}-c000.snappy.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=ROW_GROUP)
    data = sink.getvalue()
    stats = statistics(pq.read_metadata(pa.BufferReader(data)))
    write(path, data)
    added = {"path": path, "partitionValues": {}, "size": data.size, "modificationTime": now}
    return {"add": {**added, "dataChange": True, "stats": stats}}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Files that take the place of others, row for row or with rows left out: by the path of the old one the new rows.

    ``is_news``: whether those who follow the table are to look at them again. ``note``: what the entry is to say of the
    work that it is part of.
    """

    files: Mapping[str, pa.Table]
    is_news: bool
    note: Mapping[str, Any]


def actions_of_rewritten(
    log: Log, rewritten: Rewritten, write: Callable[[str, bytes], None]
) -> list[dict[str, Any]]:
    """The entry of the log that puts files in place of others; it says nothing of the rows that were in those.

    An entry without files is one, too: the newest entry of the log then says nothing of any rows.
    """
    now = int(time.time() * 1000)
    told = {"timestamp": now, "operation": "UPDATE", "operationParameters": {}}
    counts = {"num_removed_files": len(rewritten.files)}
    said: list[dict[str, Any]] = [
        {
            "commitInfo": {
                **told,
                "engineInfo": "weir",
                "operationMetrics": counts,
                NOTE: rewritten.note,
            }
        }
    ]
    for path, rows in sorted(rewritten.files.items()):
        add = log.files[path]
        said.append({"remove": {**_removed(add, now), "dataChange": rewritten.is_news}})
        if not rows.num_rows:
            continue
        folder, slash, _ = str(add["path"]).rpartition("/")
        new = f"{folder}{slash}part-00000-{uuid4()}-c000.snappy.parquet"
        sink = pa.BufferOutputStream()
        # As silver's files are: a reader of a few keys passes over most pages.
        pq.write_table(
            *(rows, sink), row_group_size=ROW_GROUP, write_page_index=True, max_rows_per_page=2_000
        )
        data = sink.getvalue()
        write(unquote(new), data)
        added = {
            **{"path": new, "partitionValues": add.get("partitionValues") or {}},
            **{"size": data.size, "modificationTime": now, "dataChange": rewritten.is_news},
            "stats": statistics(pq.read_metadata(pa.BufferReader(data))),
        }
        said.append({"add": added})
    return said


def _info(commit: RowCommit, now: int) -> dict[str, Any]:
    counts = {
        "num_added_rows": commit.rows.num_rows,
        "num_removed_files": len(commit.gone),
        "num_files_with_deletion_vectors": len(commit.marked),
    }
    told = {
        "timestamp": now,
        "operation": "UPDATE",
        "operationParameters": {},
        "engineInfo": "weir",
    }
    return {"commitInfo": {**told, "operationMetrics": counts}}


def _with_vectors(log: Log) -> Iterator[dict[str, Any]]:
    """The actions that let a table have deletion vectors, where it may not have them yet."""
    configuration = log.metadata.get("configuration") or {}
    if configuration.get(PROPERTY) != "true":
        yield {"metaData": {**log.metadata, "configuration": {**configuration, PROPERTY: "true"}}}
    if FEATURE in (log.protocol.get("readerFeatures") or ()):
        return
    writer = int(log.protocol["minWriterVersion"])
    features = log.protocol.get("writerFeatures") or _LEGACY.get(writer, ())
    readers = log.protocol.get("readerFeatures") or ()
    yield {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": sorted({*readers, FEATURE}),
            "writerFeatures": sorted({*features, FEATURE}),
        }
    }


def may_be_written(log: Log, checked: Collection[str]) -> bool:
    """Whether ``actions_of`` does for the table what its properties and features ask of a writer.

    ``checked``: the properties of constraints that are known to hold for the rows.
    """
    configuration = log.metadata.get("configuration") or {}
    if log.metadata.get("partitionColumns") or configuration.get("delta.appendOnly") == "true":
        return False
    if any(one.startswith("delta.constraints.") and one not in checked for one in configuration):
        return False
    schema = log.metadata["schemaString"]
    if "delta.invariants" in schema or not all(
        one["nullable"] for one in json.loads(schema)["fields"]
    ):
        return False
    if any(add.get("stats") is None or "/" in add["path"] for add in log.files.values()):
        return False
    if log.protocol.get("readerFeatures"):
        return FEATURE in (log.protocol.get("writerFeatures") or ())
    return int(log.protocol["minWriterVersion"]) in (*_LEGACY, 7)


def _written_vectors(
    marked: Mapping[str, Numbers], write: Callable[[str, bytes], None]
) -> dict[str, dict[str, Any]]:
    """The descriptors of the vectors, which are written into one file."""
    if not marked:
        return {}
    name, content, found = uuid4(), bytearray(b"\x01"), {}
    for path, numbers in marked.items():
        vector = vector_of(numbers)
        found[path] = {
            "storageType": "u",
            "pathOrInlineDv": z85(name),
            "offset": len(content),
            "sizeInBytes": len(vector),
            "cardinality": len(numbers),
        }
        content += struct.pack(">i", len(vector)) + vector
        content += struct.pack(">I", binascii.crc32(vector))
    write(f"deletion_vector_{name}.bin", bytes(content))
    return found


def vector_of(numbers: Numbers) -> bytes:
    """The numbers of deleted rows as Delta's protocol writes them: a magic number and a portable bitmap."""
    bitmap = BitMap64(numbers.astype(np.uint64))
    bitmap.run_optimize()
    return _MAGIC + bitmap.serialize()


def z85(name: UUID) -> str:
    """The name of a file of vectors as the log has it."""
    return base64.b85encode(name.bytes).translate(_Z85).decode()


def _removed(add: Mapping[str, Any], now: int) -> dict[str, Any]:
    kept = ("path", "partitionValues", "size", "tags", "deletionVector")
    told = {name: add[name] for name in kept if add.get(name) is not None}
    return {**told, "deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}


def _marked(add: Mapping[str, Any], vector: Mapping[str, Any]) -> dict[str, Any]:
    """A file's ``add`` with another vector; its bounds hold, though the rows that gave them may be deleted."""
    stats = {**json.loads(add["stats"]), "tightBounds": False}
    told = {name: value for name, value in add.items() if value is not None}
    return {**told, "dataChange": True, "stats": json.dumps(stats), "deletionVector": dict(vector)}


def commit_local(path: Path, lines: bytes, name: str) -> None:
    """Write an entry of the log, whole or not at all.

    Raises:
        TableBusy: there is one of that number.
    """
    draft = path.with_name(f".{path.name}.{uuid4()}.tmp")
    draft.write_bytes(lines)
    try:
        os.link(draft, path)
    except FileExistsError:
        raise TableBusy(name) from None
    finally:
        draft.unlink()


def write_to_store(path: str, data: bytes) -> None:
    """Write a file into a store."""
    bucket, _, key = path.partition("://")[2].partition("/")
    # In parts, where one request would be too large.
    kept_s3_client().upload_fileobj(BytesIO(data), bucket, key)


def listed_in_store(path: str) -> list[str]:
    """Every object below a path of a store, by what its key has behind the path's."""
    bucket, _, prefix = path.partition("://")[2].partition("/")
    pages = kept_s3_client().get_paginator("list_objects_v2")
    found = pages.paginate(Bucket=bucket, Prefix=f"{prefix}/")
    return [
        one["Key"].removeprefix(f"{prefix}/") for page in found for one in page.get("Contents", ())
    ]


def remove_from_store(path: str, names: Sequence[str]) -> None:
    """Remove these objects below a path of a store."""
    bucket, _, prefix = path.partition("://")[2].partition("/")
    for name in names:
        kept_s3_client().delete_object(Bucket=bucket, Key=f"{prefix}/{name}")


def commit_to_store(path: str, lines: bytes, name: str) -> None:
    """Write an entry of the log into a store, which refuses it where there is one of that number.

    Raises:
        TableBusy: there is one.
    """
    from botocore.exceptions import ClientError

    bucket, _, key = path.partition("://")[2].partition("/")
    try:
        kept_s3_client().put_object(Bucket=bucket, Key=key, Body=lines, IfNoneMatch="*")
    except ClientError as fault:
        status = fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status in (409, 412):
            raise TableBusy(name) from None
        raise


def entry_of(actions: list[dict[str, Any]]) -> bytes:
    """The actions as the log has them: a line each."""
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in actions]
    return ("\n".join(lines) + "\n").encode()
