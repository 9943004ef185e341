"""Delta tables of an object store as this process last read them: one without a commit since is not read anew.

To open a table is to read its log since the last checkpoint, a dozen requests or more, and a small window opens its
tables some thirty times. One request says whether the newest commit is still the one that was read. Put here how a
table that was read is kept and lent. Not here: opening it (``delta_rs``), and tables in a folder, where reading a log
costs next to nothing.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import TypeAlias

import pyarrow as pa
from botocore.exceptions import BotoCoreError, ClientError
from deltalake import DeltaTable

from assets.s3 import kept_s3_client

MOST_TABLES, MOST_FILES = 64, 5_000
"""So many tables are kept, none with more data files than that: what delta-rs knows of them is in memory."""

_Key: TypeAlias = tuple[int, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Kept:
    """A table as it was read: the number of its newest commit, and the store's tag of that commit's object."""

    key: _Key
    table: DeltaTable
    version: int
    tag: str


class LentTable(DeltaTable):
    """A kept table in use. Who uses a table may change it, so that each is lent once, until nobody has it any more."""

    def __init__(self, kept: _Kept) -> None:
        # What delta-rs knows of the table is shared, not copied.
        self.__dict__.update(kept.table.__dict__)
        self.kept = kept
        weakref.finalize(self, _put_back, kept).atexit = False


_KEPT: OrderedDict[_Key, _Kept] = OrderedDict()
# A table may come back while another is put away: whenever memory is tidied.
_MUTEX = RLock()


def opened(path: str, settings: Mapping[str, str], read: Callable[[], DeltaTable]) -> DeltaTable:
    """The table at this path (``s3a://bucket/key``) as it is now: a kept one, or else what ``read`` returns.

    ``settings``: delta-rs's for the store. A table that was read with others is not lent.
    """
    key = (os.getpid(), path, tuple(sorted(settings.items())))
    with _MUTEX:
        kept = _KEPT.pop(key, None)
    if kept is not None and _tag_of_newest(path, kept.version) == kept.tag:
        return LentTable(kept)
    table = read()
    tag = _tag_of_newest(path, table.version())
    if tag is None or pa.table(table.get_add_actions()).num_rows > MOST_FILES:
        return table
    return LentTable(_Kept(key, table, table.version(), tag))


def committed(table: DeltaTable) -> None:
    """Note that this table was just changed by a commit, after which it is as it is in the store."""
    if isinstance(table, LentTable):
        kept = table.kept
        kept.version, kept.tag = table.version(), _tag_of_newest(kept.key[1], table.version()) or ""


def _put_back(kept: _Kept) -> None:
    # A commit that was not noted, or a look at an earlier version.
    if not kept.tag or kept.table.version() != kept.version:
        return
    with _MUTEX:
        other = _KEPT.get(kept.key)
        if other is None or other.version < kept.version:
            _KEPT[kept.key] = kept
        _KEPT.move_to_end(kept.key)
        while len(_KEPT) > MOST_TABLES:
            _KEPT.popitem(last=False)


def _tag_of_newest(path: str, version: int) -> str | None:
    """The store's tag of the commit with this number; None where it is not the newest, and where that is not known."""
    bucket, _, prefix = path.partition("://")[2].partition("/")
    log = f"{prefix}/_delta_log/"
    commit = f"{log}{version:020}.json"
    try:
        answer = kept_s3_client().list_objects_v2(
            # Names are in order, and "jso" comes before "json".
            Bucket=bucket,
            Prefix=log,
            StartAfter=commit[:-1],
            MaxKeys=2,
        )
    except (ClientError, BotoCoreError):
        # Reading the table is tried next, and says what the matter is.
        return None
    found = answer.get("Contents", [])
    if not found or found[0]["Key"] != commit:
        return None
    # Behind the newest commit come only names without a number: ``_last_checkpoint``.
    if len(found) > 1 and found[1]["Key"].removeprefix(log)[:1].isdigit():
        return None
    return found[0]["ETag"]
