"""docs/checks.md: its table of rules is the code's, and each expectation of its gallery is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from expectations.suites import Rows, ask, fault_of
from orchestration.feeds.expectations import suites_from
from orchestration.feeds.load import load_feed
from orchestration.feeds.yaml_files import read_yaml
from tests.expectations.rules_in_docs import table
from transforms.feed.feed import DeclaredExpectation

# Great Expectations and what it imports use names that Python is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"
GALLERY = re.findall(
    r"^\| ([^|]+) \| `((?:expect|unexpected)[^`]+)` \|$", PAGE.read_text(), re.MULTILINE
)

TYPES = {
    **{"id": "bigint", "customer_id": "int", "status": "string", "total": "double"},
    **{"placed_at": "timestamp", "shipped_at": "timestamp", "day": "date"},
    **{"email": "string", "payload": "string"},
}


def moment(day: int) -> datetime:
    return datetime(2025, 11, day, tzinfo=UTC)


def rows(**changed: object) -> pd.DataFrame:
    """Twenty orders that all of the gallery is true of; ``changed``: another value in the last of them."""
    good: list[dict[str, Any]] = [
        {
            **{"id": at, "customer_id": at, "status": ["open", "paid"][at % 2], "total": 20.0 + at},
            **{"placed_at": moment(20), "shipped_at": moment(21), "day": date(2025, 11, 20)},
            **{"email": f"{at}@example.org", "payload": "{}"},
        }
        for at in range(20)
    ]
    good[-1] |= changed
    return pd.DataFrame(good)


OPEN_ONLY = rows()[lambda frame: frame["status"] == "paid"]
NULLS = rows()
NULLS.loc[:2, "email"] = None

CASES: Mapping[str, tuple[str | None, pd.DataFrame]] = {
    "a column is never null": ("email", rows(email=None)),
    "nearly never": ("email", NULLS),
    "only some values": ("status", rows(status="lost")),
    "never some values": ("status", rows(status="test")),
    "a range": ("total", rows(total=1000.5)),
    "more than": ("total", rows(total=0.0)),
    "a day or a moment not before": ("day", rows(day=date(2024, 12, 31))),
    "a shape of text": ("email", rows(email="nobody")),
    "a length of text": ("status", rows(status="o")),
    "one row per value": ("id", rows(id=3)),
    "JSON": ("payload", rows(payload="{")),
    "all these values occur": ("status", OPEN_ONLY),
    "how many different values": ("status", OPEN_ONLY),
    "an average": ("total", rows(total=1e6)),
    "a sum": ("total", rows(total=-1e6)),
    "the newest value": ("placed_at", rows()[:0]),
    "only of some rows": ("email", rows(email=None, status="paid")),
    "of the table: how many rows": (None, rows()[:0]),
    "of the table: these columns": (None, rows().drop(columns="status")),
    "of the table: one row per pair of values": (None, rows(customer_id=3)),
    "of the table: one column above another": (None, rows(shipped_at=moment(19))),
}
"""The column that an entry of the gallery stands under, and a table that breaks it."""


def declared(said: str, column: str | None, folder: Path) -> DeclaredExpectation:
    """The entry as it stands in a feed file."""
    part = f"table: [{said}]" if column is None else f"columns: {{{column}: [{said}]}}"
    file = folder / "suite.yaml"
    file.write_text(f"gold: {{orders: {{{part}}}}}\n")
    (suite,) = suites_from(read_yaml(file), str(file))
    (one,) = suite.expectations
    return one


def test_the_gallery_is_whole() -> None:
    by_spark = "of the table: any rows by SQL"
    assert {said for said, _ in GALLERY} == {*CASES, by_spark}


@pytest.mark.parametrize(("wish", "said"), [one for one in GALLERY if one[0] in CASES])
def test_each_expectation_of_the_gallery_passes_and_fails(
    tmp_path: Path, wish: str, said: str
) -> None:
    column, broken = CASES[wish]
    one = declared(said, column, tmp_path)
    assert fault_of(one, TYPES) is None
    for frame, passes in ((rows(), True), (broken, False)):
        (answer,), _ = ask("orders", [one], Rows(frame, False, TYPES, ["id"]))
        assert answer.error is None
        assert answer.passed is passes


def test_the_table_of_rules_is_the_codes() -> None:
    """Made again by ``python -m tests.expectations.rules_in_docs``."""
    assert table() in PAGE.read_text(encoding="utf-8")


def test_the_examples_are_feed_files(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n# feeds/shop.yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    head = (PAGE.parents[1] / "feeds" / "shop.yaml").read_text(encoding="utf-8")
    for number, block in enumerate(blocks):
        file = tmp_path / f"shop_{number}.yaml"
        file.write_text(f"{head}\n{block}")
        assert load_feed(file).tables
    assert len(blocks) == 2
