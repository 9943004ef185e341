"""The leases of this process: taken around a step, renewed while it works, and looked at before each commit.

Put here what concerns all leases of a process. Not here: one lease's object (``lease_object``), and locks in a folder
(``assets/locks``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread

from botocore.exceptions import BotoCoreError, ClientError

from assets.delta.lease_object import Lease, LeaseLost
from assets.delta.store_faults import naming_store_faults
from assets.s3 import kept_s3_client

LEASES = "_locks"
"""The folder of the warehouse in which leases are."""

SECONDS = 60
"""How long a lease lasts unless it is renewed: so long the tables of a dead run stay closed."""

_RENEWED_EACH = 3


def is_on_store(warehouse: str) -> bool:
    """Whether an address is one of S3: tables there are guarded by leases."""
    return warehouse.startswith(("s3a://", "s3://"))


@contextmanager
def leased(warehouse: str, name: str, file: str, seconds: int = SECONDS) -> Iterator[None]:
    """Have the lease on this table, by the object ``file`` of the warehouse, and renew it all the while.

    Raises:
        TableBusy: another process has it.
        NoConditions: the store does not keep two writers apart.
        UnreadableWarehouse: the store does not let Weir in.
        WarehouseFailed: the store answers with an error.
    """
    bucket, _, prefix = warehouse.partition("://")[2].partition("/")
    key = "/".join(filter(None, (prefix.strip("/"), LEASES, f"{file}.json")))
    with naming_store_faults(name, warehouse):
        lease = Lease(kept_s3_client(), bucket, key, name, seconds)
        lease.take()
    _KEEPER.keep(warehouse, lease)
    try:
        yield
    finally:
        _KEEPER.leave(lease)
        # One that cannot be released ends by itself.
        with suppress(ClientError, BotoCoreError):
            lease.release()


def check_leases(warehouse: str) -> None:
    """Make sure that no lease on this warehouse's tables was lost: just before a commit.

    Which tables a step writes besides the one that it has locked only the step knows, so all of them count.

    Raises:
        LeaseLost: one was, because this process was held up.
    """
    for lease in _KEEPER.kept(warehouse):
        with naming_store_faults(lease.table, warehouse):
            lease.check()


class _Keeper:
    """The leases that this process has, and the thread that renews them while there are any."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Lease]] = []
        self._mutex = Lock()
        self._thread: Thread | None = None
        self._changed = Event()

    def keep(self, warehouse: str, lease: Lease) -> None:
        with self._mutex:
            self._kept.append((warehouse, lease))
            if self._thread is None:
                self._thread = Thread(target=self._renew_all, name="leases", daemon=True)
                self._thread.start()
            # The new one may be shorter than those that are waited for.
            self._changed.set()

    def leave(self, lease: Lease) -> None:
        with self._mutex:
            self._kept = [one for one in self._kept if one[1] is not lease]
            self._changed.set()

    def kept(self, warehouse: str) -> list[Lease]:
        with self._mutex:
            return [lease for where, lease in self._kept if where == warehouse]

    def _renew_all(self) -> None:
        while True:
            with self._mutex:
                leases = [lease for _, lease in self._kept]
                if not leases:
                    self._thread = None
                    return
                self._changed.clear()
            for lease in leases:
                if lease.is_due(1 / _RENEWED_EACH):
                    # A store that fails is asked again soon; what is lost stays so, and is told before a commit.
                    with suppress(ClientError, BotoCoreError, LeaseLost):
                        lease.renew()
            self._changed.wait(min(lease.seconds for lease in leases) / _RENEWED_EACH / 2)


_KEEPER = _Keeper()
