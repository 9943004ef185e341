"""What a reader of a failed built-in check is shown first: tables, windows, keys and records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.gold.apply import apply_table
from assets.gold.apply_reports import samples_of
from assets.lake import Lake
from assets.silver import derive_windows
from assets.silver.derive_windows import Derived
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, lay
from transforms.feed.feed import Feed

FIRST, SECOND = "2025-11-20T03", "2025-11-20T04"
ADA, AVA = ({"id": "1", "name": name} for name in ("Ada", "Ava"))
BO = {"id": "2", "name": "Bo"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})


def derived(lake: Lake, feed: Feed, window: str, *records: str | bytes) -> Derived:
    """The window with these records, brought to silver."""
    texts = [one.encode() + b"\n" if isinstance(one, str) else one for one in records]
    lay(Path(feed.landing), f"{window[:10]}/{window[-2:]}/a.json", b"".join(texts))
    from_objects.land(lake, feed, [window])
    return derive_windows.derive(lake, feed, [window])


def test_repeats_are_shown_by_table_and_window(lake: Lake, feed: Feed) -> None:
    insert = change("I", 1, after=ADA)
    made = derived(lake, feed, FIRST, insert, insert, insert)
    assert made.samples["no_event_twice"] == f"- pets: 2 in {FIRST}"
    clean = derived(lake, feed, SECOND, change("U", 2, ADA, AVA))
    assert clean.samples["no_event_twice"] == ""
    assert "nothing_quarantined" not in clean.samples


def test_quarantine_is_shown_by_reason_with_its_first_record(lake: Lake, feed: Feed) -> None:
    wrong = [change("I", at, after={"id": f"x{at}", "name": "Ada"}) for at in (2, 3)]
    made = derived(lake, feed, FIRST, change("I", 1, after=ADA), *wrong, b"{\n")
    assert made.violations["nothing_quarantined"] == 3
    first, second = made.samples["nothing_quarantined"].splitlines()
    assert first.startswith("- pets: ")
    assert ", 2 times; first 2025-11-20/03/a.json line 2" in first
    assert second.startswith("- (no table): ")
    assert ", once 2025-11-20/03/a.json line 4" in second
    # Another window's are no concern of this one.
    again = derived(lake, feed, SECOND, b"[\n")
    assert len(again.samples["nothing_quarantined"].splitlines()) == 1


def test_keys_with_late_events_and_ties_are_shown(lake: Lake, feed: Feed) -> None:
    table = replace(PETS, columns={**PETS.columns, "age": "int"})
    aged = replace(feed, tables={"pets": table})
    derived(
        *(lake, aged, FIRST, change("I", 1, after=ADA | {"age": "1"})),
        *(change("U", 9, {"id": "1"}, {"name": "Ava"}), change("I", 2, after=BO)),
    )
    done = apply_table.apply(lake, aged, table, [FIRST])
    assert not any(samples_of(done).values())
    late = change("U", 3, {"id": "1"}, {"age": "7"})
    tied = [change("U", 8, {"id": "2"}, {"name": name}) for name in ("Bob", "Bobby")]
    derived(lake, aged, SECOND, late, *tied)
    done = apply_table.apply(lake, aged, table, [SECOND])
    assert (done.keys_with_late_events, done.ties) == (1, 1)
    shown = samples_of(done)
    assert shown["no_late_event"] == "- pets: key 1"
    assert shown["positions_rise_within_key"] == "- pets: key 2"
    assert shown["one_row_per_key"] == ""
