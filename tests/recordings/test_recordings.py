"""Recordings of real databases through a real Debezium and Kafka: gold is the rows of SELECT, and so says the order.

A recording is a folder: ``case.yaml`` (which files come later, and in which hour), ``feed.yaml``, ``drops`` and
``expected.json`` (columns and rows, as texts). They stand beside the vendors' samples and are no part of the project.
A recording of a new release of a connector is judged by laying it there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from pyspark.sql import SparkSession

from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake, Layer
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.recordings import ordering
from tests.support.bringing import run
from transforms.feed.feed import Feed

RECORDINGS: Final = (
    Path(
        os.environ.get("WEIR_SAMPLES", Path(__file__).parents[2].parent / "shared" / "samples")
    ).parent
    / "reports"
)
NAMES: Final = sorted(one.name for one in RECORDINGS.glob("r-*")) or ["none"]

NOT_RIGHT: Final[Mapping[str, frozenset[str]]] = {
    # Equal rows of a table without a key agree in all but their offsets, and a killed worker sends them again.
    "r-my06b-worker-killed-mariadb-11": frozenset({"visit"}),
    "r-my06e-worker-killed-11-debezium-3-5": frozenset({"visit"}),
    # The log began again: a check stops gold, and names the epoch to open. Here nobody opens it.
    "r-my07-reset-master": frozenset({"item", "stock"}),
    # A column got another name, which no event says: a check stops the table, and asks which it is.
    "r-my09-alter-table": frozenset({"other"}),
    "r-pg08-alter-table": frozenset({"item"}),
    # An incremental snapshot cannot say which rows are gone.
    "r-pg03-incremental-after-loss": frozenset({"item", "line"}),
    # A blocking snapshot's place is the signal's: without a key, changes since then count twice.
    "r-pg04-blocking-snapshot": frozenset({"visit"}),
    # The recording has 0 where Spark writes 0.0.
    "r-pg10a-values-defaults": frozenset({"num"}),
    # Infinity and days before our era do not fit, and are in quarantine.
    "r-pg10g-infinity-bc-nan": frozenset({"tim"}),
}
"""Tables of recordings whose gold is not what the database holds."""

OTHERWISE_BY_RULE: Final[Mapping[str, frozenset[str]]] = {
    # Equal rows of one transaction are counted within a delivery, which ends where the sequence of gtid falls.
    "r-my06b-worker-killed-mariadb-11": frozenset({"visit"}),
    # The rule compares the columns that every image has: not the one whose name changed.
    "r-my09-alter-table": frozenset({"other"}),
    "r-pg08-alter-table": frozenset({"item"}),
    # Nor columns whose values have to be read.
    "r-pg10a-values-defaults": frozenset({"num"}),
    "r-pg10g-infinity-bc-nan": frozenset({"tim"}),
    # A transform has unwrapped the rows, and deletes are tombstones, which say no place; of mark there are none.
    "r-pg12-unwrapped-tombstone": frozenset({"item", "line"}),
}
"""Tables of which the rule of order and gold do not agree whether they are what the database holds."""

STARTED: Final = datetime(2026, 11, 20, tzinfo=UTC)


class Recording:
    """A recording on its way into a landing, step by step."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder, self.landing = folder, place / "landing"
        self.about: dict[str, Any] = yaml.safe_load((folder / "case.yaml").read_text())
        declared = yaml.safe_load((folder / "feed.yaml").read_text()) or {}
        feeds = place / "feeds"
        feeds.mkdir()
        text = yaml.safe_dump({"landing": str(self.landing), **declared}, sort_keys=False)
        (feeds / "recorded.yaml").write_text(text)
        self.landing.mkdir()
        (self.feed,) = load_feeds(feeds)

    @property
    def steps(self) -> Sequence[Sequence[str]]:
        """The files that come with each run."""
        drops = self.folder / "drops"
        later = self.about.get("later", [])
        names = [str(one.relative_to(drops)) for one in sorted(drops.rglob("*")) if one.is_file()]
        return [[name for name in names if not any(name in some for some in later)], *later]

    def land(self, names: Sequence[str]) -> None:
        for name in names:
            target = self.landing / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((self.folder / "drops" / name).read_bytes())
            moment = STARTED + timedelta(hours=self.about.get("hours", {}).get(name, 0))
            os.utime(target, (moment.timestamp(),) * 2)


@pytest.mark.parametrize("name", NAMES)
def test_gold_is_what_the_database_held(spark: SparkSession, name: str, tmp_path: Path) -> None:
    if not (RECORDINGS / name).is_dir():
        pytest.skip(f"no recordings at {RECORDINGS}; WEIR_SAMPLES names the folder beside it")
    recording = Recording(RECORDINGS / name, tmp_path)
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    for names in recording.steps:
        recording.land(names)
        run(lake, recording.feed)
    expected = json.loads((RECORDINGS / name / "expected.json").read_text())["tables"]
    differing = {
        table
        for table, wanted in expected.items()
        if in_gold(lake, recording.feed, table, wanted["columns"])
        != sorted(([_text(one) for one in row] for row in wanted["rows"]), key=str)
    }
    assert differing == NOT_RIGHT.get(name, frozenset())


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_of_order_says_of_each_table_what_gold_says(name: str) -> None:
    if not (RECORDINGS / name).is_dir():
        pytest.skip(f"no recordings at {RECORDINGS}; WEIR_SAMPLES names the folder beside it")
    nothing = frozenset[str]()
    expected = NOT_RIGHT.get(name, nothing) ^ OTHERWISE_BY_RULE.get(name, nothing)
    assert ordering.differing(RECORDINGS / name) == expected


def in_gold(lake: Lake, feed: Feed, table: str, columns: Sequence[str]) -> list[list[str | None]]:
    """Gold's rows, as Spark casts them to texts; one row that no table has where gold lacks one of the columns."""
    stored = lake.table(Layer.GOLD, feed.name, table).read()
    if lacking := {one for one in columns if one.isidentifier()}.difference(stored.columns):
        return [[f"gold has no {one}" for one in sorted(lacking)]]
    shown = [f"CAST({one if re.search(r'[(`]', one) else f'`{one}`'} AS STRING)" for one in columns]
    rows = stored.selectExpr(*shown).collect()
    return sorted(([*row] for row in rows), key=str)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
