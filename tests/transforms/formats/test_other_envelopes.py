"""Envelopes in others, and such as lack a part: `weir onboard` knows them, and proposes their tables."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.transforms.formats.in_process import ARROW, bronze
from tests.transforms.formats.test_golden import CASES, Case
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.onboarding.recognition import proposal_of_records
from transforms.record import BronzeRecord
from transforms.silver.record_batches import bounded

FEED = Feed("shop", "debezium", "/nowhere")


def records(case: str) -> list[BronzeRecord]:
    rows = [*bronze(FEED, {"": Case(CASES / "debezium" / case).scenario()})]
    batch = pa.RecordBatch.from_pylist(rows, schema=ARROW)
    return [one for part in bounded(FEED, [batch]) for one in part]


@pytest.mark.parametrize(
    ("case", "table", "key"),
    [
        ("wrapped_by_clouds", "customers", "key [id]"),
        ("cloud_events", "customers", "key [id]"),
        ("images_alone_as_materialize_sends_them", "customers", "key [id]"),
        ("documents_of_mongodb", "clips", "key [_id]"),
    ],
)
def test_onboarding_recognises_them_and_proposes_their_table(
    case: str, table: str, key: str
) -> None:
    sample = records(case)
    recognise = FORMATS["debezium"].recognise
    assert recognise is not None
    known = [recognise(FEED, one) for one in sample]
    assert sum(mark is not None and mark.is_sure for mark in known) >= len(known) - 3
    found = {one.name: one.says for one in proposal_of_records(FEED, sample).found}
    assert key in found[table]
