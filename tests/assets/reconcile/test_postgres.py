"""Gold compared with a real Postgres: what differs is named, and what is only under way is not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.reconcile.compare import Ask, reconciled
from assets.reconcile.postgres import PostgresSource
from assets.source.database import address_of
from orchestration import definitions
from orchestration.automation.jobs import reconcile_name
from orchestration.feeds.load import load_feed
from orchestration.observability import last_comparison
from orchestration.observability.report import html_page
from tests.assets.reconcile.shop import ROWS, Shop
from tests.services.postgres import USER, Postgres, postgres
from tests.support.commands_here import weir

__all__ = ["postgres"]

KEYED = ("--table", "person", "--table", "stock", "--table", "word")

FAULTS = """
INSERT INTO shop.person(id, name) SELECT i, 'new' FROM generate_series(10101, 10112) i;
INSERT INTO shop.word SELECT 'ß' || i, i FROM generate_series(1, 12) i;
DELETE FROM shop.person WHERE id % 250 = 1;
DELETE FROM shop.stock WHERE house = 'h7' AND item <= 12;
UPDATE shop.person SET name = 'other', born = '2000-01-01', flag = NOT flag WHERE id % 250 = 2;
UPDATE shop.person SET seen = seen + interval '1 microsecond' WHERE id = 5;
UPDATE shop.person SET name = CASE WHEN name = '' THEN NULL ELSE '' END WHERE id IN (10, 11);
UPDATE shop.person SET raw = raw || '\\x00' WHERE id = 13;
UPDATE shop.person SET tags = array_append(tags, 'b') WHERE id = 17;
UPDATE shop.person SET marks = '{1}' WHERE id = 18;
UPDATE shop.person SET doc = '{"a": 1.5, "b": 19}' WHERE id = 19;
UPDATE shop.person SET ratio = 0.1 WHERE id = 20;
UPDATE shop.person SET free = free + 0.000000000001 WHERE id = 21;
UPDATE shop.person SET noon = '23:59:59.999999' WHERE id = 22;
UPDATE shop.person SET code = 'x' WHERE id = 23;
UPDATE shop.stock SET n = n + 1 WHERE house = 'h9' AND item <= 12;
UPDATE shop.person SET pay = 123456789012 WHERE id % 250 = 3;
"""
"""What no event tells of: 12 of each kind at least."""
PLANTED = {"missing": 24, "extra": 24, "stale": 12, "column": 11 + 12, "type": 12}


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The shop, all of whose rows are in gold."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    made = Shop(postgres, tmp_path)
    made.land_all()
    return made


def reconcile(shop: Shop, *words: str) -> int:
    place = ("--feeds", str(shop.folder / "feeds"), "--warehouse", str(shop.folder / "warehouse"))
    return weir("reconcile", "shop", *words, *place)


def told(shop: Shop, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = reconcile(shop, *words, "--json")
    return code, json.loads(capsys.readouterr().out)


def checked(shop: Shop) -> dict[str, bool]:
    """What the checks of the asset say, made by its job."""
    feed = load_feed(shop.file)
    job = definitions.build([feed], shop.lake).resolve_job_def(reconcile_name(feed))
    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(instance=instance)
    return {one.check_name: one.passed for one in done.get_asset_check_evaluations()}


def test_each_fault_is_found_and_named_and_nothing_else(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reconcile(shop, *KEYED) == 0
    said = capsys.readouterr().out
    assert f"gold.shop.person: {ROWS:,} rows in the source, {ROWS:,} in gold; the same" in said
    assert "column lasted is not compared: interval and gold's string are not written alike" in said
    # What cannot be compared is said, and is no proof.
    assert reconcile(shop, "--table", "visit") == 2
    assert "gold.shop.visit: not compared: it has no key" in capsys.readouterr().out

    # So does the asset, of all tables: of one without a key it cannot.
    assert checked(shop) == {
        "gold_is_what_the_source_holds": True,
        "all_of_gold_was_compared": False,
    }
    page = Path(html_page.address_of(shop.lake, load_feed(shop.file))).read_text()
    assert "<dt>compared with the source</dt><dd>1 open</dd>" in page

    shop.server.run(FAULTS)
    # Until gold has come past the snapshot, all of it may be under way.
    code, found = told(shop, capsys, *KEYED, "--wait", "0")
    assert code == 2
    assert [one["state"] for one in found["tables"]] == ["behind"] * 3
    shop.go_on()
    code, found = told(shop, capsys, *KEYED)
    assert code == 1
    named = {
        (one["table"], tuple(each["key"])): each
        for one in found["tables"]
        for each in one["different"]
    }
    assert Counter(one["kind"] for one in named.values()) == PLANTED
    assert not any(one["behind"] or one["caught_up"] for one in found["tables"])
    # In gold's order, so that a table's keys are the same lines each time.
    stock = [key for table, key in named if table == "stock"]
    assert stock == sorted(stock, key=lambda key: (key[0], int(key[1])))
    assert checked(shop)["gold_is_what_the_source_holds"] is False
    kept = last_comparison.last_comparison(shop.lake, load_feed(shop.file))
    assert kept is not None and kept.differing == sum(PLANTED.values())
    assert named["person", ("5",)]["columns"] == ["seen"]
    assert named["person", ("3",)]["in_source"]["pay"] == "123456789012"
    assert named["person", ("3",)]["in_gold"]["pay"] == "-2.97"
    assert named["person", ("2",)]["columns"] == ["name", "born", "flag"]
    assert named["word", ("ß7",)]["in_gold"] is None
    assert named["stock", ("h7", "12")]["explain"] == """weir explain shop stock '["h7", "12"]'"""
    # Of tables of thousands of rows, little more than what differs was fetched.
    fetched = {one["table"]: one["fetched"] for one in found["tables"]}
    assert fetched["stock"] <= 64 * 24
    assert reconcile(shop, *KEYED, "--limit", "2", "--rate", "50000") == 1
    said = capsys.readouterr().out
    assert (
        "stock: 1,588 rows in the source, 1,600 in gold; 24 keys differ: 12 extra, 12 column"
        in said
    )
    assert "and 22 more keys (--limit)" in said
    # What is typed as it is said tells the key's story.
    place = ("--feeds", str(shop.folder / "feeds"), "--warehouse", str(shop.folder / "warehouse"))
    assert weir("explain", "shop", "stock", '["h7", "12"]', *place) == 0

    # A person heals it: the events that were lost come after all.
    for table, where in (("person", "true"), ("stock", "true"), ("word", "true")):
        shop.capture(table, shop.rows(table, where), "u", beyond=1 << 31)
    gone = [each["in_gold"] for each in named.values() if each["kind"] == "extra"]
    shop.capture("person", [{"id": int(one["id"])} for one in gone if "id" in one], "d", 1 << 31)
    shop.capture(
        "stock", [{**one, "item": int(one["item"])} for one in gone if "house" in one], "d", 1 << 31
    )
    shop.bring()
    code, found = told(shop, capsys, "--table", "stock", "--table", "word")
    assert (code, [one["state"] for one in found["tables"]]) == (0, ["same", "same"])


def test_what_is_written_behind_the_snapshot_is_no_difference(shop: Shop) -> None:
    """Clients write while gold is compared; gold gets some of it at once, some later, and a fault stays one."""
    feed = load_feed(shop.file)
    source = PostgresSource("shop", address_of(feed))
    moments: list[str] = []

    def meanwhile(said: str) -> None:
        moments.append(said)
        if said == "stock: reading gold":
            # Behind the snapshot, and in gold before that is read: gold is ahead.
            shop.server.run("UPDATE shop.stock SET n = -1 WHERE item = 5")
            shop.capture("stock", shop.rows("stock", "item = 5"), "u")
            shop.server.run("DELETE FROM shop.stock WHERE item = 6")
            gone = [{"house": f"h{h}", "item": 6, "n": 0} for h in range(1, 41)]
            shop.capture("stock", gone, "d")
            shop.bring()
        if said.endswith("until gold has come to the snapshot"):
            # What was in the snapshot arrives, and changes again.
            shop.capture("stock", shop.rows("stock", "item = 8"), "u")
            shop.server.run("UPDATE shop.stock SET n = -3 WHERE item = 8 AND house = 'h1'")
            shop.go_on()

    # Before the snapshot, and not in gold yet: gold is behind.
    shop.server.run("UPDATE shop.stock SET n = -2 WHERE item = 8")
    shop.server.run("UPDATE shop.stock SET n = -9 WHERE item = 9 AND house = 'h1'")
    ask = Ask(tables=["stock"], wait=20, say=meanwhile)
    (found,) = reconciled(shop.lake, feed, source, ask).tables
    assert [(one.key, one.kind) for one in found.different] == [(("h1", "9"), "column")]
    assert found.behind == []
    assert found.caught_up == 120


def test_a_source_that_cannot_be_asked_is_an_error_without_secrets(
    shop: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_SHOP_PASSWORD", "hush-hush")
    monkeypatch.setenv("WEIR_SOURCE_SHOP", "postgresql://127.0.0.1:1/shop")
    assert reconcile(shop) == 2
    said = capsys.readouterr()
    assert "feed shop: cannot ask its source: postgresql://127.0.0.1:1/shop: " in said.err
    assert "hush-hush" not in said.err + said.out
    monkeypatch.setenv("WEIR_SOURCE_SHOP", "postgresql://ann:hush-hush@127.0.0.1/shop")
    assert reconcile(shop) == 2
    said = capsys.readouterr()
    assert "is not postgresql://host:port/database" in said.err
    assert "hush-hush" not in said.err + said.out
    shop.server.run("DROP TABLE shop.stock")
    monkeypatch.delenv("WEIR_SOURCE_SHOP")
    assert reconcile(shop, "--table", "stock") == 2
    assert "not compared: the source has no table shop.stock" in capsys.readouterr().out
