"""The laws over drawn histories of YugabyteDB's tablets, in both forms, over several windows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.laws.drawn import xcluster_histories, yugabyte_histories
from tests.laws.oracle.oracle import Event, Table, current, visible
from tests.support.pet_feed import bring, lay
from transforms.feed.feed import Feed
from transforms.feed.feed import Table as Declared

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = max(1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 160)
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]
TYPES = {"id": "int", "a": "string", "b": "int"}

Rows = dict[int, tuple[object, ...]]


Meaning = tuple[str, str, list[Event]]
"""A response: the window that it comes in, its JSON, and its records in the oracle's words."""


FORMS = {"yugabyte": yugabyte_histories.History, "yugabyte_xcluster": xcluster_histories.History}


def drawn_of(form: str, seed: int) -> tuple[list[Meaning], Rows]:
    """A history, two tablets in the CDC SDK's form or one in xCluster's, and the rows at its end."""
    history = FORMS[form](seed)
    responses = [
        (window, history.document(records, tablet), history.events(tablet, records))
        for window, tablet, records in history.delivered(WINDOWS)
    ]
    return responses, {key: tuple(row[name] for name in TYPES) for key, row in history.rows.items()}


class World:
    """Many histories in one landing: per case what comes in which window, and the rows at the end."""

    def __init__(self, form: str, folder: Path) -> None:
        self.delivered: list[dict[str, list[Event]]] = []
        self.rows: Rows = {}
        lines: dict[str, list[str]] = {window: [] for window in WINDOWS}
        for seed in range(SEED, SEED + HISTORIES):
            of_case: dict[str, list[Event]] = {window: [] for window in WINDOWS}
            responses, rows = drawn_of(form, seed)
            for window, line, events in responses:
                lines[window].append(line)
                of_case[window] += events
            self.delivered.append(of_case)
            self.rows |= rows
        for window, found in lines.items():
            Random(window).shuffle(found)
            lay(folder, f"items/{window.replace('T', '/')}/a.jsonl", "\n".join(found).encode())

    def expected(self, read: set[str]) -> Rows:
        """The rows that the oracle sees once these windows have been read."""
        found: Rows = {}
        table = Table("items", ("id",), TYPES)
        for of_case in self.delivered:
            for row in current(visible(of_case, read), table).rows.values():
                values = tuple(row.values[name] for name in TYPES)
                assert isinstance(values[0], int)
                found[values[0]] = values
        return found

    def events(self, window: str) -> int:
        """How many records come in a window."""
        return sum(len(of_case[window]) for of_case in self.delivered)


@pytest.mark.parametrize("form", FORMS)
def test_gold_is_the_database_whatever_the_windows_and_their_order(
    spark: SparkSession, tmp_path: Path, record_property: Callable[[str, object], None], form: str
) -> None:
    """Laws 1 (order-free), 2 (redelivery), 3 (accounting), 4 (no resurrection) and 6 (commit first)."""
    folder = tmp_path / "landing"
    drawn = World(form, folder)
    records = sum(map(drawn.events, WINDOWS))
    record_property(
        "laws", f"{form}: {HISTORIES:,} histories from seed {SEED}, {records:,} deliveries"
    )
    items = Declared("items", ("id",), TYPES, ())
    feed = Feed("drawn", form, str(folder), tables={"items": items})
    lake = lake_of(str(tmp_path / "lake"))
    order = Random(form).sample(WINDOWS, len(WINDOWS))
    read: set[str] = set()
    for windows in (order[:2], order[2:]):
        _, made = bring(lake, feed, sorted(windows))
        read |= set(windows)
        assert made.violations["accounting_is_exact"] == 0
        assert made.violations["nothing_quarantined"] == 0
        for window in windows:
            accounts = [account for account in made.accounts if account["window"] == window]
            assert sum(account["events"] for account in accounts) == drawn.events(window)
        gold = lake.table(Layer.GOLD, feed.name, "items").read().select(*TYPES).collect()
        rows = {row["id"]: tuple(row) for row in gold}
        assert len(rows) == len(gold), "two rows of one key"
        expected = drawn.expected(read)
        keys = sorted(rows.keys() | expected.keys())
        differing = {
            key: (rows.get(key), expected.get(key))
            for key in keys
            if rows.get(key) != expected.get(key)
        }
        assert not differing, f"gold and oracle after {sorted(read)}"
    assert rows == drawn.rows
