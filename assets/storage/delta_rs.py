"""How delta-rs enters the warehouse in this process, and what it keeps of tables that it has read."""

from __future__ import annotations

import logging
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TypeAlias
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs as fs
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from assets.storage.leases import is_on_store
from assets.storage.patience import ANSWER_SECONDS, ATTEMPTS, CONNECT_SECONDS
from assets.storage.s3 import aws_session, kept_s3_client

_PATIENCE = {
    "connect_timeout": f"{CONNECT_SECONDS}s",
    "timeout": f"{ANSWER_SECONDS}s",
    "max_retries": str(ATTEMPTS - 1),
    "retry_timeout": "30s",
}

CHANGE_FEED = "delta.enableChangeDataFeed"
"""Others can follow a table change by change where this property is on: table_changes() in Spark SQL."""


def options(warehouse: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """delta-rs's settings for this warehouse; none for a folder.

    Credentials are those that boto3 finds (variables, a profile, the machine's role), as it does for a landing.
    """
    if not is_on_store(warehouse):
        return {}
    # A commit is a file that must not be there yet, and the store is the judge of it.
    settings = {"aws_conditional_put": "etag", **_PATIENCE}
    session = aws_session()
    region = environment.get("AWS_REGION") or session.region_name
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        settings["aws_endpoint_url"] = endpoint
        settings["aws_allow_http"] = str(endpoint.startswith("http://")).lower()
        # Stores other than Amazon's seldom resolve a host per bucket, nor care for the region.
        settings["aws_virtual_hosted_style_request"] = "false"
        region = region or "us-east-1"
    if region:
        settings["aws_region"] = region
    found = session.get_credentials()
    if found is not None:
        frozen = found.get_frozen_credentials()
        settings["aws_access_key_id"] = frozen.access_key or ""
        settings["aws_secret_access_key"] = frozen.secret_key or ""
        settings["aws_session_token"] = frozen.token or ""
    return {name: value for name, value in settings.items() if value}


def address(path: str) -> str:
    """The path as delta-rs takes it: of a store it is an URL, in which `#`, `?` and `%` of a table's name would act.

    delta-rs 1.6.6 decodes it twice when it opens a table, so that no name may have ``%`` before two hexadecimal digits
    (``transforms/feed/names.UNFIT``).
    """
    scheme, separator, rest = path.partition("://")
    return f"{scheme}{separator}{quote(rest)}" if separator else path


def opened(path: str, warehouse: str) -> DeltaTable | None:
    """The Delta table at this path of the warehouse, as it is now; None where there is none."""
    settings = options(warehouse)

    def read() -> DeltaTable:
        return DeltaTable(address(path), storage_options=settings)

    try:
        return lent(path, settings, read)
    except TableNotFoundError:
        return None


def newest_version(path: str, warehouse: str) -> int:
    """The number of the newest commit of the table at this path; -1 where there is no table.

    In a folder the names of its log tell it, and the log is not read.
    """
    if is_on_store(path):
        table = opened(path, warehouse)
        return -1 if table is None else int(table.version())
    try:
        names = [one.name for one in Path(path, "_delta_log").iterdir()]
    except FileNotFoundError:
        return -1
    commits = [one for one in names if one[:20].isdigit() and one.endswith((".json", ".parquet"))]
    return max((int(one[:20]) for one in commits), default=-1)


def folders(path: str, warehouse: str) -> frozenset[str]:
    """The names of the folders in this one of the warehouse; none where it is not there."""
    try:
        handler = DeltaStorageHandler(address(path), options(warehouse))
    except TableNotFoundError:
        return frozenset()
    found = fs.PyFileSystem(handler).get_file_info(fs.FileSelector("", allow_not_found=True))
    return frozenset(one.base_name for one in found if one.type == fs.FileType.Directory)


def conformed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with these columns, and null in those that they do not have."""
    cells = [
        rows[one.name].cast(one.type)
        if one.name in rows.column_names
        else pa.nulls(rows.num_rows, one.type)
        for one in schema
    ]
    return pa.table(cells, schema=schema)


# What this process has read of Delta tables, so that it is not fetched again. To open a table is to read its log since
# the last checkpoint, of a store by a dozen requests or more, and the steps of a small window open its tables some
# twenty times; one request, or one look into the folder, says whether the newest commit is still the one that was read.
# Names of commits come again where a table is removed and made again, so that these are told apart by the store's tags,
# in a folder by their digests. Of a store contents of small data files are kept, too: Delta never writes another file
# under a file's name.

_LOG = logging.getLogger(__name__)

MOST_TABLES, MOST_FILES = 64, 20_000
"""Maximum numbers of tables that are kept, and of their data files: delta-rs takes some kilobytes for each file."""

SILENT = 60.0
"""Seconds in which a store that could not be asked for its newest commit is not asked, and tables are opened again."""

MOST_OF_ONE, MOST_OF_ALL = 256 << 10, 32 << 20
"""Bytes: a larger data file is read each time, and what was not read for longest is given up for what is read now."""

File: TypeAlias = tuple[str, str, int]
"""The table's root, the file's path below it, and how many bytes the table's log says that it has."""

# What a file's name and its place among the others take.
_COST = 500

_Key: TypeAlias = tuple[int, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Kept:
    """A table as it was read: the number of its newest commit, what tells that commit from others, its data files."""

    # The settings have the secret key among them.
    key: _Key = field(repr=False)
    table: DeltaTable
    version: int
    tag: str
    files: pa.Table


class LentTable(DeltaTable):
    """A kept table in use. Who uses a table may change it, so that each is lent once, until nobody has it any more.

    What takes ``_table`` out of it and outlives it would share it with the next user.
    """

    def __init__(self, kept: _Kept) -> None:
        # What delta-rs knows of the table is shared, not copied.
        self.__dict__.update(kept.table.__dict__)
        self.kept = kept
        weakref.finalize(self, _put_back, kept).atexit = False


_KEPT: OrderedDict[_Key, _Kept] = OrderedDict()
# A table may come back while another is put away: whenever memory is tidied.
_MUTEX = RLock()


@dataclass(slots=True)
class _Silence:
    """Until when the store is not asked, by the clock of ``monotonic``."""

    until: float = 0.0


_SILENCE = _Silence()


def lent(path: str, settings: Mapping[str, str], read: Callable[[], DeltaTable]) -> DeltaTable:
    """The table at this path (a folder, or ``s3a://bucket/key``) as it is now: a kept one, or what ``read`` returns.

    ``settings``: delta-rs's for the store. A table that was read with others is not lent.
    """
    key = (os.getpid(), path, tuple(sorted(settings.items())))
    with _MUTEX:
        kept = _KEPT.pop(key, None)
    if kept is not None and _tag_of_newest(path, kept.version) == kept.tag:
        return LentTable(kept)
    table = read()
    files = _files_of(table)
    tag = _tag_of_newest(path, table.version()) if files.num_rows <= MOST_FILES else None
    if tag is None:
        return table
    return LentTable(_Kept(key, table, table.version(), tag, files))


def note_commit(table: DeltaTable) -> None:
    """Note that this table was just changed by a commit, after which it is as it is in the store."""
    if not isinstance(table, LentTable):
        return
    kept = table.kept
    if kept.tag:
        kept.version, kept.files = table.version(), _files_of(table)
        kept.tag = _tag_of_newest(kept.key[1], kept.version) or ""


def files_of(table: DeltaTable) -> pa.Table:
    """What the log says of each data file: one row each, with delta-rs's columns; of a lent table it is known."""
    if isinstance(table, LentTable) and table.kept.version == table.version():
        return table.kept.files
    return _files_of(table)


def _files_of(table: DeltaTable) -> pa.Table:
    return pa.table(table.get_add_actions(flatten=True))


def _put_back(kept: _Kept) -> None:
    # Without a tag, or with another version: a commit that was not noted.
    if not kept.tag or kept.table.version() != kept.version:
        return
    with _MUTEX:
        other = _KEPT.pop(kept.key, None)
        if other is not None and other.version > kept.version:
            kept = other
        for key in [one for one in _KEPT if one[:2] == kept.key[:2]]:
            # By settings that are over: a session's token, say.
            _KEPT.pop(key, None)
        _KEPT[kept.key] = kept
        while (
            len(_KEPT) > MOST_TABLES
            or sum(one.files.num_rows for one in _KEPT.values()) > MOST_FILES
        ):
            _KEPT.popitem(last=False)


def _tag_of_newest(path: str, version: int) -> str | None:
    """What tells the commit with this number from another of its name: the store's tag, or a digest.

    None where it is not the newest, and where that is not known.
    """
    if not is_on_store(path):
        return _digest_of_newest(f"{path}/_delta_log", version)
    if monotonic() < _SILENCE.until:
        return None
    bucket, _, prefix = path.partition("://")[2].partition("/")
    log = f"{prefix}/_delta_log/"
    commit = f"{log}{version:020}.json"
    try:
        # Names are in order, and "jso" comes before "json".
        answer = kept_s3_client().list_objects_v2(
            Bucket=bucket, Prefix=log, StartAfter=commit[:-1], MaxKeys=2
        )
    except Exception as fault:  # reading the table is tried next, and says what the matter is
        _LOG.warning(
            "the newest commit of %s cannot be asked for (%s); tables are read anew for %.0f s",
            *(path, type(fault).__name__, SILENT),
        )
        _SILENCE.until = monotonic() + SILENT
        return None
    found = answer.get("Contents", [])
    if not found or found[0]["Key"] != commit:
        return None
    if len(found) < 2 and answer.get("IsTruncated"):
        # A store may give fewer than it was asked for, and there are more.
        return None
    # Behind the newest commit come only names without a number: ``_last_checkpoint``.
    if len(found) > 1 and (
        found[1]["Key"] < commit or found[1]["Key"].removeprefix(log)[:1].isdigit()
    ):
        return None
    return found[0].get("ETag")


_BEGINNING = 8 << 10
"""Bytes of a commit that tell it from others: its first lines have its time, and ids that Delta gives once."""


def _digest_of_newest(log: str, version: int) -> str | None:
    """``_tag_of_newest`` of a table in a folder."""
    try:
        with Path(log, f"{version:020}.json").open("rb") as commit:
            size, beginning = os.fstat(commit.fileno()).st_size, commit.read(_BEGINNING)
        if Path(log, f"{version + 1:020}.json").exists():
            return None
    except OSError:
        return None
    return f"{size}-{sha256(beginning).hexdigest()}"


@dataclass(slots=True)
class _Shelf:
    """The contents, those that were read last behind the others, and how many bytes they take."""

    contents: OrderedDict[File, bytes] = field(default_factory=OrderedDict)
    size: int = 0


_SHELF = _Shelf()


def kept_content(file: File) -> bytes | None:
    """The whole content of this data file, where it is kept."""
    with _MUTEX:
        if file in _SHELF.contents:
            _SHELF.contents.move_to_end(file)
        return _SHELF.contents.get(file)


def keep_content(file: File, data: bytes) -> None:
    """Keep a content that could be read as what it is."""
    if len(data) > MOST_OF_ONE or len(data) != file[2]:
        return
    with _MUTEX:
        if file not in _SHELF.contents:
            _SHELF.contents[file] = data
            _SHELF.size += len(data) + _COST
        while _SHELF.size > MOST_OF_ALL:
            _, given_up = _SHELF.contents.popitem(last=False)
            _SHELF.size -= len(given_up) + _COST
