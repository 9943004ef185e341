"""Leases on tables of an object store: taken around a step, renewed while it works, looked at before a commit."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from assets.storage.s3 import kept_s3_client
from assets.storage.store_faults import naming_store_faults
from transforms.errors import LeaseLost, NoConditions, TableBusy

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


LOCKS = "_locks"
"""The folder of the warehouse in which locks and leases are; Delta and its readers do not look there."""

LEASE_SECONDS = 60
"""How long a lease lasts unless it is renewed: so long the tables of a dead run stay closed."""

_RENEWED_EACH = 3


def is_on_store(warehouse: str) -> bool:
    """Whether an address is one of S3: tables there are guarded by leases."""
    return warehouse.startswith(("s3a://", "s3://"))


@contextmanager
def leased(warehouse: str, name: str, file: str, seconds: int = LEASE_SECONDS) -> Iterator[None]:
    """Have the lease on this table, by the object ``file`` of the warehouse, and renew it all the while.

    Raises:
        TableBusy: another process has it.
        NoConditions: the store does not keep two writers apart.
        UnreadableWarehouse: the store does not let Weir in.
        WarehouseFailed: the store answers with an error.
    """
    bucket, _, prefix = warehouse.partition("://")[2].partition("/")
    key = "/".join(filter(None, (prefix.strip("/"), LOCKS, f"{file}.json")))
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


# One lease: a small object in the warehouse's own store. It does not end with its process, as a lock of the operating
# system does. So whoever has it says for how many seconds, and says so again before they are over; once they are,
# another may take it. The store is the judge: each write is conditional on what was there before, and the age of a
# lease is told by the store's clock alone.

_REFUSED = {409, 412}
_CANNOT = {400, 405, 501}
# The store's times are whole seconds, so that a lease may look up to one older than it is.
_ROUNDING = 1.0

_tried: set[tuple[str, str]] = set()


def now() -> float:
    """Seconds by a clock that nobody sets, and that goes on while the machine sleeps where it can."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True)
class _Found:
    """What the store has: the object's text and tag, and the seconds since it was written, by the store's clock."""

    body: bytes
    tag: str
    age: float

    @property
    def says(self) -> dict[str, Any]:
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def is_free(self) -> bool:
        """Whether it was released, or is older than its holder wanted it to become."""
        seconds = self.says.get("seconds", 0)
        return not isinstance(seconds, int) or not seconds or self.age > seconds + _ROUNDING

    @property
    def holder(self) -> str:
        """Who has it, for people."""
        says = self.says
        if not says.get("seconds"):
            return "nobody has it"
        return f"process {says.get('pid')} on {says.get('host')} has it since {says.get('since')}"


# Without slots: what it holds changes.
@dataclass
class Lease:
    """The lease on one table, ``table`` for people, by the object ``key`` of a bucket; ``seconds`` is how long."""

    client: S3Client
    bucket: str
    key: str
    table: str
    seconds: int
    until: float = 0.0
    _tag: str = ""
    _lost_to: str = ""
    _released: bool = False
    _since: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    _mutex: Lock = field(default_factory=Lock)

    def take(self) -> None:
        """Take it, if nobody has it or its holder's time is over.

        Raises:
            TableBusy: somebody has it: with who that is.
            NoConditions: the store does not keep two writers apart.
        """
        found = self._read()
        if found is not None and not found.is_free:
            raise self._busy(found)
        # Before the answer: the store's clock has started no earlier.
        if not self._put({} if found is None else {"IfMatch": found.tag}, self.seconds):
            raise self._busy(self._read())
        self._try_conditions()

    def is_due(self, part: float) -> bool:
        """Whether this part of its time has gone by since it was taken or renewed."""
        return now() >= self.until - self.seconds * (1 - part)

    def renew(self) -> None:
        """Have it for as many seconds again. Nobody has had it meanwhile, for that would have changed the object.

        Raises:
            LeaseLost: somebody else has taken it.
        """
        with self._mutex:
            # Whoever renews may not know yet that it was released.
            if not self._released:
                self._renew()

    def check(self) -> None:
        """Make sure that it is still held: by this machine's clock, and where that says no, by the store.

        Raises:
            LeaseLost: somebody else has taken it.
        """
        with self._mutex:
            if self._lost_to or now() >= self.until:
                self._renew()

    def release(self) -> None:
        """Let another take it at once; nothing where another has taken it already."""
        with self._mutex:
            self._released = True
            if not self._lost_to:
                self._put({"IfMatch": self._tag}, 0)

    def _renew(self) -> None:
        if not self._lost_to and not self._put({"IfMatch": self._tag}, self.seconds):
            found = self._read()
            self._lost_to = "the lease is gone" if found is None else found.holder
        if self._lost_to:
            raise LeaseLost(self.table, self.seconds, self._lost_to)

    def _put(self, condition: dict[str, str], seconds: int) -> bool:
        """Write the object if the condition holds, by default that there is none; false where it does not."""
        body = self._text(seconds)
        began = now()
        try:
            self._tag = self._write(body, condition or {"IfNoneMatch": "*"})
        except ClientError as fault:
            if _status(fault) not in _REFUSED:
                raise
            # A request whose answer was lost is sent again, and then meets what it has written itself.
            found = self._read()
            if found is None or found.body != body:
                return False
            self._tag = found.tag
        self.until = began + seconds
        return True

    def _text(self, seconds: int) -> bytes:
        says = {
            "table": self.table,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": self._since,
            "seconds": seconds,
            # No two texts are the same, and so no two tags.
            "write": uuid4().hex,
        }
        return json.dumps(says).encode()

    def _write(self, body: bytes, condition: dict[str, str]) -> str:
        key = {"Bucket": self.bucket, "Key": self.key}
        put: Any = self.client.put_object
        try:
            return str(put(**key, Body=body, **condition)["ETag"])
        except ClientError as fault:
            if _status(fault) in _CANNOT:
                raise NoConditions(self.bucket) from None
            if _status(fault) == 404:
                # What should match is gone.
                fault.response["ResponseMetadata"]["HTTPStatusCode"] = 412
            raise

    def _read(self) -> _Found | None:
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=self.key)
        except ClientError as fault:
            if _code(fault) == "NoSuchKey":
                return None
            raise
        headers = answer["ResponseMetadata"]["HTTPHeaders"]
        now = parsedate_to_datetime(headers["date"])
        # A server that does not know its zone ("-0000") tells UTC all the same.
        age = (now if now.tzinfo else now.replace(tzinfo=UTC)) - answer["LastModified"]
        return _Found(answer["Body"].read(), answer["ETag"], age.total_seconds())

    def _busy(self, found: _Found | None) -> TableBusy:
        if found is None:
            return TableBusy(self.table)
        left = max(0, int(found.says.get("seconds", 0) - found.age + _ROUNDING))
        return TableBusy(self.table, f"{found.holder}, for {left} s more unless it renews it", left)

    def _try_conditions(self) -> None:
        """Once per store: that writes whose conditions do not hold are refused."""
        store = (self.client.meta.endpoint_url, self.bucket)
        if store in _tried:
            return
        for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"00000000000000000000000000000000"'}):
            try:
                self._write(self._text(0), condition)
            except ClientError as fault:
                if _status(fault) in _REFUSED:
                    continue
                raise
            raise NoConditions(self.bucket)
        _tried.add(store)


def _status(fault: ClientError) -> int:
    return int(fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _code(fault: ClientError) -> str:
    return str(fault.response.get("Error", {}).get("Code", ""))


_KEEPER = _Keeper()
