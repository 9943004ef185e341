"""GetChanges responses: numbers, the tablet and the checkpoint that they are of, and the server's own values."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from transforms.families.yugabyte import checkpoints, messages
from transforms.families.yugabyte.checkpoints import Checkpoint, Origin
from transforms.families.yugabyte.messages import unsigned, whole
from transforms.families.yugabyte.values import day_text
from transforms.feed.feed import Feed, Table
from transforms.json_values import Number


@pytest.mark.parametrize(
    ("value", "signed", "without_sign"),
    [
        (2**63 - 1, 2**63 - 1, 2**63 - 1),
        ("9223372036854775808", None, 2**63),
        (2**64 - 1, None, 2**64 - 1),
        (str(2**64), None, None),
        (-(2**63), -(2**63), None),
        ("-1", -1, None),
        ("007", 7, 7),
        ("1.0", None, None),
        (Number("1.0"), None, None),
        (True, None, None),
        ("٣", None, None),
        ("9" * 5000, None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_numbers_of_64_bits(value: object, signed: int | None, without_sign: int | None) -> None:
    assert (whole(value), unsigned(value)) == (signed, without_sign)


FEED = Feed("yuga", "yugabyte", "s3://drops/landed/")


@pytest.mark.parametrize(
    ("object_name", "tablet"),
    [
        ("tablet=t1/2026-11-20/03/a.json", "t1"),
        ("stream=s1/tablet=t1/a.json", "t1"),
        ("tablet=t1/other/a.json", "t1"),
        ("t1/2026-11-20T03/a.json", "t1"),
        ("t1/dt=2026-11-20/hour=03/stream=s1/a.json", "t1"),
        ("2026/11/20/03/a.json", "landed"),
        ("a.json", "landed"),
    ],
)
def test_the_tablet_is_what_the_path_says(object_name: str, tablet: str) -> None:
    assert checkpoints.origin_of_response({}, object_name, FEED).tablet == tablet


def test_what_a_client_adds_to_a_response_comes_first() -> None:
    path = "stream=s1/tablet=t1/a.json"
    assert checkpoints.origin_of_response({}, path, FEED) == Origin("t1", "s1")
    assert checkpoints.origin_of_response({"tablet_id": "t2"}, path, FEED) == Origin("t2", "s1")
    assert checkpoints.origin_of_response(
        {"tablet": "t2", "stream_id": "s2"}, path, FEED
    ) == Origin("t2", "s2")
    response = {"db_stream_id": "s2", "tablet_id": ""}
    assert checkpoints.origin_of_response(response, path, FEED) == Origin("t1", "s2")


OLDER = {"op_id": {"term": 1, "index": 4}}


@pytest.mark.parametrize(
    ("older", "own", "checkpoint"),
    [
        (None, None, Checkpoint()),
        (OLDER, None, Checkpoint(1, 4)),
        ({"opId": {"term": "1", "index": "4"}}, {}, Checkpoint(1, 4)),
        ({}, {"term": 2, "index": 1, "write_id": 0}, Checkpoint(2, 1)),
        (OLDER, {"term": 2, "index": 1}, Checkpoint(2, 1)),
        (None, {"term": 2, "index": 1, "write_id": 7, "key": ""}, Checkpoint(2, 1)),
        (None, {"term": 2, "index": 1, "writeId": 7, "key": "aw=="}, Checkpoint(2, 1, 7, "aw==")),
        (None, {"term": 2, "index": 1, "key": "aw=="}, Checkpoint(2, 1, 0, "aw==")),
        (OLDER, {"snapshot_time": 8193}, Checkpoint(1, 4, None, None, "8193")),
    ],
)
def test_the_checkpoint_of_a_response(older: Any, own: Any, checkpoint: Checkpoint) -> None:
    assert checkpoints.checkpoint_of({"checkpoint": older, "cdc_sdk_checkpoint": own}) == checkpoint


def test_notes_order_as_checkpoints_do() -> None:
    """A higher term is further; within a transaction is before all that comes behind it."""
    rising = [
        *(Checkpoint(1, 90), Checkpoint(2, 3), Checkpoint(2, 5, 0, "aw=="), Checkpoint(2, 5, 9, "bA==")),
        *(Checkpoint(2, 5), Checkpoint(2, 6)),
    ]  # fmt: skip
    notes = [checkpoints.note_of_checkpoint(one, (1, 2), Origin("t1", "s1")) for one in rising]
    places = [one.log_position for one in notes]
    assert places == sorted(places, key=lambda place: place or ())
    assert notes[0].after == {
        **{"term": "1", "index": "90", "write_id": None, "key": None, "snapshot_time": None},
        **{"reached_term": "1", "reached_index": "2", "stream_id": "s1"},
    }
    assert (notes[0].derived, notes[0].operation, notes[0].effect) == ("checkpoint", "checkpoint", "note")  # fmt: skip


def test_the_most_exact_name_finds_the_declared_table() -> None:
    tables = {
        name: Table(name, ("id",), {"id": "int", "raw": kind}, (), was=was, renamed={"r": "raw"})
        for name, kind, was in (
            ("pets", "string", ("animals", "old.animals")),
            ("zoo.pets", "binary", ()),
        )
    }
    known = messages.declared_tables(Feed("yuga", "yugabyte", "/landing", tables=tables))
    found = {
        (schema, name): one.table.name
        for schema in ("public", "zoo", "old", None)
        for name in ("pets", "animals", "other", None)
        if (one := messages.declared_table_of(known, schema, name)) is not None
    }
    of_pets = [("public", "pets"), ("old", "pets"), (None, "pets")]
    of_pets += [(schema, "animals") for schema in ("public", "zoo", "old", None)]
    assert found == {**dict.fromkeys(of_pets, "pets"), ("zoo", "pets"): "zoo.pets"}
    assert known["pets"].text_columns == {"id", "raw", "r"}
    assert known["zoo.pets"].text_columns == {"id"}


def test_a_day_is_the_calendars_far_beyond_the_years_of_a_date() -> None:
    known = [date.min, date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date.max]
    days = [(one - date(1970, 1, 1)).days for one in known]
    assert [day_text(one) for one in days] == [one.isoformat() for one in known]
    assert day_text(days[-1] + 1) == "+10000-01-01"
    assert day_text(days[0] - 1) == "+0000-12-31"
    assert day_text(days[0] - 367) == "-0001-12-31"
    # The first and the last day that an unsigned number of 32 bits can say.
    assert day_text(-(2**31)) == "-5877641-06-23"
    assert day_text(2**31 - 1) == "+5881580-07-11"
