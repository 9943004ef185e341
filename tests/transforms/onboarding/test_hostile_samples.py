"""Whatever the drops hold, onboarding ends in a proposal or says why there is none: it never raises.

The records are those of the golden cases, damaged at random as in ``tests/transforms/formats/test_hostile_records``.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.transforms.formats.test_golden import Case, cases
from tests.transforms.formats.test_hostile_records import damaged
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.feed.paths import table_of_object
from transforms.formats import FORMATS
from transforms.onboarding.proposal import file_text
from transforms.onboarding.recognition import proposal_of_records, sample_events
from transforms.onboarding.tables import proposal_of_events
from transforms.record import BronzeRecord

COPIES = 3
BLANK = Feed("golden", "", "/nowhere")


def records_of(feed: Feed, drop: dict[str, bytes]) -> list[BronzeRecord]:
    found = []
    for name, data in drop.items():
        try:
            cut = [*FORMATS[feed.format].split(data, feed, name)]
        except WeirError:
            # A header of CSV that cannot be understood.
            continue
        found += [
            BronzeRecord(
                *("2026-11-20T03", name, "1", one.line, one.byte_offset, one.header, one.payload),
                *(one.defect, 0),
                path_table=table_of_object(name, {}),
            )
            for one in cut
        ]
    return found


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_no_sample_ends_in_an_exception(format_name: str) -> None:
    rng = random.Random(17)
    feed = replace(BLANK, format=format_name)
    seen = 0
    for case in cases():
        if case.folder.parent.name != format_name:
            continue
        drop = {**case.scenario().drop}
        for _ in range(COPIES):
            records = records_of(feed, drop)
            for source in FORMATS.values():
                assert source.recognise is not None
                for record in records:
                    source.recognise(replace(feed, format=source.name), record)
            file_text([], proposal_of_records(feed, records).entries)
            # The way of formats that say nothing of themselves.
            file_text([], proposal_of_events(feed, sample_events(feed, records)).entries)
            seen += len(records)
            drop = {name: damaged(rng, data) for name, data in drop.items()}
    assert seen > 20


def best_of(case: Case) -> set[str]:
    """The formats whose sure marks most records of a drop have."""
    weights = {}
    for name, source in FORMATS.items():
        feed = replace(BLANK, format=name)
        marks = [
            source.recognise(feed, one)
            for one in records_of(feed, {**case.scenario().drop})
            if source.recognise
        ]
        weights[name] = sum(mark is not None and mark.is_sure for mark in marks)
    most = max(weights.values())
    return {name for name, weight in weights.items() if weight == most and most}


def test_the_drops_of_every_case_are_recognised_or_bare() -> None:
    found = {case: best_of(case) for case in cases()}
    wrong = {
        f"{case.folder.parent.name}/{case.folder.name}": formats
        for case, formats in found.items()
        if formats and case.folder.parent.name not in formats
    }
    # Their records are a schema's id and bytes: who wrote them only the registry knows, and most are Debezium's.
    assert wrong == {
        "arcion_kafka/avro_in_the_wire_format": {"debezium"},
        "arcion_kafka/json_schema_in_the_wire_format": {"debezium"},
    }
    bare = [
        f"{case.folder.parent.name}/{case.folder.name}"
        for case, formats in found.items()
        if not formats
    ]
    assert len(bare) < len(found) // 10, bare
