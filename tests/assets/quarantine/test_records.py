"""Records of quarantine: the states, the order, the ids and the numbers of many, and what becomes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.columns import layers
from assets.control import decisions
from assets.control.decisions import Signature
from assets.maintenance import repair
from assets.picked_ids import PickedIds
from assets.quarantine import records, words
from assets.quarantine.records import Totals, id_of, quarantine_of, totals_of
from assets.quarantine.records import read_records as all_records
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.cli import quarantine
from orchestration.resources import lake_of
from orchestration.runs import execution
from tests.support.pet_feed import PETS
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Decisions, Dismissal, Replacement
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION

FIRST, SECOND = "2025-11-20T03", "2025-11-20T04"
FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})
NOON = datetime(2025, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


def refused(line: int, reason: str = "missing_key", **more: Any) -> dict[str, Any]:
    """A row of quarantine: the record in this line."""
    place = dict(zip(SOURCE_LOCATION, source_location(line), strict=True))
    return {"window": FIRST, **place, "reason": reason, "detail": "x"} | more


def quarantined(lake: Lake) -> InProcessTable:
    return lake.in_process_table(Layer.QUARANTINE, "zoo")


def write(lake: Lake, *rows: dict[str, Any]) -> None:
    """One more file of each window."""
    quarantined(lake).append(pa.Table.from_pylist([*rows], layers.Quarantine.schema), ["window"])


def note_leaving(lake: Lake, feed: Feed, *staying: dict[str, Any]) -> None:
    """As where the first window is derived again, by which these stay in quarantine."""
    stay = pa.Table.from_pylist([*staying], layers.Quarantine.schema)
    had = records.in_quarantine(quarantined(lake), [FIRST])
    records.note_leaving(lake, feed, had, lambda _: stay.select(SOURCE_LOCATION))
    quarantined(lake).put_windows(stay, [FIRST])


def source_location(line: int) -> tuple[str, str, int, int]:
    return "a.json", "1", line, 10 * line


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that these few records are looked at in several pieces, as very many are."""
    monkeypatch.setattr(records, "_AT_ONCE", 2)


def test_a_record_is_shown_with_the_first_of_its_faults(lake: Lake) -> None:
    write(lake, refused(2, "too_late"), refused(2, "b", table="pets"), refused(1, "c", detail="z"))
    write(lake, refused(2, "a", table="pets"), refused(1, "c"), refused(1, "too_late", detail="a"))
    found = [*all_records(lake, FEED)]
    assert [(one.source_location, one.reason, one.detail, one.events) for one in found] == [
        (source_location(1), "c", "x", 3),
        (source_location(2), "a", "x", 3),
    ]
    assert {one.state for one in found} == {"open"}


def test_each_record_has_its_state_whoever_decided_it(lake: Lake) -> None:
    write(lake, refused(9), refused(10), refused(1, window=SECOND, object="b.json"))
    write(lake, refused(3, "too_late"))
    write(lake, refused(4), refused(5))
    signed = Signature(NOON, "ann", "torn")
    given = [Replacement(FIRST, source_location(at), b"{}", NOON, "bob", "typo") for at in (5, 6)]
    decisions.dismiss(lake, FEED, [Dismissal(FIRST, "a.json", "1", ((9, 90), (77, 770)))], signed)
    decisions.replace_records(lake, FEED, given)
    feed = decisions.with_recorded(lake, FEED)
    # 4 and 5 leave, the others stay: their window is derived again.
    note_leaving(lake, feed, refused(9), refused(10), refused(3, "too_late"))
    repaired = lake.in_process_table(Layer.REPAIRED, feed.name).rows()
    assert [row["how"] for row in repaired] == ["window derived again", "payload"]
    found = quarantine_of(lake, FEED).records
    assert [(one.window, one.source_location[2], one.state) for one in found] == [
        (FIRST, 3, "too late"),
        (FIRST, 4, "repaired"),
        (FIRST, 5, "repaired"),
        (FIRST, 6, "repaired"),
        (FIRST, 9, "dismissed"),
        (FIRST, 10, "open"),
        (SECOND, 1, "open"),
    ]
    by = [one.decided.by if one.decided else None for one in found[1:5]]
    assert by == [None, "bob", "bob", "ann"]
    assert [one.reason for one in found[1:4]] == ["missing_key", "missing_key", ""]
    assert [one.left_at is None for one in found[1:4]] == [False, False, True]
    # What is in quarantine again is there, whatever was noted.
    write(lake, refused(4))
    assert found[1].state == "repaired"
    assert quarantine_of(lake, FEED).records[1].state == "open"


def test_a_record_that_left_several_times_counts_once(lake: Lake) -> None:
    for detail in ("first", "second"):
        write(lake, refused(1, detail=detail))
        note_leaving(lake, FEED)
    (one,) = all_records(lake, FEED)
    assert (one.state, one.detail) == ("repaired", "second")


def test_ids_pick_records_wherever_they_stand(lake: Lake) -> None:
    write(lake, *[refused(at) for at in range(1, 8)])
    quarantine = quarantine_of(lake, FEED)
    ids = [id_of(source_location(at)) for at in range(1, 8)]
    assert [*quarantine.records.ids()] == [one.id for one in quarantine.records] == ids
    picked = quarantine.picked(PickedIds([ids[5][:9], ids[0]]))
    assert [one.source_location[2] for one in picked] == [6, 1]
    for typed, fault in (("", "more than one"), ("x", "no record"), (ids[0] + "0", "no record")):
        with pytest.raises(DecisionRefused, match=fault):
            quarantine.picked(PickedIds([typed]))


def test_many_records_are_printed_as_one_list(lake: Lake) -> None:
    assert json.loads("\n".join(quarantine.as_json_list(all_records(lake, FEED)))) == []
    write(lake, *[refused(at, detail="ä\n") for at in range(1, 6)])
    printed = json.loads("\n".join(quarantine.as_json_list(all_records(lake, FEED))))
    assert [one["line"] for one in printed] == [1, 2, 3, 4, 5]
    assert printed[0]["detail"] == "ä\n"


def test_records_of_one_object_are_given_up_by_one_decision(lake: Lake) -> None:
    write(lake, *[refused(at) for at in (3, 1, 2)], refused(1, object="b.json"))
    signed = Signature(NOON, "ann", "torn")
    found = quarantine_of(lake, FEED)
    assert [one.source_locations for one in repair.dismissals_by_object(found.open)] == [
        ((1, 10), (2, 20), (3, 30)),
        ((1, 10),),
    ]
    repair.dismiss_records(lake, FEED, found.open[1:], signed)
    assert len(quarantine_of(lake, FEED).open) == 1
    again = repair.dismiss_records(lake, FEED, found.open[1:2], signed)
    assert again[-1] == "zoo: 1 record dismissed; nothing waits for it now"
    now = quarantine_of(lake, FEED)
    lines = repair.dismiss_records(lake, FEED, now.records, signed)
    assert (
        lines[-1] == "zoo: 1 record dismissed (3 others had been before); nothing waits for it now"
    )


def test_what_became_of_many_records_is_said_of_the_first(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "SHOWN", 2)
    write(lake, *[refused(at) for at in range(1, 8)])
    chosen = quarantine_of(lake, FEED).open
    note_leaving(lake, FEED, *[refused(at) for at in range(1, 4)])
    became, left = execution.outcome_lines(quarantine_of(lake, FEED), chosen)
    assert [line.split("  ")[0].rsplit(" ", 1)[0] for line in became[:2]] == ["zoo: repaired:"] * 2
    assert became[2:] == ["zoo: repaired: 2 more"]
    assert left[2:] == ["zoo: still in quarantine: 1 more"]


def test_what_a_person_gave_is_no_reason_of_another_generation(lake: Lake) -> None:
    write(lake, refused(1), refused(1, generation="2"))
    feed = replace(
        FEED, decisions=Decisions(dismissals=(Dismissal(FIRST, "a.json", "2", ((1, 10),)),))
    )
    decisions.dismiss(lake, feed, feed.decisions.dismissals, Signature(NOON, "ann", "x"))
    assert [one.state for one in all_records(lake, feed)] == ["open", "dismissed"]


def test_a_record_with_many_events_waits_once(lake: Lake) -> None:
    assert totals_of(lake, FEED) == Totals({}, 0, 0)
    write(lake, refused(1), refused(1, table="pets"), refused(2), refused(2, object="b.json"))
    write(lake, refused(1, "unknown_type"), refused(3, "unknown_type"))
    assert totals_of(lake, FEED) == Totals({"missing_key": 4, "unknown_type": 2}, 0, 4)
    assert len(quarantine_of(lake, FEED).open) == 4


def test_what_came_too_late_or_was_dismissed_waits_for_nobody(lake: Lake) -> None:
    write(lake, refused(1), refused(1), refused(2), refused(3, "too_late"), refused(2, "too_late"))
    given_up = Dismissal(FIRST, "a.json", "1", ((1, 10), (7, 70)))
    feed = replace(FEED, decisions=Decisions(dismissals=(given_up,)))
    assert totals_of(lake, feed) == Totals({"missing_key": 3, "too_late": 2}, 2, 1)
    assert totals_of(lake, FEED) == Totals({"missing_key": 3, "too_late": 2}, 0, 2)
    # Another generation of the object has other records.
    other = replace(feed, decisions=Decisions(dismissals=(replace(given_up, generation="2"),)))
    assert totals_of(lake, other).open_records == 2


def test_a_payload_reads_as_it_was_written() -> None:
    laid_out = words.readable(b'{"a":1.10,"b":[],"c":{"d":"x, {y}"},"e":[12345678901234567890]}')
    assert laid_out.splitlines() == [
        "{", '  "a": 1.10,', '  "b": [],', '  "c": {', '    "d": "x, {y}"', "  },",
        '  "e": [', "    12345678901234567890", "  ]", "}",
    ]  # fmt: skip
    assert words.readable(b'{"cut": ') == '{"cut": '
    assert words.short(b"a\nb\xff\x1b[31m") == "a\\nb\\xff\\x1b[31m"
    assert words.short(None) == "(no payload)"
    assert words.short(b"x" * 500) == "x" * 100 + "…"
