"""What records mean does not depend on whether they are read from a topic or from a dump of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from tests.transforms.formats.in_process import LANDED_AT, Outcome, outcomes, outcomes_of
from tests.transforms.formats.in_topics import as_bronze, in_topics
from tests.transforms.formats.test_golden import cases, feed
from transforms.formats import FORMATS

OTHER_IN_A_TOPIC = {
    # The dump has one record twice, as its offset shows; produced into a topic, the two have different offsets.
    *("arcion_kafka/equal_snapshot_rows_without_a_key", "debezium/table_without_a_key"),
    "arcion_kafka/without_a_log_the_topic_orders",
    "debezium/other_sources_are_ordered_by_their_topic",
    # A file may begin and end in the middle of a commit, and a topic does not.
    "dgraph/commit_across_files",
    # How tools print bytes in a dump.
    *("dgraph/keys_of_kafka", "debezium/messages_in_protobuf"),
    # What a cloud wraps and gives no offset is no line of a dump.
    "tigergraph/wrapped_by_clouds_and_tools",
}

SAID = (
    *("table", "source_table", "declared", "operation", "effect", "key", "moved_from", "derived"),
    *("before", "after", "attribute_ops", "scope", "stream", "transaction", "event_at"),
)
"""All of a change but its place and what follows from that."""

PLACES = (
    *("first_position", "last_position", "stream", "snapshots"),
    *("segments", "seen", "trails"),
)
"""The columns of an account that say where events were met."""


@pytest.mark.parametrize(
    "format_name", sorted(name for name, source in FORMATS.items() if source.reads_kafka)
)
def test_a_dump_and_its_topic_say_the_same(format_name: str) -> None:
    given = feed(format_name)
    dumps = {}
    for case in cases():
        name = f"{case.folder.parent.name}/{case.folder.name}"
        if case.folder.parent.name == format_name and name not in OTHER_IN_A_TOPIC:
            dumps[name] = replace(case.scenario(), table_names="plain")
    records = {name: in_topics(given, one) for name, one in dumps.items()}
    # TigerGraph's messages have no keys, so that any line is one.
    needs_keys = format_name != "tigergraph"
    records = {
        name: some
        for name, some in records.items()
        if not any(one.is_damaged or (one.is_bare and needs_keys) for one in some)
    }
    assert len(records) > len(dumps) * 2 / 3
    topics = {one.topic for some in records.values() for one in some}
    landed_at = dict.fromkeys(records, LANDED_AT)
    rows = as_bronze(records, landed_at, dict.fromkeys(topics, "generation"))

    of_topics = replace(given, landing=f"kafka://nowhere:1/{','.join(sorted(topics))}")
    found, expected = outcomes_of(of_topics, rows), outcomes(given, dumps)
    assert found.keys() == records.keys()
    for name, outcome in found.items():
        assert said(outcome) == said(expected[name]), name


def said(outcome: Outcome) -> tuple[object, ...]:
    """What became of a case, without the source locations of its records."""
    quarantined = only(outcome.quarantine, ("table", "reason", "detail", "key"))
    counts = [
        {name: account[name] for name in account if name not in PLACES}
        for account in outcome.accounts
    ]
    return only(outcome.changes, SAID), quarantined, counts


def only(rows: Iterable[Mapping[str, object]], names: Iterable[str]) -> list[dict[str, object]]:
    wanted = [*names]
    return sorted(({name: row[name] for name in wanted} for row in rows), key=str)
