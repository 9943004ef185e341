"""Topics on a real Kafka broker become bronze: every record once, as it is, in the window of its timestamp."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from confluent_kafka import KafkaError, Message
from pyspark.sql import Row

from assets.audit.status import status_of
from assets.bronze import from_topics
from assets.bronze.checks import offset_checks, offset_gaps_in
from assets.bronze.from_topics import AppendedRecords
from assets.control import ledger
from assets.executors import choice
from assets.executors.choice import (
    AUTO,
    BYTES_OF_A_ROW,
    CHANGES_OF_AN_OFFSET,
    IN_PROCESS,
    ROWS_OF_A_CHANGE,
    SPARK,
)
from assets.landing import kafka, kafka_offsets, read_topics
from assets.landing.kafka import ClientErrors
from assets.landing.kafka_offsets import Range
from assets.storage.lake import Lake, Layer
from orchestration.cli import status
from orchestration.runs import planning
from tests.services.kafka import PASSWORD, USER, Broker, Sent
from transforms.errors import OffsetsLost, TableBusy, UnreadableLanding
from transforms.feed.feed import CheckSetting, Feed

pytestmark = pytest.mark.services

HOUR = 3_600_000
THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""


def feed_of(broker: Broker, *topics: str, address: str | None = None) -> Feed:
    landing = f"kafka://{address or broker.address}/{','.join(topics)}"
    return Feed("shop", "arcion_s3_json", landing)


def land(lake: Lake, feed: Feed) -> tuple[AppendedRecords, list[str]]:
    """One run, and what it said besides how far it was."""
    said: list[str] = []
    arrived = from_topics.land(lake, feed, said.append)
    return arrived, [line for line in said if " read in " not in line]


def rows(lake: Lake) -> list[Row]:
    """Bronze in the order of the topics, without marks."""
    table = lake.table(Layer.BRONZE, "shop").read().where("line > 0")
    return table.orderBy("object", "generation", "byte_offset").collect()


def values(lake: Lake) -> list[bytes | None]:
    return [row["payload"] and bytes(row["payload"]) for row in rows(lake)]


@pytest.fixture
def lake(lake: Lake, request: pytest.FixtureRequest) -> Lake:
    return lake.by(getattr(request, "param", AUTO))


either_way = pytest.mark.parametrize("lake", [IN_PROCESS, SPARK], indirect=True)
"""How few records are read: as they are, and as many would be."""


def test_few_records_are_read_without_spark_and_more_with_it(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(Exception):
        """Spark was to start."""

    def ask(_: Lake) -> NoReturn:
        raise Asked

    broker.create("few", partitions=3)
    feed = feed_of(broker, "few")
    broker.send("few", [Sent(b"%d" % n, partition=n % 3) for n in range(30)])
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "spark", property(ask))
        # Enough for the offsets, and not for the bytes of their records; not for the offsets; too many partitions.
        weight = 30 * CHANGES_OF_AN_OFFSET * ROWS_OF_A_CHANGE * BYTES_OF_A_ROW
        monkeypatch.setattr(choice, "BYTES_OF_A_FETCH", weight)
        for memory in (weight, weight - 1):
            with pytest.raises(Asked):
                land(lake.by(AUTO, memory=memory), feed)
        monkeypatch.undo()
        patch.setattr(read_topics, "MOST_RANGES", 2)
        with pytest.raises(Asked):
            land(lake, feed)
        patch.setattr(read_topics, "MOST_RANGES", 3)
        assert land(lake.by(AUTO, memory=weight), feed)[0].executor == IN_PROCESS
    assert sorted(int(value or b"") for value in values(lake)) == [*range(30)]


@either_way
def test_a_record_is_kept_as_it_is_with_its_place_and_its_window(
    lake: Lake, broker: Broker
) -> None:
    broker.create("kept", partitions=2)
    key = b"\x00\x00\x00\xff\xfe\x00\x80\x01"
    headers = [("trace", b"1"), ("trace", b"\xff"), ("none", None)]
    broker.send(
        "kept",
        [
            Sent(b'{"a": 1}\n', b"text", headers, at=THREE + 1),
            Sent(None, key, at=THREE + HOUR),
            Sent(b"", None, at=THREE - 1),
            Sent(b"\xff\x00", b"", at=THREE, partition=1),
        ],
    )

    arrived, _ = land(lake, feed_of(broker, "kept"))

    assert arrived.records == {"2025-11-20T02": 1, "2025-11-20T03": 2, "2025-11-20T04": 1}
    assert arrived.offsets == ["kept/0: offsets 0 to 2", "kept/1: offsets 0 to 0"]
    assert arrived.beyond(["2025-11-20T03"]) == ["2025-11-20T02", "2025-11-20T04"]
    first, second, third, fourth = rows(lake)
    assert first.asDict(recursive=True) == {
        **{"window": "2025-11-20T03", "object": "kept/0", "generation": broker.topic_id("kept")},
        **{"line": 1, "byte_offset": 0, "header": None, "defect": None, "key": bytearray(b"text")},
        **{"payload": bytearray(b'{"a": 1}\n'), "landed_at": first["landed_at"]},
        "headers": [{"key": key, "value": value and bytearray(value)} for key, value in headers],
    }
    assert [
        (row["object"], row["line"], row["byte_offset"], row["key"], row["payload"], row["window"])
        for row in (second, third, fourth)
    ] == [
        ("kept/0", 2, 1, key, None, "2025-11-20T04"),
        ("kept/0", 3, 2, None, b"", "2025-11-20T02"),
        ("kept/1", 1, 0, b"", b"\xff\x00", "2025-11-20T03"),
    ]
    assert second["headers"] is None
    millis = lake.table(Layer.BRONZE, "shop").read().selectExpr("unix_millis(landed_at) AS at")
    assert sorted(row["at"] for row in millis.collect()) == [
        THREE - 1,
        THREE,
        THREE + 1,
        THREE + HOUR,
    ]


def test_a_second_run_reads_what_is_new_and_nothing_twice(lake: Lake, broker: Broker) -> None:
    broker.create("twice", partitions=2)
    broker.send("twice", [Sent(b"a"), Sent(b"b", partition=1)])
    feed = feed_of(broker, "twice")
    land(lake, feed)
    assert land(lake, feed)[0].records == {}

    # Late by its timestamp, and behind what was read by its offset: offsets decide.
    broker.send("twice", [Sent(b"late", at=THREE), Sent(b"c", partition=1)])
    arrived, _ = land(lake, feed)

    assert arrived.offsets == ["twice/0: offsets 1 to 1", "twice/1: offsets 1 to 1"]
    assert sum(arrived.records.values()) == 2
    assert arrived.records["2025-11-20T03"] == 1
    assert values(lake) == [b"a", b"late", b"b", b"c"]


@either_way
def test_only_committed_records_are_read_and_an_open_transaction_waits(
    lake: Lake, broker: Broker
) -> None:
    broker.create("bank")
    broker.transaction("bank", [Sent(b"paid")], commit=True)
    broker.transaction("bank", [Sent(b"cancelled")], commit=False)
    feed = feed_of(broker, "bank")
    land(lake, feed)
    assert values(lake) == [b"paid"]

    # The offsets behind it hold no record: that they were looked at is known, and nothing is lost when they go.
    assert ledger.read_offsets(lake, feed)["bank/0", broker.topic_id("bank")].next_offset == 4
    broker.transaction("bank", [Sent(b"paid again")], commit=True)
    broker.delete_before("bank", 4)
    pending = broker.begun("bank", [Sent(b"pending")])
    broker.send("bank", [Sent(b"behind")])
    open_there = "bank/0: 2 offsets from 6 on wait for the end of a transaction that is open there"
    assert land(lake, feed)[1] == [f"bronze.shop: {open_there}"]
    assert values(lake) == [b"paid", b"paid again"]
    # It does not look as if nothing had come.
    assert planning.due(lake, feed).undecided == (open_there,)
    assert f"  not to be read yet: {open_there}" in [
        *status.status_lines(feed, status_of(lake, feed))
    ]
    pending.commit_transaction(30)
    assert land(lake, feed)[1] == []
    assert planning.due(lake, feed).undecided == ()
    assert values(lake) == [b"paid", b"paid again", b"pending", b"behind"]


@either_way
def test_gaps_of_a_compacted_topic_are_no_loss(lake: Lake, broker: Broker) -> None:
    settings = {"cleanup.policy": "compact", "segment.ms": "100"}
    broker.create("compacted", settings={**settings, "min.cleanable.dirty.ratio": "0.001"})
    for number in range(3):
        broker.send("compacted", [Sent(b"%d" % number, b"k"), Sent(b"x%d" % number, b"l")])
        broker.pause(0.15)
    broker.send("compacted", [Sent(b"end", b"m")])
    broker.wait_until_gone("compacted", offset=0)

    feed = feed_of(broker, "compacted")
    arrived, said = land(lake, feed)
    (warning,) = arrived.warnings
    assert said == [f"bronze.shop: {warning}"]
    assert "topic compacted is compacted (cleanup.policy: compact)" in warning
    found = [row["byte_offset"] for row in rows(lake)]
    assert 0 not in found
    assert found[-1] == 6
    assert values(lake)[-3:] == [b"2", b"x2", b"end"]
    assert land(lake, feed)[0].ranges == ()


@either_way
def test_offsets_without_a_record_are_counted_for_whom_asks_and_compaction_is_no_gap(
    lake: Lake, broker: Broker
) -> None:
    broker.create("plain")
    broker.create("ended")
    broker.send("plain", [Sent(b"one"), Sent(b"two")])
    # The ends of two transactions, and the record of one that was aborted.
    broker.transaction("ended", [Sent(b"paid")], commit=True)
    broker.transaction("ended", [Sent(b"cancelled")], commit=False)
    feed = feed_of(broker, "plain", "ended")
    assert land(lake, feed)[0].gaps == {}
    broker.send("plain", [Sent(b"three")])
    broker.transaction("ended", [Sent(b"paid")], commit=True)
    asked = replace(feed, checks={"offsets_have_no_gap": CheckSetting(at_most=1)})
    arrived, _ = land(lake, asked)
    assert arrived.gaps == {"ended/0": 1}
    (passed,) = offset_checks(lake, asked, arrived.gaps, ["2025-11-20T03"])
    (failed,) = offset_checks(lake, asked, {"ended/0": 2}, ["2025-11-20T03"])
    assert (passed.passed, failed.passed) == (True, False)
    assert "- `ended/0: 2 without a record" in str(failed.description)
    assert offset_checks(lake, feed, {}, ["2025-11-20T03"]) == []
    partition = arrived.ranges[0].partition
    whole = [Range(partition, 0, 10)]
    assert offset_gaps_in(whole, {partition.name: 7}, []) == {partition.name: 3}
    assert offset_gaps_in(whole, {partition.name: 7}, [partition.topic]) == {}
    assert offset_gaps_in(whole, {partition.name: 10}, []) == {}


def test_topics_that_kafka_compacts_are_named_as_far_as_the_broker_says_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("kept_whole")
    broker.create("both_ways", settings={"cleanup.policy": "compact,delete"})
    (line,) = kafka.compacted_topics(feed_of(broker, "kept_whole", "both_ways"))
    assert "topic both_ways is compacted (cleanup.policy: compact,delete)" in line
    # Where the broker refuses the question or does not answer, no topic is named, and there is no error.
    monkeypatch.setattr(kafka, "PATIENCE", 1.0)
    assert kafka.compacted_topics(feed_of(broker, "nowhere")) == ()
    assert kafka.compacted_topics(feed_of(broker, "t", address="127.0.0.1:1")) == ()


def test_what_retention_took_before_it_was_read_is_an_error_with_its_number(
    lake: Lake, broker: Broker
) -> None:
    broker.create("short", partitions=2)
    broker.send("short", [Sent(b"0"), Sent(b"1"), Sent(b"2", partition=1)])
    feed = feed_of(broker, "short")
    land(lake, feed)
    broker.send("short", [Sent(b"3"), Sent(b"4"), Sent(b"5"), Sent(b"6", partition=1)])
    broker.delete_before("short", 4)

    with pytest.raises(OffsetsLost) as caught:
        land(lake, feed)
    assert caught.value.lost == {"short/0": 2}
    assert str(caught.value) == (
        "feed shop: Kafka has deleted 2 offsets that were never read (short/0: 2 offsets, 2 to 3). Nothing was read. "
        "If they can be had elsewhere, bring them back first; to go on without them, write `accept_loss: {short/0: 4}` "
        "into the feed file: what lies below these offsets is given up."
    )
    assert len(rows(lake)) == 3

    # Accepted as far as the error said, and no further.
    _, said = land(lake, replace(feed, accepted_losses={"short/0": 4}))
    assert said == ["bronze.shop: short/0: 2 offsets below 4 are lost, as the feed file accepts"]
    assert values(lake) == [b"0", b"1", b"5", b"2", b"6"]
    assert land(lake, feed)[1] == []
    broker.send("short", [Sent(b"7"), Sent(b"8")])
    broker.delete_before("short", 6)
    with pytest.raises(OffsetsLost, match="5 to 5"):
        land(lake, replace(feed, accepted_losses={"short/0": 4}))


def test_what_was_gone_before_the_first_read_is_reported(lake: Lake, broker: Broker) -> None:
    # Its broker gives the timestamps: what the producer says counts for nothing.
    broker.create("old", settings={"message.timestamp.type": "LogAppendTime"})
    broker.send("old", [Sent(b"0"), Sent(b"1"), Sent(b"2", at=THREE)])
    broker.delete_before("old", 2)
    arrived, said = land(lake, feed_of(broker, "old"))
    assert "2025-11-20T03" not in arrived.records
    assert said == ["bronze.shop: old/0: the first 2 offsets were gone before it was first read"]
    assert values(lake) == [b"2"]


def test_a_topic_that_was_made_again_is_read_from_its_start(lake: Lake, broker: Broker) -> None:
    broker.create("again")
    broker.send("again", [Sent(b"a"), Sent(b"b")])
    feed = feed_of(broker, "again")
    land(lake, feed)
    before = broker.topic_id("again")
    broker.create("again")
    broker.send("again", [Sent(b"c")])

    _, said = land(lake, feed)

    assert len(said) == 1
    assert said[0].startswith(
        "bronze.shop: topic again was deleted and created again: it is read from its start"
    )
    found = {(row["generation"], bytes(row["payload"])) for row in rows(lake)}
    now = broker.topic_id("again")
    assert found == {(before, b"a"), (before, b"b"), (now, b"c")}
    assert land(lake, feed)[1] == []


def test_two_runs_at_once_read_nothing_twice(lake: Lake, broker: Broker) -> None:
    broker.create("both")
    broker.send("both", [Sent(b"a")])
    feed = feed_of(broker, "both")
    refused: list[TableBusy] = []

    def meanwhile(_: str) -> None:
        with pytest.raises(TableBusy) as caught:
            from_topics.land(lake, feed, lambda text: None)
        refused.append(caught.value)

    broker.send("both", [Sent(b"b")])
    broker.delete_before("both", 1)
    # The warning on what was gone is said while the run still holds the table.
    from_topics.land(lake, feed, meanwhile)
    assert refused
    assert values(lake) == [b"b"]


def test_two_machines_at_one_warehouse_read_nothing_twice(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("race")
    broker.send("race", [Sent(b"a")])
    feed, look = feed_of(broker, "race"), kafka.look_at_topics
    # An object store knows no locks.
    monkeypatch.setattr(from_topics, "writing", lambda *_: nullcontext())

    def look_while_another_reads(of: Feed) -> list[kafka_offsets.Partition]:
        monkeypatch.setattr(kafka, "look_at_topics", look)
        land(lake, of)
        return look(of)

    monkeypatch.setattr(kafka, "look_at_topics", look_while_another_reads)
    # The step tries again by itself.
    with pytest.raises(TableBusy):
        land(lake, feed)
    land(lake, feed)
    assert values(lake) == [b"a"]

    broker.send("race", [Sent(b"b")])
    land(lake, feed)
    assert values(lake) == [b"a", b"b"]


def test_where_transactions_end_is_asked_before_where_all_else_does(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = ("bank.transaction", "bank.savings")
    for topic in topics:
        broker.create(topic)
        broker.send(topic, [Sent(b"1")])
    answers, asked = kafka.broker_answers, 0

    def while_a_transaction_ends(*question: Any) -> Any:
        nonlocal asked
        found, asked = answers(*question), asked + 1
        # The topics, their first offsets and what is written are known; what may be read is asked next.
        if asked == 3:
            broker.send("bank.savings", [Sent(b"2")])
            broker.send("bank.transaction", [Sent(b"2")])
        return found

    monkeypatch.setattr(kafka, "broker_answers", while_a_transaction_ends)
    ends = {one.topic: one.end for one in kafka.look_at_topics(feed_of(broker, *topics))}
    assert asked == 4
    # The change is read before its end is, and not the end before the change.
    assert ends == {"bank.transaction": 1, "bank.savings": 2}


@either_way
def test_a_record_that_the_client_refuses_names_the_setting(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("heavy", settings={"max.message.bytes": str(8 << 20)})
    heavy = b"x" * (5 << 20)
    broker.send("heavy", [Sent(b"a"), Sent(heavy)], {"message.max.bytes": str(8 << 20)})
    feed = feed_of(broker, "heavy")
    monkeypatch.setattr(read_topics, "SILENCE", 2.0)
    sizes = ("WEIR_KAFKA_RECEIVE_MESSAGE_MAX_BYTES", "WEIR_KAFKA_FETCH_MAX_BYTES")
    with monkeypatch.context() as smaller:
        with_settings(lake, smaller, dict(zip(sizes, ("2000000", "1000000"), strict=True)))
        with pytest.raises(UnreadableLanding, match=f"heavy/0: .* Set {sizes[0]} to"):
            land(lake, feed)
    land(lake, feed)
    assert values(lake) == [b"a", heavy]


def test_headers_that_the_client_cannot_read_cost_no_record() -> None:
    class Strange(Message):
        def headers(self) -> NoReturn:
            # So does the client where a header's name is no UTF-8.
            raise SystemError("returned a result with an exception set")

    assert read_topics.headers_of(Strange()) == read_topics.UNREADABLE_HEADERS


def test_a_large_backlog_is_read_by_several_tasks_and_reported(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake.by(SPARK)
    monkeypatch.setattr(kafka_offsets, "SMALLEST", 500)
    monkeypatch.setattr(from_topics, "INTERVAL", 0.2)
    # No topic's name is longer.
    topic = "large".ljust(249, "-")
    broker.create(topic, partitions=2)
    broker.send(topic, [Sent(b"%d" % n, partition=int(n > 2500)) for n in range(3000)])
    feed = feed_of(broker, topic)
    parts = kafka_offsets.divided_ranges(
        kafka.backlog_of(feed, kafka.look_at_topics(feed), {}).ranges,
        4,
    )
    assert len(parts) == 4
    assert sum(one.size for part in parts for one in part) == 3000

    said: list[str] = []
    from_topics.land(lake, feed, said.append)

    assert sorted(int(value or b"") for value in values(lake)) == [*range(3000)]
    progress = [line for line in said if "of 3,000 offsets read in" in line]
    assert progress[0].startswith("bronze.shop: ")


@either_way
def test_a_broker_that_restarts_in_mid_read_costs_nothing(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(from_topics, "INTERVAL", 0.05)
    broker.create("long", partitions=2)
    large = b"x" * 20_000
    broker.send("long", [Sent(b"%d %s" % (n, large), partition=n % 2) for n in range(4000)])
    restarts: list[str] = []

    def restart_once(line: str) -> None:
        # Some have been read: in 2,340 of 4,000, say, but not in 0 of 4,000.
        if re.search(r"[1-9][\d,]* of 4,000", line) and not restarts:
            restarts.append(line)
            broker.kill()
            broker.start()

    feed = feed_of(broker, "long")
    try:
        from_topics.land(lake, feed, restart_once)
    except UnreadableLanding:
        # Then it says so and has read nothing; the next run reads all.
        assert not lake.table(Layer.BRONZE, "shop").exists()
        from_topics.land(lake, feed, restart_once)

    assert restarts
    found = [int((value or b"").split()[0]) for value in values(lake)]
    assert sorted(found) == [*range(4000)]


@either_way
def test_a_broker_that_stays_away_ends_the_run_with_nothing_read(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("away")
    broker.send("away", [Sent(b"a")])
    feed = feed_of(broker, "away")
    monkeypatch.setattr(read_topics, "SILENCE", 2.0)
    looked = kafka.look_at_topics(feed)
    monkeypatch.setattr(kafka, "look_at_topics", lambda _: looked)
    broker.kill()
    try:
        with pytest.raises(
            UnreadableLanding, match=r"away/0: from offset 0 on came nothing for 2 s"
        ):
            land(lake, feed)
    finally:
        broker.start()
    assert not lake.table(Layer.BRONZE, "shop").exists()
    land(lake, feed)
    assert values(lake) == [b"a"]


def with_settings(lake: Lake, monkeypatch: pytest.MonkeyPatch, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
        # Spark's tasks keep the environment that the session started with.
        monkeypatch.setitem(lake.spark.sparkContext.environment, name, value)


SASL = {
    "WEIR_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "WEIR_KAFKA_SASL_MECHANISM": "PLAIN",
    "WEIR_KAFKA_SASL_USERNAME": USER,
    "WEIR_KAFKA_SASL_PASSWORD": PASSWORD,
}


@either_way
def test_credentials_come_from_the_environment(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("secret")
    broker.send("secret", [Sent(b"a")])
    feed = feed_of(broker, "secret", address=broker.sasl_address)
    with_settings(lake, monkeypatch, SASL)
    land(lake, feed)
    assert values(lake) == [b"a"]

    with_settings(lake, monkeypatch, {"WEIR_KAFKA_SASL_PASSWORD": "not-the-password"})
    with pytest.raises(UnreadableLanding) as caught:
        land(lake, feed)
    assert str(caught.value) == (
        f"feed shop: cannot read {feed.landing}: the broker refuses the credentials. Set WEIR_KAFKA_SASL_MECHANISM,"
        " WEIR_KAFKA_SASL_USERNAME and WEIR_KAFKA_SASL_PASSWORD to what the broker knows."
    )


@either_way
def test_tls_needs_the_authority_that_the_environment_names(
    lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create("sealed")
    broker.send("sealed", [Sent(b"a")])
    feed = feed_of(broker, "sealed", address=broker.tls_address)
    with_settings(lake, monkeypatch, {"WEIR_KAFKA_SECURITY_PROTOCOL": "SSL"})
    with pytest.raises(UnreadableLanding, match="WEIR_KAFKA_SSL_CA_LOCATION to its authority"):
        land(lake, feed)
    with_settings(lake, monkeypatch, {"WEIR_KAFKA_SSL_CA_LOCATION": str(broker.authority)})
    land(lake, feed)
    assert values(lake) == [b"a"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"WEIR_KAFKA_FOO_BAR": "hush"},
            "the Kafka client does not accept WEIR_KAFKA_FOO_BAR. Its properties are librdkafka's",
        ),
        (
            {"WEIR_KAFKA_SECURITY_PROTOCOL": "hush"},
            "the Kafka client does not accept WEIR_KAFKA_SECURITY_PROTOCOL",
        ),
        (
            {"WEIR_KAFKA_ISOLATION_LEVEL": "hush"},
            "WEIR_KAFKA_ISOLATION_LEVEL is set, and isolation.level cannot be",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_named_and_not_shown(
    settings: Mapping[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UnreadableLanding) as caught:
        kafka.look_at_topics(Feed("shop", "arcion_s3_json", "kafka://127.0.0.1:1/t"))
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_broker_that_was_trusted_once_may_be_away() -> None:
    client_errors, refused = ClientErrors(), KafkaError(KafkaError._SSL)
    client_errors(refused)
    assert not client_errors.are_final
    client_errors(refused)
    assert client_errors.are_final
    client_errors.answered()
    client_errors(refused)
    client_errors(refused)
    assert not client_errors.are_final
    assert client_errors.fault_and_remedy()[0] == "there is no TLS connection that can be trusted"


def test_a_broker_that_does_not_answer_is_named_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kafka, "PATIENCE", 2.0)
    with pytest.raises(UnreadableLanding) as caught:
        kafka.look_at_topics(Feed("shop", "arcion_s3_json", "kafka://127.0.0.1:1/t,u"))
    assert str(caught.value).startswith(
        "feed shop: cannot read kafka://127.0.0.1:1/t,u: the broker does not answer. Check the landing's brokers"
    )


def test_a_topic_that_is_not_there_is_named(broker: Broker) -> None:
    broker.create("there")
    with pytest.raises(UnreadableLanding) as caught:
        kafka.look_at_topics(feed_of(broker, "there", "nowhere"))
    assert str(caught.value) == (
        f"feed shop: cannot read kafka://{broker.address}/nowhere: there is no such topic."
        " Correct the feed's landing, or create the topic."
    )
    with pytest.raises(UnreadableLanding, match=r"/\.\.: no topic can have this name"):
        kafka.look_at_topics(feed_of(broker, ".."))
