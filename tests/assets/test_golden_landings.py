"""All golden cases through the real assets, from real landings: the wrapping adds nothing and loses nothing.

Each format's cases lie in one landing, a window each, and are run at once. Every row of bronze, silver, quarantine and
the accounts is compared with what the same functions give without Spark, Delta and Dagster around them
(``tests/transforms/formats/in_process.py``). That this is what the cases expect, ``test_golden_changes`` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assets.columns import layers
from assets.control.progress import declarations
from assets.executors import spark
from assets.executors.choice import SPARK
from assets.landing.landings import open_landing
from assets.silver.derive import stored_accounts
from assets.storage.lake import Lake
from tests.services.kafka import Broker, Sent
from tests.services.seaweed import Store
from tests.support.golden_landing import Laid, Row, laid, made, materialize
from tests.support.pet_feed import lay
from tests.transforms.formats.in_process import bronze, outcomes_of, source_location
from tests.transforms.formats.in_topics import InTopic, as_bronze, in_topics
from transforms.feed.windows import parse_window
from transforms.formats import FORMATS

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

LANDING = "nowhere"
"""The folder that a tablet is called after where nothing else tells it: the golden cases' own."""

OF_TOPICS = sorted(name for name, source in FORMATS.items() if source.reads_kafka)
OF_FILES = sorted(FORMATS.keys() - {*OF_TOPICS})


@pytest.fixture
def through_spark(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    """Bronze and silver are made by Spark's tasks, however little there is: by several, in batches of a few rows."""
    monkeypatch.setattr(spark, "SMALL", 0)
    rows_of_a_batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = lake.spark.conf.get(rows_of_a_batch)
    lake.spark.conf.set(rows_of_a_batch, "7")
    yield lake.by(SPARK)
    assert before is not None
    lake.spark.conf.set(rows_of_a_batch, before)


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it(
    format_name: str, tmp_path: Path, through_spark: Lake
) -> None:
    given = laid(format_name, str(tmp_path / LANDING))
    for name, data in given.objects.items():
        lay(tmp_path / LANDING, name, data)
    run_and_compare(given, through_spark)


@pytest.mark.services
@pytest.mark.parametrize("format_name", OF_FILES)
def test_objects_of_s3_in_one_process_are_what_the_functions_make_of_them(
    format_name: str, lake: Lake, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
        # Tasks were born with the environment that the session began with.
        monkeypatch.setitem(lake.spark.sparkContext.environment, name, value)
    bucket = format_name.replace("_", "-")
    given = laid(format_name, f"s3://{bucket}/{LANDING}/")
    store.put(bucket, {f"{LANDING}/{name}": data for name, data in given.objects.items()})
    run_and_compare(given, lake)


def run_and_compare(given: Laid, lake: Lake) -> None:
    windows = sorted(given.scenarios)
    broken = materialize(lake, given.feed, windows)
    generations = {one.name: one.generation for one in open_landing(given.feed).list()}
    assert generations.keys() == given.objects.keys()
    cut = [
        {**row, "generation": generations[str(row["object"])]}
        for row in bronze(given.feed, given.scenarios)
    ]
    compare(given, lake, cut, broken)


@pytest.mark.services
@pytest.mark.parametrize("format_name", OF_TOPICS)
def test_topics_in_one_process_are_what_the_functions_make_of_their_records(
    format_name: str, lake: Lake, broker: Broker
) -> None:
    dumps = laid(format_name, LANDING)
    records = {window: in_topics(dumps.feed, one) for window, one in dumps.scenarios.items()}
    sent_at = {
        window: parse_window(window, "hour") + timedelta(minutes=30) for window in dumps.scenarios
    }
    topics = produce(broker, records, sent_at)
    landing = f"kafka://{broker.address}/{','.join(topics)}"
    given = replace(dumps, feed=replace(dumps.feed, landing=landing))

    broken = materialize(lake, given.feed, sorted(given.scenarios))
    compare(given, lake, [*as_bronze(records, sent_at, topics)], broken)


def produce(
    broker: Broker, records: Mapping[str, Iterable[InTopic]], sent_at: Mapping[str, datetime]
) -> dict[str, str]:
    """Send all records in their order; the topics that were made for them, and the identity of each."""
    sent: dict[str, list[Sent]] = {}
    for window, of_window in records.items():
        at = int(sent_at[window].timestamp() * 1000)
        for one in of_window:
            record = Sent(one.value, one.key, one.headers, at, one.partition)
            sent.setdefault(one.topic, []).append(record)
    for topic, of_topic in sent.items():
        broker.create(topic, partitions=1 + max(one.partition for one in of_topic))
        broker.send(topic, of_topic)
    return {topic: broker.topic_id(topic) for topic in sorted(sent)}


def compare(given: Laid, lake: Lake, cut: list[Row], broken: Mapping[str, int]) -> None:
    """Hold all tables against what the functions make of these records, and what the checks count against that."""
    found, expected = made(lake, given.feed), outcomes_of(given.feed, cut)
    names = [*cut[0]]
    if not given.feed.reads_topics:
        # When the object was last modified.
        names.remove("landed_at")
    assert only(found.bronze, names) == only(as_stored(cut), names)
    assert found.windows.keys() == expected.keys()
    for window, outcome in expected.items():
        changes = [
            {**row, "feed": given.feed.name, "key_text": text_of(row["key"])}
            for row in outcome.changes
        ]
        refused = [{**row, "feed": given.feed.name} for row in outcome.quarantine]
        of_window = found.windows[window]
        assert of_window.changes == [
            {name: row[name] for name in layers.Silver.schema.names} for row in changes
        ]
        assert of_window.quarantine == only(refused, layers.Quarantine.schema.names)
        declared = declarations(given.feed, [window])
        assert of_window.accounts == stored_accounts(given.feed, declared, outcome.accounts)
    assert broken["accounting_is_exact"] == broken["no_null_key"] == 0
    assert broken["nothing_quarantined"] == sum(
        one.count("quarantined") + one.count("derived_quarantined") for one in expected.values()
    )


def text_of(key: Any) -> str | None:
    """The key's parts in one text; of a key that has a null, as rows of a table without a key may, there is none."""
    return None if key is None or None in key else "\x1f".join(key)


def only(rows: Iterable[Row], names: Iterable[str]) -> list[Row]:
    """These columns of the rows, in the order of their places."""
    wanted = [*names]
    return sorted(({name: row[name] for name in wanted} for row in rows), key=source_location)


def as_stored(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as the table of bronze gives them back."""
    for row in rows:
        landed_at = row["landed_at"]
        assert isinstance(landed_at, datetime)
        since = landed_at - datetime(1970, 1, 1, tzinfo=UTC)
        pairs = row.get("headers")
        headers = pairs and [{"key": name, "value": value} for name, value in pairs]  # type: ignore[attr-defined]
        stored = {"landed_at": since // timedelta(microseconds=1), "headers": headers}
        yield row | {name: value for name, value in stored.items() if name in row}
