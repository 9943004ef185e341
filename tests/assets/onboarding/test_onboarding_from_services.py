"""Landings in a real S3 server and topics of a real Kafka broker: sampled within bounds, and named where they fail."""

from __future__ import annotations

import json

import pytest

from assets.landing import probe
from assets.landing.probe import probe_landing
from assets.onboarding import sample
from tests.services.kafka import Broker, Sent
from tests.services.seaweed import Store
from tests.support.onboarded import onboarded
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.onboarding.recognition import FormatUnclear

pytestmark = pytest.mark.services

THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""


def message(number: int, op: str = "c") -> Sent:
    """One change of a city, with its key."""
    row = {"id": number, "name": f"city {number}"}
    source = {"connector": "postgresql", "db": "town", "schema": "public", "table": "city"}
    value = {
        **{"op": op, "before": None, "after": row, "ts_ms": THREE + number},
        "source": {**source, "lsn": 10 + number, "ts_ms": THREE + number},
    }
    return Sent(json.dumps(value).encode(), json.dumps({"id": number}).encode(), at=THREE + number)


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


def test_a_topic_is_onboarded(broker: Broker) -> None:
    broker.create("town.public.city", partitions=2)
    broker.send("town.public.city", [message(number) for number in range(4)])
    found = onboarded(f"kafka://{broker.address}/town.public.city")
    assert found.feed.name == "town_public_city"
    assert found.evidence.format == "debezium"
    assert found.keys == {"city": ["id"]}
    # The messages have keys, so that it is no guess.
    assert found.proposal.notes == ()
    assert [row["name"] for row in found.gold()["city"]] == [f"city {n}" for n in range(4)]
    assert found.preview.quarantined == ()


def test_of_a_long_topic_the_beginning_and_the_end_are_read(broker: Broker) -> None:
    broker.create("long")
    broker.send("long", [message(number) for number in range(1_000)])
    feed = Feed("long", "debezium", f"kafka://{broker.address}/long")
    found = sample.sample_landing(feed, 1, lambda _: None)
    offsets = [one.byte_offset for one in found.of_topics]
    assert offsets == [*range(50), *range(950, 1_000)]
    assert found.listed == 1_000
    seen = probe_landing(feed)
    assert seen.in_words().startswith("reachable, 1,000 records, newest 2025-11-20 03:00")


def test_topics_that_are_empty_or_not_there_or_hold_rubbish_say_so(broker: Broker) -> None:
    broker.create("nothing")
    with pytest.raises(UnreadableLanding, match="no record is there yet"):
        onboarded(f"kafka://{broker.address}/nothing")
    feed = Feed("nothing", "debezium", f"kafka://{broker.address}/nothing")
    assert probe_landing(feed).in_words() == "reachable, and empty"
    with pytest.raises(UnreadableLanding, match="there is no such topic"):
        onboarded(f"kafka://{broker.address}/nowhere")
    with pytest.raises(UnreadableLanding, match="the broker does not answer"):
        onboarded("kafka://127.0.0.1:1/nowhere")
    broker.create("rubbish")
    broker.send("rubbish", [Sent(bytes(range(256))), Sent(None), Sent(b"[1, 2]")])
    with pytest.raises(FormatUnclear, match="of no format"):
        onboarded(f"kafka://{broker.address}/rubbish")
