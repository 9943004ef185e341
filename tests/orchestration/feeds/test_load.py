"""What feed files say, and what of it makes windows due or tables new."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from orchestration.feeds.tables import MASK_KEY
from transforms import formats
from transforms.column_types.registry import widens
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import (
    Automation,
    CheckSetting,
    Described,
    Feed,
    Freshness,
    Predicate,
    Retention,
    Running,
    Table,
)
from transforms.feed.masks import MaskKey
from transforms.feed.paths import table_of_object
from transforms.feed.schema_policies import Policies, added

HEAD = "format: arcion_s3_json\nlanding: s3://drops/tpch/\n"
TABLE = "key: [a], columns: {a: int, b: string}"
WINDOW = "2026-11-20T03"
SECRET = "a secret of sixteen"


def loaded(folder: Path, text: str) -> Feed:
    file = folder / "tpch.yaml"
    file.write_text(text, encoding="utf-8")
    return load_feed(file)


def table_of(folder: Path, *said: str, head: str = HEAD) -> Table:
    """The one table of a feed whose file says this of it."""
    return loaded(folder, f"{head}tables: {{t: {{{', '.join(said)}}}}}\n").tables["t"]


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
    feed = loaded(tmp_path, text)
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
    feed = loaded(tmp_path, f"{HEAD}tables: {{t: {{{TABLE}}}}}\n")
    assert (feed.files, feed.window, feed.table_names) == (None, "hour", "plain")
    assert (feed.running, feed.retention) == (Running(), Retention(timedelta(days=30)))
    table = feed.tables["t"]
    assert (table.cdc_columns, table.policies) == (("a", "b"), Policies())
    assert not (table.history or table.change_feed)
    assert loaded(tmp_path, HEAD).tables == {}


@pytest.mark.parametrize("landing", ["s3://drops", "s3://drops/", "s3://drops/a/b"])
def test_an_s3_landing_is_a_folder(tmp_path: Path, landing: str) -> None:
    feed = loaded(tmp_path, f"format: arcion_s3_csv\nlanding: {landing}\n")
    assert feed.landing == landing.rstrip("/") + "/"


def test_yaml_is_read_without_its_traps(tmp_path: Path) -> None:
    table = table_of(tmp_path, "key: [no]", "columns: {no: int, on: string, 1: int, 1_0: date}")
    assert table.key == ("no",)
    assert list(table.columns) == ["no", "on", "1", "1_0"]
    block = "tables:\n  t:\n    columns:\n      a: INT   # the key\n      'b': string\n"
    feeds = [
        loaded(tmp_path, HEAD + text)
        for text in (f"tables: {{t: {{{TABLE}}}}}\n", f"{block}    key:\n    - a\n")
    ]
    assert feeds[0] == feeds[1]
    assert feed_digest(feeds[0], WINDOW) == feed_digest(feeds[1], WINDOW)


def test_a_feed_file_that_the_documentation_shows_is_one(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    shown = [
        (page.name, block)
        for page in (root / "README.md", *sorted((root / "docs").glob("*.md")))
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        if re.search(r"^format:", block, re.MULTILINE)
    ]
    assert {"README.md", "arcion.md"} <= {page for page, _ in shown}
    for page, text in shown:
        feed = loaded(tmp_path, text)
        assert feed.tables or formats.FORMATS[feed.format].describes_tables, page
    assert any("history: true" in text for _, text in shown)


def test_what_a_table_says(tmp_path: Path) -> None:
    assert table_of(tmp_path, TABLE, "history: True").history
    assert table_of(tmp_path, TABLE, "change_feed: true").change_feed
    earlier = "was: [s.old], renamed: {c: b}, since: {b: 2026-11-20T04}"
    table = loaded(tmp_path, f"{HEAD}tables: {{s.t: {{{TABLE}, {earlier}}}}}\n").tables["s.t"]
    assert (table.was, table.renamed, table.since) == (
        ("s.old",),
        {"c": "b"},
        {"b": "2026-11-20T04"},
    )
    assert table_of_object("2026-11-20/03/s/old/x.json", {"s.t": table}) == "s.t"


def test_a_table_has_the_feeds_policies_but_for_its_own(tmp_path: Path) -> None:
    tables = f"{{t: {{{TABLE}}}, u: {{{TABLE}, schema_changes: {{add_column: keep}}}}}}"
    policies = "schema_changes: {add_column: evolve, rename_table: fail}\n"
    feed = loaded(tmp_path, f"{HEAD}{policies}tables: {tables}\n")
    assert feed.policies == Policies(add_column="evolve", rename_table="fail")
    assert feed.tables["t"].policies.add_column == "evolve"
    assert feed.tables["u"].policies == Policies(rename_table="fail")


@pytest.mark.parametrize(
    ("said", "retention"),
    [
        ("{retention: 7d}", Retention(timedelta(days=7))),
        ("{retention: 36h}", Retention(timedelta(hours=36))),
        ("{retention: forever}", Retention(None)),
        ("{retired: [tablet-7]}", Retention(retired=("tablet-7",))),
        (f"{{dismissed: [{WINDOW}]}}", Retention(dismissed=(WINDOW,))),
    ],
)
def test_how_long_history_is_kept(said: str, retention: Retention, tmp_path: Path) -> None:
    assert loaded(tmp_path, f"{HEAD}compaction: {said}\n").retention == retention


def test_values_are_written_in_one_of_the_known_ways(tmp_path: Path) -> None:
    columns = '{id: int, amount: "decimal(10,2)", made_at: timestamp, day: date, ships: string}'
    encoded = "{amount: Base64( 2 ), made_at: MICROS, day: days, ships: micros_of_day}"
    said = ("key: [id]", f"columns: {columns}", f"encoded: {encoded}")
    assert table_of(tmp_path, *said, head=HEAD.replace("arcion_s3_json", "debezium")).encodings == {
        **{"amount": "base64(2)", "made_at": "micros", "day": "days", "ships": "micros_of_day"},
    }


def test_topics_give_up_offsets_and_placeholders_are_said_by_feed_and_by_table(
    tmp_path: Path,
) -> None:
    head = "format: debezium\nlanding: kafka://b:9092/t,u\naccept_loss: {t/0: 5, u/12: 7}\n"
    text = f"{head}unavailable_value: hex:00ff\ntables: {{t: {{{TABLE}, unavailable_value: [gone, lost]}}}}\n"
    feed = loaded(tmp_path, text)
    assert feed.reads_topics
    assert feed.accepted_losses == {"t/0": 5, "u/12": 7}
    assert feed.unavailable_value == ("hex:00ff",)
    assert feed.tables["t"].unavailable_value == ("gone", "lost")


def test_masks_are_read_and_gold_lacks_what_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file that a secret is mounted from often ends with a line break.
    monkeypatch.setenv(MASK_KEY, f"{SECRET}\n")
    columns = "columns: {id: int, ssn: string, birth: date, notes: string}"
    since = "since: {notes: 2026-11-20T04}, renamed: {remarks: notes}"
    mask = "mask: {ssn: hash, birth: null, notes: drop}"
    feed = loaded(tmp_path, f"{HEAD}tables: {{p: {{key: [id], {columns}, {since}, {mask}}}}}\n")
    people = feed.tables["p"]
    assert people.masks == {"ssn": "hash", "birth": "null", "notes": "drop"}
    assert people.columns == {"id": "int", "ssn": "string", "birth": "date"}
    assert [*people.source_columns] == [*people.cdc_columns] == ["id", "ssn", "birth", "notes"]
    assert "notes" not in people.at(WINDOW).source_columns
    assert "notes" in people.at("2026-11-20T04").source_columns
    assert feed.mask_key == MaskKey(SECRET)
    for word in ("Null", "NULL", "~", "'null'", '"null"'):
        assert table_of(tmp_path, TABLE, f"mask: {{b: {word}}}").masks == {"b": "null"}


RUNNING = """\
start: 2025-11-20T03
description: The shop.
owners: [ada@shop.example, team:data]
tags: {domain: sales}
freshness: {warn: 2h, fail: 6h}
automation: {schedule: on, sensor: off, compaction: on, look_every: 10s}
checks:
  nothing_quarantined: {severity: fail, at_most: 10}
  no_event_twice: {severity: off}
  is_fresh: {within: 2h}
expectations:
  silver:
    columns:
      event_at: [expect_column_values_to_not_be_null]
  gold:
    t:
      table:
        - expect_table_row_count_to_be_between: {min_value: 1, severity: block}
      columns:
        b:
          - expect_column_values_to_not_be_null
          - expect_column_values_to_not_be_null: {mostly: 0.9}
          - expect_column_values_to_be_in_set: {value_set: [no, yes]}
"""
TOLD = f"{TABLE}, description: All of them., descriptions: {{b: where parcels go}}"


def test_how_a_feed_is_run_and_watched(tmp_path: Path) -> None:
    feed = loaded(tmp_path, f"{HEAD}tables: {{t: {{{TOLD}}}}}\n{RUNNING}")
    assert feed.running == Running(
        start="2025-11-20T03",
        description="The shop.",
        owners=("ada@shop.example", "team:data"),
        tags={"domain": "sales"},
        freshness=Freshness(timedelta(hours=6), timedelta(hours=2)),
        automation=Automation(schedule=True, sensor=False, compaction=True, look_every=10),
        tables={"t": Described("All of them.", {"b": "where parcels go"})},
    )
    assert feed.checks == {
        "nothing_quarantined": CheckSetting("fail", 10),
        "no_event_twice": CheckSetting("off"),
        "is_fresh": CheckSetting(None, 0, timedelta(hours=2)),
    }
    silver, gold = feed.suites
    assert (silver.layer, silver.table, len(silver.expectations)) == ("silver", None, 1)
    assert (gold.layer, gold.table) == ("gold", "t")
    assert [(one.check, one.severity) for one in gold.expectations] == [
        ("expect_table_row_count_to_be_between", "block"),
        ("expect_column_values_to_not_be_null__b", "warn"),
        ("expect_column_values_to_not_be_null__b__2", "warn"),
        ("expect_column_values_to_be_in_set__b", "warn"),
    ]
    assert gold.expectations[0].arguments == {"min_value": "1"}
    assert gold.expectations[3].arguments == {"value_set": ["no", "yes"]}
    assert gold.expectations[3].column == "b"


DEBEZIUM = HEAD.replace("arcion_s3_json", "debezium")


@pytest.mark.parametrize(
    ("head", "said", "is_due"),
    [
        (f"{HEAD}{RUNNING}", TOLD, False),
        (f"{HEAD}window_path: 'd={{day}}.{{month}}.{{year}}'\n", TABLE, False),
        (HEAD, f"{TABLE}, schema_changes: {{add_column: fail, drop_column: fail}}", False),
        (HEAD, f"{TABLE}, schema_changes: {{narrow_type: quarantine}}", False),
        (HEAD, "key: [a], columns: {a: int, b: string, c: int}, since: {c: 2026-11-20T04}", False),
        (HEAD, "key: [a], columns: {a: int, b: string, c: int}", True),
        (HEAD, f"{TABLE}, schema_changes: {{add_column: quarantine}}", True),
        (HEAD, f"{TABLE}, schema_changes: {{add_column: evolve}}", True),
        (HEAD, f"{TABLE}, schema_changes: {{drop_column: hold}}", True),
        (HEAD, f"{TABLE}, renamed: {{c: b}}", True),
        (HEAD, f"{TABLE}, was: [u]", True),
        (HEAD, f"{TABLE}, mask: {{b: null}}", True),
        (HEAD, f"{TABLE}, mask: {{b: drop}}", True),
        (HEAD, f"{TABLE}, mask: {{b: hash}}", True),
        (DEBEZIUM, TABLE, True),
        (DEBEZIUM, f"{TABLE}, encoded: {{b: micros_of_day}}", True),
        (f"{DEBEZIUM}unavailable_value: hex:00ff\n", TABLE, True),
        (DEBEZIUM, f"{TABLE}, unavailable_value: [gone, lost]", True),
        (DEBEZIUM, f"{TABLE}, document: b", True),
        (f"{HEAD}out_of_range: null\n", TABLE, True),
    ],
)
def test_what_decides_what_events_become_makes_windows_due(
    head: str, said: str, is_due: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MASK_KEY, SECRET)
    before = loaded(tmp_path, f"{HEAD}tables: {{t: {{{TABLE}}}}}\n")
    after = loaded(tmp_path, f"{head}tables: {{t: {{{said}}}}}\n")
    assert before != after
    assert (feed_digest(before, WINDOW) != feed_digest(after, WINDOW)) == is_due


def test_a_mask_its_key_and_a_later_column_make_tables_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = "key: [a], columns: {a: int, b: string, c: int}, since: {c: 2026-11-20T04}"
    hashed = f"{TABLE}, mask: {{b: hash}}"
    feeds = []
    for secret, said in ((SECRET, TABLE), (SECRET, later), (SECRET, hashed), (SECRET * 2, hashed)):
        monkeypatch.setenv(MASK_KEY, secret)
        feeds.append(loaded(tmp_path, f"{HEAD}tables: {{t: {{{said}}}}}\n"))
    assert len({table_digest(feed, feed.tables["t"]) for feed in feeds}) == len(feeds)
    assert len({feed_digest(feed, "2026-11-20T04") for feed in feeds}) == len(feeds)


@pytest.mark.parametrize(
    ("old", "new", "is_wider"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "decimal(12,2)", True),
        ("int", "decimal(11,2)", False),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(12,1)", False),
        ("smallint", "float", True),
        ("int", "float", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("float", "double", True),
        ("date", "timestamp_ntz", True),
        ("timestamp", "date", False),
        ("timestamp", "timestamp_ntz", False),
        ("map<string,int>", "string", True),
        ("string", "int", False),
        ("boolean", "decimal(38,0)", False),
        ("array<int>", "array<bigint>", True),
        ("array<bigint>", "array<int>", False),
    ],
)
def test_a_type_is_wider_when_it_holds_every_value(old: str, new: str, is_wider: bool) -> None:
    assert widens(old, new) == is_wider


def test_gold_takes_columns_that_a_table_can_have() -> None:
    found = ["nick", "Nick", "a b", "_weir_x", "ID", "", "größe"]
    assert added(found, {"id": "int"}) == ("Nick", "größe")


def test_dgraph_has_predicates_types_and_one_table_whatever_is_declared(tmp_path: Path) -> None:
    head = "format: dgraph\nlanding: drops\n"
    predicates = "predicates: {nick: {type: string, list: true}, age: {type: int}, 'a.b': {}}\n"
    feed = loaded(tmp_path, f"{head}types: {{Film: [nick, age]}}\n{predicates}")
    assert feed.predicates == {
        "nick": Predicate("nick", "string", list=True),
        "age": Predicate("age", "int"),
        "a.b": Predicate("a.b", None),
    }
    assert feed.types == {"Film": ("nick", "age")}
    for one in (feed, loaded(tmp_path, head)):
        (table,) = one.tables.values()
        assert table.name == "triples"
        assert table.key == ("namespace", "uid", "predicate", "_weir_member")
        assert table.columns["uid"] == table.columns["namespace"] == "decimal(20,0)"


TIGERGRAPH = """\
format: tigergraph
landing: s3://drops/graph/
baseline: {1: 33, 2: 40}
vertices:
  Person: {attributes: {visits: int, tags: set<string>, scores: "map<string,int>"}, key: [id]}
  Q: {}
edges:
  Knows:
    from: Person
    to: Person
    attributes: {weight: int}
    directed: true
    reverse: KnownBy
    discriminator: [since]
    defaults: {weight: 7}
  B: {from: [Person, Q], to: Q, directed: false}
  C: {from: '*', to: Q}
"""


def test_vertices_and_edges_become_tables_with_the_types_defaults(tmp_path: Path) -> None:
    feed = loaded(tmp_path, TIGERGRAPH)
    # Only edges that TigerGraph stores twice have a mirror.
    assert list(feed.tables) == [
        *("vertex_Person", "vertex_Q", "edge_Knows", "edge_Knows__mirror"),
        *("edge_B", "edge_B__mirror", "edge_C"),
    ]
    person, knows = feed.tables["vertex_Person"], feed.tables["edge_Knows"]
    assert person.key == ("uid",)
    assert person.columns == {
        "uid": "string",
        "visits": "bigint",
        "tags": "set<string>",
        "scores": "map<string,bigint>",
    }
    assert person.defaults == {"visits": "0", "tags": "[]", "scores": "{}"}
    assert knows.key == ("from_type", "from_uid", "to_type", "to_uid", "discriminator")
    assert list(knows.columns) == [*knows.key, "weight"]
    assert knows.defaults == {"weight": "7"}
    assert feed.vertices["Person"].key == ("id",)
    assert feed.edges["Knows"].discriminator == ("since",)
    assert feed.tables["edge_Knows__mirror"].columns == knows.columns
    assert feed.baseline == {"1": 33, "2": 40}
