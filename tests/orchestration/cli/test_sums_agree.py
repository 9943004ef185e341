"""What became of the events: the log, the summary, the command for programs, the status and the report say the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.audit import feed_report
from assets.bronze import from_objects
from assets.gold import apply
from assets.silver import derive
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.support.commands_here import weir
from tests.support.pet_feed import change, drop, lay

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ZOO = """\
format: arcion_s3_json
landing: ../drops
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
FIRST, SECOND = "2025-11-20T03", "2025-11-20T04"
ADA, BO = ({"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"})
BORN = change("I", 1, after=ADA)

Numbers = tuple[int, int, int, int]
"""Source events, changes, duplicates and records in quarantine."""


@pytest.fixture(autouse=True)
def place(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A window with two pets, of which one comes twice, and a record that cannot be read."""
    first = drop(BORN, BORN, change("I", 2, after=BO), "{")
    lay(tmp_path, "drops/2025-11-20/03/a.json", first)
    lay(tmp_path, "feeds/zoo.yaml", ZOO.encode())
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    return tmp_path


def nothing(place: Path) -> list[str]:
    """The first run."""
    return []


def a_repeat(place: Path) -> list[str]:
    """The same window once more, by hand."""
    assert weir("run") == 0
    return ["--windows", FIRST]


def a_crash(place: Path) -> list[str]:
    """Gold is written, and the run ends before it has noted that."""
    (feed,) = load_feeds(place / "feeds")
    lake = lake_of(str(place / "warehouse"))
    from_objects.land(lake, feed, [FIRST])
    derive.derive(lake, feed, [FIRST])
    apply.apply_tables(lake, feed, [*feed.tables.values()], [FIRST])
    return []


def a_backfill(place: Path) -> list[str]:
    """Two windows at once, of which one was run; the other delivers an event of it again."""
    assert weir("run") == 0
    lay(place, "drops/2025-11-20/04/a.json", drop(BORN, change("D", 3, before=ADA)))
    return ["--windows", f"{FIRST}..{SECOND}"]


@pytest.mark.parametrize(
    ("before", "expected", "already"),
    [
        (nothing, (4, 2, 1, 1), 0),
        (a_repeat, (4, 2, 1, 1), 2),
        (a_crash, (4, 2, 1, 1), 2),
        (a_backfill, (6, 4, 1, 1), 3),
    ],
)
def test_all_that_counts_events_says_the_same(
    place: Path,
    capfd: pytest.CaptureFixture[str],
    before: Callable[[Path], list[str]],
    expected: Numbers,
    already: int,
) -> None:
    options = before(place)
    capfd.readouterr()
    assert weir("run", "--json", *options) == 0
    printed = capfd.readouterr()
    (run,) = json.loads(printed.out)
    assert in_tables(run["tables"]) == (expected, already)
    assert in_log(printed.err) == (expected, already)
    assert weir("status", "--json") == 0
    (status,) = json.loads(capfd.readouterr().out)
    assert numbers(Counter(status["outcomes"])) == expected
    (feed,) = load_feeds(place / "feeds")
    report = feed_report.facts_of(lake_of(str(place / "warehouse")), feed)
    sums = Counter[str]()
    for one in report.windows:
        sums.update(one.outcomes)
    assert numbers(sums) == expected


def numbers(counts: Counter[str]) -> Numbers:
    return counts["events"], counts["changes"], counts["duplicates"], counts["quarantined"]


def in_tables(tables: dict[str, dict[str, int]]) -> tuple[Numbers, int]:
    """The sums of all tables, as the summary's lines show them."""
    sums = Counter[str]()
    for one in tables.values():
        sums.update({name: number or 0 for name, number in one.items()})
    return numbers(sums), sums["in_gold_already"]


def in_log(text: str) -> tuple[Numbers, int]:
    """The same as the steps' own lines say it."""
    said = r"silver\.zoo: (\d+) source events = (\d+) changes \+ (\d+) duplicates? \+ (\d+) quar"
    ((events, changes, duplicates, quarantined),) = re.findall(said, text)
    already = sum(map(int, re.findall(r"(\d+) in gold already", text)))
    return (int(events), int(changes), int(duplicates), int(quarantined)), already
