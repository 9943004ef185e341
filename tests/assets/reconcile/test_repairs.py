"""What differs from a real Postgres is read again there, and recorded in bronze: gold heals, and every replay does."""

from __future__ import annotations

import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from assets.control.decisions import signed
from assets.executors.choice import IN_PROCESS, SPARK
from assets.reconcile import repair
from assets.reconcile.compare import Ask, Sides, reconciled
from assets.reconcile.postgres import PostgresSource
from assets.source.database import address_of
from assets.storage.lake import Lake, Layer
from orchestration.feeds.load import load_feed
from tests.assets.reconcile.shop import NOBODY, Shop
from tests.assets.reconcile.test_postgres import FAULTS, KEYED, PLANTED
from tests.services.postgres import DATABASE, USER, Postgres, postgres, running_replica
from tests.support.bringing import run
from tests.support.commands_here import weir
from transforms.errors import UnreadableSource

__all__ = ["postgres"]

# Dagster's own, in the run that brings a repair to gold.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS_LEFT = 40 * 39
"""Rows of stock, of which one item of each house is deleted."""
FITTING = sum(PLANTED.values()) - PLANTED["type"]


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The shop, all of whose rows are in gold."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    made = Shop(postgres, tmp_path)
    made.land_all()
    return made


def place_of(shop: Shop) -> tuple[str, ...]:
    return ("--feeds", str(shop.folder / "feeds"), "--warehouse", str(shop.folder / "warehouse"))


def reconcile(shop: Shop, *words: str) -> int:
    return weir("reconcile", "shop", *words, *place_of(shop))


def gold(shop: Shop, table: str, **key: object) -> list[dict[str, Any]]:
    rows = shop.lake.in_process_table(Layer.GOLD, "shop", table).rows()
    return [row for row in rows if all(row[name] == value for name, value in key.items())]


def bronze_rows(shop: Shop) -> int:
    return len(shop.lake.in_process_table(Layer.BRONZE, "shop").rows(["line"]))


def test_each_fault_is_repaired_and_every_replay_has_it(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.server.run(FAULTS)
    # Behind all that gold has, and before what the source is asked at.
    faulty = shop.place - 1
    shop.go_on()
    known = bronze_rows(shop)
    lasted = gold(shop, "person", id=5)[0]["lasted"]
    assert lasted is not None

    # Nothing is recorded that was not asked for.
    assert reconcile(shop, *KEYED, "--repair", "--dry-run", "--limit", "1") == 1
    said = capsys.readouterr().out
    recorded = "12 × the source's row, 12 × that there is no row"
    assert f"gold.shop.stock: 24 keys to be recorded: {recorded}" in said
    assert "not read, so that gold keeps what it has, which is null in a new row: lasted" in said
    assert bronze_rows(shop) == known

    # What gold's type has no room for is left, and named.
    words = ("--repair", "--yes", "--by", "ann", "--reason", "the slot was dropped")
    assert reconcile(shop, *KEYED, *words) == 1
    answer = capsys.readouterr()
    said = answer.out
    assert "is not in gold yet" not in answer.err
    assert said.count("not repaired: value_does_not_fit: ") == PLANTED["type"]
    again = "the keys that differed were compared again"
    assert f"gold.shop.person: recorded; {again}: 12 keys still differ" in said
    assert f"gold.shop.stock: repaired; {again}: as in the source" in said
    assert bronze_rows(shop) == known + FITTING
    assert gold(shop, "person", id=5)[0]["lasted"] == lasted
    assert weir("verify", "shop", *place_of(shop)) == 0
    capsys.readouterr()

    # The story of such a key says who read it again, and why.
    assert weir("explain", "shop", "stock", '["h7", "12"]', *place_of(shop)) == 0
    said = capsys.readouterr().out
    assert "read again in the source by ann at 20" in said
    assert "UTC: the slot was dropped" in said

    # With room for it, made again of bronze, the rest is repaired, too; nothing is recorded twice.
    shop.file.write_text(shop.file.read_text().replace("decimal(10,2)", "decimal(14,2)"))
    assert weir("rebuild", "shop", *place_of(shop)) == 0
    assert reconcile(shop, *KEYED, "--repair", "--yes") == 0
    assert bronze_rows(shop) == known + sum(PLANTED.values())
    assert reconcile(shop, *KEYED, "--repair", "--yes") == 0
    assert bronze_rows(shop) == known + sum(PLANTED.values())
    capsys.readouterr()

    # A change that is older than the repair comes too late to undo it; one that the source makes now counts.
    assert gold(shop, "stock", house="h9", item=3)[0]["n"] == 28
    late = {"house": "h9", "item": 3, "n": -5}
    shop.capture("stock", [late], "u", beyond=faulty - shop.place)
    shop.server.run("UPDATE shop.stock SET n = 1000 WHERE house = 'h9' AND item = 4")
    shop.capture("stock", shop.rows("stock", "house = 'h9' AND item = 4"), "u")
    shop.server.run("DELETE FROM shop.person WHERE id = 5")
    shop.capture("person", [{"id": 5}], "d")
    shop.bring()
    assert gold(shop, "stock", house="h9", item=3)[0]["n"] == 28
    assert gold(shop, "stock", house="h9", item=4)[0]["n"] == 1000
    assert gold(shop, "person", id=5) == []
    assert reconcile(shop, *KEYED) == 0
    assert weir("rebuild", "shop", *place_of(shop)) == 0
    assert reconcile(shop, *KEYED) == 0
    assert weir("verify", "shop", *place_of(shop)) == 0


def test_marked_rows_are_no_difference_and_what_is_repaired_is_marked_or_live(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    keyed = "stock: {key: [house, item], "
    said = shop.file.read_text()
    assert keyed in said
    shop.file.write_text(said.replace(keyed, f"{keyed}deletes: mark, "))
    gone = shop.rows("stock", "item = 6")
    shop.server.run("DELETE FROM shop.stock WHERE item = 6")
    shop.capture("stock", gone, "d")
    shop.bring()
    shop.go_on()
    marked = gold(shop, "stock", _weir_is_deleted=True)
    # Of -1 the source said that it was deleted, which nobody ever had: by that gold is past the snapshot.
    assert {row["item"] for row in marked} == {6, -1}
    assert reconcile(shop, "--table", "stock") == 0
    said = capsys.readouterr().out
    assert f"stock: {ROWS_LEFT:,} rows in the source, {ROWS_LEFT:,} in gold; the same" in said

    # What no event tells of: a live row is deleted, and a deleted one is there again.
    shop.server.run("DELETE FROM shop.stock WHERE house = 'h1' AND item = 7")
    shop.server.run("INSERT INTO shop.stock VALUES ('h1', 6, 77)")
    shop.go_on()
    assert reconcile(shop, "--table", "stock", "--json") == 1
    (found,) = json.loads(capsys.readouterr().out)["tables"]
    assert {tuple(one["key"]): one["kind"] for one in found["different"]} == {
        ("h1", "6"): "missing",
        ("h1", "7"): "extra",
    }
    assert reconcile(shop, "--table", "stock", "--repair", "--yes") == 0
    (deleted,) = gold(shop, "stock", house="h1", item=7)
    assert (deleted["n"], deleted["_weir_is_deleted"]) == (7, True)
    (again,) = gold(shop, "stock", house="h1", item=6)
    assert (again["n"], again["_weir_is_deleted"]) == (77, False)
    assert reconcile(shop, "--table", "stock") == 0
    assert weir("rebuild", "shop", *place_of(shop)) == 0
    assert reconcile(shop, "--table", "stock") == 0
    assert weir("verify", "shop", *place_of(shop)) == 0


def test_a_transaction_that_is_open_is_waited_for_so_that_its_changes_come_behind(
    shop: Shop,
) -> None:
    """It writes before the place and commits behind the snapshot: its row must not be undone by the repair."""
    source = PostgresSource("shop", address_of(load_feed(shop.file)))
    writer = psycopg2.connect(host="127.0.0.1", port=shop.server.port, dbname=DATABASE, user=USER)
    with writer.cursor() as cursor:
        cursor.execute("UPDATE shop.stock SET n = -7 WHERE house = 'h1' AND item = 1")
    written = shop.place
    with (
        pytest.raises(UnreadableSource, match=r"1 transaction stayed open for 0\.5 seconds"),
        source.complete_snapshot(0.5),
    ):
        pytest.fail("there is a snapshot that lacks what was written before its place")
    threading.Timer(1, writer.commit).start()
    with source.complete_snapshot(30) as snapshot:
        assert snapshot.place.numbers >= (written,)
        # A writer that begins behind the place is not waited for, nor kept waiting.
        shop.server.run("UPDATE shop.stock SET n = -8 WHERE house = 'h1' AND item = 2")
        snapshot.cursor.execute(
            "SELECT item, n FROM shop.stock WHERE house = 'h1' AND item <= 2 ORDER BY item"
        )
        assert snapshot.cursor.fetchall() == [(1, -7), (2, 2)]
    writer.close()


def test_an_erased_key_is_not_read_again_and_erasing_takes_a_repaired_row_out(
    shop: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of at least sixteen")
    shop.server.run("UPDATE shop.word SET n = 4711 WHERE text IN ('a1', 'a2')")
    shop.go_on()
    assert reconcile(shop, "--table", "word", "--repair", "--yes", "--by", "ann") == 0
    assert gold(shop, "word", text="a1")[0]["n"] == 4711
    assert weir("erase", "shop", "word", "a1", "--reason", "asked", "--yes", *place_of(shop)) == 0
    payloads = [
        row["payload"] or b""
        for row in shop.lake.in_process_table(Layer.BRONZE, "shop").rows(["payload"])
    ]
    assert not any(b'"a1"' in one for one in payloads)
    assert any(b'"a2"' in one and b"4711" in one for one in payloads)
    assert gold(shop, "word", text="a1") == []
    assert gold(shop, "word", text="a2")[0]["n"] == 4711
    # The source has the row still; nothing but an event of it brings it back.
    shop.go_on()
    capsys.readouterr()
    assert reconcile(shop, "--table", "word", "--repair", "--yes") == 0
    printed = capsys.readouterr()
    assert "; 1 erased key in the source still; the same\n" in printed.out
    assert "1 key was erased, and the source still has the row: delete it there, too" in printed.out
    # Neither the key nor its row is shown, or kept in the warehouse for the pages.
    assert "a1" not in printed.out + printed.err
    assert reconcile(shop, "--table", "word", "--json") == 0
    assert [one["erased"] for one in json.loads(capsys.readouterr().out)["tables"]] == [1]
    assert gold(shop, "word", text="a1") == []
    # A row that it has again is compared as any other.
    shop.capture("word", [{"text": "a1", "n": 1}], "c", beyond=1 << 31)
    shop.bring()
    assert gold(shop, "word", text="a1")[0]["n"] == 1
    assert reconcile(shop, "--table", "word", "--idle", "--wait", "2") == 1
    assert "1 key differs: 1 column" in capsys.readouterr().out
    monkeypatch.delenv("WEIR_ERASURE_KEY")
    assert reconcile(shop, "--table", "word") == 2
    assert "WEIR_ERASURE_KEY is not set" in capsys.readouterr().err
    monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of at least sixteen")
    assert weir("verify", "shop", *place_of(shop)) == 0


def test_what_cannot_be_repaired_is_refused_and_nothing_is_recorded(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    known = bronze_rows(shop)
    assert reconcile(shop, "--table", "word", "--yes") == 2
    assert "--yes says how to repair, and needs --repair" in capsys.readouterr().err
    assert reconcile(shop, "--table", "word", "--repair", "--yes") == 0
    assert "nothing is to be repaired" in capsys.readouterr().err

    # Gold is past the source's log, as of a source that was put back to an older state.
    shop.capture("stock", [{"house": "h1", "item": 1, "n": 999}], "u", beyond=1 << 31)
    # And a change of another table says nothing of where it stands in the log.
    source = {"db": DATABASE, "schema": "shop", "table": "beat"}
    value = {"op": "c", "source": source, "before": None, "after": {"id": 2}}
    record = {"topic": "t", "partition": 0, "offset": 99_999, "key": {"id": 2}, "value": value}
    folder = shop.folder / "landing" / "2026-11-21"
    folder.mkdir()
    (folder / "beat.jsonl").write_text(json.dumps(record) + "\n")
    shop.bring()
    known = bronze_rows(shop)
    words = ("--table", "stock", "--table", "beat", "--idle", "--wait", "2", "--repair", "--yes")
    assert reconcile(shop, *words) == 1
    said = capsys.readouterr().out
    assert (
        'gold.shop.stock, key ["h1", "1"]: not repaired: gold\'s row is of a change that stands behind'
        in said
    )
    assert "gold.shop.beat: not repaired: its changes stand as in their topic" in said
    assert bronze_rows(shop) == known

    # So is a table of which too much differs, and the others are repaired.
    shop.server.run("UPDATE shop.stock SET n = n + 1; UPDATE shop.word SET n = -1 WHERE n <= 10")
    shop.go_on()
    assert reconcile(shop, *KEYED, "--repair", "--yes") == 1
    said = capsys.readouterr().out
    assert (
        "stock: not repaired: 1,600 keys differ, and at most 1,000 are repaired of a table" in said
    )
    assert "gold.shop.word: repaired; the keys that differed were compared again: as in the" in said
    assert bronze_rows(shop) == known + len(NOBODY) + 60
    assert len(gold(shop, "word", n=-1)) == 60


def test_a_replica_is_compared_with_and_refused_as_what_a_repair_is_read_of(
    shop: Shop,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has the rows, and does not say which transactions are open, so that a repair could undo a change."""
    shop.server.run("UPDATE shop.stock SET n = -1 WHERE house = 'h1' AND item = 1")
    shop.go_on()
    known = bronze_rows(shop)
    with (
        tempfile.TemporaryDirectory(prefix="weir-replica-", ignore_cleanup_errors=True) as folder,
        running_replica(Path(folder), shop.server) as replica,
    ):
        address = f"postgresql://127.0.0.1:{replica.port}/{DATABASE}"
        monkeypatch.setenv("WEIR_SOURCE_SHOP", address)
        assert reconcile(shop, "--table", "word") == 0
        assert reconcile(shop, "--table", "stock", "--repair", "--yes") == 2
        answer = capsys.readouterr()
        assert "1 column" in answer.out
        assert f"{address}: it is a replica, which does not say which transactions are open" in (
            answer.err
        )
        assert "Name the primary for this command: WEIR_SOURCE_SHOP." in answer.err
    assert bronze_rows(shop) == known
    monkeypatch.delenv("WEIR_SOURCE_SHOP")
    assert reconcile(shop, "--table", "stock", "--repair", "--yes") == 0
    assert bronze_rows(shop) == known + 1


def test_spark_records_a_repair_and_brings_it_to_gold(
    postgres: Postgres, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bronze by Spark, with bytes, nulls and arrays in the rows; the same rows come to gold as in this process."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    made = Shop(postgres, tmp_path)
    made.land_all()
    by_spark = lake.by(SPARK)
    assert by_spark.warehouse == made.lake.warehouse
    feed, fitting = load_feed(made.file), FAULTS.rpartition("UPDATE")[0]
    postgres.run(fitting)
    made.go_on()
    ask = Ask(tables=["person", "stock", "word"], wait=5)
    sides = Sides(by_spark, feed, PostgresSource("shop", address_of(feed)), ask)
    found = reconciled(by_spark, feed, sides.source, ask)
    wanted = {one.table: len(one.different) for one in found.tables}
    assert sum(wanted.values()) == FITTING
    plan = repair.read_again(sides, found, signed(feed, "lost", "ann"))
    before = bronze_rows(made)
    window = repair.record(by_spark, feed, plan.repairs)
    rows = by_spark.in_process_table(Layer.BRONZE, "shop").rows(where={"window": [window]})
    mine = [row for row in rows if row["object"].startswith("weir-reconcile/")]
    assert len(mine) == FITTING
    assert bronze_rows(made) == before + FITTING
    assert by_spark.in_process_table(Layer.BRONZE, "shop").version > 0
    run(by_spark, feed)
    again = reconciled(by_spark, feed, sides.source, ask)
    assert [one.different + one.behind for one in again.tables] == [[], [], []]
    # Gold made again of bronze by this process has them, too.
    other = made.lake
    for name in KEYED[1::2]:
        assert len(other.in_process_table(Layer.GOLD, "shop", name).rows()) == next(
            one.in_source for one in again.tables if one.table == name
        )
