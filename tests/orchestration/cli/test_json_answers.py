"""``--json``: one document on standard output, whatever else is printed, with what the lines for people say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.commands_here import weir
from tests.support.pet_feed import change, drop, lay

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ZOO = """\
format: arcion_s3_json
landing: ../drops
checks: {nothing_quarantined: {severity: fail}}
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
SEA = """\
format: debezium
landing: {root}/tests/cases/debezium/truncate/drop
files: "**/*.jsonl"
range_deletes: hold
tables:
  customers: {{key: [id], columns: {{id: int, name: string, email: string}}}}
"""
WINDOW = "2025-11-20T03"
TABLES = ("bronze.zoo", "gold.zoo.pets", "silver.zoo")


@pytest.fixture(autouse=True)
def place(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A feed with two pets, of which one comes twice."""
    lines = [
        change("I", 1, after={"id": "1", "name": "Ada"}),
        change("I", 2, after={"id": "2", "name": "Bo"}),
        change("I", 2, after={"id": "2", "name": "Bo"}),
    ]
    lay(tmp_path, "drops/2025-11-20/03/a.json", drop(*lines))
    lay(tmp_path, "feeds/zoo.yaml", ZOO.encode())
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.delenv("WEIR_EXECUTOR", raising=False)
    return tmp_path


def document(capfd: pytest.CaptureFixture[str]) -> Any:
    """All of standard output, which has to be one JSON document."""
    return json.loads(capfd.readouterr().out)


def test_commands_answer_programs_as_they_answer_people(capfd: pytest.CaptureFixture[str]) -> None:
    assert weir("run", "--json") == 0
    printed = capfd.readouterr()
    # Progress is no part of the document.
    assert f"zoo: window {WINDOW}" in printed.err
    (zoo,) = json.loads(printed.out)
    assert (zoo["feed"], zoo["ok"], zoo["errors"]) == ("zoo", True, [])
    assert zoo["windows"] == [WINDOW]
    pets = zoo["tables"]["pets"]
    assert {name: pets[name] for name in ("events", "changes", "duplicates", "rows")} == {
        "events": 3,
        "changes": 2,
        "duplicates": 1,
        "rows": 2,
    }
    assert zoo["checks"]["failed"] == 0
    (warning,) = zoo["checks"]["not_passed"]
    assert (warning["check"], warning["severity"]) == ("no_event_twice", "warning")

    assert zoo["executors"] == dict.fromkeys(TABLES, "in-process")
    assert "now 2 rows and 0 tombstones (in-process)" in printed.err

    assert weir("run", "--json") == 0
    (again,) = document(capfd)
    assert (again["windows"], again["tables"], again["ok"]) == ([], {}, True)

    assert weir("verify", "--json") == 0
    (proved,) = document(capfd)
    assert proved["ok"]
    assert proved["records"] == 3
    (table,) = proved["tables"]
    assert (table["table"], table["state"], table["rows"]) == ("pets", "proved", 2)
    assert weir("verify") == 0
    assert table["digest"][:16] in capfd.readouterr().out

    assert weir("compact", "--dry-run", "--json") == 0
    (compacted,) = document(capfd)
    assert (compacted["dry_run"], compacted["ok"]) == (True, True)
    (table,) = compacted["tables"]
    assert (table["table"], table["kept"], table["digest"]) == ("pets", 2, None)
    assert weir("compact", "--dry-run") == 0
    text = capfd.readouterr().out
    assert [f"    no further: {reason}" for reason in table["held_back_by"]] == [
        line for line in text.splitlines() if "no further" in line
    ]

    assert weir("rebuild", "zoo", "--json") == 0
    rebuilt = document(capfd)
    assert (rebuilt["feed"], rebuilt["ok"], rebuilt["windows"]) == ("zoo", True, [WINDOW])
    assert rebuilt["tables"] == [{"table": "pets", "rows": 2, "tombstones": 0}]


def test_what_waits_is_listed_and_released_by_its_id(
    place: Path, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lay(place, "feeds/sea.yaml", SEA.format(root=root).encode())
    assert weir("run", "--feed", "sea", "--json") == 0
    (sea,) = document(capfd)
    assert sea["tables"]["customers"]["held"] == 1
    warnings = {one["check"]: one for one in sea["checks"]["not_passed"]}
    assert "weir release sea" in warnings["nothing_held"]["says"]
    assert weir("release", "sea", "--json") == 0
    listed = document(capfd)
    (one,) = listed["held"]
    assert (one["table"], one["operation"]) == ("customers", "truncate")
    assert one["windows"] == ["2026-11-20T03"]
    assert one["source_location"].startswith("2026-11-20/03/topic.jsonl line ")
    assert listed["released"] == []
    assert weir("release", "sea") == 0
    assert capfd.readouterr().out.startswith(f"{one['id'][:12]}  truncate of gold.sea.customers")

    assert weir("release", "sea", one["id"], "--json") == 0
    done = document(capfd)
    assert (done["held"], done["released"]) == ([], [one])
    assert weir("run", "--feed", "sea", "--json") == 0
    (sea,) = document(capfd)
    assert sea["tables"]["customers"]["rows"] == 1


def test_what_failed_is_in_the_document_with_what_to_do(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lay(place, "drops/2025-11-20/03/b.json", b"no JSON\n")
    lay(place, "feeds/apes.yaml", ZOO.replace("key: [id]", "key: [name]").encode())
    # Gold of this key is made, and then declared with another one.
    assert weir("run", "--feed", "apes") == 1
    capfd.readouterr()
    lay(place, "feeds/apes.yaml", ZOO.encode())
    assert weir("run", "--json") == 1
    printed = capfd.readouterr()
    apes, zoo = json.loads(printed.out)
    assert not apes["ok"]
    (error,) = apes["errors"]
    assert "key" in error
    assert not zoo["ok"]
    assert (zoo["errors"], zoo["checks"]["failed"]) == ([], 1)
    (failed,) = [one for one in zoo["checks"]["not_passed"] if one["severity"] == "failed"]
    assert (failed["asset"], failed["check"]) == ("silver.zoo", "nothing_quarantined")
    assert failed["says"].startswith("1 time not so: Every record could be read")
    assert "weir quarantine list zoo" in failed["says"]
    assert zoo["tables"]["pets"]["rows"] == 2


def test_what_cannot_be_done_now_is_in_the_document(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lay(place, "feeds/gone.yaml", ZOO.replace("../drops", "../gone").encode())
    assert weir("verify", "--feed", "zoo", "--json") == 2
    (zoo,) = document(capfd)
    assert not zoo["ok"]
    assert zoo["errors"] == ["not proved: nothing has landed in bronze yet; `weir run` first"]
    assert weir("rebuild", "zoo", "--json") == 2
    rebuilt = document(capfd)
    assert (rebuilt["ok"], rebuilt["tables"]) == (False, [])
    # A landing that cannot be read stops no other feed.
    assert weir("run", "--json") == 2
    found = {one["feed"]: one for one in document(capfd)}
    assert found["zoo"]["ok"]
    assert not found["gone"]["ok"]
    assert str(place / "gone") in found["gone"]["errors"][0]


def test_the_executor_that_is_named_does_the_work_and_is_told_of(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert weir("run", "--executor", "spark", "--json") == 0
    printed = capfd.readouterr()
    (zoo,) = json.loads(printed.out)
    assert zoo["executors"] == dict.fromkeys(TABLES, "spark")
    assert zoo["tables"]["pets"]["rows"] == 2
    assert "now 2 rows and 0 tombstones (spark)" in printed.err


def test_a_command_that_is_wrong_has_no_document(capfd: pytest.CaptureFixture[str]) -> None:
    assert weir("run", "--feed", "sop", "--json") == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "there is no such feed here" in printed.err
