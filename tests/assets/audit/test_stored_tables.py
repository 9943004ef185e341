"""The built-in suites ask every table as it stands: they find what no run has done to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from assets.audit import stored_tables
from assets.storage.lake import Lake, Layer
from orchestration import definitions
from orchestration.resources import lake_of
from tests.support.commands_here import weir
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, and those of Great Expectations and of what it imports.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FILE = """\
format: arcion_s3_json
landing: ../landing
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def feed(tmp_path: Path, lake: Lake) -> Feed:
    """Two pets in gold."""
    records = [
        change("I", 1, after={"id": "1", "name": "Ada"}),
        change("I", 2, after={"id": "2", "name": "Bo"}),
    ]
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(*records))
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(FILE)
    pets = replace(PETS, columns={"id": "int", "name": "string"}, cdc_columns=("id", "name"))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": pets})
    bring(lake, feed)
    return feed


def damage(lake: Lake) -> None:
    """Add Ada's row to gold once more, as another program might. A row without a key the table itself refuses."""
    path = lake.path(Layer.GOLD, "zoo", "pets")
    query = QueryBuilder().register("pets", DeltaTable(path))
    write_deltalake(
        path, query.execute("SELECT * FROM pets WHERE id = 1").read_all(), mode="append"
    )


def test_tables_that_are_as_they_should_be_answer_so(lake: Lake, feed: Feed) -> None:
    silver, gold = stored_tables.ask_stored(lake, feed)
    assert (silver.name, gold.name) == ("silver.zoo", "gold.zoo.pets")
    assert silver.asked == 5
    assert gold.asked == 3
    assert [*silver.broken, *gold.broken] == []


def test_a_key_that_something_else_has_broken_is_found_with_its_row(lake: Lake, feed: Feed) -> None:
    assert not any(one.broken for one in stored_tables.ask_stored(lake, feed))
    damage(lake)
    found = [*stored_tables.ask_stored(lake, feed)]
    (answer,) = found[1].broken
    assert "to be unique" in answer.description
    assert answer.samples
    head, line = stored_tables.stored_in_lines(feed, found)
    assert "8 expectations of 2 tables" in head
    assert "1 failure" in head
    assert line.startswith("  gold.zoo.pets: `id: ")


def test_the_command_ends_with_1_and_shows_what_is_broken_on_pages(
    lake: Lake, feed: Feed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--feeds", str(tmp_path / "feeds"), "--warehouse", lake.warehouse)
    assert weir("data-docs", *place) == 0
    assert "zoo: 8 expectations of 2 tables as stored: all hold" in capsys.readouterr().out
    damage(lake)
    assert weir("data-docs", *place) == 1
    assert "gold.zoo.pets: `id: " in capsys.readouterr().out
    pages = tmp_path / "warehouse" / "_quality" / "zoo" / "data_docs"
    assert [one for one in pages.rglob("*.html") if "as_stored" in str(one)]


def test_the_job_fails_and_says_what_is_broken(lake: Lake, feed: Feed) -> None:
    job = definitions.build([feed], lake).resolve_job_def(f"{feed.name}_data_docs")
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance).success
        damage(lake)
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        assert not result.success
        (event,) = result.get_step_failure_events()
        assert event.step_failure_data.user_failure_data is not None
        assert "gold.zoo.pets: `id: " in str(event.step_failure_data.user_failure_data.description)
