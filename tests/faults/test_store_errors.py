"""An S3 server that answers with errors: the run reports them, and the next run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.faults.damage import damage
from tests.faults.drawn import SEED, Drawn, draw, feed_of
from tests.faults.unreliable import Unreliable, unreliable
from tests.services.seaweed import Store
from tests.support.pet_feed import bring
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed

pytestmark = [pytest.mark.journey, pytest.mark.services]

SHARE = 0.2


@pytest.fixture
def proxy(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Unreliable]:
    """The store behind a proxy that fails when told to; every client here finds the proxy."""
    with unreliable(store.endpoint) as running:
        for name, value in replace(store, endpoint=running.endpoint).environment().items():
            monkeypatch.setenv(name, value)
            # Tasks were born with the environment that the session began with.
            monkeypatch.setitem(spark.sparkContext.environment, name, value)
        yield running


@pytest.fixture
def drawn(store: Store) -> Drawn:
    """Three windows in a bucket."""
    some = draw(SEED + 3, windows=3, histories=20)
    store.put("faults", some.objects())
    return some


@pytest.fixture
def feed() -> Feed:
    return feed_of("s3://faults/")


def is_listing(method: str, path: str) -> bool:
    return "list-type" in path


def is_object(method: str, path: str) -> bool:
    return method == "GET" and "list-type" not in path


FAULTS = [
    (503, is_listing, "the store asks to slow down"),
    (500, is_listing, "the store answers InternalError"),
    (503, is_object, "the store asks to slow down"),
    (500, is_object, "the store answers InternalError"),
]


def test_a_landing_that_answers_errors_stops_the_run_and_the_next_one_goes_on(
    proxy: Unreliable, drawn: Drawn, feed: Feed, tmp_path: Path, tell: Callable[..., None]
) -> None:
    lake, reference = lake_of(str(tmp_path / "tables")), lake_of(str(tmp_path / "undisturbed"))
    bring(reference, feed)
    for status, strikes, said in FAULTS:
        proxy.status, proxy.strikes = status, strikes
        with pytest.raises(
            UnreadableLanding, match=rf"feed faults: cannot read s3://faults/.*{said}.*Run again"
        ):
            bring(lake, feed)
        assert not lake.table(Layer.BRONZE, "faults").exists()
    assert proxy.failed >= len(FAULTS)
    proxy.strikes = lambda method, path: False
    bring(lake, feed)
    found = damage(lake, reference, drawn)
    tell("landing in S3 answers 500 or 503 to everything", len(FAULTS), *found.counts)
    assert found.counts == (0, 0), str(found)


def test_errors_now_and_then_are_tried_again_without_a_word(
    proxy: Unreliable, drawn: Drawn, feed: Feed, tmp_path: Path, tell: Callable[..., None]
) -> None:
    lake, reference = lake_of(str(tmp_path / "tables")), lake_of(str(tmp_path / "undisturbed"))
    bring(reference, feed)
    rng = Random(f"errors {SEED}")
    proxy.status, proxy.strikes = 503, lambda method, path: rng.random() < SHARE
    for window in drawn.windows:
        bring(lake, feed, [window])
    assert proxy.failed > 0
    found = damage(lake, reference, drawn)
    tell(f"landing in S3 answers 503 to {SHARE:.0%} of requests", proxy.failed, *found.counts)
    assert found.counts == (0, 0), str(found)
