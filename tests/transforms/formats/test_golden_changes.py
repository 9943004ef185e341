"""Every golden folder of ``tests/cases`` up to silver, without Spark: its changes, quarantine, repeats and warnings.

What a case is, ``test_golden`` says; it folds the changes, too.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.transforms.formats.in_process import Outcome, outcomes
from tests.transforms.formats.test_golden import (
    Case,
    cases,
    feed,
    listed,
    quarantined,
    usual_table,
)
from transforms.formats import FORMATS
from transforms.splitting.gzip_stream import inflate

DECODED = [case for case in cases() if FORMATS[case.folder.parent.name].decoder is not None]


@cache
def of_format(format_name: str) -> dict[str, Outcome]:
    scenarios = {
        case.folder.name: case.scenario()
        for case in DECODED
        if case.folder.parent.name == format_name
    }
    return outcomes(feed(format_name), scenarios)


def outcome_of(case: Case) -> Outcome:
    return of_format(case.folder.parent.name)[case.folder.name]


def changed(actual: Outcome, expected: dict[str, object]) -> list[dict[str, object]]:
    """The changes, each with the fields that the expected one at its place gives."""
    wanted = [{"table", "moved_from", "derived", *one} for one in listed(expected, "changes")]
    whole = {"table", "moved_from", "derived", "operation", "effect", "key", "before", "after"}
    wanted += [whole] * (len(actual.changes) - len(wanted))
    return [
        {name: change[name] for name in change if name in fields}
        for change, fields in zip(actual.changes, wanted, strict=False)
    ]


@pytest.mark.parametrize(
    "case", DECODED, ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_a_drop_becomes_the_changes_that_are_expected_of_it(case: Case) -> None:
    actual, expected = outcome_of(case), case.expected
    assert quarantined(actual, expected) == expected.get("quarantine", [])  # type: ignore[arg-type]
    assert changed(actual, expected) == [
        {"table": usual_table(case), "moved_from": None, "derived": None} | change
        for change in listed(expected, "changes")
    ]
    assert actual.count("duplicates") == expected.get("duplicates", 0)
    assert actual.warnings == expected.get("warnings", actual.warnings)


@pytest.mark.parametrize(
    "case", DECODED, ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_every_record_is_accounted_for_and_can_be_found_again(case: Case) -> None:
    actual = outcome_of(case)
    own = [change for change in actual.changes if change["derived"] is None]
    refused_events = [one for one in actual.quarantine if one["derived"] is None]
    assert actual.count("records") == actual.records
    assert actual.count("events") == len(own) + actual.count("duplicates") + len(refused_events)
    assert actual.count("null_keys") == 0
    for refused in actual.quarantine:
        assert refused["generation"] == "generation"
        data, _ = inflate((case.folder / "drop" / str(refused["object"])).read_bytes())
        payload, start = refused["payload"], refused["byte_offset"]
        assert isinstance(payload, bytes)
        assert isinstance(start, int)
        assert data[start : start + len(payload)] == payload
        assert refused["line"] == data.count(b"\n", 0, start) + 1
