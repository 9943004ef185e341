"""Masked columns through the product's own stages: what silver, quarantine and gold have of their values."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.support.pet_feed import change, drop
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.errors import UnknownHeader
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKey, MaskKind
from transforms.feed.schema_policies import Policies
from transforms.silver.faults import WITHHELD

SECRET = "a secret of the zoo's own"
WINDOW = "2026-11-20T03"
COLUMNS = {"id": "string", "name": "string", "born": "date", "note": "string"}
MASKS: Mapping[str, MaskKind] = {"name": "hash", "born": "null", "note": "drop"}


def feed_of(
    masks: Mapping[str, MaskKind] = MASKS, format: str = "arcion_s3_json", **parts: object
) -> Feed:
    """The zoo with these masks; ``parts`` are more of its table."""
    kept = {name: kind for name, kind in COLUMNS.items() if masks.get(name) != "drop"}
    table = Table("pets", ("id",), kept, tuple(COLUMNS), masks=masks, unmasked_columns=COLUMNS)
    pets = replace(table, **parts)  # type: ignore[arg-type]
    return Feed("zoo", format, "/nowhere", tables={"pets": pets}, mask_key=MaskKey(SECRET))


def outcome(feed: Feed, data: bytes, ending: str = "json") -> Folded:
    return folded(feed, {WINDOW: Scenario({f"{WINDOW[:10]}/pets/a.{ending}": data})})[WINDOW]


def hashed(text: str) -> str:
    return hmac.new(SECRET.encode(), text.encode(), "sha256").hexdigest()


REX = {"id": "1", "name": "Rex", "born": "2020-01-01", "note": "bites"}


def test_each_kind_masks_both_images_and_gold() -> None:
    found = outcome(
        feed_of(), drop(change("I", 1, after=REX), change("U", 2, REX, {**REX, "name": "Rexi"}))
    )
    rex, rexi = (
        {"id": "1", "name": hashed("Rex"), "born": None},
        {"id": "1", "name": hashed("Rexi"), "born": None},
    )
    assert [(one["before"], one["after"]) for one in found.changes] == [({}, rex), (rex, rexi)]
    assert found.state == {"pets": [rexi]}
    assert found.accounts[0]["undeclared_columns"] == []
    assert found.quarantine == []


def test_a_hashed_key_is_a_key() -> None:
    tom = {**REX, "id": "2", "name": "Tom"}
    found = outcome(
        feed_of({"id": "hash"}),
        drop(
            change("I", 1, after=REX),
            change("I", 2, after=tom),
            change("U", 3, {"id": "1"}, {"id": "1", "name": "Rexi"}),
            change("D", 4, tom),
            change("U", 5, {**REX, "name": "Rexi"}, {**REX, "id": "9", "name": None}),
        ),
    )
    assert found.state == {"pets": [{**REX, "id": hashed("9"), "name": None}]}
    keys: set[object] = {tuple(one["key"]) for one in found.changes}  # type: ignore[arg-type]
    assert keys == {(hashed(one),) for one in "129"}


@pytest.mark.parametrize("policy", ["keep", "evolve", "quarantine"])
def test_another_spelling_and_an_earlier_name_are_masked_too(policy: str) -> None:
    feed = feed_of(renamed={"title": "name"}, policies=Policies(add_column=policy))  # type: ignore[arg-type]
    shouted = {"id": "1", "NAME": "Rex", "Note": "bites", "title": "Rexi"}
    found = outcome(feed, drop(change("I", 1, after=shouted)))
    rows = [*found.changes, *found.quarantine]
    assert len(rows) == 1
    assert dict(rows[0]["after"]) == {  # type: ignore[call-overload]
        "id": "1",
        "NAME": hashed("Rex"),
        "name": hashed("Rexi"),
    }


HEADLESS = """1,Rex,2020-01-01,bites
2,NULL,NULL,sleeps
"""
OPERATION = (
    '1,1,3,Rexi,Rex,3,2021-01-01,2020-01-01,3,barks,bites,3,U,"{""log"":""log-bin.000007"",""position"":2,'
    '""logSeqNum"":1,""timestamp"":1763600000000,""v"":2}",{}\n'
)


def test_a_dropped_column_holds_its_place_in_csv() -> None:
    feed = feed_of(format="arcion_s3_csv")
    found = outcome(feed, (HEADLESS + OPERATION).encode(), "csv")
    assert found.quarantine == []
    assert found.state == {
        "pets": [
            {"id": "1", "name": hashed("Rexi"), "born": None},
            {"id": "2", "name": None, "born": None},
        ]
    }


def test_what_is_taken_for_a_header_is_not_quoted() -> None:
    with pytest.raises(UnknownHeader) as caught:
        outcome(feed_of(format="arcion_s3_csv"), b"id,Mallory,born,born\n", "csv")
    assert "Mallory" not in str(caught.value)


@pytest.mark.parametrize(
    ("format", "record", "reason"),
    [
        # A comma too many shifts every value of the row, so that the cursor is a name.
        ("arcion_s3_csv", OPERATION.replace("Rexi,", "1,Mallory,", 1), "wrong_column_count"),
        ("arcion_s3_csv", OPERATION.replace(",U,", ",Mallory,"), "unknown_operation"),
        (
            "arcion_s3_csv",
            OPERATION.replace("Rexi,Rex,3", "Mallory,Rex,0"),
            "flag_contradicts_images",
        ),
        ("arcion_s3_json", '{"name": Mallory}\n', "damaged_record"),
        (
            "arcion_s3_json",
            change("I", 1, after=REX).replace("position", "Mallory"),
            "unknown_cursor",
        ),
        ("arcion_s3_json", change("Mallory", 1, after=REX) + "\n", "unknown_operation"),
        (
            "arcion_s3_json",
            change("I", 1, after={"id": "1", "title": "Mallory", "name": "Tom"}),
            "ambiguous_rename",
        ),
    ],
)
def test_no_fault_of_a_record_that_cannot_be_read_quotes_it(
    format: str, record: str, reason: str
) -> None:
    feed, ending = feed_of(format=format, renamed={"title": "name"}), format[-4:].strip("_")
    (fault,) = outcome(feed, record.encode(), ending).quarantine
    assert fault["reason"] == reason
    assert "Mallory" not in str({**fault, "payload": None})
    if reason == "unknown_operation":
        assert fault["detail"] == WITHHELD


def test_a_value_that_does_not_fit_an_unmasked_column_is_told() -> None:
    found = outcome(feed_of({"name": "hash"}), drop(change("I", 1, after={**REX, "born": "never"})))
    assert found.quarantine[0]["detail"] == "born is never, which is no date"
    assert "Rex" not in str({**found.quarantine[0], "payload": None})
    # Under a mask the value is gone before anybody judges it.
    assert outcome(feed_of(), drop(change("I", 1, after={**REX, "born": "never"}))).quarantine == []


def message(op: str, at: int, before: object, after: object) -> str:
    """One message of Debezium's, as MySQL's connector writes it."""
    source = {"connector": "mysql", "db": "zoo", "table": "pets", "file": "log.000001", "row": 0}
    parts = {"op": op, "before": before, "after": after, "source": {**source, "pos": at}}
    return json.dumps(parts)


def test_a_debezium_delete_finds_the_row_of_its_hashed_key() -> None:
    tom = {**REX, "id": "2", "name": "Tom"}
    lines = [
        message("c", 1, None, REX),
        message("c", 2, None, tom),
        message("u", 3, REX, {**REX, "name": "Rexi"}),
        message("d", 4, tom, None),
    ]
    found = outcome(feed_of({**MASKS, "id": "hash"}, "debezium"), drop(*lines))
    assert found.quarantine == []
    assert found.state == {"pets": [{"id": hashed("1"), "name": hashed("Rexi"), "born": None}]}
