"""A step is tried again after a fault that may pass by itself, and not after one that somebody has to repair."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg
import pytest
from pyspark.errors import PySparkException

from assets import retries
from assets.executors.spark_errors import raise_clearly
from assets.landing.landings import open_landing
from assets.retries import retried, seconds_to_wait
from assets.storage import step_faults
from assets.storage.step_faults import passes
from transforms.errors import (
    FeedMisdeclared,
    LandingAway,
    TableBusy,
    TablesFailed,
    UnreadableLanding,
    WarehouseFailed,
    WarehouseFull,
    WeirError,
    WorkerLost,
)
from transforms.feed.feed import Feed
from transforms.task_errors import TaskFailed

AWAY = LandingAway("shop", "s3://drops", "nothing answers", "Run again.")
FAILED = WarehouseFailed("silver.shop", "s3://lake", "the store answers 503")
MISDECLARED = FeedMisdeclared("shop.yaml", "tables", "there is no key")


def tries(faults: Sequence[Exception], *, is_generator: bool) -> tuple[bool, int]:
    """Whether a step succeeds that meets these faults, one in each try, and how often it was tried."""
    left, count = [*faults], 0

    def work() -> None:
        nonlocal count
        count += 1
        if left:
            raise left.pop(0)

    def plain(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[str]
    ) -> dg.MaterializeResult[None]:
        assert lake == "here"
        work()
        return dg.MaterializeResult()

    def results(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[str]
    ) -> Iterator[dg.MaterializeResult[None]]:
        assert lake == "here"
        work()
        yield dg.MaterializeResult()

    decorate = dg.multi_asset(specs=[dg.AssetSpec("one")], name="one")
    asset = decorate(retried(results if is_generator else plain))
    with dg.DagsterInstance.ephemeral() as instance:
        given: dict[str, Any] = {"instance": instance, "resources": {"lake": "here"}}
        done = dg.materialize([asset], raise_on_error=False, **given)
    return done.success, count


@pytest.mark.parametrize("is_generator", [False, True])
def test_what_passes_is_tried_again_and_what_does_not_is_not(*, is_generator: bool) -> None:
    assert tries([AWAY, FAILED], is_generator=is_generator) == (True, 3)
    assert tries([MISDECLARED], is_generator=is_generator) == (False, 1)
    assert tries([AWAY, MISDECLARED], is_generator=is_generator) == (False, 2)
    # Often enough.
    assert tries([AWAY] * 4, is_generator=is_generator) == (False, 4)


def test_a_table_that_a_machine_has_is_waited_for_until_its_lease_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "WAITS", (3.0, 9.0, 27.0))
    assert [seconds_to_wait(TableBusy("silver.shop"), done) for done in range(3)] == [3, 9, 27]
    held = TableBusy("gold.shop.a", "process 1 on etl-2 has it", 52.0)
    assert [seconds_to_wait(held, done) for done in range(3)] == [53, 53, 53]
    assert seconds_to_wait(TableBusy("gold.shop.a", "process 1 on etl-2 has it", 1.0), 0) == 3
    with pytest.raises(TablesFailed) as raised:
        step_faults.refuse_failed_tables("shop", {"a": held, "b": FAILED})
    assert seconds_to_wait(raised.value, 0) == 53


NOBODYS = ValueError("of nobody")


@pytest.mark.parametrize(
    ("faults", "is_passing"),
    [
        *[([one], True) for one in (AWAY, FAILED, TableBusy("silver.shop"), WorkerLost())],
        *[([one], False) for one in (MISDECLARED, WarehouseFull("silver.shop", "none"), NOBODYS)],
        ([UnreadableLanding("shop", "s3://drops", "access is denied", "Ask.")], False),
        ([FAILED, TableBusy("gold.shop.b")], True),
        ([FAILED, MISDECLARED], False),
        ([FAILED, NOBODYS], False),
    ],
)
def test_a_fault_passes_by_itself_and_so_do_several_tables_where_each_does(
    faults: Sequence[Exception], *, is_passing: bool
) -> None:
    with pytest.raises((TablesFailed, WeirError)) as raised:
        step_faults.refuse_failed_tables("shop", dict(zip("ab", faults, strict=False)))
    assert passes(raised.value) == is_passing


def test_a_store_that_does_not_answer_is_away_and_one_that_refuses_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = Feed("shop", "arcion_s3_json", "s3://drops/in")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    with pytest.raises(LandingAway, match="nothing answers at the store's address"):
        [*open_landing(feed).list()]
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "no address")
    with pytest.raises(UnreadableLanding) as raised:
        [*open_landing(feed).list()]
    assert not passes(raised.value)


def test_a_landing_that_is_away_is_still_away_when_it_comes_out_of_a_task() -> None:
    with pytest.raises(LandingAway, match="nothing answers"), raise_clearly():
        raise TaskFailed(AWAY)
    with pytest.raises(LandingAway, match="nothing answers"), raise_clearly():
        raise PySparkException(str(TaskFailed(AWAY)))
