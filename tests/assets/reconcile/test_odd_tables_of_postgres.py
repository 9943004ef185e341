"""Tables of a real Postgres of which one is odd, or may not be read: the others are compared all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.postgres import DATABASE, Postgres, postgres
from tests.support.bringing import run
from tests.support.commands_here import weir

__all__ = ["postgres"]

TABLES = """
DROP SCHEMA IF EXISTS shop CASCADE;
DROP SCHEMA IF EXISTS vault CASCADE;
DROP ROLE IF EXISTS clerk;
CREATE ROLE clerk LOGIN;
CREATE SCHEMA shop;
CREATE SCHEMA vault;
CREATE DOMAIN shop.word AS text;
CREATE DOMAIN shop.title AS shop.word;
CREATE TABLE shop.closed(id int PRIMARY KEY);
CREATE TABLE shop.policed(id int PRIMARY KEY);
ALTER TABLE shop.policed ENABLE ROW LEVEL SECURITY;
CREATE TABLE vault.hidden(id int PRIMARY KEY);
CREATE TABLE shop.parent(id int PRIMARY KEY);
CREATE TABLE shop.child() INHERITS (shop.parent);
CREATE TABLE shop."odd.dot"(id int PRIMARY KEY);
CREATE TABLE shop.loose(id int UNIQUE);
CREATE TABLE shop.plain(id int PRIMARY KEY, title shop.title, titles shop.title[]);
CREATE TABLE shop.note(id text PRIMARY KEY);
CREATE TABLE shop.large(id bigint PRIMARY KEY);
CREATE TABLE shop.ticket(id uuid PRIMARY KEY);
CREATE TABLE shop.ratio(id numeric PRIMARY KEY);
CREATE TABLE shop.holiday(id date PRIMARY KEY);
INSERT INTO shop.closed VALUES (1);
INSERT INTO shop.policed VALUES (1);
INSERT INTO vault.hidden VALUES (1);
INSERT INTO shop.parent VALUES (1);
INSERT INTO shop.child VALUES (2);
INSERT INTO shop.loose VALUES (1), (NULL), (NULL);
INSERT INTO shop."odd.dot" VALUES (1);
INSERT INTO shop.plain VALUES (1, 'one', '{two}');
INSERT INTO shop.note VALUES ('a');
INSERT INTO shop.large VALUES (1);
INSERT INTO shop.ticket VALUES ('00000000-0000-0000-0000-000000000001');
INSERT INTO shop.ratio SELECT i FROM generate_series(1, 200) i;
INSERT INTO shop.holiday SELECT '2000-01-01'::date + i FROM generate_series(1, 200) i;
GRANT USAGE ON SCHEMA shop TO clerk;
GRANT SELECT ON ALL TABLES IN SCHEMA shop TO clerk;
GRANT USAGE ON SCHEMA vault TO clerk;
GRANT SELECT ON ALL TABLES IN SCHEMA vault TO clerk;
REVOKE SELECT ON shop.closed FROM clerk;
REVOKE USAGE ON SCHEMA vault FROM clerk;
ALTER ROLE clerk NOBYPASSRLS;
"""

FEED = """
format: debezium
landing: {landing}
source: postgresql://127.0.0.1:{port}/{database}
tables:
  closed: {{key: [id], columns: {{id: int}}}}
  policed: {{key: [id], columns: {{id: int}}}}
  hidden: {{key: [id], columns: {{id: int}}}}
  parent: {{key: [id], columns: {{id: int}}}}
  loose: {{key: [id], columns: {{id: int}}}}
  plain: {{key: [id], columns: {{id: int, title: string, titles: array<string>}}}}
  note: {{key: [id], columns: {{id: string}}}}
  large: {{key: [id], columns: {{id: "decimal(38,1)"}}}}
  ticket: {{key: [id], columns: {{id: string}}}}
  ratio: {{key: [id], columns: {{id: "decimal(20,2)"}}}}
  holiday: {{key: [id], columns: {{id: date}}}}
"""

DOTTED = "odd.dot"
WITH_ID = {"type": "struct", "fields": [{"field": "id", "type": "int32", "optional": False}]}
ENVELOPE = {
    "type": "struct",
    "fields": [{"field": name, "optional": True, **WITH_ID} for name in ("before", "after")],
}
TICKET = "00000000-0000-0000-0000-00000000000"
ROWS: dict[str, list[dict[str, Any]]] = {
    **{name: [{"id": 1}] for name in ("closed", "policed", "hidden", "parent", "loose", DOTTED)},
    "plain": [{"id": 1, "title": "one", "titles": ["two"]}],
    "note": [{"id": "a"}],
    "large": [{"id": 1}],
    "ticket": [{"id": TICKET + "1"}],
    "ratio": [{"id": number} for number in range(1, 201)],
    "holiday": [{"id": 10957 + number} for number in range(1, 201)],
}
"""What the source has, as its connector sends it: of the child of ``parent`` it speaks as of another table."""


@dataclass
class OddShop:
    """The tables, and the folder that their changes land in."""

    server: Postgres
    folder: Path

    def bring(self, rows: dict[str, list[dict[str, Any]]]) -> None:
        """Rows come to gold."""
        lines: list[dict[str, Any]] = []
        for table, some in rows.items():
            schema = "vault" if table == "hidden" else "shop"
            for row in some:
                source: dict[str, Any] = {"connector": "postgresql", "db": DATABASE}
                source["schema"] = schema
                source |= {"table": table, "lsn": 1, "ts_ms": 1_790_000_000_000}
                value: dict[str, Any] = {"op": "c", "before": None, "after": row}
                value["source"] = source
                key: dict[str, Any] = {"id": row["id"]}
                if table == DOTTED:
                    # No feed file could name it: only a stream that describes its tables does.
                    value = {"schema": ENVELOPE, "payload": value}
                    key = {"schema": WITH_ID, "payload": key}
                place = {"topic": table, "partition": 0, "offset": len(lines)}
                lines.append(place | {"key": key, "value": value})
        landed = self.folder / "landing" / "2026-11-20"
        landed.mkdir(parents=True, exist_ok=True)
        file = landed / f"{len([*landed.iterdir()])}.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        run(
            lake_of(str(self.folder / "warehouse")).by("in-process"),
            load_feed(self.folder / "feeds" / "shop.yaml"),
        )

    def told(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
        """How the command ends, and what it says of each table; nothing is under way."""
        capsys.readouterr()
        place = ["--feeds", str(self.folder / "feeds")]
        place += ["--warehouse", str(self.folder / "warehouse")]
        code = weir("reconcile", "shop", *words, "--json", "--idle", *place)
        return code, {one["table"]: one for one in json.loads(capsys.readouterr().out)["tables"]}


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OddShop]:
    """The shop, all of whose rows are in gold; who asks may not read all of it."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", "clerk")
    postgres.run(TABLES)
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "shop.yaml").write_text(
        FEED.format(landing=tmp_path / "landing", port=postgres.port, database=DATABASE)
    )
    made = OddShop(postgres, tmp_path)
    made.bring(ROWS)
    yield made
    postgres.run(
        "DROP SCHEMA shop CASCADE; DROP SCHEMA vault CASCADE; DROP OWNED BY clerk; DROP ROLE clerk"
    )


def test_a_table_that_cannot_be_asked_leaves_the_others_compared(
    shop: OddShop, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = shop.told(capsys)
    assert code == 2
    reasons = {name: one.pop("reason") for name, one in found.items() if "reason" in one}
    assert reasons == {
        "closed": "the source refuses: permission denied for table closed. GRANT SELECT on the table to its user, and"
        " USAGE on the schema",
        "hidden": "the source refuses: permission denied for schema vault. GRANT SELECT on the table to its user, and"
        " USAGE on the schema",
        "policed": 'the source refuses: query would be affected by row-level security policy for table "policed". Give'
        " the user BYPASSRLS",
        "parent": "shop.child inherits from it: whoever reads it reads those rows, too, which the connector sends"
        " under the name of their own table",
    }
    states = {name: one["state"] for name, one in found.items() if name not in reasons}
    assert states == {name: "same" for name in ROWS if name not in reasons} | {"loose": "behind"}
    # A row that has no key is in no range, and is told of.
    assert (found["loose"]["keyless"], found["loose"]["rows_in_source"]) == (2, 1)
    # Types of types are what they are at last.
    assert found["plain"]["not_compared"] == {}


def test_keys_that_the_source_could_not_hold_are_no_rows_of_it(
    shop: OddShop, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {
        "note": ["a\x00b", *(f"b\x00{number}" for number in range(100))],
        "large": [str(10**30), "-9223372036854775809", "1.5"],
        "ticket": ["none", TICKET[:-1].replace("0", "A") + "00"],
    }
    shop.bring({table: [{"id": key} for key in keys] for table, keys in odd.items()})
    shop.server.run("INSERT INTO shop.note SELECT 'c' || i FROM generate_series(1, 300) i")
    shop.server.run("UPDATE shop.plain SET title = 'other'")
    code, found = shop.told(capsys, *(f"--table={table}" for table in (*odd, "plain")))
    assert code == 1
    assert found["plain"]["different"][0]["columns"] == ["title"]
    for table, keys in odd.items():
        kinds = {one["key"][0]: one["kind"] for one in found[table]["different"]}
        assert {key for key, kind in kinds.items() if kind == "extra"} == {*keys}
        assert len(kinds) == len(keys) + (300 if table == "note" else 0)


def test_keys_of_the_source_that_gold_could_not_hold_are_missing(
    shop: OddShop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.server.run("INSERT INTO shop.ratio VALUES ('NaN')")
    shop.server.run(
        "INSERT INTO shop.holiday SELECT '0044-03-15 BC'::date - i FROM generate_series(1, 300) i"
    )
    shop.server.run(
        "INSERT INTO shop.holiday SELECT '10000-01-01'::date + i FROM generate_series(1, 300) i"
    )
    shop.server.run("INSERT INTO shop.holiday VALUES ('infinity'), ('-infinity')")
    shop.server.run("INSERT INTO shop.ratio SELECT 1000 + i FROM generate_series(1, 300) i")
    code, found = shop.told(capsys, "--table", "ratio", "--table", "holiday")
    assert code == 1
    for table, keys in (("ratio", 301), ("holiday", 602)):
        assert [one["kind"] for one in found[table]["different"]] == ["missing"] * keys
        assert found[table]["behind"] == []
