"""``checks`` and ``expectations`` of a feed file: what they may say, and which errors name what is wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from orchestration.cli.run_in_dagster import refuse_unknown_expectations
from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import CheckSetting, Feed

# Great Expectations and what it imports use names that Python is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HEAD = """\
format: arcion_s3_json
landing: s3://drops/zoo/
tables:
  pets: {key: [id], columns: {id: int, name: string, born: date}}
"""


def loaded(folder: Path, text: str) -> Feed:
    file = folder / "zoo.yaml"
    file.write_text(HEAD + text)
    return load_feed(file)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(FeedMisdeclared) as caught:
        loaded(folder, text)
    return str(caught.value).removeprefix(f"{folder / 'zoo.yaml'}: ")


def test_severity_threshold_and_age_of_a_rule_are_read(tmp_path: Path) -> None:
    feed = loaded(
        tmp_path,
        "checks:\n"
        "  nothing_quarantined: {severity: fail, at_most: 10}\n"
        "  no_event_twice: {severity: off}\n"
        "  is_fresh: {within: 2h}\n",
    )
    assert feed.checks == {
        "nothing_quarantined": CheckSetting("fail", 10),
        "no_event_twice": CheckSetting("off"),
        "is_fresh": CheckSetting(None, 0, timedelta(hours=2)),
    }


@pytest.mark.parametrize(
    ("said", "key", "fault"),
    [
        ("nothing_quarantine: {at_most: 1}", "", "is no built-in check; did you mean nothing_"),
        ("nothing_quarantined: {at_mst: 1}", ".at_mst", "is not a known key; did you mean at_most"),
        ("nothing_quarantined: {at_most: some}", ".at_most", "'some' is no whole number"),
        (
            "nothing_quarantined: {severity: stop}",
            ".severity",
            "must be 'block', 'fail', 'warn' or",
        ),
        ("accounting_is_exact: {severity: warn}", "", "cannot be set: what breaks this rule"),
        ("no_event_twice: {within: 2h}", ".within", "is a key of is_fresh only"),
        ("is_fresh: {severity: warn}", "", "needs to know how old is too old"),
        ("is_fresh: {within: soon}", ".within", "'soon' is no length of time"),
        ("is_fresh: {within: 2h, at_most: 3}", ".at_most", "counts nothing here"),
        ("no_dangling_edge: {severity: warn}", "", "is no built-in check"),
    ],
)
def test_a_wrong_setting_is_named_with_its_place(
    tmp_path: Path, said: str, key: str, fault: str
) -> None:
    rule = said.partition(":")[0]
    column = 3 if not key else said.index(key[1:]) + 3
    found = refusal(tmp_path, f"checks:\n  {said}\n")
    assert found.startswith(f"line 6, column {column}: checks.{rule}{key}: {fault}")


def test_an_unknown_rule_comes_with_those_that_there_are(tmp_path: Path) -> None:
    assert "accounting_is_exact, " in refusal(tmp_path, "checks: {x: {at_most: 1}}\n")


EXPECTATIONS = """\
expectations:
  silver:
    columns:
      event_at: [expect_column_values_to_not_be_null]
  gold:
    pets:
      table:
        - expect_table_row_count_to_be_between: {min_value: 1, severity: block}
      columns:
        name:
          - expect_column_values_to_not_be_null
          - expect_column_values_to_not_be_null: {mostly: 0.9}
          - expect_column_values_to_be_in_set: {value_set: [no, yes]}
"""


def test_expectations_are_read_with_the_texts_that_were_written(tmp_path: Path) -> None:
    silver, gold = loaded(tmp_path, EXPECTATIONS).suites
    assert (silver.layer, silver.table, len(silver.expectations)) == ("silver", None, 1)
    assert (gold.layer, gold.table) == ("gold", "pets")
    assert [(one.check, one.severity) for one in gold.expectations] == [
        ("expect_table_row_count_to_be_between", "block"),
        ("expect_column_values_to_not_be_null__name", "warn"),
        ("expect_column_values_to_not_be_null__name__2", "warn"),
        ("expect_column_values_to_be_in_set__name", "warn"),
    ]
    assert gold.expectations[0].arguments == {"min_value": "1"}
    assert gold.expectations[3].arguments == {"value_set": ["no", "yes"]}
    assert gold.expectations[3].column == "name"


def test_what_is_said_of_checks_makes_no_window_due(tmp_path: Path) -> None:
    said = loaded(tmp_path, f"checks: {{no_event_twice: {{severity: off}}}}\n{EXPECTATIONS}")
    nothing = loaded(tmp_path, "")
    assert said != nothing
    assert feed_digest(said, "2025-11-20T03") == feed_digest(nothing, "2025-11-20T03")
    pets = said.tables["pets"]
    assert table_digest(said, pets) == table_digest(nothing, pets)


NOT_NULL = "expect_column_values_to_not_be_null"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("glod: {}", "line 6, column 3: expectations.glod: is not a known key; did you mean gold"),
        ("gold: {pest: {table: []}}", "gold.pest: is no declared table; did you mean pets"),
        ("gold: {pets: {clumns: {}}}", "pets.clumns: is not a known key; did you mean columns"),
        (
            f"gold:\n    pets:\n      columns:\n        nam: [{NOT_NULL}]",
            "line 9, column 15: expectations.gold.pets.columns.nam.0: 'nam' is no column of the",
        ),
        ("gold: {pets: {columns: {name: expect_it}}}", "must be a list of expectations"),
        ("gold: {pets: {columns: {name: []}}}", "must be a list of expectations"),
        ("gold: {pets: {table: [{a: {}, b: {}}]}}", "must be an expectation's name, or its name"),
        (
            "gold: {pets: {columns: {name: [expect_x: {severity: fail}]}}}",
            "severity: must be warn or block, found 'fail'",
        ),
        (
            "gold: {pets: {columns: {name: [expect_x: {column: id}]}}}",
            "is said already: it stands under the column name",
        ),
        ("gold: {pets: {table: [expect_x: {column_list: [id, nme]}]}}", "'nme' is no column of"),
    ],
)
def test_a_wrong_declaration_is_named_with_its_place(tmp_path: Path, said: str, fault: str) -> None:
    assert fault in refusal(tmp_path, f"expectations:\n  {said}\n")


def test_what_only_great_expectations_knows_is_named_with_its_place_too(tmp_path: Path) -> None:
    feed = loaded(tmp_path, EXPECTATIONS)
    refuse_unknown_expectations([feed])
    text = EXPECTATIONS.replace("expect_column_values_to_be_in_set", "expect_column_values_in_set")
    feed = loaded(tmp_path, text.replace("mostly", "mosty"))
    with pytest.raises(FeedMisdeclared) as caught:
        refuse_unknown_expectations([feed])
    message = str(caught.value)
    assert "line 16, column 13: expectations.gold.pets.columns.name.1." in message
    assert "has no argument mosty; did you mean mostly" in message
    assert "line 17, column 13" in message
    assert "did you mean expect_column_values_to_be_in_set" in message
