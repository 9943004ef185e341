"""The sensor of a feed whose landing is a topic of a real broker: the windows of new records are run."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from assets.landing import kafka
from orchestration import definitions
from orchestration.observability.run_tags import windows_of_run
from orchestration.resources import lake_of
from tests.services.kafka import Broker, Sent
from transforms.errors import LandingAway
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
    monkeypatch.setattr(kafka, "SECONDS", 0.0)
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
