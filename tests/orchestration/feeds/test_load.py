"""What a feed file may say, and which errors name what is wrong in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestration.feeds.faults import FeedFaults
from orchestration.feeds.load import load_feed, load_feeds
from transforms import formats
from transforms.errors import FeedMisdeclared, TableNameCollision
from transforms.feed.digest import feed_digest
from transforms.feed.feed import Table

FORMATS = ("arcion_s3_csv", "arcion_s3_json")
HEAD = "format: arcion_s3_json\nlanding: s3://drops/tpch/\n"
REGION = "tables: {region: {key: [id], columns: {id: int, name: string}}}\n"


def written(folder: Path, text: str, name: str = "tpch.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def table_of(folder: Path, table: str) -> Table:
    """The one table of a feed whose file says ``table`` under ``tables: t:``."""
    return load_feed(written(folder, f"{HEAD}tables: {{t: {table}}}\n"), FORMATS).tables["t"]


def refusal(folder: Path, text: str, name: str = "tpch.yaml") -> FeedMisdeclared:
    with pytest.raises(FeedMisdeclared) as caught:
        load_feed(written(folder, text, name), FORMATS)
    assert caught.value.file == str(folder / name)
    return caught.value


@pytest.mark.parametrize(
    ("landing", "rest", "key", "fault"),
    [
        ("x", "tables: {}\n", "tables", "is no key of a feed of format dgraph"),
        ("kafka://b", "", "landing", "is not kafka://broker:port/topic[,topic]"),
        ("kafka://b/t+", "", "landing", "is not kafka://broker:port/topic[,topic]"),
        ("kafka://b/t/", "", "landing", "is not kafka://broker:port/topic[,topic]"),
        ("kafka:/b/t", "", "landing", "is not kafka://broker:port/topic[,topic]"),
        ("kafkas://b/t", "", "landing", "is neither s3://bucket/prefix/ nor a folder"),
        ("kafka://me:hush@b/t", "", "landing", "has credentials in it, and secrets never stand"),
        ("kafka://b/t", "files: a\n", "files", "a topic has none"),
        (
            "x",
            "predicates: {age: {type: integer}}\n",
            "predicates.age.type",
            "is no type of Dgraph",
        ),
    ],
)
def test_a_graph_has_no_tables_and_a_topic_no_files(
    tmp_path: Path, landing: str, rest: str, key: str, fault: str
) -> None:
    text = f"format: dgraph\nlanding: {landing}\n{rest}"
    with pytest.raises(FeedMisdeclared) as caught:
        load_feed(written(tmp_path, text, "social.yaml"))
    assert caught.value.key == key
    assert fault in caught.value.fault
    assert "hush" not in str(caught.value)


def test_where_the_window_stands_in_a_path_is_checked_with_the_rest(tmp_path: Path) -> None:
    wrong = refusal(tmp_path, f"{HEAD}window_path: 'dt={{year}}-{{month}}'\nwindow: week\n")
    assert "window:" in str(wrong)
    wrong = refusal(tmp_path, f"{HEAD}window_path: 'dt={{year}}-{{month}}'\n")
    assert str(wrong) == (
        f"{tmp_path}/tpch.yaml: line 3, column 1: window_path: does not say where to find {{day}}: write it as in"
        " dt={year}-{month}-{day}/h={hour}."
    )
    topic = "format: debezium\nlanding: kafka://b/t\nwindow_path: '{year}/{month}/{day}'\n"
    with pytest.raises(FeedMisdeclared) as caught:
        load_feed(written(tmp_path, topic))
    assert caught.value.key == "window_path"
    assert "records of a topic are in the windows of their timestamps" in caught.value.fault


def test_another_place_of_the_window_makes_no_window_due(tmp_path: Path) -> None:
    before = load_feed(written(tmp_path, HEAD), FORMATS)
    after = load_feed(
        written(tmp_path, f"{HEAD}window_path: 'd={{day}}.{{month}}.{{year}}'\n"), FORMATS
    )
    assert after.window_path == "d={day}.{month}.{year}"
    assert feed_digest(after, "2026-11-20T03") == feed_digest(before, "2026-11-20T03")


def test_history_and_change_feed_are_true_or_false(tmp_path: Path) -> None:
    table = "key: [id], columns: {id: int}"
    assert table_of(tmp_path, f"{{{table}, history: true}}").history
    assert table_of(tmp_path, f"{{{table}, history: True}}").history
    assert not table_of(tmp_path, f"{{{table}, history: false}}").history
    assert not table_of(tmp_path, f"{{{table}}}").history
    assert table_of(tmp_path, f"{{{table}, change_feed: true}}").change_feed
    assert not table_of(tmp_path, f"{{{table}}}").change_feed
    wrong = refusal(tmp_path, f"{HEAD}tables: {{t: {{{table}, history: yes}}}}\n")
    assert str(wrong).endswith("tables.t.history: must be true or false, found 'yes'.")


def test_a_feed_file_with_everything(tmp_path: Path) -> None:
    text = """
        format: arcion_s3_csv
        landing: drops/tpch
        files: "**/*.csv"
        window: day
        table_names: schema
        tables:
          tpch.region:
            key: [r_regionkey]
            columns: {r_regionkey: INTEGER, r_name: varchar(25), r_paid: "decimal(15, 2)"}
            cdc_columns: [r_paid, r_name, r_regionkey]
            path: region/*.csv
    """
    feed = load_feed(written(tmp_path, text), FORMATS)
    assert (feed.name, feed.format, feed.files) == ("tpch", "arcion_s3_csv", "**/*.csv")
    assert (feed.window, feed.table_names) == ("day", "schema")
    assert feed.landing == str(tmp_path / "drops" / "tpch")
    assert feed.tables["tpch.region"] == Table(
        name="tpch.region",
        key=("r_regionkey",),
        columns={"r_regionkey": "int", "r_name": "string", "r_paid": "decimal(15,2)"},
        cdc_columns=("r_paid", "r_name", "r_regionkey"),
        path="region/*.csv",
    )


def test_what_is_left_out_has_the_defaults(tmp_path: Path) -> None:
    feed = load_feed(written(tmp_path, HEAD + REGION), FORMATS)
    assert (feed.files, feed.window, feed.table_names) == (None, "hour", "plain")
    assert feed.tables["region"].cdc_columns == ("id", "name")
    assert load_feed(written(tmp_path, HEAD), FORMATS).tables == {}


@pytest.mark.parametrize("landing", ["s3://drops", "s3://drops/", "s3://drops/a/b"])
def test_an_s3_landing_is_a_folder(tmp_path: Path, landing: str) -> None:
    feed = load_feed(written(tmp_path, f"format: arcion_s3_csv\nlanding: {landing}\n"), FORMATS)
    assert feed.landing == landing.rstrip("/") + "/"


def test_all_feed_files_of_a_folder_are_read(tmp_path: Path) -> None:
    written(tmp_path, HEAD, "b.yml")
    written(tmp_path, HEAD, "a.yaml")
    written(tmp_path, "not a feed", "README.md")
    assert [feed.name for feed in load_feeds(tmp_path, FORMATS)] == ["a", "b"]
    written(tmp_path, HEAD, "a.yml")
    with pytest.raises(FeedMisdeclared, match=r"a\.yaml declares the feed a already"):
        load_feeds(tmp_path, FORMATS)
    with pytest.raises(FeedMisdeclared, match="there is no such folder"):
        load_feeds(tmp_path / "none", FORMATS)


def test_a_column_may_be_called_what_yaml_takes_for_something_else(tmp_path: Path) -> None:
    table = table_of(tmp_path, "{key: [no], columns: {no: int, on: string, 1: int, 1_0: date}}")
    assert table.key == ("no",)
    assert list(table.columns) == ["no", "on", "1", "1_0"]


def test_yaml_layout_does_not_change_what_is_declared(tmp_path: Path) -> None:
    block = "tables:\n  region:\n    columns:\n      id: INT   # the key\n      'name': string\n"
    block += "    key:\n    - id\n"
    feeds = [load_feed(written(tmp_path, HEAD + text), FORMATS) for text in (REGION, block)]
    assert feeds[0] == feeds[1]
    assert feed_digest(feeds[0], "2025-11-20T03") == feed_digest(feeds[1], "2025-11-20T03")


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("", "the file", "is empty; a feed needs format and landing"),
        ("# nothing\n", "the file", "is empty; a feed needs format and landing"),
        ("- a\n", "the file", "is a list, not a mapping such as 'format: …'"),
        ("just text\n", "the file", "is a text, not a mapping such as 'format: …'"),
        ("landing: x\n", "format", "is missing"),
        ("format: arcion_s3_json\n", "landing", "is missing"),
        ("format: [a]\nlanding: x\n", "format", "must be a text, found ['a']"),
        ("format: arcion_s3_jsn\n", "format", "did you mean arcion_s3_json"),
        (f"{HEAD}vertices: {{}}\n", "vertices", "is no key of a feed of format arcion_s3_json"),
        (f"{HEAD}window: hourly\n", "window", "must be 'hour' or 'day', found 'hourly'"),
        (f"{HEAD}windows: hour\n", "windows", "is not a known key; did you mean window"),
        (f"{HEAD}tables: [a]\n", "tables", "must be a mapping"),
        (f"{HEAD}tables: {{t: int}}\n", "tables.t", "must be a mapping"),
        (f"{HEAD}tables:\n  t:\n", "tables.t", "has no value"),
        (f"{HEAD}files: ''\n", "files", "has no value"),
        (f"{HEAD}landing: x\n", "line 3", "the key 'landing' stands on line 2 already"),
        (f"{HEAD}files: [a\n", "line 4", "is not YAML"),
        (f"{HEAD}files: a: b\n", "line 3", "is not YAML"),
        (f"{HEAD}files: !!python/name:os.system\n", "line 3", "is not YAML"),
        ("format: arcion_s3_csv\nlanding: kafka://b:9092/t\n", "landing", "is a Kafka topic"),
        (f"{HEAD}accept_loss: {{t/0: 5}}\n", "accept_loss", "is for topics"),
        (
            "format: arcion_s3_csv\nlanding: s3a://b/t\n",
            "landing",
            "is neither s3://bucket/prefix/",
        ),
        ("format: arcion_s3_csv\nlanding: s3://\n", "landing", "is neither s3://bucket/prefix/"),
        ("format: arcion_s3_csv\nlanding: s3:/b/t\n", "landing", "is neither s3://bucket/prefix/"),
    ],
)
def test_a_fault_names_its_key(tmp_path: Path, text: str, key: str, fault: str) -> None:
    refused = refusal(tmp_path, text)
    assert refused.key == key
    assert fault in refused.fault


@pytest.mark.parametrize(
    ("table", "key", "fault"),
    [
        ("{columns: {a: int}}", "key", "is missing"),
        ("{key: a, columns: {a: int}}", "key", "must be a list, such as [a, b], found 'a'"),
        ("{key: [b], columns: {a: int}}", "key", "'b' is not among the table's columns"),
        ("{key: [a, a], columns: {a: int}}", "key", "names a twice"),
        ("{key: [a]}", "columns", "is missing"),
        ("{key: [a], columns: {}}", "columns", "has no value"),
        ("{key: [a], columns: [a]}", "columns", "must be a mapping, such as {a: int}"),
        ("{key: [a], columns: {a: int, A: int}}", "columns.A", "differs from a only in case"),
        ("{key: [a], columns: {a: int, a: int}}", None, "the key 'a' stands on line 3 already"),
        ("{key: [a], columns: {a: int, _WEIR_b: int}}", "columns._WEIR_b", "are Weir's own"),
        ("{key: [a], columns: {a: intt}}", "columns.a", "'intt' is not a Spark SQL type"),
        ("{key: [a], columns: {a: }}", "columns.a", "has no value"),
        ("{key: [a], columns: {a: decimal(9,2)}}", "columns.2)", "a comma needs quotes"),
        ("{key: [m], columns: {m: 'map<int,int>'}}", "key", "must be of simple types"),
        ("{key: [a], columns: {a: 'array<int>'}}", "key", "must be of simple types"),
        ("{key: [a], columns: {a: int, a b: int}}", "columns.a b", "cannot hold blanks"),
        ("{key: [a], columns: {a: int, 'a.b': int}}", "columns.a.b", "cannot hold blanks"),
        ("{key: [a], columns: {a: int}, path: '[z-a]*'}", "path", "is no glob"),
        ("{key: [a], columns: {a: int, b: int}, cdc_columns: [a]}", "cdc_columns", "leaves out b"),
        ("{key: [a], columns: {a: int}, cdc_columns: [a, c]}", "cdc_columns", "'c' is not among"),
        ("{key: [a], columns: {a: int}, cdc_columns: [a, a]}", "cdc_columns", "names a twice"),
    ],
)
def test_a_fault_in_a_table_names_its_path(
    tmp_path: Path, table: str, key: str | None, fault: str
) -> None:
    refused = refusal(tmp_path, f"{HEAD}tables: {{t: {table}}}\n")
    assert refused.key == (f"tables.t.{key}" if key else "line 3")
    assert fault in refused.fault


def test_the_whole_message_of_a_misspelt_key(tmp_path: Path) -> None:
    text = HEAD + REGION.replace("columns", "colums")
    assert str(refusal(tmp_path, text)) == (
        f"{tmp_path}/tpch.yaml: line 3, column 30: tables.region.colums: is not a known key; did you mean columns. "
        "Known: key, columns, encoded, cdc_columns, path, history, change_feed, snapshots, unavailable_value, was, "
        "renamed, since, mask, schema_changes, description, descriptions."
    )


MUCH_IS_WRONG = """\
format: arcion_s3_json
landing: s3://drops/tpch/
window: weekly
files: '[z-a]*'
tables:
  region:
    key: [id]
    columns: {id: integr}
  nation:
    key: [nr]
    columns:
      id: int
"""


def test_all_faults_of_one_kind_are_named_at_once_with_their_places(tmp_path: Path) -> None:
    misspelt = MUCH_IS_WRONG.replace("tables:", "retention: 3\ntabels:")
    lines = str(refusal(tmp_path, misspelt)).splitlines()
    assert lines[0] == f"{tmp_path}/tpch.yaml: 3 faults:"
    assert [line.split(": ")[:2] for line in lines[1:]] == [
        ["  line 3, column 1", "window"],
        ["  line 5, column 1", "retention"],
        ["  line 6, column 1", "tabels"],
    ]


def test_all_faults_of_tables_and_files_are_named_at_once(tmp_path: Path) -> None:
    refused = refusal(tmp_path, MUCH_IS_WRONG.replace("weekly", "hour"))
    assert isinstance(refused, FeedFaults)
    assert [(one.key, str(one).split(": ")[1]) for one in refused.faults] == [
        ("files", "line 4, column 1"),
        ("tables.region.columns.id", "line 8, column 15"),
        ("tables.nation.key", "line 10, column 5"),
    ]
    assert (refused.key, refused.fault) == ("files", refused.faults[0].fault)


def test_a_fault_of_a_missing_key_stands_where_it_is_missing(tmp_path: Path) -> None:
    refused = refusal(tmp_path, HEAD + "tables:\n  region:\n    key: [id]\n")
    assert str(refused) == (
        f"{tmp_path}/tpch.yaml: line 4, column 3: tables.region.columns: is missing."
    )


@pytest.mark.parametrize("name", ["Tpch.yaml", "2tpch.yaml", "tp-ch.yaml", "tp ch.yaml", "ü.yaml"])
def test_the_file_gives_the_feed_its_name(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, HEAD, name).key == "the file's name"


@pytest.mark.parametrize("name", ["a/b", "a..b", ".a", "a.b.c.d", "'a '", "a__tombstones"])
def test_an_unfit_table_name_is_refused(tmp_path: Path, name: str) -> None:
    text = f"{HEAD}tables: {{{name}: {{key: [id], columns: {{id: int}}}}}}\n"
    assert "table_names" in str(refusal(tmp_path, text))


def test_tables_that_would_share_gold_are_refused(tmp_path: Path) -> None:
    table = "{key: [id], columns: {id: int}}"
    text = f"{HEAD}tables: {{a.region: {table}, b.Region: {table}}}\n"
    with pytest.raises(TableNameCollision, match="table_names: schema"):
        load_feed(written(tmp_path, text), FORMATS)
    assert len(load_feed(written(tmp_path, f"{text}table_names: schema\n"), FORMATS).tables) == 2


def shown_feed_files() -> list[tuple[str, str]]:
    """Every whole feed file that the documentation shows, with the page that shows it."""
    root = Path(__file__).resolve().parents[3]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return [
        (page.name, block)
        for page in pages
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        if re.search(r"^format:", block, re.MULTILINE)
    ]


def test_a_feed_file_that_the_documentation_shows_is_one(tmp_path: Path) -> None:
    shown = shown_feed_files()
    assert {"README.md", "arcion_s3.md"} <= {page for page, _ in shown}
    for page, text in shown:
        feed = load_feed(written(tmp_path, text))
        assert feed.tables or formats.FORMATS[feed.format].describes_tables, page
    assert any("history: true" in text for _, text in shown)


def test_a_landing_of_topics_may_give_up_offsets_of_its_partitions(tmp_path: Path) -> None:
    head = "format: debezium\nlanding: kafka://b:9092/t,u\n"
    text = f"{head}accept_loss: {{t/0: 5, u/12: 7}}\n"
    feed = load_feed(written(tmp_path, text), ("debezium",))
    assert feed.reads_topics
    assert feed.accepted_losses == {"t/0": 5, "u/12": 7}
    for said, fault in (
        ("t: 5", "accept_loss.t: is no partition: write <topic>/<number>. Known: t, u."),
        ("v/0: 5", "accept_loss.v/0: is no partition"),
        ("t/0: five", "accept_loss.t/0: 'five' is no offset"),
    ):
        with pytest.raises(FeedMisdeclared, match=re.escape(fault)):
            load_feed(written(tmp_path, f"{head}accept_loss: {{{said}}}\n"), ("debezium",))


def test_what_stands_for_values_that_were_not_logged_is_said_by_feed_and_by_table(
    tmp_path: Path,
) -> None:
    head = "format: debezium\nlanding: s3://drops/shop/\n"
    table = "{key: [id], columns: {id: int}, unavailable_value: [gone, lost]}"
    text = f"{head}unavailable_value: hex:00ff\ntables: {{t: {table}}}\n"
    feed = load_feed(written(tmp_path, text), ("debezium",))
    assert feed.unavailable_value == ("hex:00ff",)
    assert feed.tables["t"].unavailable_value == ("gone", "lost")
    other = load_feed(written(tmp_path, text.replace("00ff", "00fe")), ("debezium",))
    less = load_feed(written(tmp_path, text.replace(", lost", "")), ("debezium",))
    assert len({feed_digest(one, "2026-11-20T03") for one in (feed, other, less)}) == 3


def test_formats_without_such_values_have_no_key_for_them(tmp_path: Path) -> None:
    fault = refusal(tmp_path, f"{HEAD}unavailable_value: gone\n")
    assert (fault.key, fault.fault) == ("unavailable_value", "is for feeds of format debezium")
    table = "tables: {t: {key: [id], columns: {id: int}, unavailable_value: gone}}\n"
    fault = refusal(tmp_path, HEAD + table)
    assert fault.key == "tables.t.unavailable_value"
    assert refusal(tmp_path, f"{HEAD}unavailable_value: ['']\n").fault.startswith("has no value")
