"""What a feed file may not say: every fault names its key and its place, and all are named at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestration.cli.run_in_dagster import refuse_unknown_expectations
from orchestration.feeds.load import load_feed, load_feeds
from orchestration.feeds.tables import MASK_KEY
from transforms.errors import FeedFaults, FeedMisdeclared, TableNameCollision

HEAD = "format: arcion_s3_json\nlanding: s3://drops/tpch/\n"
SECRET = "a secret of sixteen"


def cases() -> list[tuple[str, str]]:
    """Every file of ``refused.txt``, with what is told of it."""
    found, head = [], ""
    for line in (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            head = line.removeprefix("## ")
        elif "  =>  " in line:
            said, told = line.split("  =>  ")
            found.append((head.replace("…", said).replace("⏎", "\n"), told))
    return found


def refusal(folder: Path, text: str, name: str = "tpch.yaml") -> FeedMisdeclared:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(FeedMisdeclared) as caught:
        load_feed(folder / name)
    assert caught.value.file == str(folder / name)
    return caught.value


@pytest.mark.parametrize(("text", "told"), cases())
def test_a_fault_names_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.setenv(MASK_KEY, SECRET)
    message = str(refusal(tmp_path, f"{text}\n"))
    assert [part for part in told.split("…") if part.strip() not in message] == [], message
    assert "hush" not in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "tables: {region: {key: [id], colums: {id: int}}}\n",
            "line 3, column 30: tables.region.colums: is not a known key; did you mean columns. Known: key, columns,"
            " encoded, out_of_range, cdc_columns, csv, path, history, change_feed, deletes, snapshots,"
            " unavailable_value, document, was, renamed, since, mask, schema_changes, description, descriptions.",
        ),
        (
            "tables:\n  region:\n    key: [id]\n",
            "line 4, column 3: tables.region.columns: is missing.",
        ),
        (
            "window_path: 'dt={year}-{month}'\n",
            "line 3, column 1: window_path: does not say where to find {day}: write it as in"
            " dt={year}-{month}-{day}/h={hour}.",
        ),
    ],
)
def test_the_whole_message(tmp_path: Path, text: str, told: str) -> None:
    assert str(refusal(tmp_path, HEAD + text)) == f"{tmp_path}/tpch.yaml: {told}"


MUCH_IS_WRONG = f"""\
{HEAD}window: weekly
files: '[z-a]*'
tables:
  region:
    key: [id]
    columns: {{id: integr}}
  nation:
    key: [nr]
    columns:
      id: int
"""


def test_all_faults_are_named_at_once_with_their_places(tmp_path: Path) -> None:
    misspelt = MUCH_IS_WRONG.replace("tables:", "retention: 3\ntabels:")
    lines = str(refusal(tmp_path, misspelt)).splitlines()
    assert lines[0] == f"{tmp_path}/tpch.yaml: 3 faults:"
    assert [line.split(": ")[:2] for line in lines[1:]] == [
        ["  line 3, column 1", "window"],
        ["  line 5, column 1", "retention"],
        ["  line 6, column 1", "tabels"],
    ]
    refused = refusal(tmp_path, MUCH_IS_WRONG.replace("weekly", "hour"))
    assert isinstance(refused, FeedFaults)
    assert [(one.key, str(one).split(": ")[1]) for one in refused.faults] == [
        ("files", "line 4, column 1"),
        ("tables.region.columns.id", "line 8, column 15"),
        ("tables.nation.key", "line 10, column 5"),
    ]
    assert (refused.key, refused.fault) == ("files", refused.faults[0].fault)


@pytest.mark.parametrize("name", ["Tpch.yaml", "2tpch.yaml", "tp-ch.yaml", "tp ch.yaml", "ü.yaml"])
def test_the_file_gives_the_feed_its_name(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, HEAD, name).key == "the file's name"


def test_a_folder_of_feed_files_has_one_file_for_a_feed(tmp_path: Path) -> None:
    for name, text in (("b.yml", HEAD), ("a.yaml", HEAD), ("README.md", "not a feed")):
        (tmp_path / name).write_text(text)
    assert [feed.name for feed in load_feeds(tmp_path)] == ["a", "b"]
    (tmp_path / "a.yml").write_text(HEAD)
    with pytest.raises(FeedMisdeclared, match=r"a\.yaml declares the feed a already"):
        load_feeds(tmp_path)
    with pytest.raises(FeedMisdeclared, match="there is no such folder"):
        load_feeds(tmp_path / "none")


@pytest.mark.parametrize("name", ["a/b", "a..b", ".a", "a.b.c.d", "'a '", "a__tombstones"])
def test_an_unfit_table_name_is_refused(tmp_path: Path, name: str) -> None:
    text = f"{HEAD}tables: {{{name}: {{key: [id], columns: {{id: int}}}}}}\n"
    assert "table_names" in str(refusal(tmp_path, text))


def test_tables_that_would_share_gold_are_refused(tmp_path: Path) -> None:
    table = "{key: [id], columns: {id: int}}"
    file = tmp_path / "tpch.yaml"
    file.write_text(f"{HEAD}tables: {{a.region: {table}, b.Region: {table}}}\n")
    with pytest.raises(TableNameCollision, match="table_names: schema"):
        load_feed(file)
    file.write_text(f"{file.read_text()}table_names: schema\n")
    assert len(load_feed(file).tables) == 2


def test_a_table_without_a_key_is_told_apart_by_all_its_columns(tmp_path: Path) -> None:
    table = "tables: {t: {key: [], columns: {a: int}%s}}\n"
    said = refusal(tmp_path, f"{HEAD}schema_changes: {{add_column: evolve}}\n{table % ''}")
    assert said.key == "tables.t.schema_changes.add_column"
    assert "evolve needs a key" in said.fault
    for mask in ("drop", "null"):
        said = refusal(tmp_path, HEAD + table % f", mask: {{a: {mask}}}")
        assert "in a table without a key, whose rows all columns tell apart" in said.fault


@pytest.mark.parametrize(
    ("held", "words"),
    [(None, "is not set"), ("", "is not set"), ("fifteen signs..", "has fewer than 16 characters")],
)
def test_a_hash_needs_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str | None, words: str
) -> None:
    monkeypatch.delenv(MASK_KEY, raising=False)
    if held is not None:
        monkeypatch.setenv(MASK_KEY, held)
    table = (
        f"{HEAD}tables: {{t: {{key: [a], columns: {{a: int, b: string}}, mask: {{b: hash}}}}}}\n"
    )
    told = str(refusal(tmp_path, table))
    assert f"16 characters in the environment variable WEIR_MASK_KEY, which {words}" in told
    assert "fifteen" not in told
    # Other masks need none.
    (tmp_path / "tpch.yaml").write_text(table.replace("hash", "null"))
    assert load_feed(tmp_path / "tpch.yaml").mask_key is None


def test_topics_may_give_up_offsets_of_their_partitions_alone(tmp_path: Path) -> None:
    head = "format: debezium\nlanding: kafka://b:9092/t,u\n"
    for said, fault in (
        (
            "accept_loss: {t: 5}",
            "accept_loss.t: is no partition: write <topic>/<number>. Known: t, u.",
        ),
        ("accept_loss: {v/0: 5}", "accept_loss.v/0: is no partition"),
        ("accept_loss: {t/0: five}", "accept_loss.t/0: 'five' is no offset"),
        ("window_path: '{year}/{month}/{day}'", "records of a topic are in the windows of their"),
    ):
        assert fault in str(refusal(tmp_path, f"{head}{said}\n"))


def test_what_only_great_expectations_knows_is_named_with_its_place_too(tmp_path: Path) -> None:
    file = tmp_path / "zoo.yaml"
    text = f"""\
{HEAD}tables: {{pets: {{key: [id], columns: {{id: int, name: string}}}}}}
expectations:
  gold:
    pets:
      columns:
        name:
          - expect_column_values_to_not_be_null: {{mostly: 0.9}}
          - expect_column_values_to_be_in_set: {{value_set: [no, yes]}}
"""
    file.write_text(text)
    refuse_unknown_expectations([load_feed(file)])
    file.write_text(text.replace("mostly", "mosty").replace("values_to_be_in_set", "values_in_set"))
    with pytest.raises(FeedMisdeclared) as caught:
        refuse_unknown_expectations([load_feed(file)])
    told = str(caught.value)
    assert re.search("line 9, column 13: .*has no argument mosty; did you mean mostly", told)
    assert re.search("line 10, column 13: .*did you mean expect_column_values_to_be_in_set", told)
