"""Gold compared with a real MariaDB, whose changes land as Debezium writes them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
import pytest

from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.mariadb import (
    PASSWORD,
    USER,
    VERSION_OF_JAR,
    MariaDb,
    new_mariadb,
)
from tests.support.bringing import run
from tests.support.commands_here import weir

pytestmark = pytest.mark.services

ROWS = 2_000

TABLES = f"""
CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;
CREATE TABLE person(
    id int PRIMARY KEY, name varchar(40), born date, pay decimal(14,2), whole decimal(20,0), seen timestamp(6) NULL,
    made datetime(3), plain datetime, noon time(6), raw varbinary(20), flag tinyint(1), big bigint unsigned,
    code char(4) CHARACTER SET latin1, mood enum('sad', 'glad'), note mediumtext, ratio double, doc json);
CREATE TABLE stock(house varchar(10), item int, n int NOT NULL, PRIMARY KEY(house, item));
CREATE TABLE tile(x int, y int, n int NOT NULL, PRIMARY KEY(x, y));
CREATE TABLE word(text varchar(20) PRIMARY KEY, n int) COLLATE utf8mb4_general_ci;
CREATE TABLE beat(id int PRIMARY KEY);
INSERT INTO person
SELECT seq, CASE seq % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN concat('é|~:', seq) ELSE 'a ' END,
    date_add('0001-01-01', INTERVAL seq * 37 DAY), seq / 100 - 3, seq * 1000,
    date_add('2026-01-01', INTERVAL seq * 1000001 MICROSECOND),
    date_add('2026-01-01', INTERVAL seq * 500000 MICROSECOND), date_add('2026-01-01', INTERVAL seq HOUR),
    sec_to_time(seq * 20.5), unhex(left(md5(seq), seq % 7 * 2)), seq % 2, 18446744073709551615 - seq,
    concat('c', seq % 100), if(seq % 2, 'sad', 'glad'), repeat('x', seq % 5), seq / 3, concat('{{"a": ', seq, '}}')
FROM seq_1_to_{ROWS};
INSERT INTO stock SELECT concat('h', a.seq), b.seq, a.seq * b.seq FROM seq_1_to_30 a JOIN seq_1_to_30 b;
INSERT INTO tile SELECT a.seq, b.seq, a.seq * b.seq FROM seq_1_to_40 a JOIN seq_1_to_40 b;
INSERT INTO word SELECT concat(w, seq), seq FROM seq_1_to_100 JOIN
    (SELECT 'a' w UNION SELECT 'B' UNION SELECT 'Z' UNION SELECT 'é' UNION SELECT '-') AS ws;
INSERT INTO beat VALUES (1);
"""

FEED = """
format: debezium
landing: {landing}
source: mariadb://127.0.0.1:{port}/shop
tables:
  person:
    key: [id]
    columns:
      {{id: int, name: string, born: date, pay: "decimal(10,2)", whole: "decimal(20,0)", seen: timestamp,
      made: timestamp_ntz, plain: timestamp_ntz, noon: string, raw: binary, flag: boolean, big: "decimal(20,0)",
      code: string, mood: string, note: string, ratio: double, doc: string}}
    encoded: {{made: millis, plain: millis, noon: micros_of_day}}
  stock: {{key: [house, item], columns: {{house: string, item: int, n: int}}}}
  tile: {{key: [x, y], columns: {{x: int, y: int, n: int}}}}
  word: {{key: [text], columns: {{text: string, n: int}}}}
  beat: {{key: [id], columns: {{id: int}}}}
"""

AS_SENT = {
    "born": "datediff(born, '1970-01-01')",
    "pay": "cast(pay AS char)",
    "whole": "cast(whole AS char)",
    "big": "cast(big AS char)",
    "seen": "date_format(seen, '%Y-%m-%dT%H:%i:%s.%fZ')",
    "made": "timestampdiff(MICROSECOND, '1970-01-01', made) DIV 1000",
    "plain": "timestampdiff(SECOND, '1970-01-01', plain) * 1000",
    "noon": "cast(time_to_sec(noon) * 1000000 AS signed)",
    "raw": "to_base64(raw)",
}
KEYS = {
    "person": ["id"],
    "stock": ["house", "item"],
    "tile": ["x", "y"],
    "word": ["text"],
    "beat": ["id"],
}

NOBODY: dict[str, dict[str, Any]] = {
    **{"person": {"id": -1}, "stock": {"house": "none", "item": -1, "n": 0}},
    **{"tile": {"x": -1, "y": -1, "n": 0}, "word": {"text": "none", "n": 0}, "beat": {"id": -1}},
}

FAULTS = """
USE shop;
INSERT INTO person(id, name) SELECT seq, 'new' FROM seq_10101_to_10110;
INSERT INTO word SELECT concat('ß', seq), seq FROM seq_1_to_10;
DELETE FROM person WHERE id % 200 = 1;
DELETE FROM stock WHERE house = 'h7' AND item <= 10;
UPDATE person SET name = 'other', born = '2000-01-01', flag = 1 - flag WHERE id % 200 = 2;
UPDATE person SET seen = seen + INTERVAL 1 MICROSECOND WHERE id = 5;
UPDATE person SET name = if(name = '', NULL, '') WHERE id IN (8, 9);
UPDATE person SET name = 'a' WHERE id = 11;
UPDATE person SET raw = concat(raw, unhex('00')) WHERE id = 13;
UPDATE person SET noon = '-00:00:00.5' WHERE id = 17;
UPDATE person SET big = big + 1 WHERE id = 18;
UPDATE tile SET n = n + 1 WHERE x = 9 AND y <= 10;
UPDATE word SET n = -1 WHERE text IN ('a7', 'B7');
UPDATE person SET pay = 123456789012 WHERE id % 200 = 3;
"""
PLANTED = {"missing": 20, "extra": 20, "stale": 10, "column": 7 + 10 + 2, "type": 10}


@dataclass
class Shop:
    """The database, and the folder that its changes land in."""

    server: MariaDb
    folder: Path
    landed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        (self.folder / "feeds").mkdir()
        self.file = self.folder / "feeds" / "shop.yaml"
        self.file.write_text(FEED.format(port=self.server.port, landing=self.folder / "landing"))
        self.server.run(TABLES)

    def asked(self, sql: str) -> list[tuple[Any, ...]]:
        connection = pymysql.connect(
            host="127.0.0.1",
            port=self.server.port,
            user=USER,
            password=PASSWORD,
            database="shop",
            charset="utf8mb4",
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return [*cursor.fetchall()]

    def capture(
        self,
        table: str,
        rows: list[dict[str, Any]],
        op: str = "c",
        file: int | None = None,
        point: int | None = None,
    ) -> None:
        """Land changes, as of a transaction that has just ended, or of one in another log file, or at a point there."""
        ((name, now, *_),) = self.asked("SHOW MASTER STATUS")
        point = now if point is None else point
        lines = []
        for at, row in enumerate(rows):
            self.landed += 1
            source = {
                "connector": "mysql",
                "db": "shop",
                "table": table,
                "ts_ms": 1_790_000_000_000,
            }
            source |= {"file": name if file is None else f"log.{file:06}", "pos": point, "row": at}
            images = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
            value = {"op": op, "source": source, **images}
            lines.append(json.dumps({"topic": f"db.shop.{table}", "partition": 0, "offset": self.landed,
                                     "key": {one: row[one] for one in KEYS[table]}, "value": value}))  # fmt: skip
        folder = self.folder / "landing" / "2026-11-20"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.landed:08}.jsonl").write_text("\n".join(lines) + "\n")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows as Debezium sends them without schemas."""
        names = [one[0] for one in self.asked(f"SHOW COLUMNS FROM {table}")]
        parts = ", ".join(AS_SENT.get(one, one) for one in names)
        return [
            dict(zip(names, row, strict=True)) for row in self.asked(f"SELECT {parts} FROM {table}")
        ]

    def bring(self) -> None:
        """What has landed goes to gold."""
        run(lake_of(str(self.folder / "warehouse")).by("in-process"), load_feed(self.file))

    def go_on(self) -> None:
        """Much later, rows are deleted of each table that nobody ever had, which comes to gold: all before has come."""
        for table, row in NOBODY.items():
            self.capture(table, [row], "d", file=999)
        self.bring()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """The shop, all of whose rows are in gold."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    monkeypatch.setenv("WEIR_SOURCE_PASSWORD", PASSWORD)
    with new_mariadb(VERSION_OF_JAR) as server:
        made = Shop(server, tmp_path)
        for table in KEYS:
            made.capture(table, made.rows(table))
        made.bring()
        yield made


def reconcile(shop: Shop, *words: str) -> int:
    place = ("--feeds", str(shop.folder / "feeds"), "--warehouse", str(shop.folder / "warehouse"))
    return weir("reconcile", "shop", *words, *place)


def test_each_fault_is_found_and_named_and_nothing_else(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reconcile(shop) == 0
    said = capsys.readouterr().out
    assert f"gold.shop.person: {ROWS:,} rows in the source, {ROWS:,} in gold; the same" in said
    assert "column ratio is not compared: double and gold's double are not written alike" in said
    shop.server.run(FAULTS)
    # Until gold has come past the snapshot, all of it may be under way.
    assert reconcile(shop, "--wait", "0") == 2
    shop.go_on()
    capsys.readouterr()
    assert reconcile(shop, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    named = {
        (one["table"], tuple(each["key"])): each
        for one in found["tables"]
        for each in one["different"]
    }
    assert Counter(one["kind"] for one in named.values()) == PLANTED
    assert not any(one["behind"] or one["caught_up"] for one in found["tables"])
    assert named["person", ("5",)]["columns"] == ["seen"]
    assert named["person", ("3",)]["in_source"]["pay"] == "123456789012"
    assert named["word", ("a7",)]["in_source"] == {"text": "a7", "n": "-1"}
