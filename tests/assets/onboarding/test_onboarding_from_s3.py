"""Landings in a real S3 server: sampled within bounds, and named where they fail."""

from __future__ import annotations

import json

import pytest

from assets.landing import probe
from assets.landing.probe import probe_landing
from assets.onboarding import sample
from tests.services.seaweed import Store
from tests.support.onboarded import onboarded
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed

pytestmark = pytest.mark.services


def envelope(number: int) -> bytes:
    image = {"id": str(number), "name": "Rex"}
    record = {
        "tableName": {"namespace": {"catalog": "zoo", "schema": "s"}, "name": "pets"},
        **{"opType": "I", "cursor": None, "before": dict.fromkeys(image, "null")},
        **{"after": image, "exists": dict.fromkeys(image, "1"), "operationcount": "{}"},
    }
    return json.dumps(record).encode()


@pytest.fixture
def bucket(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store, with what a client needs to know of it in the environment."""
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    return store


def test_a_prefix_of_s3_is_onboarded(bucket: Store) -> None:
    objects = {f"zoo/2026-11-20/{hour:02}/part.json": envelope(hour) for hour in range(5)}
    bucket.put("onboard", {**objects, "zoo_old/a.csv": b"1,2\n"})
    found = onboarded("s3://onboard/zoo")
    assert (found.feed.name, found.feed.landing) == ("zoo", "s3://onboard/zoo/")
    assert found.evidence.format == "arcion_s3_json"
    assert found.keys == {"pets": ["id"]}
    assert [row["id"] for row in found.gold()["pets"]] == [0, 1, 2, 3, 4]
    assert "2026-11-20T00 to 2026-11-20T04" in found.draft.text


def test_of_a_large_bucket_little_is_listed_and_read(
    bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MOST_LISTED", 3)
    monkeypatch.setattr(sample, "MOST_OF_OBJECT", 1_000)
    monkeypatch.setattr(probe, "MOST_LISTED", 3)
    many = b"\n".join(envelope(number) for number in range(100))
    bucket.put("large", {f"{number}.json": many for number in range(6)})
    told: list[str] = []
    found = sample.sample_landing(Feed("large", "", "s3://large/", files="**"), 2, told.append)
    assert (found.listed, found.is_all_listed) == (3, False)
    assert len(found.objects) == len(told) == 2
    assert all(one.is_cut and len(one.data) == 1_000 for one in found.objects)
    seen = probe_landing(Feed("large", "arcion_s3_json", "s3://large/"))
    assert (seen.drops, seen.is_all) == (3, False)


def test_what_s3_refuses_is_said_with_a_remedy(
    bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnreadableLanding, match=r"there is no such bucket|does not exist"):
        onboarded("s3://no-such-bucket/zoo/")
    bucket.put("empty", {})
    with pytest.raises(UnreadableLanding, match="no drop is there yet"):
        onboarded("s3://empty/")
    assert (
        probe_landing(Feed("zoo", "debezium", "s3://empty/")).in_words() == "reachable, and empty"
    )
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(UnreadableLanding, match=r"cannot read s3://empty/"):
        onboarded("s3://empty/")
    quarantined = probe_landing(Feed("zoo", "debezium", "s3://empty/"))
    assert quarantined.fault is not None
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert probe_landing(Feed("zoo", "debezium", "s3://empty/")).fault is not None
