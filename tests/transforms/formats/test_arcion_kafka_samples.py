"""Arcion's published messages for Kafka, where they are at hand: the state after each is what its page says.

``WEIR_SAMPLES`` names the folder; they are not part of the project. Each file is a key or a value; in print, they stand
one behind the other, which is how a drop has them here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario, outcomes
from tests.transforms.formats.test_golden import TABLES
from transforms.feed.feed import Feed


def region(key: int, name: str, comment: str) -> dict[str, object]:
    return {"r_regionkey": key, "r_name": name, "r_comment": comment}


LONG = (
    "lar deposits. blithely final packages cajole. regular waters are final requests."
    " regular accounts are according to "
)
AFRICA = region(0, "AFRICA", "Test_Replication")
SEVENTH = region(7, "Test_Region", "Test_Comment")
NATION = region(10, "Test_nation", "ReplicationWorks")

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
        ((2, 3), [AFRICA, NATION]),
        ((4, 5), [AFRICA, {**NATION, "r_comment": "Test_Replication"}]),
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
    "redis_streams": [((0, 1), [{**NATION, "r_comment": "TestReplication"}])],
}
"""Of each page, its files in the order of its log, and the table after each step."""

STEPS = [
    pytest.param(page, length, id=f"{page}-{length}")
    for page, steps in PAGES.items()
    for length in range(1, len(steps) + 1)
]


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("arcion_kafka_json")


@pytest.fixture(scope="module")
def states(samples: Path) -> dict[str, Folded]:
    """The outcome of every page's first so many steps."""
    scenarios = {}
    for page, steps in PAGES.items():
        for length in range(1, len(steps) + 1):
            files = [number for numbers, _ in steps[:length] for number in numbers]
            data = b"\n".join(
                (samples / page / f"{number:02}.json").read_bytes() for number in files
            )
            scenarios[f"{page}-{length}"] = Scenario({"2026-11-20/03/region/page.json": data})
    return folded(Feed("samples", "arcion_kafka", "/nowhere", tables=TABLES), scenarios)


@pytest.mark.parametrize(("page", "length"), STEPS)
def test_after_each_message_the_state_is_as_the_page_says(
    states: dict[str, Folded], page: str, length: int
) -> None:
    outcome, rows = states[f"{page}-{length}"], PAGES[page][length - 1][1]
    assert outcome.quarantine == []
    assert outcome.state == ({"region": rows} if rows else {})


def test_the_undeclared_table_of_the_page_has_its_name_and_key_from_its_schema(
    samples: Path,
) -> None:
    files = sorted((samples / "v3_2023-03-15").glob("*.json"))
    drop = {"2026-11-20/03/page.json": b"\n".join(file.read_bytes() for file in files)}
    feed = Feed("samples", "arcion_kafka", "/nowhere")
    changes = outcomes(feed, {"page": Scenario(drop)})["page"].changes
    assert [(one["declared"], one["key"]) for one in changes if one["effect"] != "note"] == [
        ("tpch_scale_0_01.region", ["0"]),
        *[("tpch_scale_0_01.region", ["10"])] * 3,
    ]
