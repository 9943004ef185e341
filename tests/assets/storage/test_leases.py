"""One writer per table of an object store: leases on a real S3 server, by its clock and by its conditional writes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Thread

import pytest
from botocore.awsrequest import AWSRequest

from assets.storage import leases
from assets.storage.leases import LOCKS, Lease, check_leases, leased
from assets.storage.locks import exclusive, exclusive_each
from orchestration.resources import lake_of
from orchestration.spark.settings import warehouse_uri
from tests.services.seaweed import Store, store
from transforms.errors import LeaseLost, NoConditions, TableBusy

__all__ = ["store"]

pytestmark = pytest.mark.services

WAREHOUSE = "s3a://leases/tables"


@pytest.fixture(autouse=True)
def found(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The store is the one that every client here finds, and has the bucket."""
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.put("leases", {})
    yield


def lease(store: Store, key: str, seconds: int = 60, bucket: str = "leases") -> Lease:
    return Lease(store.client(), bucket, key, "silver.zoo", seconds)


def test_one_has_it_until_it_is_released_and_the_message_says_who(store: Store) -> None:
    first, second = lease(store, "a"), lease(store, "a")
    first.take()
    with pytest.raises(TableBusy, match=r"now \(process \d+ on \S+ has it since .* UTC, for \d+ s"):
        second.take()
    first.renew()
    with pytest.raises(TableBusy):
        second.take()
    first.release()
    second.take()
    # What was released stays so, whoever still wants to renew it.
    first.renew()
    second.check()


def test_of_many_that_want_it_at_once_one_gets_it(store: Store) -> None:
    lease(store, "tried").take()
    for left in ("nothing", "a released one"):
        key = f"race of {left}"
        if left != "nothing":
            before = lease(store, key)
            before.take()
            before.release()
        line = Barrier(6)
        won: list[int] = []

        def run(key: str = key, line: Barrier = line, won: list[int] = won) -> None:
            one = lease(store, key)
            line.wait()
            try:
                one.take()
            except TableBusy:
                return
            won.append(1)

        threads = [Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1, left


def test_what_nobody_renews_another_takes_over_and_the_first_knows_before_it_commits(
    store: Store,
) -> None:
    first, second = lease(store, "old", 1), lease(store, "old", 30)
    first.take()
    with pytest.raises(TableBusy):
        second.take()
    deadline = time.monotonic() + 10
    while True:
        try:
            second.take()
            break
        except TableBusy:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    for act in (first.check, first.renew):
        with pytest.raises(LeaseLost, match=r"^silver.zoo: this run has lost its lease .* has it"):
            act()
    first.release()
    second.check()
    assert json.loads(body_of(store, "old"))["seconds"] == 30


def test_one_that_is_over_and_that_nobody_took_is_held_again(store: Store) -> None:
    one = lease(store, "slept", 1)
    one.take()
    time.sleep(1.1)
    assert one.is_due(1)
    one.check()
    assert not one.is_due(1)


def test_a_step_keeps_its_lease_for_longer_than_it_lasts_and_lets_it_go(store: Store) -> None:
    with leased(WAREHOUSE, "gold.zoo.pets", "gold.zoo.pets", 3):
        time.sleep(5)
        with pytest.raises(TableBusy), leased(WAREHOUSE, "gold.zoo.pets", "gold.zoo.pets", 3):
            pass
        check_leases(WAREHOUSE)
    with leased(WAREHOUSE, "gold.zoo.pets", "gold.zoo.pets"):
        pass


def test_a_lease_that_another_has_taken_stops_the_next_commit(store: Store) -> None:
    with leased(WAREHOUSE, "bronze.zoo", "bronze.zoo"), ExitStack() as other:
        taken = json.dumps({"host": "two", "pid": 7, "since": "noon", "seconds": 60}).encode()
        store.put("leases", {"tables/_locks/bronze.zoo.json": taken})
        check_leases("s3a://elsewhere")
        other.enter_context(pytest.raises(LeaseLost, match="process 7 on two has it since noon"))
        expire(WAREHOUSE)
        check_leases(WAREHOUSE)
    # It is the other's, and was not released.
    assert body_of(store, "tables/_locks/bronze.zoo.json") == taken


def test_a_store_that_ignores_conditions_is_refused(store: Store) -> None:
    def forget(request: AWSRequest, **_: object) -> None:
        for name in ("If-None-Match", "If-Match"):
            del request.headers[name]

    store.put("careless", {})
    one = lease(store, "a", bucket="careless")
    one.client.meta.events.register("before-sign.s3.PutObject", forget)
    with pytest.raises(NoConditions, match="the bucket careless ignores conditional writes"):
        one.take()


def test_the_lock_of_a_table_in_a_store_is_a_lease_as_long_as_the_setting_says(
    store: Store,
) -> None:
    lake = lake_of(WAREHOUSE, {"WEIR_LEASE_SECONDS": "45"})
    with exclusive(lake, "silver.shop"):
        says = json.loads(body_of(store, "tables/_locks/silver.shop.json"))
        assert (says["table"], says["seconds"]) == ("silver.shop", 45)
        with pytest.raises(TableBusy), exclusive(lake, "silver.shop"):
            pass


def test_many_are_taken_at_once_but_for_those_that_others_have_and_all_are_released(
    store: Store, tmp_path: Path
) -> None:
    names = [f"gold.shop.table_{number}" for number in range(20)]
    for lake in (lake_of(WAREHOUSE), lake_of(str(tmp_path))):
        with ExitStack() as others:
            for name in (names[7], names[13]):
                others.enter_context(exclusive(lake, name))
            busy = others.enter_context(exclusive_each(lake, names))
            assert sorted(busy) == [names[13], names[7]]
            assert all(str(fault).startswith(name) for name, fault in busy.items())
            none_left = others.enter_context(exclusive_each(lake, names))
            assert none_left.keys() == {*names}
        with exclusive_each(lake, names) as busy:
            assert not busy


@pytest.mark.parametrize("fault", [NoConditions("leases"), ValueError("not Weir's")], ids=str)
def test_where_one_of_many_cannot_be_taken_the_others_are_and_all_are_released(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    lake, names = lake_of(WAREHOUSE), [f"gold.shop.some_{number}" for number in range(20)]
    take = Lease.take

    def fails(lease: Lease) -> None:
        if lease.table == names[11]:
            raise fault
        take(lease)

    with monkeypatch.context() as patch:
        patch.setattr(Lease, "take", fails)
        if isinstance(fault, NoConditions):
            with exclusive_each(lake, names) as not_locked:
                assert dict(not_locked) == {names[11]: fault}
                assert len(leases._KEEPER.kept(WAREHOUSE)) == len(names) - 1
        else:
            with pytest.raises(ValueError, match="not Weir's"), exclusive_each(lake, names):
                pass
        # Where the store fails for all of them, the next ones are not tried.
        names_of_none = [names[11]]
        with pytest.raises(type(fault)), exclusive_each(lake, names_of_none):
            pass
    assert not leases._KEEPER.kept(WAREHOUSE)
    with exclusive_each(lake, names) as busy:
        assert not busy


def test_a_lock_that_cannot_be_released_is_told_when_all_others_are(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, names = lake_of(WAREHOUSE), [f"gold.shop.stays_{number}" for number in range(20)]
    release = Lease.release

    def fails(lease: Lease) -> None:
        if lease.table == names[3]:
            raise ValueError("not released")
        release(lease)

    with monkeypatch.context() as patch:
        patch.setattr(Lease, "release", fails)
        with pytest.raises(ValueError, match="not released"), exclusive_each(lake, names):
            pass
    with exclusive_each(lake, names) as not_locked:
        assert [*not_locked] == [names[3]]


def test_a_folder_that_is_named_by_an_address_has_locks_like_any_other(tmp_path: Path) -> None:
    assert warehouse_uri(f"file://{tmp_path}/my%20tables") == f"{tmp_path}/my tables"
    lake = lake_of(f"file://{tmp_path}")
    with exclusive(lake, "silver.shop"):
        assert (tmp_path / LOCKS / "silver.shop").exists()
        with pytest.raises(TableBusy), exclusive(lake_of(str(tmp_path)), "silver.shop"):
            pass


def body_of(store: Store, key: str) -> bytes:
    return store.client().get_object(Bucket="leases", Key=key)["Body"].read()


def expire(warehouse: str) -> None:
    """As if this process had not been allowed to work for long."""
    for one in leases._KEEPER.kept(warehouse):
        one.until = 0.0
