"""What a failure of the warehouse means, in words: no room, another run's commit, an error of the store.

Spark and delta-rs report the same faults in different words; both are recognized here.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from deltalake.exceptions import CommitFailedError, DeltaError

from assets.storage.s3 import client_faults, fault_and_remedy, fault_of_code, is_passing
from transforms.errors import (
    TableBusy,
    UnreadableWarehouse,
    UnwritableWarehouse,
    WarehouseFailed,
    WarehouseFull,
    WeirError,
)

_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_REFUSED = re.compile(r"Permission denied|Read-only file system")
_CONFLICT = re.compile(
    r"io\.delta\.exceptions\.\w*Concurrent\w*|\bDELTA_CONCURRENT_\w+"
    r"|io\.delta\.exceptions\.(?:Metadata|Protocol)Changed\w*|\bDELTA_(?:METADATA|PROTOCOL)_CHANGED"
    # On an object store nobody commits behind a commit that it has not read.
    r"|\bDELTA_MAX_COMMIT_RETRIES_EXCEEDED|A table already exists at"
)
_STORE = re.compile(
    r"software\.amazon\.awssdk\.[\w.]*Exception: ([^\n]*)|(AWS\w+Exception: [^\n]*)"
)
# delta-rs says the whole story of a request, in colours, over several lines.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_OF_OBJECT_STORE = re.compile(r"Error performing [A-Z]+|Generic S3 error|Error after \d+ retries")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"\b([345]\d\d [A-Z][A-Za-z ]+)")


@contextmanager
def naming_store_faults(name: str, warehouse: str) -> Iterator[None]:
    """Around what delta-rs does with a table of this name: raises the warehouse's faults as Weir's own errors.

    Raises:
        TableBusy: another writer has committed meanwhile.
        WarehouseFull: there is no room.
        WarehouseFailed: the store answers with an error.
        UnreadableWarehouse: the store does not let Weir in.
    """
    try:
        yield
    except FileNotFoundError:
        # That a file is gone is the caller's matter: another writer may have put its rows into another.
        raise
    except client_faults() as failure:
        raise _of_client(failure, name, warehouse) from None
    except (DeltaError, OSError) as failure:
        explained = in_words(failure, name, warehouse)
        if explained is None:
            raise
        # The text of delta-rs's error has the store's address and whole answers in it.
        raise explained from None


def in_words(failure: Exception, name: str, warehouse: str) -> WeirError | None:
    """What a failure of the warehouse means to the person who runs Weir; None for any other failure."""
    text = str(failure)
    if _FULL.search(text) or getattr(failure, "errno", None) == errno.ENOSPC:
        return WarehouseFull(name, _room(warehouse))
    if found := _REFUSED.search(text):
        return UnwritableWarehouse(warehouse, name, found[0].lower())
    if isinstance(failure, CommitFailedError) or _CONFLICT.search(text):
        return TableBusy(name)
    if "://" in warehouse:
        if found := _STORE.search(text):
            return WarehouseFailed(name, warehouse, (found[1] or found[2])[:200])
        if _OF_OBJECT_STORE.search(text):
            return _of_object_store(_COLOURS.sub("", text), name, warehouse)
    return None


def _of_client(failure: Exception, name: str, warehouse: str) -> WeirError:
    """What the S3 client tells, with which files beside tables are written."""
    if not isinstance(failure, (BotoCoreError, ClientError)):
        return WarehouseFailed(name, warehouse, "a file could not be transferred")
    fault, remedy = fault_and_remedy(failure, "the warehouse")
    if is_passing(failure):
        return WarehouseFailed(name, warehouse, fault)
    return UnreadableWarehouse(warehouse, fault, remedy)


def _of_object_store(text: str, name: str, warehouse: str) -> WeirError:
    """What delta-rs tells of a store: never quoted, for its text has addresses and whole answers in it."""
    code = _CODE.search(text)
    if code and (known := fault_of_code(code[1], "the warehouse")):
        return UnreadableWarehouse(warehouse, *known)
    if code:
        return WarehouseFailed(name, warehouse, f"the store answers {code[1]}")
    if status := _STATUS.search(text):
        return WarehouseFailed(name, warehouse, f"the store answers {status[1].strip()}")
    return WarehouseFailed(name, warehouse, "nothing answers at the store's address")


def _room(warehouse: str) -> str:
    """How much is free where the tables are, and where Spark keeps its own files while it works."""
    places = {"Spark's own files": os.environ.get("SPARK_LOCAL_DIRS") or tempfile.gettempdir()}
    if "://" not in warehouse:
        places = {"the warehouse": warehouse, **places}
    free = {
        what: f"{shutil.disk_usage(place).free / 2**20:,.1f} MB free in {place} ({what})"
        for what, place in places.items()
        if Path(place).exists()
    }
    return ", ".join(free.values())
