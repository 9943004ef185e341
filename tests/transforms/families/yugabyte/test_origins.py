"""Where a response is from, how far it has come, and which declared table it is of."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.families.yugabyte import checkpoints, messages, values
from transforms.families.yugabyte.checkpoints import Checkpoint, Origin
from transforms.feed.feed import Feed, Table

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


def test_a_checkpoint_without_a_term_has_no_op_id() -> None:
    note = checkpoints.note_of_checkpoint(
        Checkpoint(None, 5), checkpoints.NO_OP_ID, Origin("t1", None)
    )
    assert note.log_position == (0, 1)


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


def test_bytes_are_the_text_that_postgresql_writes_where_the_column_is_declared_as_text() -> None:
    assert values.value_of_bytes(b"\xde\xad", "raw", {"raw"}) == "\\xdead"
    assert values.value_of_bytes(b"\xde\xad", "raw", {"other"}) == b"\xde\xad"
    assert values.from_bytea("\\xdeAD") == b"\xde\xad"
    assert values.from_bytea("\\x") == b""
    assert [values.from_bytea(one) for one in ("dead", "\\xd", "\\xde ad", "\\xzz", "")] == [
        None
    ] * 5
