"""A shop in a real Postgres, whose changes land as Debezium writes them; what is not captured, gold never hears of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2

from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.postgres import DATABASE, USER, Postgres
from tests.support.bringing import run

ROWS = 3_000

TABLES = f"""
DROP SCHEMA IF EXISTS shop CASCADE;
CREATE SCHEMA shop;
CREATE TYPE shop.mood AS ENUM ('sad', 'glad');
CREATE TABLE shop.person(
    id int PRIMARY KEY, name text, born date, pay numeric(14,2), free numeric, seen timestamptz, made timestamp,
    noon time, raw bytea, tags text[], marks int[], doc jsonb, flag boolean, ratio real, wide double precision,
    code char(4), mood shop.mood, ticket uuid, lasted interval);
CREATE TABLE shop.stock(house text, item int, n int NOT NULL, PRIMARY KEY(house, item));
CREATE TABLE shop.word(text text COLLATE "und-x-icu" PRIMARY KEY, n int);
CREATE TABLE shop.visit(who text, page text);
ALTER TABLE shop.visit REPLICA IDENTITY FULL;
CREATE TABLE shop.beat(id int PRIMARY KEY);
INSERT INTO shop.person
SELECT i, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'é|~:' || i ELSE 'name ' || i END,
    '0001-01-01'::date + i * 37, i / 100.0 - 3, i / 7.0,
    '1969-12-31 23:59:59.9+01'::timestamptz + i * interval '1.0001 s',
    '2026-01-01'::timestamp + i * interval '1 hour', '00:00'::time + i * interval '0.5 s', decode(md5(i::text), 'hex'),
    CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '{{}}' ELSE ARRAY['a,b', NULL, 'c' || i] END, ARRAY[i, NULL],
    json_build_object('b', i, 'a', 1.50)::jsonb, i % 2 = 0, i / 3.0, CASE WHEN i % 11 = 0 THEN 'NaN' ELSE i / 3.0 END,
    'c' || i % 100, CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'glad' END::shop.mood, md5('t' || i)::uuid, '1 day'
FROM generate_series(1, {ROWS}) i;
INSERT INTO shop.stock SELECT 'h' || h, i, h * i FROM generate_series(1, 40) h, generate_series(1, 40) i;
INSERT INTO shop.word SELECT w || i, i FROM unnest(ARRAY['a', 'B', 'b', 'Z', 'é', '-']) w, generate_series(1, 200) i;
INSERT INTO shop.visit VALUES ('ann', 'home'), ('ann', 'home');
INSERT INTO shop.beat VALUES (1);
"""

FEED = """
format: debezium
landing: landing
source: postgresql://127.0.0.1:{port}/{database}
tables:
  person:
    key: [id]
    columns:
      {{id: int, name: string, born: date, pay: "decimal(10,2)", free: string, seen: timestamp, made: timestamp_ntz,
      noon: string, raw: binary, tags: array<string>, marks: array<int>, doc: string, flag: boolean, ratio: float,
      wide: double, code: string, mood: string, ticket: string, lasted: string}}
    encoded: {{made: micros, noon: micros_of_day}}
  stock: {{key: [house, item], columns: {{house: string, item: int, n: int}}}}
  word: {{key: [text], columns: {{text: string, n: int}}}}
  visit: {{key: [], columns: {{who: string, page: string}}}}
  beat: {{key: [id], columns: {{id: int}}}}
"""

AS_SENT = {
    "born": "born - '1970-01-01'::date",
    "pay": "pay::text",
    "free": "free::text",
    "seen": """to_char(seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""",
    "made": "(extract(epoch FROM made) * 1000000)::bigint",
    "noon": "(extract(epoch FROM noon) * 1000000)::bigint",
    "raw": "encode(raw, 'base64')",
    "doc": "doc::text",
    "wide": "CASE WHEN wide = 'NaN' THEN to_json('NaN'::text) ELSE to_json(wide) END",
    "lasted": "extract(epoch FROM lasted)::bigint",
}
NOBODY: dict[str, dict[str, Any]] = {
    **{"person": {"id": -1}, "stock": {"house": "none", "item": -1, "n": 0}},
    **{"word": {"text": "none", "n": 0}, "beat": {"id": -1}},
}
KEYS = {"person": ["id"], "stock": ["house", "item"], "word": ["text"], "visit": [], "beat": ["id"]}


@dataclass
class Shop:
    """The database, and the folder that its changes land in."""

    server: Postgres
    folder: Path
    landed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        (self.folder / "feeds").mkdir()
        text = FEED.format(port=self.server.port, database=DATABASE)
        self.file = self.folder / "feeds" / "shop.yaml"
        self.file.write_text(
            text.replace("landing: landing", f"landing: {self.folder / 'landing'}")
        )
        self.lake = lake_of(str(self.folder / "warehouse")).by("in-process")
        self.server.run(TABLES)

    def asked(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows that a question has."""
        connection = psycopg2.connect(
            host="127.0.0.1", port=self.server.port, dbname=DATABASE, user=USER
        )
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                rows: list[tuple[Any, ...]] = cursor.fetchall()
                return rows
        finally:
            connection.close()

    @property
    def place(self) -> int:
        """Where the log stands."""
        return int(self.asked("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")[0][0])

    def rows(self, table: str, where: str = "true") -> list[dict[str, Any]]:
        """Rows as Debezium sends them without schemas."""
        names = [one for (one,) in self.asked(
            "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped"
            f" AND attrelid = 'shop.{table}'::regclass ORDER BY attnum"
        )]  # fmt: skip
        parts = ", ".join(f"'{name}', {AS_SENT.get(name, name)}" for name in names)
        return [
            row
            for (row,) in self.asked(
                f"SELECT json_build_object({parts}) FROM shop.{table} WHERE {where}"
            )
        ]

    def capture(
        self, table: str, rows: Sequence[dict[str, Any]], op: str = "c", beyond: int = 0
    ) -> None:
        """Land changes of a table, as of a transaction that has just ended, or of one so much later in the log."""
        place, lines = self.place + beyond, []
        for row in rows:
            self.landed += 1
            source: dict[str, Any] = {
                "connector": "postgresql",
                "db": DATABASE,
                "schema": "shop",
                "table": table,
            }
            source |= {
                "lsn": place,
                "sequence": json.dumps([str(place - 1), str(place)]),
                "ts_ms": 1_790_000_000_000,
            }
            images = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
            key = {name: row[name] for name in KEYS[table]} or None
            value = {"op": op, "source": source, **images}
            # What it stood at before is not known of a row without a key: each has its own offset.
            lines.append(json.dumps({"topic": f"db.shop.{table}", "partition": 0, "offset": self.landed,
                                     "key": key, "value": value}))  # fmt: skip
        folder = self.folder / "landing" / "2026-11-20" / f"{self.landed:08}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.with_suffix(".jsonl").write_text("\n".join(lines) + "\n")

    def bring(self) -> None:
        """What has landed goes to gold."""
        run(self.lake, load_feed(self.file))

    def land_all(self) -> None:
        """Every row of every table, and gold made of them."""
        for table in KEYS:
            self.capture(table, self.rows(table))
        self.bring()

    def go_on(self) -> None:
        """The source writes something much later, which comes to gold: all before has come."""
        # Of a table its own changes tell: here that a row was deleted that nobody ever had.
        for table, row in NOBODY.items():
            self.capture(table, [row], "d", beyond=1 << 30)
        self.bring()
