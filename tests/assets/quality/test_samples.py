"""What a reader of a failed built-in check is shown first: tables, windows, keys and records."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from assets.bronze import from_objects
from assets.control import decisions
from assets.control.decisions import Signature, with_recorded
from assets.gold import apply
from assets.gold.checks import samples_of
from assets.maintenance.repair import dismissals_by_object
from assets.quarantine import words
from assets.quarantine.records import KNOWN, Records, quarantine_of
from assets.silver import checks, derive
from assets.silver.derive import Derived
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, lay
from transforms.feed.feed import Feed, Predicate, Table
from transforms.formats.dgraph.decode import COLUMNS, KEY, TRIPLES

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
    return derive.derive(lake, feed, [window])


def test_repeats_are_shown_by_table_and_window(lake: Lake, feed: Feed) -> None:
    insert = change("I", 1, after=ADA)
    made = derived(lake, feed, FIRST, insert, insert, insert)
    assert checks.samples(lake, made.findings)["no_event_twice"] == f"- `pets: 2 in {FIRST}`"
    clean = derived(lake, feed, SECOND, change("U", 2, ADA, AVA))
    assert checks.samples(lake, clean.findings)["no_event_twice"] == ""
    assert "nothing_quarantined" not in checks.samples(lake, clean.findings)


def triple(commit: int, attr: str, value: str | None = "x") -> str:
    """An event that sets a value of a predicate, or, without one, drops it."""
    event = {"operation": "set", "uid": 3, "attr": attr, "value": value, "value_type": "string"}
    if value is None:
        event = {"operation": "attribute", "pred": attr}
    kind = "mutation" if value else "drop"
    return json.dumps({"meta": {"commit_ts": commit}, "type": kind, "event": event})


def test_predicates_that_nothing_declares_are_named_with_what_may_have_been_meant(
    lake: Lake, tmp_path: Path
) -> None:
    declared = {name: Predicate(name) for name in ("Person.nik", "Person.name", "Person.boss")}
    feed = replace(
        Feed("social", "dgraph", str(tmp_path / "landing")),
        tables={TRIPLES: Table(TRIPLES, KEY, COLUMNS, ())},
        predicates=declared,
    )
    events = [
        *(triple(number, "Person.nick") for number in range(1, 4)),
        triple(4, "Person.names"),
        triple(5, "Person.name"),
        triple(6, "Person.nick", None),
    ]
    made = derived(lake, feed, FIRST, *events)
    assert checks.samples(lake, made.findings)["predicates_are_declared"].splitlines() == [
        "- `Person.nick: 3 events; did you mean Person.nik, which is declared and has no event`",
        # What came of Person.name shows that it is no mistake.
        "- `Person.names: 1 event`",
    ]
    assert made.violations["predicates_are_declared"] == 4
    # Of many names the ones with the most events.
    made = derived(lake, feed, SECOND, *(triple(number, f"p{number}") for number in range(10, 25)))
    found = checks.samples(lake, made.findings)["predicates_are_declared"].splitlines()
    assert (found[0], found[9], found[10]) == ("- `p10: 1 event`", "- `p19: 1 event`", "- `5 more`")
    declared_only = derived(lake, feed, "2025-11-20T05", triple(30, "Person.name"))
    assert "predicates_are_declared" in checks.samples(lake, made.findings)
    assert checks.samples(lake, declared_only.findings)["predicates_are_declared"] == ""


def test_quarantine_is_shown_by_reason_with_its_records(lake: Lake, feed: Feed) -> None:
    wrong = [change("I", at, after={"id": f"x{at}", "name": "A|da"}) for at in (2, 3)]
    made = derived(lake, feed, FIRST, change("I", 1, after=ADA), *wrong, b"{\n")
    assert made.violations["nothing_quarantined"] == 3
    ids = {one.source_location[2]: one.id[:12] for one in quarantine_of(lake, feed).records}
    in_short, *rest = checks.samples(lake, made.findings)["nothing_quarantined"].split("\n\n")
    first, by_column, second = in_short.splitlines()
    assert first == (
        f"- `value_does_not_fit: 2 records; first {ids[2]}, 2025-11-20/03/a.json line 2,"
        " pets: id is x2, which is no int`"
    )
    assert by_column == "- `pets.id: 2 values are no int, such as x2`"
    assert second.startswith(f"- `damaged_record: 1 record; first {ids[4]}, ")
    # Each record with its id, its source location, what was found, and its beginning as text.
    title, table = rest[0], rest[1].splitlines()
    assert title == "**value_does_not_fit**: 2 records"
    assert len(table) == 4
    cells = table[2].split(" | ")
    assert cells[0] == f"| `{ids[2]}`"
    assert cells[-1].startswith('`{"tableName"')
    assert "`2025-11-20/03/a.json line 2`" in cells
    # What can be typed.
    assert f"weir quarantine show zoo {ids[2]}" in rest[-2].splitlines()
    assert f"`weir quarantine export zoo {ids[4]}`" in rest[-1]
    # Another window's are no concern of this one.
    again = derived(lake, feed, SECOND, b"[\n")
    assert (
        len(
            checks.samples(lake, again.findings)["nothing_quarantined"]
            .split("\n\n")[0]
            .splitlines()
        )
        == 1
    )


@pytest.mark.usefixtures("spark")
def test_only_open_records_are_shown(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [change("I", at, after={"id": f"x{at}", "name": "Ada"}) for at in (2, 3, 4)]
    derived(lake, feed, FIRST, *wrong)
    records = quarantine_of(lake, feed).records
    signature = Signature(datetime(2025, 11, 21, tzinfo=UTC), "ann", "torn")
    decisions.dismiss(lake, feed, dismissals_by_object(records[:1]), signature)
    made = derive.derive(lake, feed, [FIRST])
    shown = checks.samples(lake, made.findings)["nothing_quarantined"]
    assert made.violations["nothing_quarantined"] == 2
    assert [one.id[:12] in shown for one in records] == [False, True, True]
    # Where there are very many, a dismissed one takes no room of theirs.
    monkeypatch.setattr(words, "LOOKED_AT", 1)
    shown = words.samples_of_windows(lake, with_recorded(lake, feed), [FIRST])
    assert [one.id[:12] in shown for one in records] == [False, True, False]
    assert "- `(these are the first 1 events; there are more)`" in shown.splitlines()
    monkeypatch.undo()
    decisions.dismiss(lake, feed, dismissals_by_object(records), signature)
    made = derive.derive(lake, feed, [FIRST])
    assert made.violations["nothing_quarantined"] == 0
    assert "nothing_quarantined" not in checks.samples(lake, made.findings)


def test_what_a_source_wrote_is_no_markup() -> None:
    row = {"window": FIRST, "object": "a|b.json", "generation": "1", "line": 1, "byte_offset": 0}
    fault = {"reason": "damaged_record", "detail": "[x](y) <b>", "events": 1, "state": "open"}
    found = Records(pa.Table.from_pylist([{**row, **fault, "repaired_at": None}], KNOWN))
    (record,) = found
    text = words.as_markdown(words.grouped(found), {record.source_location: b"`a` | ``b``"}, 5)
    (line,) = [one for one in text.splitlines() if one.startswith(f"| `{record.id[:4]}")]
    assert "| `a`&#124;`b.json line 1` |" in line
    assert "| `[x](y) <b>` |" in line
    assert "| `` `a`  ``&#124;```  ``b`` ``` |" in line


def test_keys_with_late_events_and_ties_are_shown(lake: Lake, feed: Feed) -> None:
    table = replace(PETS, columns={**PETS.columns, "age": "int"})
    aged = replace(feed, tables={"pets": table})
    derived(
        *(lake, aged, FIRST, change("I", 1, after=ADA | {"age": "1"})),
        *(change("U", 9, {"id": "1"}, {"name": "Ava"}), change("I", 2, after=BO)),
    )
    done = apply.apply(lake, aged, table, [FIRST])
    assert not any(samples_of(done).values())
    late = change("U", 3, {"id": "1"}, {"age": "7"})
    tied = [change("U", 8, {"id": "2"}, {"name": name}) for name in ("Bob", "Bobby")]
    derived(lake, aged, SECOND, late, *tied)
    done = apply.apply(lake, aged, table, [SECOND])
    assert (done.metrics.keys_with_late_events, done.metrics.ties) == (1, 1)
    shown = samples_of(done)
    assert shown["no_late_event"] == "- `pets: key 1`"
    assert shown["positions_rise_within_key"] == "- `pets: key 2`"
    assert shown["one_row_per_key"] == ""
