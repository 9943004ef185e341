"""Every golden folder of ``tests/cases`` up to silver, without Spark: its changes, quarantine, repeats and warnings.

What a case is, ``test_golden`` says, and what its changes fold to.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.transforms.formats.in_process import Outcome, outcomes
from tests.transforms.formats.test_golden import Case, cases, feed
from transforms.records.compression import inflate
from transforms.records.encoding import to_utf8


@cache
def of_format(format_name: str) -> dict[str, Outcome]:
    scenarios = {
        case.folder.name: case.scenario()
        for case in cases()
        if case.folder.parent.name == format_name
    }
    return outcomes(feed(format_name), scenarios)


def outcome_of(case: Case) -> Outcome:
    return of_format(case.folder.parent.name)[case.folder.name]


def usual_table(case: Case) -> str:
    """The gold table of a change that names none: the first that the format's cases declare."""
    return next(iter(feed(case.folder.parent.name).tables))


def listed(expected: dict[str, object], name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = expected.get(name, [])  # type: ignore[assignment]
    return found


def changed(actual: Outcome, expected: dict[str, object]) -> list[dict[str, object]]:
    """The changes, each with the fields that the expected one at its place gives."""
    wanted = [{"table", "moved_from", "derived", *one} for one in listed(expected, "changes")]
    whole = {"table", "moved_from", "derived", "operation", "effect", "key", "before", "after"}
    wanted += [whole] * (len(actual.changes) - len(wanted))
    return [
        {name: change[name] for name in change if name in fields}
        for change, fields in zip(actual.changes, wanted, strict=False)
    ]


def quarantined(actual: Outcome, expected: dict[str, object]) -> list[list[object]]:
    """The quarantine; the detail is the part that is expected, if it is a part of what was found."""
    wanted: list[list[object]] = expected.get("quarantine", [])  # type: ignore[assignment]
    parts = [*wanted, *[["", 0, "\0"]] * len(actual.quarantine)]
    shown: list[list[object]] = []
    for quarantined, part in zip(actual.quarantine, parts, strict=False):
        detail = str(quarantined["detail"])
        one = [
            quarantined["reason"],
            quarantined["line"],
            part[2] if str(part[2]) in detail else detail,
        ]
        shown.append([*one, quarantined["object"]] if len(part) > 3 else one)
    return shown


@pytest.mark.parametrize(
    "case", cases(), ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_a_drop_becomes_the_changes_that_are_expected_of_it(case: Case) -> None:
    actual, expected = outcome_of(case), case.expected
    assert quarantined(actual, expected) == expected.get("quarantine", [])
    assert changed(actual, expected) == [
        {"table": usual_table(case), "moved_from": None, "derived": None} | change
        for change in listed(expected, "changes")
    ]
    assert actual.count("duplicates") == expected.get("duplicates", 0)
    assert actual.warnings == expected.get("warnings", actual.warnings)


@pytest.mark.parametrize(
    "case", cases(), ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_every_record_is_accounted_for_and_can_be_found_again(case: Case) -> None:
    actual = outcome_of(case)
    own = [change for change in actual.changes if change["derived"] is None]
    quarantined_events = [one for one in actual.quarantine if one["derived"] is None]
    assert actual.count("records") == actual.records
    assert actual.count("events") == len(own) + actual.count("duplicates") + len(quarantined_events)
    assert actual.count("null_keys") == 0
    for quarantined in actual.quarantine:
        assert quarantined["generation"] == "generation"
        landed = (case.folder / "drop" / str(quarantined["object"])).read_bytes()
        data, _ = to_utf8(inflate(landed)[0], None, len(landed) * 2)
        payload, start = quarantined["payload"], quarantined["byte_offset"]
        assert isinstance(payload, bytes)
        assert isinstance(start, int)
        assert data[start : start + len(payload)] == payload
        assert quarantined["line"] == data.count(b"\n", 0, start) + 1
