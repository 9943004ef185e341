"""Locks on tables: a step that writes one is alone there, and the warehouse's failures become Weir's own errors.

A step reads before it writes, and Delta judges a commit by what was there when its transaction began, which is later
than what the step read; of two appends it lets both in. So a step holds a lock from its first read to its last
commit. In a folder the lock is the operating system's and ends with the process, however that ends; in an object
store it is a lease, which has to be renewed.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from assets.executors.spark_errors import is_of_lost_spark
from assets.storage.lake import Lake
from assets.storage.leases import LOCKS, is_on_store, leased
from assets.storage.store_faults import in_words
from transforms.errors import (
    NoLocks,
    SparkLost,
    TableBusy,
    UnwritableWarehouse,
    WeirError,
)


@contextmanager
def writing(lake: Lake, layer: str, feed: str, table: str | None = None) -> Iterator[None]:
    """Be the only one to write this table of the warehouse, and raise its failures as Weir's own errors.

    Raises:
        TableBusy: another run is writing it.
        NoLocks: two writers could not be kept apart there.
        WarehouseFull: there is no room.
        WarehouseFailed: the store answers with an error.
        SparkLost: Spark ended in the middle of it.
    """
    name = ".".join(filter(None, (layer, feed, table)))
    with naming_spark_faults(lake, name), exclusive(lake, name):
        yield


@contextmanager
def naming_spark_faults(lake: Lake, name: str) -> Iterator[None]:
    """Around what Spark does with this table (``layer.feed.table``): raises the errors that ``writing`` lists."""
    try:
        yield
    except WeirError:
        raise
    except (PySparkException, Py4JError, OSError) as failure:
        if is_of_lost_spark(failure):
            raise SparkLost from None
        explained = in_words(failure, name, lake.warehouse)
        if explained is None:
            raise
        # Java's text is long, and what a person needs of it is in this error.
        raise explained from None


def _file_of(name: str) -> str:
    """The lock's file: a table's own name, which a stream may make longer than any file's, cut short by a digest."""
    encoded = name.encode("utf-8", "surrogatepass")
    # A character may be four bytes.
    return name if len(encoded) <= 240 else f"{name[:40]}.{sha256(encoded).hexdigest()}"


@contextmanager
def exclusive(lake: Lake, name: str) -> Iterator[None]:
    """Be the only one to write this table (``layer.feed.table``).

    Raises:
        TableBusy: another run is writing it.
        NoConditions: the store that keeps it cannot keep two writers apart.
        NoLocks: the file system cannot, or the store is none that Weir knows.
    """
    warehouse = lake.warehouse.removeprefix("file://")
    if is_on_store(warehouse):
        with leased(warehouse, name, _file_of(name), lake.lease_seconds):
            yield
        return
    if "://" in warehouse:
        raise NoLocks(
            lake.warehouse, "Weir has locks for folders and for S3, and this is another store"
        )
    with _opened(Path(warehouse, LOCKS, _file_of(name)), lake.warehouse) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TableBusy(name) from None
        except OSError as fault:
            if fault.errno not in _NO_LOCKS:
                raise
            # Never without one: two runs would each write what they have read before the other wrote.
            said = f"its file system has no locks (flock: {os.strerror(fault.errno)})"
            raise NoLocks(lake.warehouse, said) from None
        yield


@contextmanager
def in_turn(lake: Lake, name: str, patience: float = 10.0) -> Iterator[None]:
    """``exclusive`` for what takes moments: waits so many seconds at most for others.

    Raises:
        TableBusy: another had it all the time.
    """
    until = monotonic() + patience
    with ExitStack() as alone:
        while True:
            try:
                alone.enter_context(exclusive(lake, name))
                break
            except TableBusy:
                if monotonic() > until:
                    raise
                sleep(0.05)
        yield


def _opened(lock: Path, warehouse: str) -> TextIO:
    """The file of a lock, whose folder is the first thing that Weir writes in a warehouse."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        return lock.open("a")
    except OSError as fault:
        if fault.errno == errno.ENOSPC:
            raise
        # Of a folder that is not there it is said by the one that it cannot be made in.
        is_missing = fault.errno == errno.ENOENT
        what = (
            "no folder can be made in it" if is_missing else os.strerror(fault.errno or 0).lower()
        )
        where = next((one for one in lock.parents if one.exists()), lock)
        raise UnwritableWarehouse(warehouse, str(where), what) from None


_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)

_AT_ONCE = 8
"""Maximum number of locks that are taken at a time: each lease is two requests, and one more when it is released."""


@contextmanager
def exclusive_each(lake: Lake, names: Sequence[str]) -> Iterator[Mapping[str, WeirError]]:
    """``exclusive`` for each of these tables, some at a time; gives those that cannot be locked, each with its error.

    Nobody waits here for a lock while holding others, so that the order in which they are taken does not matter: of two
    runs each may get some tables.

    Raises:
        WeirError: none could be locked, and not because other runs have them: it is the store that fails.
        Exception: locking one failed by an error that is not Weir's; all that were taken are released.
    """
    locks = {name: exclusive(lake, name) for name in names}
    taken: dict[str, Future[None]] = {}
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="locks") as threads:
        try:
            for name, lock in locks.items():
                taken[name] = threads.submit(lock.__enter__)
            faults = {name: one.exception() for name, one in taken.items()}
            not_locked = {name: one for name, one in faults.items() if isinstance(one, WeirError)}
            for name, fault in faults.items():
                if fault is not None and name not in not_locked:
                    raise fault
            if not_locked and all(
                one is not None and not isinstance(one, TableBusy) for one in faults.values()
            ):
                raise next(iter(not_locked.values()))
            yield not_locked
        finally:
            # Side by side, too; what fails is raised when all others are released.
            released = [
                threads.submit(locks[name].__exit__, None, None, None)
                for name, one in taken.items()
                if one.exception() is None
            ]
            wait(released)
            for one in released:
                one.result()
