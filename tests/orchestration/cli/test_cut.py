"""``weir cut`` and ``weir query --at``: which cut answers, in whose words, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from assets.control import progress
from assets.cuts import asset, manifest, record
from assets.cuts.views import VIEWS
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import session
from orchestration.cli.sql import as_of, question
from orchestration.observability.report import html_page
from orchestration.resources import lake_of
from tests.support.bank_log import FIRST, TRANSACTIONS, Topics, Transfer, Write, feed_of, records
from tests.support.commands_here import weir
from transforms.errors import CutRefused
from transforms.feed.feed import Deletes, Feed
from transforms.quantities import spoken_seconds

ROOT = Path(__file__).parents[3]

FEED = """\
format: debezium
landing: {landing}
tables:
  checking: {{key: [id], columns: {{id: int, cents: bigint}}}}
  savings: {{key: [id], columns: {{id: int, cents: bigint}}}}
"""

OPENED = Transfer(
    501,
    (
        Write("checking", 1, None, 70, 0x16B3700, 0x16B3700),
        Write("savings", 1, None, 30, 0x16B3748, 0x16B3748),
    ),
    0x16B3780,
    0x16B3600,
)
MOVED = Transfer(
    502,
    (
        Write("checking", 1, 70, 50, 0x16B3800, 0x16B3800),
        Write("savings", 1, 30, 50, 0x16B3848, 0x16B3848),
    ),
    0x16B3880,
    0x16B3780,
)
CLOSED = Transfer(
    503,
    (
        Write("checking", 1, 50, None, 0x16B3900, 0x16B3900),
        Write("savings", 1, 50, 100, 0x16B3948, 0x16B3948),
    ),
    0x16B3980,
    0x16B3880,
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def feed(tmp_path: Path, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Feed:
    declared = feed_of()
    folder = tmp_path / "feeds"
    folder.mkdir()
    (folder / "bank.yaml").write_text(FEED.format(landing=declared.landing))
    monkeypatch.setenv("WEIR_FEEDS", str(folder))
    monkeypatch.setenv("WEIR_WAREHOUSE", lake.warehouse)
    # The session of all tests stands for the one that a command starts.
    monkeypatch.setattr(session, "reached", lambda *_, **__: lake)
    monkeypatch.setattr(session, "start", lambda _: None)
    return declared


def bring(lake: Lake, feed: Feed, topics: Topics) -> record.Recorded:
    """A run over all that lies in the topics."""
    windows = sorted(
        topics.land(lake, feed, {name: len(some) for name, some in topics.written.items()})
    )
    derive.derive(lake, feed, windows)
    apply.apply_tables(lake, feed, [*feed.tables.values()], windows)
    progress.finish(lake, feed, windows)
    return record.record(lake, feed)


def send(topics: Topics, *transfers: Transfer, hours: int = 0) -> None:
    for one in transfers:
        for sent in records(one, FIRST + timedelta(hours=hours)):
            topics.send(sent)


SUM = (
    "SELECT sum(cents) AS cents FROM"
    " (SELECT cents FROM gold.bank.checking UNION ALL SELECT cents FROM gold.bank.savings)"
)


EACH = (
    "SELECT 'checking' AS of, * FROM gold.bank.checking"
    " UNION ALL SELECT 'savings', * FROM gold.bank.savings"
)


def asked(
    capfd: pytest.CaptureFixture[str], sql: str, *options: str
) -> tuple[list[dict[str, object]], str]:
    """The rows that a query prints, and what it says beside them."""
    assert weir("query", sql, "--format", "jsonl", *options) == 0
    printed = capfd.readouterr()
    return [json.loads(line) for line in printed.out.splitlines()], printed.err


def test_duckdb_answers_as_of_a_cut_and_says_which(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    send(topics, OPENED)
    assert bring(lake, feed, topics).held_by == ()
    send(topics, MOVED)
    assert bring(lake, feed, topics).held_by == ()
    send(topics, CLOSED)
    bring(lake, feed, topics)
    rows, said = asked(capfd, EACH, "--at", "latest-cut")
    assert [(row["of"], row["cents"]) for row in rows] == [("savings", 100)]
    assert "as of 0/16B3948" in said
    # A key that was deleted beyond the cut is there again.
    rows, said = asked(capfd, EACH, "--at", "0/16B3848")
    assert sorted((row["of"], row["cents"]) for row in rows) == [("checking", 50), ("savings", 50)]
    assert said.strip().endswith("as of 0/16B3848")
    # In the midst of the second transaction.
    rows, said = asked(capfd, EACH, "--at", "0/16B3801")
    assert sorted((row["of"], row["cents"]) for row in rows) == [("checking", 70), ("savings", 30)]
    assert "as of 0/16B3748, the last recorded cut at or below 0/16B3801" in said
    assert asked(capfd, SUM, "--at", "0/16B3748")[0] == [{"cents": 100}]


def test_a_row_that_stays_marked_is_live_in_a_cut_before_its_delete(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = Path(os.environ["WEIR_FEEDS"]).glob("*.yaml")
    file.write_text(file.read_text() + "deletes: mark\n")
    tables = {name: replace(one, deletes="mark") for name, one in feed.tables.items()}
    feed, topics = replace(feed, tables=tables, deletes="mark"), Topics()
    for one in (OPENED, MOVED, CLOSED):
        send(topics, one)
        bring(lake, feed, topics)
    sql = "SELECT cents, _weir_is_deleted AS gone FROM gold.bank.checking"
    assert asked(capfd, sql, "--at", "latest-cut")[0] == [{"cents": 50, "gone": True}]
    assert asked(capfd, sql, "--at", "0/16B3848")[0] == [{"cents": 50, "gone": False}]
    assert asked(capfd, sql, "--at", "0/16B3748")[0] == [{"cents": 70, "gone": False}]


@pytest.mark.parametrize("then", ["mark", "remove"])
def test_a_cut_of_tables_that_were_made_under_another_declaration_is_refused(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str], then: Deletes
) -> None:
    """Else a deleted row would be a live one there, or no row either live or deleted."""
    (file,) = Path(os.environ["WEIR_FEEDS"]).glob("*.yaml")
    text = file.read_text()
    declared: dict[str, Feed] = {}
    for word in (then, "remove" if then == "mark" else "mark"):
        tables = {name: replace(one, deletes=word) for name, one in feed.tables.items()}
        declared[word] = replace(feed, tables=tables, deletes=word)
    before, after = declared.values()
    topics = Topics()
    send(topics, OPENED, MOVED, CLOSED)
    bring(lake, before, topics)
    file.write_text(f"{text}deletes: {after.deletes}\n")
    assert weir("query", EACH, "--at", "latest-cut") == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "checking, savings of the newest cut was made under another declaration" in said
    assert "`weir run --feed bank`" in said
    # Back again nothing has happened, and a run makes the tables by what is declared now.
    file.write_text(f"{text}deletes: {then}\n")
    assert asked(capfd, EACH, "--at", "latest-cut")[0]
    file.write_text(f"{text}deletes: {after.deletes}\n")
    windows = [f"{FIRST:%Y-%m-%dT%H}"]
    derive.derive(lake, after, windows)
    apply.apply_tables(lake, after, [*after.tables.values()], windows)
    progress.finish(lake, after, windows)
    record.record(lake, after)
    rows, _ = asked(capfd, "SELECT * FROM gold.bank.checking", "--at", "latest-cut")
    assert [row["_weir_is_deleted"] for row in rows] == ([True] if then == "remove" else [])


def test_spark_answers_the_same(
    spark: SparkSession, lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    assert spark is lake.spark
    topics = Topics()
    for one in (OPENED, MOVED, CLOSED):
        send(topics, one)
        bring(lake, feed, topics)
    sql = f"SELECT of, cents FROM ({EACH}) ORDER BY 1"
    rows, said = asked(capfd, sql, "--at", "0/16B3848", "--engine", "spark")
    assert [(row["of"], row["cents"]) for row in rows] == [("checking", 50), ("savings", 50)]
    assert "as of 0/16B3848" in said.splitlines()


def test_a_transaction_that_is_there_in_part_holds_the_cut_back(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    send(topics, OPENED)
    bring(lake, feed, topics)
    of_savings = [sent for sent in records(MOVED, FIRST) if "savings" in sent.topic]
    others = [sent for sent in records(MOVED, FIRST) if "savings" not in sent.topic]
    for sent in others:
        topics.send(sent)
    send(topics, CLOSED)
    found = bring(lake, feed, topics)
    assert found.held_by == ("transaction 502: not all of its changes were read",)
    assert found.cut is not None
    # The third transaction is whole, and shows in gold: more than in the cut.
    assert {one.name: one.keys_ahead for one in found.cut.tables} == {"checking": 1, "savings": 1}
    assert asked(capfd, SUM)[0] == [{"cents": 100}]
    found = manifest.published(lake, feed)
    kept = json.loads(Path(lake.warehouse, "_cuts/bank.json").read_text())
    assert (kept["position"], kept["held_by"]) == ("0/16B3748", [*found.held_by])
    assert [(one["table"], one["is_exact"], one["keys_ahead"]) for one in kept["tables"]] == [
        ("gold.bank.checking", False, 1),
        ("gold.bank.savings", False, 1),
    ]
    rows, _ = asked(capfd, "SELECT cents FROM gold.bank.savings", "--at", "latest-cut")
    assert rows == [{"cents": 30}]
    assert weir("cut", "bank") == 0
    out = capfd.readouterr().out
    assert "bank: all tables are whole up to 0/16B3748" in out
    assert "held back: transaction 502: not all of its changes were read" in out
    assert weir("query", SUM, "--at", "0/16B3948") == 2
    assert (
        "the tables are whole up to 0/16B3748, held back by: transaction 502"
        in capfd.readouterr().err
    )
    for sent in of_savings:
        topics.send(sent)
    assert bring(lake, feed, topics).held_by == ()
    assert weir("cut", "bank", "--json") == 0
    facts = json.loads(capfd.readouterr().out)
    assert (facts["position"], facts["held_by"]) == ("0/16B3948", [])
    assert facts["cuts"] == ["0/16B3748", "0/16B3948"]


def test_what_comes_late_below_a_cut_is_told_and_corrects_it(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    send(topics, OPENED, CLOSED)
    bring(lake, feed, topics)
    # What comes again, into another window, is not late.
    send(topics, CLOSED, hours=2)
    assert bring(lake, feed, topics).late == 0
    other = replace(MOVED, writes=(Write("savings", 7, None, 5, 0x16B3800, 0x16B3800),))
    send(topics, other)
    found = bring(lake, feed, topics)
    assert (found.late, found.broken) == (1, ())
    (row,) = lake.in_process_table(Layer.CUTS, "bank").rows()
    assert row["late_events"] == 1
    rows, said = asked(capfd, "SELECT id FROM gold.bank.savings ORDER BY id", "--at", "latest-cut")
    assert [one["id"] for one in rows] == [1, 7]
    assert "1 of its events came late" in said
    # One that stands on both sides of the cut would show in part.
    low, high = 0x16B3701, 0x16B3A00
    writes = (
        Write("checking", 9, None, 1, low, 0x16B3780),
        Write("savings", 9, None, 1, high, high),
    )
    send(topics, Transfer(504, writes, high + 1, 0x16B3780))
    found = bring(lake, feed, topics)
    assert found.broken == ("0/16B3948",)
    assert weir("query", SUM, "--at", "0/16B3948") == 2
    assert "can no longer be asked for: a transaction came late" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("sql", "at", "says"),
    [
        (SUM, "yesterday", "this is no position of postgresql's log. Expected is a log sequence number, 0/16B3748, or"),
        (SUM, "0/16B3748 of epoch 2", "no cut of epoch 2 is recorded"),
        (SUM, "0/1", "the oldest cut that is recorded is 0/16B3748"),
        ("SELECT * FROM silver.bank", "latest-cut", "only gold tables have rows of a cut, and silver.bank is none"),
        ("SELECT * FROM gold.bank.savings__tombstones", "latest-cut", "no table of gold's current rows"),
        ("SELECT * FROM gold.bank.savings a, gold.shop.b b", "latest-cut", "each feed has cuts of its own"),
        ("SELECT 1", "latest-cut", "`--at` is for a SELECT from gold tables of one feed"),
        ("SELECT * FROM gold.bank.savings VERSION AS OF 0", "latest-cut", "exclude each other"),
    ],
)  # fmt: skip
def test_what_no_cut_answers_is_refused(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str], sql: str, at: str, says: str
) -> None:
    topics = Topics()
    send(topics, OPENED)
    bring(lake, feed, topics)
    assert weir("query", sql, "--at", at) == 2
    assert says in " ".join(capfd.readouterr().err.split())


def test_feeds_without_a_cut_are_told_why(
    lake: Lake, feed: Feed, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for landing, says in (
        (str(tmp_path / "drops"), "nothing tells that no file is missing"),
        (feed.landing.replace(f",{TRANSACTIONS}", ""), "reads no topic of transactions"),
    ):
        (tmp_path / "feeds/bank.yaml").write_text(FEED.format(landing=landing))
        assert weir("cut", "bank") == 0
        assert says in capfd.readouterr().out
    assert (
        record.record(lake, Feed("bank", "arcion_kafka", "kafka://a/b"))
        .held_by[0]
        .startswith("a feed of arcion_kafka has no cut")
    )
    assert not lake.in_process_table(Layer.CUTS, "bank").exists


def test_a_record_in_quarantine_holds_the_cut_back(lake: Lake, feed: Feed) -> None:
    topics = Topics()
    send(topics, OPENED)
    bad = next(sent for sent in records(MOVED, FIRST) if "savings" in sent.topic)
    topics.send(replace(bad, value=bad.value.replace(b'"op": "u"', b'"op": "zz"')))
    send(topics, CLOSED)
    found = bring(lake, feed, topics)
    assert found.cut is not None and found.cut.text == "0/16B3748"
    assert found.held_by == ("a record in quarantine (bank.public.savings/0, offset 1)",)


def test_rows_whose_files_are_gone_are_refused_with_what_to_do(
    lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    topics = Topics()
    send(topics, OPENED)
    bring(lake, feed, topics)
    for file in Path(lake.path(Layer.GOLD, "bank", "savings").removeprefix("file://")).glob(
        "*.parquet"
    ):
        file.unlink()
    past = as_of.past_of(lake, tmp_path / "feeds", question.parsed(SUM), "latest-cut")
    with pytest.raises(CutRefused, match="`weir rebuild bank` makes silver and gold again"):
        _ = past.rows


# Dagster marks much of its own as beta.
@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_asset_shows_the_position_and_its_check_what_came_late(lake: Lake, feed: Feed) -> None:
    topics = Topics()
    send(topics, OPENED, CLOSED)
    bring(lake, feed, topics)
    send(topics, replace(MOVED, writes=(Write("savings", 7, None, 5, 0x16B3800, 0x16B3800),)))
    windows = topics.land(lake, feed, {name: len(some) for name, some in topics.written.items()})
    derive.derive(lake, feed, sorted(windows))
    apply.apply_tables(lake, feed, [*feed.tables.values()], sorted(windows))
    progress.finish(lake, feed, sorted(windows))
    made = dg.materialize(
        [asset.build(feed)],
        resources={"lake": dg.ResourceDefinition.hardcoded_resource(lake)},
        partition_key=sorted(windows)[-1],
        raise_on_error=True,
    )
    (event,) = made.get_asset_materialization_events()
    shown = event.materialization.metadata
    assert (shown["position"].value, shown["late_events"].value) == ("0/16B3948", 1)
    (check,) = made.get_asset_check_evaluations()
    assert (check.check_name, check.passed) == ("no_event_came_below_a_cut", False)
    assert "1 event came" in str(check.description)
    assert json.loads(Path(lake.warehouse, "_cuts/bank.json").read_text())["late_events"] == 1


# The cut as others read it.


def snippet(lake: Lake) -> str:
    """The Python of docs/cuts.md, in this warehouse."""
    (found,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/cuts.md").read_text(), re.DOTALL)
    return str(found).replace("/srv/lakehouse/warehouse", lake.warehouse)


def in_part(lake: Lake, feed: Feed, topics: Topics) -> record.Recorded:
    """A run that reads a transaction in part, so that gold is ahead of the cut."""
    for sent in records(CLOSED, FIRST):
        if "savings" not in sent.topic:
            topics.send(sent)
    send(
        topics, replace(MOVED, id=504, writes=(Write("savings", 1, 50, 59, 0x16B3A00, 0x16B3A00),))
    )
    found = bring(lake, feed, topics)
    assert found.held_by == ("transaction 503: not all of its changes were read",)
    return found


def test_delta_rs_reads_a_cut_as_the_page_says(lake: Lake, feed: Feed) -> None:
    topics = Topics()
    send(topics, OPENED, MOVED)
    bring(lake, feed, topics)
    manifest.published(lake, feed)
    text, known = snippet(lake), dict[str, Any]()
    # Gold is further by now.
    in_part(lake, feed, topics)
    exec(compile(text, "docs/cuts.md", "exec"), known)
    assert pa.table(known["rows"]).to_pylist() == [{"cents": 100}]
    manifest.published(lake, feed)
    with pytest.raises(
        SystemExit, match=r"savings is ahead of the cut: .'transaction 503: not all"
    ):
        exec(compile(text, "docs/cuts.md", "exec"), {})


def test_views_are_of_the_versions_that_are_the_cut(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    send(topics, OPENED, MOVED)
    cut = bring(lake, feed, topics).cut
    assert cut is not None
    places = [(one.name, f"{lake.warehouse}/{one.path}", one.version) for one in cut.tables]
    assert weir("cut", "bank", "--views", "duckdb") == 0
    first, *statements = capfd.readouterr().out.splitlines()
    assert first.startswith("-- bank: all tables as of 0/16B3848, recorded at ")
    assert statements == [
        f"""CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM delta_scan('{place}', version => {version});"""
        for name, place, version in places
    ]
    assert weir("cut", "bank", "--views", "spark") == 0
    assert capfd.readouterr().out.splitlines()[1:] == [
        f"CREATE OR REPLACE TEMPORARY VIEW `{name}` AS SELECT * FROM delta.`{place}` VERSION AS OF {version};"
        for name, place, version in places
    ]
    assert weir("cut", "bank", "--views", "spark", "--json") == 2
    assert "choose one" in capfd.readouterr().err
    in_part(lake, feed, topics)
    assert weir("cut", "bank", "--views", "spark") == 2
    out, said = capfd.readouterr()
    assert out == ""
    assert (
        "no version of some tables is exactly the cut 0/16B3848: gold.bank.savings is ahead of it by 1 key"
        in said
    )
    assert "It is held back by: transaction 503" in said


def test_views_of_an_older_cut_are_of_its_versions(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    assert weir("cut", "bank", "--views", "spark", "--at", "0/16B3848") == 2
    assert "no cut is recorded yet" in capfd.readouterr().err
    assert weir("cut", "bank") == 0
    assert "why: nothing was read yet (`weir run`)" in capfd.readouterr().out
    cuts = []
    for one in (OPENED, MOVED, CLOSED):
        send(topics, one)
        cuts.append(bring(lake, feed, topics).cut)
    _, moved, _ = cuts
    assert moved is not None
    # A position between two cuts is of the one below.
    assert weir("cut", "bank", "--views", "spark", "--at", "0/16B3900") == 0
    first, *statements = capfd.readouterr().out.splitlines()
    assert first.startswith("-- bank: all tables as of 0/16B3848, recorded at ")
    assert [one.rpartition(" ")[2] for one in statements] == [
        f"{one.version};" for one in moved.tables
    ]
    assert weir("cut", "bank", "--views", "spark", "--at", "0/1") == 2
    assert "the oldest cut that is recorded is 0/16B3748" in capfd.readouterr().err
    assert weir("cut", "bank", "--at", "0/16B3848") == 2
    assert "--at is for --views" in capfd.readouterr().err
    shutil.rmtree(f"{lake.warehouse}/gold/bank/savings")
    assert weir("cut", "bank", "--views", "spark", "--at", "0/16B3848") == 2
    assert "gold.bank.savings, and the table is gone" in " ".join(capfd.readouterr().err.split())


def test_versions_of_an_older_cut_that_lack_what_came_late_are_refused(
    lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    topics = Topics()
    for one in (OPENED, MOVED):
        send(topics, one)
        bring(lake, feed, topics)
    send(topics, replace(OPENED, writes=(Write("savings", 7, None, 5, 0x16B3720, 0x16B3720),)))
    assert bring(lake, feed, topics).late == 1
    assert weir("cut", "bank", "--views", "spark", "--at", "0/16B3748") == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "1 event at or below the cut 0/16B3748 came after it was recorded" in said
    # The newest is recorded again with it.
    assert weir("cut", "bank", "--views", "spark", "--at", "latest-cut") == 0
    assert capfd.readouterr().out.startswith("-- bank: all tables as of 0/16B3848")


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("duckdb", """VIEW "a""b" AS SELECT * FROM delta_scan('s3://lake/it''s/a%23%25', version => 3);"""),
        ("spark", "VIEW `a\"b` AS SELECT * FROM delta.`s3a://lake/it's/a#%` VERSION AS OF 3;"),
    ],
)  # fmt: skip
def test_odd_names_and_places_are_quoted_as_the_engine_does(engine: str, expected: str) -> None:
    assert VIEWS[engine]('a"b', "s3a://lake/it's/a#%", 3).endswith(expected)


def test_spark_reads_its_views(
    spark: SparkSession, lake: Lake, feed: Feed, capfd: pytest.CaptureFixture[str]
) -> None:
    assert spark is lake.spark
    topics = Topics()
    send(topics, OPENED, MOVED)
    bring(lake, feed, topics)
    assert weir("cut", "bank", "--views", "spark") == 0
    statements = capfd.readouterr().out.splitlines()[1:]
    in_part(lake, feed, topics)
    other = spark.newSession()
    for one in statements:
        other.sql(one.removesuffix(";"))
    asked_both = "SELECT id, cents FROM checking UNION ALL SELECT id, cents FROM savings"
    assert [tuple(row) for row in other.sql(asked_both).collect()] == [(1, 50), (1, 50)]


def test_the_report_and_the_manifest_say_where_the_cut_is_and_what_holds_it(
    lake: Lake, feed: Feed
) -> None:
    topics = Topics()
    time = f'"ts_ms": {int(FIRST.timestamp() * 1000)}, "sequence":'.encode()
    for sent in (*records(OPENED, FIRST), *records(MOVED, FIRST)):
        topics.send(replace(sent, value=sent.value.replace(b'"sequence":', time)))
    bring(lake, feed, topics)
    manifest.published(lake, feed)
    kept = json.loads(Path(lake.warehouse, "_cuts/bank.json").read_text())
    assert datetime.fromisoformat(kept["source_at"]) == FIRST
    now = FIRST + timedelta(hours=2)
    page = html_page.make_report(lake, feed, now)
    assert "<dt>all tables are whole up to</dt><dd>0/16B3848</dd>" in page
    assert f"<dd class='more'>{spoken_seconds(7_200)} old</dd>" in page
    version = lake.newest_version(Layer.GOLD, "bank", "savings")
    assert f"<th>gold.bank.savings</th><td>{version}</td><td>exactly it</td>" in squeezed(page)
    in_part(lake, feed, topics)
    page = html_page.make_report(lake, feed, now)
    assert f"<dd class='more'>{spoken_seconds(7_200)} old, held back</dd>" in page
    assert "<li>Held back: transaction 503: not all of its changes were read.</li>" in page
    assert "<td>ahead of it by 1 key</td>" in page
    without = replace(feed, landing=feed.landing.replace(f",{TRANSACTIONS}", ""))
    assert "One cut across tables" not in html_page.make_report(lake, without, now)


def squeezed(page: str) -> str:
    return re.sub(r"<(th|td)[^>]*>", r"<\1>", page)
