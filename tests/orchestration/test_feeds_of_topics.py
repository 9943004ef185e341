"""Feeds of topics on a real broker: how they are onboarded, and the sensor that runs the windows of new records."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from assets.landing import kafka
from assets.landing.probe import probe_landing
from assets.onboarding import sample
from orchestration import definitions
from orchestration.observability.run_tags import windows_of_run
from orchestration.resources import lake_of
from tests.services.kafka import Broker, Sent
from tests.support.onboarded import onboarded
from transforms.errors import FormatUnclear, LandingAway, UnreadableLanding
from transforms.feed.feed import Feed

pytestmark = pytest.mark.services

THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""
HOUR = 3_600_000
FAR = 4_102_444_800_000
"""The year 2100."""


class Look:
    """The sensor over a topic, tick after tick."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.repository = definitions.build([feed], lake_of("/nowhere", {})).get_repository_def()
        self.sensor = self.repository.get_sensor_def(f"{feed.name}_drops")
        self.cursor: str | None = None
        self.reason: str | None = None

    def __call__(self) -> list[str]:
        """The windows that this tick asks for."""
        with dg.DagsterInstance.ephemeral() as instance:
            context = dg.build_sensor_context(
                instance=instance, cursor=self.cursor, repository_def=self.repository
            )
            tick = self.sensor.evaluate_tick(context)
        self.cursor = tick.cursor or self.cursor
        self.reason = tick.skip_message
        return [
            window
            for one in tick.run_requests or []
            for window in (
                [one.partition_key]
                if one.partition_key is not None
                else windows_of_run(self.feed, one.tags)
            )
        ]


def feed_of(address: str, topic: str) -> Feed:
    return Feed("shop", "arcion_s3_json", f"kafka://{address}/{topic}")


def test_records_ask_for_their_windows_once_in_whatever_order_they_come(broker: Broker) -> None:
    broker.create("asked", partitions=2)
    look = Look(feed_of(broker.address, "asked"))
    assert look() == []
    broker.send(
        "asked",
        [
            Sent(b"a", at=THREE + HOUR),
            Sent(b"late", at=THREE),
            Sent(None, at=THREE + 1, partition=1),
            Sent(b"to come", at=FAR, partition=1),
        ],
    )
    assert look() == ["2025-11-20T03", "2025-11-20T04"]
    assert look() == []
    assert look.reason is not None
    assert look.reason.startswith(f"no new records in {look.feed.landing}: asked/0 up to offset 2,")
    # The window of the far future waits, and is not forgotten.
    assert look.cursor is not None
    assert json.loads(look.cursor)["waiting"] == [["2100-01-01T00", "2100-01-01T00"]]

    broker.send("asked", [Sent(b"later still", at=THREE)])
    assert look() == ["2025-11-20T03"]
    broker.create("asked")
    broker.send("asked", [Sent(b"of the topic made anew", at=THREE + 2 * HOUR)])
    assert look() == ["2025-11-20T05"]


def test_a_transaction_that_hangs_does_not_look_as_if_nothing_came(broker: Broker) -> None:
    broker.create("hung")
    look = Look(feed_of(broker.address, "hung"))
    pending = broker.begun("hung", [Sent(b"pending", at=THREE)])
    broker.send("hung", [Sent(b"behind", at=THREE + HOUR)])
    assert look() == []
    assert look.reason is not None
    assert "hung/0: 2 offsets from 0 on wait for the end of a transaction" in look.reason
    pending.commit_transaction(30)
    assert look() == ["2025-11-20T03", "2025-11-20T04"]
    assert look() == []
    assert "transaction" not in str(look.reason)


def test_a_look_is_bounded_and_goes_on_where_it_stopped(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("much")
    broker.send("much", [Sent(b"x", at=THREE + n * HOUR) for n in range(3)])
    feed = feed_of(broker.address, "much")
    monkeypatch.setattr(kafka, "LOOK_SECONDS", 0.0)
    windows, offsets, _ = kafka.new_windows(feed, {})
    assert (windows, [*offsets.values()]) == (set(), [0])
    monkeypatch.undo()
    windows, offsets, _ = kafka.new_windows(feed, offsets)
    assert (len(windows), [*offsets.values()]) == (3, [3])


def test_the_cursor_of_a_long_topic_stays_short_and_forgets_no_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    windows = [f"{begin + timedelta(hours=number):%Y-%m-%dT%H}" for number in range(12_000)]
    found, offsets = {*windows}, {"t/0 id": 12_000}
    monkeypatch.setattr(kafka, "new_windows", lambda *_: (found, offsets, ()))
    look = Look(feed_of("nowhere:1", "t"))
    assert look() == windows[:744]
    found = set()
    asked = windows[:744]
    for _ in range(9):
        asked += look()
    assert asked == windows[: 10 * 744]
    assert look.cursor is not None
    cursor = json.loads(look.cursor)
    assert cursor["waiting"] == [[windows[10 * 744], windows[-1]]]
    # Those asked for last, which may be asked for again.
    assert [*cursor["windows"]] == windows[9 * 744 : 10 * 744]
    assert len(look.cursor) < 40_000
    # A window that was asked for long ago gets a record.
    found, offsets = {windows[0]}, {"t/0 id": 12_001}
    assert look() == [windows[0], *windows[10 * 744 : 11 * 744 - 1]]


def test_a_broker_that_is_away_fails_the_tick_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assets.landing.kafka.PATIENCE", 1.0)
    with pytest.raises(LandingAway, match="the broker does not answer"):
        kafka.new_windows(feed_of("127.0.0.1:1", "t"), {})


def message(number: int, op: str = "c") -> Sent:
    """One change of a city, with its key."""
    row = {"id": number, "name": f"city {number}"}
    source = {"connector": "postgresql", "db": "town", "schema": "public", "table": "city"}
    value = {
        **{"op": op, "before": None, "after": row, "ts_ms": THREE + number},
        "source": {**source, "lsn": 10 + number, "ts_ms": THREE + number},
    }
    return Sent(json.dumps(value).encode(), json.dumps({"id": number}).encode(), at=THREE + number)


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
    broker.send("rubbish", [Sent(bytes(range(255, -1, -1))), Sent(None), Sent(b"[1, 2]")])
    with pytest.raises(FormatUnclear, match="of no format"):
        onboarded(f"kafka://{broker.address}/rubbish")
