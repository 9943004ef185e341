"""Runs ask what a feed declares of its tables, keep what all checks found, and link its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import dagster as dg
import pytest

from assets.executors.choice import SPARK
from assets.quality import declared_checks
from assets.quality.data_docs import DATA_DOCS, QualityFolder, build_pages_of
from assets.storage.lake import Lake
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.resources import lake_of
from orchestration.runs.execution import RANGE_END, RANGE_START
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import due
from tests.services.seaweed import Store
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import CheckSetting, DeclaredExpectation, DeclaredSuite, Feed

# Dagster's own, and those of Great Expectations and of what it imports.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW, NEXT = "2025-11-20T03", "2025-11-20T04"


def expectation(
    kind: str, column: str | None, severity: str = "warn", **arguments: object
) -> DeclaredExpectation:
    check = f"{kind}__{column}" if column else kind
    return DeclaredExpectation(check, kind, column, arguments, severity, "expectations")  # type: ignore[arg-type]


SHORT = expectation("expect_column_value_lengths_to_be_between", "name", max_value="3")
NO_BO = expectation("expect_column_values_to_not_be_in_set", "name", "block", value_set=["Bo"])
FEW = expectation("expect_table_row_count_to_be_between", None, max_value="2")
CHECK = dg.AssetCheckKey(dg.AssetKey(["gold", "zoo", "pets"]), NO_BO.check)


def suite(*expectations: DeclaredExpectation) -> DeclaredSuite:
    return DeclaredSuite("gold", "pets", expectations, "zoo.yaml")


@pytest.fixture
def plain_lake(tmp_path: Path) -> Lake:
    """A warehouse whose tables are small enough for no session."""
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    lay(
        tmp_path / "landing",
        "2025-11-20/03/a.json",
        drop(
            change("I", 1, after={"id": "1", "name": "Ada"}),
            change("I", 2, after={"id": "2", "name": "Bo"}),
            change("I", 3, after={"id": "3", "name": "Clara"}),
        ),
    )
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def run(lake: Lake, feed: Feed, instance: dg.DagsterInstance) -> Outcome:
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={RANGE_START: WINDOW, RANGE_END: NEXT},
    )
    outcome = Outcome(due(lake, feed))
    gather(result, outcome)
    return outcome


def found(outcome: Outcome) -> dict[str, dg.AssetCheckEvaluation]:
    return {one.check_name: one for one in outcome.checks}


def page_of(lake: Lake, check: dg.AssetCheckEvaluation) -> Path:
    """The page behind a check's link."""
    _, feed, page = str(check.metadata["data_docs"].value).removeprefix(DATA_DOCS).split("/", 2)
    return Path(QualityFolder(lake.warehouse, feed).address(unquote(page)))


def test_a_warning_says_what_was_found_with_keys_and_its_page_shows_it(
    plain_lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    outcome = run(plain_lake, replace(feed, suites=(suite(SHORT, FEW),)), instance)
    assert not outcome.failed
    warned = found(outcome)[SHORT.check]
    assert (warned.passed, warned.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "1 row of 3 break it, such as `name=Clara id=3`" in str(warned.description)
    assert warned.metadata["violations"].value == 1
    assert warned.metadata["rows"].value == 3
    assert "| `Clara` | 3 |" in str(warned.metadata["found"].value)
    rows = found(outcome)[FEW.check]
    assert (rows.passed, rows.metadata["observed"].value) == (False, "3")
    page = page_of(plain_lake, warned).read_text()
    assert "Clara" in page
    assert "one_row_per_key: No key that the run touched has two rows." in page
    # The built-in checks stand on the same page, and silver's own is there, too.
    assert page_of(plain_lake, found(outcome)["one_row_per_key"]) == page_of(plain_lake, warned)
    assert page_of(plain_lake, found(outcome)["accounting_is_exact"]).exists()
    index = Path(QualityFolder(plain_lake.warehouse, "zoo").index)
    assert "gold.zoo.pets" in index.read_text()
    # Without network nothing of Great Expectations' own would draw it.
    assert "if (!window.jQuery)" in index.read_text()


def test_one_that_blocks_leaves_the_window_due_and_is_remembered_until_the_table_changes(
    plain_lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    folder = Path(plain_lake.warehouse, "_quality", "zoo", "results")

    def kept() -> int:
        return len([*folder.rglob("gold.zoo.pets.json")])

    declared = replace(feed, suites=(suite(NO_BO),))
    first = run(plain_lake, declared, instance)
    blocked = found(first)[NO_BO.check]
    assert first.failed
    assert (blocked.passed, blocked.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert due(plain_lake, feed).windows == [WINDOW]

    # Nothing has changed: the check fails again, though nobody was asked again.
    again = run(plain_lake, declared, instance)
    assert again.failed
    assert found(again)[NO_BO.check].description == blocked.description
    assert page_of(plain_lake, found(again)[NO_BO.check]) == page_of(plain_lake, blocked)
    assert kept() == 1

    lay(
        Path(feed.landing),
        "2025-11-20/04/b.json",
        drop(change("U", 9, {"id": "2", "name": "Bo"}, {"id": "2", "name": "Bob"})),
    )
    repaired = run(plain_lake, declared, instance)
    assert not repaired.failed
    assert kept() == 2
    assert due(plain_lake, feed).windows == []
    # Another suite is another question.
    run(plain_lake, replace(feed, suites=(suite(NO_BO, SHORT),)), instance)
    assert kept() == 3


def test_silver_is_asked_about_the_windows_of_the_run(
    plain_lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    inserts = expectation("expect_column_values_to_be_in_set", "operation", value_set=["insert"])
    asked = replace(feed, suites=(DeclaredSuite("silver", None, [inserts], "zoo.yaml"),))
    assert found(run(plain_lake, asked, instance))[inserts.check].passed
    lay(
        Path(feed.landing),
        "2025-11-20/04/b.json",
        drop(change("D", 9, {"id": "2", "name": "Bo"})),
    )
    check = found(run(plain_lake, asked, instance))[inserts.check]
    assert not check.passed
    assert check.metadata["rows"].value == 4
    assert "2025-11-20T04" in str(check.metadata["found"].value)


def test_results_are_kept_without_great_expectations_and_their_pages_made_on_request(
    plain_lake: Lake, feed: Feed, instance: dg.DagsterInstance
) -> None:
    strange = change("<img src=x>", 4, after={"id": "4", "name": "Dee"})
    lay(Path(feed.landing), "2025-11-20/03/bad.json", drop("{", strange))
    settings = {"nothing_quarantined": CheckSetting("fail")}
    outcome = run(plain_lake, replace(feed, checks=settings), instance)
    failed = found(outcome)["nothing_quarantined"]
    assert (failed.passed, failed.severity) == (False, dg.AssetCheckSeverity.ERROR)
    page = page_of(plain_lake, failed)
    assert not page.exists()
    folder = Path(plain_lake.warehouse, "_quality", "zoo")
    stored = sorted(file.stem for file in (folder / "results").rglob("*.json"))
    assert stored == ["bronze.zoo", "gold.zoo.pets", "silver.zoo"]
    assert not (folder / "validations").exists()

    job = definitions.build([feed], plain_lake).resolve_job_def("zoo_data_docs")
    assert job.execute_in_process(instance=instance).success
    index = QualityFolder(plain_lake.warehouse, "zoo").index
    assert "nothing_quarantined: Every record could be read" in page.read_text()
    assert Path(index).exists()
    # Great Expectations was asked of the counts, and what it found is its own.
    (silver,) = (folder / "validations").rglob("silver.zoo.json")
    asked = json.loads(silver.read_text())
    (broken,) = [one for one in asked["results"] if not one["success"]]
    assert broken["expectation_config"]["type"] == "expect_column_max_to_be_between"
    assert broken["expectation_config"]["kwargs"]["column"] == "nothing_quarantined"
    assert broken["result"]["observed_value"] == 2
    assert asked["statistics"]["unsuccessful_expectations"] == 1
    assert not asked["success"]
    # What a source wrote is text on the page, and no markup.
    assert "<img src=x" not in page.read_text()
    assert "opType &lt;img src=x&gt; is not known" in page.read_text()
    # What is a table where Markdown is read is left out here.
    assert "| id |" not in page.read_text()
    assert build_pages_of(plain_lake.warehouse, feed.name)[0] == 0
    # A run that changes nothing in gold has nothing new to say of it.
    run(plain_lake, replace(feed, checks=settings), instance)
    assert build_pages_of(plain_lake.warehouse, feed.name)[0] == 2


def test_large_tables_are_asked_about_by_spark_and_give_the_same_answers(
    lake: Lake, feed: Feed
) -> None:
    bring(lake, feed)
    own = suite(SHORT, NO_BO, FEW)
    pandas = declared_checks.ask_gold(lake, feed, own, PETS, ["pets"])
    large = lake.by(SPARK)
    spark = declared_checks.ask_gold(large, feed, own, PETS, ["pets"])
    assert spark.answers == pandas.answers
    # Delta keeps the table's state, until Java frees it; the rows that were asked about are freed at once.
    kept = {*lake.spark.sparkContext._jsc.getPersistentRDDs()}
    declared_checks.ask_gold(large, feed, own, PETS, ["pets"])
    assert {*lake.spark.sparkContext._jsc.getPersistentRDDs()} <= kept
    none = expectation(
        "unexpected_rows_expectation",
        None,
        unexpected_rows_query="SELECT * FROM {batch} WHERE name = 'Bo'",
    )
    asked = declared_checks.ask_gold(lake, feed, suite(none), PETS, ["pets"])
    (answer,) = asked.answers[none.check]
    assert (answer.passed, answer.observed) == (False, "1")


def test_an_expectation_may_be_of_the_rows_that_are_not_marked_as_deleted(
    lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    """And the engines agree of which rows a condition is: of booleans, and of nulls."""
    marking = replace(PETS, deletes="mark")
    feed = replace(feed, tables={"pets": marking})
    # Of the key 7 nothing but its delete is known.
    gone = (change("D", 10 + id, {"id": f"{id}"}) for id in (3, 7))
    lay(tmp_path / "landing", "2025-11-20/04/b.json", drop(*gone))
    bring(lake, feed)

    def named(word: str, condition: str | None) -> DeclaredExpectation:
        told = {} if condition is None else {"row_condition": condition}
        kind = "expect_column_values_to_not_be_null"
        return DeclaredExpectation(f"{word} named", kind, "name", told, "warn", "expectations")

    own = suite(
        named("all", None),
        named("live", 'col("_weir_is_deleted") == false'),
        named("not marked", 'col("_weir_is_deleted") != "true"'),
        named("other than Bo", 'col("name") != "Bo"'),
    )
    for asking in (lake, lake.by(SPARK)):
        asked = declared_checks.ask_gold(asking, feed, own, marking, ["pets"])
        answers = [one for some in asked.answers.values() for one in some]
        assert [(one.error, one.asked, one.broken) for one in answers] == [
            *[(None, 4, 1), (None, 2, 0), (None, 2, 0), (None, 2, 0)],
        ]


def test_expectations_that_need_pandas_and_such_that_need_spark_are_all_answered(
    lake: Lake, feed: Feed
) -> None:
    bring(lake, feed)
    query = "SELECT * FROM {batch} WHERE name = 'Bo'"
    by_spark = expectation("unexpected_rows_expectation", None, unexpected_rows_query=query)
    by_pandas = expectation("expect_column_values_to_be_of_type", "name", type_="str")
    own = suite(by_pandas, SHORT, by_spark)
    asked = declared_checks.ask_gold(lake.by(SPARK), feed, own, PETS, ["pets"])
    answers = [asked.answers[one.check] for one in own.expectations]
    assert [[(one.passed, one.error) for one in some] for some in answers] == [
        [(True, None)],
        [(False, None)],
        [(False, None)],
    ]
    assert len(asked.results) == len(own.expectations)


def test_in_an_object_store_results_and_pages_are_below_a_prefix(
    store: Store, feed: Feed, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.put("lake", {})
    lake = lake_of("s3a://lake/warehouse")
    outcome = run(lake, replace(feed, suites=(suite(SHORT),)), instance)
    assert outcome.errors == []
    folder = QualityFolder(lake.warehouse, "zoo")
    link = str(found(outcome)[SHORT.check].metadata["data_docs"].value)
    assert link.startswith(f"{DATA_DOCS}/zoo/validations/gold/zoo/pets/")
    page = folder.read(f"data_docs/{unquote(link.removeprefix(f'{DATA_DOCS}/zoo/'))}")
    assert page is not None
    assert "Clara" in page
