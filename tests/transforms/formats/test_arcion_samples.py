"""Arcion's published samples, where they are at hand: the state after each step is what its page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from tests.transforms.formats.test_golden import TABLES
from transforms.feed.feed import Feed

INDIA = {"r_regionkey": 10, "r_name": "India", "r_comment": "India"}
USA = {"r_regionkey": 10, "r_name": "India", "r_comment": "USA"}
NATION = {
    "n_nationkey": 100,
    "n_name": "Testing name",
    "n_regionkey": 2,
    "n_comment": "Testing comment",
}

SNAPSHOT_ROW = {"r_regionkey": 0, "r_name": "AFRICA", "r_comment": "AFRICA"}

STATEMENTS: dict[str, list[tuple[str, dict[str, list[dict[str, object]]]]]] = {
    "csv snapshot": [("internal_00.csv", {"region": [SNAPSHOT_ROW]})],
    "csv": [
        ("internal_01.csv", {"region": [INDIA]}),
        ("internal_02.csv", {"region": [USA]}),
        ("internal_03.csv", {}),
    ],
    "csv of the older page": [
        ("old_s3_file_format_00.csv", {"region": [INDIA]}),
        ("old_s3_file_format_01.csv", {"region": [USA]}),
        ("old_s3_file_format_02.csv", {}),
    ],
    "json snapshot": [("internal_04.json", {"nation": [NATION]}), ("internal_06.json", {})],
    "json realtime": [("internal_07.json", {"region": [INDIA]}), ("internal_09.json", {})],
    "json of the older page": [
        ("old_s3_file_format_04.json", {"region": [INDIA]}),
        ("old_s3_file_format_05.json", {"region": [USA]}),
        ("old_s3_file_format_06.json", {}),
    ],
}
"""Of each page, its files in the order of their statements, and the state after each."""

PREFIXES = [
    pytest.param(page, length, id=f"{page}-{length}")
    for page, statements in STATEMENTS.items()
    for length in range(1, len(statements) + 1)
]


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("arcion_s3")


@pytest.fixture(scope="module")
def states(samples: Path) -> dict[str, Folded]:
    """The outcome of every page's first so many statements."""
    found: dict[str, Folded] = {}
    for format_name in ("arcion_s3_csv", "arcion_s3_json"):
        scenarios = {
            f"{page}-{length}": Scenario(
                {f"region/{name}": sample(samples / name) for name, _ in statements[:length]}
            )
            for page, statements in STATEMENTS.items()
            for length in range(1, len(statements) + 1)
            if page.split()[0] == format_name.rpartition("_")[2]
        }
        feed = Feed("samples", format_name, "/nowhere", tables=TABLES)
        found |= folded(feed, scenarios)
    return found


def sample(file: Path) -> bytes:
    """The file, without the wrapping and the indentation of the page."""
    text = file.read_text()
    return (re.sub(r"/\n *", "", text) if file.suffix == ".csv" else text).strip().encode()


@pytest.mark.parametrize(("page", "length"), PREFIXES)
def test_after_each_statement_the_state_is_as_the_document_says(
    states: dict[str, Folded], page: str, length: int
) -> None:
    outcome = states[f"{page}-{length}"]
    assert outcome.quarantine == []
    assert len(outcome.changes) == outcome.records == length
    assert outcome.state == STATEMENTS[page][length - 1][1]


def region(key: int, name: str, comment: str) -> dict[str, object]:
    return {"r_regionkey": key, "r_name": name, "r_comment": comment}


LONG = (
    "lar deposits. blithely final packages cajole. regular waters are final requests."
    " regular accounts are according to "
)
AFRICA = region(0, "AFRICA", "Test_Replication")
SEVENTH = region(7, "Test_Region", "Test_Comment")
NEW_NATION = region(10, "Test_nation", "ReplicationWorks")

PAGES: dict[str, list[tuple[tuple[int, ...], list[dict[str, object]]]]] = {
    "v2_2023-03-01": [
        ((0, 1), [region(0, "AFRICA", LONG)]),
        ((4, 5), [AFRICA]),
        ((6, 7), []),
        ((8, 9), []),
        ((2, 3), [region(6, "Test_Region", "Test_Comment")]),
    ],
    "v3_2023-03-15": [
        ((0, 1), [AFRICA]),
        ((2, 3), [AFRICA, NEW_NATION]),
        ((4, 5), [AFRICA, {**NEW_NATION, "r_comment": "Test_Replication"}]),
        ((6, 7), [AFRICA]),
        ((8, 9), [AFRICA]),
    ],
    # Its snapshot's row, an insert, a delete, and an update of a row that was not seen before.
    "native": [
        ((0,), [region(1, "AMERICA", "Test_Replication")]),
        ((1,), [region(1, "AMERICA", "Test_Replication"), SEVENTH]),
        ((3,), [SEVENTH]),
        ((2,), [region(2, "ASIA", "Testing_Replication"), SEVENTH]),
    ],
    "redis_streams": [((0, 1), [{**NEW_NATION, "r_comment": "TestReplication"}])],
}
"""Of each page, its files in the order of its log, and the table after each step."""

STEPS = [
    pytest.param(page, length, id=f"{page}-{length}")
    for page, steps in PAGES.items()
    for length in range(1, len(steps) + 1)
]


@pytest.fixture(scope="module")
def kafka_samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("arcion_kafka_json")


@pytest.fixture(scope="module")
def kafka_states(kafka_samples: Path) -> dict[str, Folded]:
    """The outcome of every page's first so many steps."""
    scenarios = {}
    for page, steps in PAGES.items():
        for length in range(1, len(steps) + 1):
            files = [number for numbers, _ in steps[:length] for number in numbers]
            data = b"\n".join(
                (kafka_samples / page / f"{number:02}.json").read_bytes() for number in files
            )
            scenarios[f"{page}-{length}"] = Scenario({"2026-11-20/03/region/page.json": data})
    return folded(Feed("samples", "arcion_kafka", "/nowhere", tables=TABLES), scenarios)


@pytest.mark.parametrize(("page", "length"), STEPS)
def test_after_each_message_the_state_is_as_the_page_says(
    kafka_states: dict[str, Folded], page: str, length: int
) -> None:
    outcome, rows = kafka_states[f"{page}-{length}"], PAGES[page][length - 1][1]
    assert outcome.quarantine == []
    assert outcome.state == ({"region": rows} if rows else {})
