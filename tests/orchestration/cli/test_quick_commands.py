"""Questions at the command line are answered without Dagster, pandas and boto3, which take longer than the answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from orchestration.cli import run, session
from orchestration.cli.options import Place
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.errors import UnreadableWarehouse
from transforms.feed.feed import Feed

ZOO = """landing: {landing}
format: arcion_s3_json
tables:
  pets: {{key: [id], columns: {{id: int, name: string}}}}
"""
ASKED = """
import sys
from orchestration.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print("ended:", end.code or 0)
print("slow:", *sorted({"dagster", "dagster_pyspark", "pandas", "boto3", "great_expectations"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A feed of pets, all of whose drops are in gold."""
    folder = tmp_path_factory.mktemp("zoo")
    lay(folder, "feeds/zoo.yaml", ZOO.format(landing=folder / "drops").encode())
    lay(
        folder, "drops/2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "Ada"}))
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder / "drops"), tables={"pets": PETS})
    bring(lake_of(str(folder / "warehouse")).by(IN_PROCESS), feed)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["run"],
        ["explain", "zoo", "pets", "1"],
        ["query", "SELECT name FROM gold.zoo.pets"],
        ["quarantine", "list", "zoo"],
        ["compact", "zoo"],
    ],
    ids=" ".join,
)
def test_a_question_imports_nothing_slow(place: Path, words: list[str]) -> None:
    environment = {
        **os.environ,
        "WEIR_FEEDS": str(place / "feeds"),
        "WEIR_WAREHOUSE": str(place / "warehouse"),
    }
    asked = subprocess.run(
        [sys.executable, "-c", ASKED, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *_, ended, slow = asked.stdout.splitlines()
    assert (ended, slow) == ("ended: 0", "slow:"), asked.stderr


def test_a_file_in_the_warehouses_place_is_no_warehouse(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableWarehouse, match=r"file: this is a file, and no folder\. Name"):
        session.reached(str(tmp_path / "file"))


def test_the_feeds_that_have_nothing_new_are_named_where_another_cannot_be_read(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feeds = tmp_path / "feeds"
    lay(feeds, "zoo.yaml", (place / "feeds" / "zoo.yaml").read_bytes())
    lay(feeds, "farm.yaml", ZOO.format(landing=tmp_path / "nowhere").encode())
    assert run.run(Place(feeds, str(place / "warehouse")), [], None) == 2
    said = capsys.readouterr()
    assert "Nothing new of zoo: every drop in the landing is in gold already." in said.out
    assert "feed farm: cannot read" in said.err
