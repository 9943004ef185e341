"""The gold that other programs are asked to read: every kind of table, and the rows that a reader must find in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assets.executors.choice import IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed, Table


def table(name: str, /, **columns: str) -> Table:
    declared = {"id": "int", **columns}
    return Table(name, ("id",), declared, tuple(declared))


TYPES = {
    "text": "string",
    "price": "decimal(10,2)",
    "sold": "boolean",
    "born": "date",
    "seen": "timestamp",
    "share": "double",
    "large": "bigint",
    "raw": "binary",
}
ODD = ("größe", "select", "per%cent", "a-b", "1st", 'wei"ght', "it's")
SMALL = {
    "plain": table("plain", **TYPES),
    "moments": table("moments", at="timestamp_ntz"),
    "odd": table("odd", **dict.fromkeys(ODD, "string")),
    "odd#name": table("odd#name", name="string"),
    "kept": replace(table("kept", name="string"), history=True),
}
"""Tables that are small: Weir writes them by delta-rs."""
LARGE = {
    "marked": table("marked", **TYPES),
    "large_moments": table("large_moments", at="timestamp_ntz"),
    "followed": replace(table("followed", name="string"), change_feed=True),
}
"""Tables that Spark writes: with deletion vectors."""
VALUES = {
    "text": "Ada",
    "price": "12.50",
    "sold": "true",
    "born": "2001-02-03",
    "seen": "2025-11-20 01:02:03.000004",
    "share": "0.5",
    "large": "9007199254740993",
    "raw": "AAEC",
    "at": "2025-11-20 01:02:03.000004",
}
EXPECTED = {
    "text": "Ada",
    "price": "12.50",
    "sold": True,
    "born": "2001-02-03",
    "seen": "2025-11-20T01:02:03.000004",
    "share": 0.5,
    "large": 9007199254740993,
    # A text in a column of bytes is its UTF-8.
    "raw": b"AAEC".hex(),
    "at": "2025-11-20T01:02:03.000004",
}


@dataclass(frozen=True)
class Gold:
    """Tables of gold: where the warehouse is, and by name where each table is."""

    warehouse: str
    paths: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.paths[name]


def rows_of(one: Table, number: int) -> dict[str, str | None]:
    found: dict[str, str | None] = {
        name: VALUES.get(name, f"{name} {number}") for name in one.columns
    }
    return {**found, "id": str(number)}


def two_windows(lake: Lake, feed: Feed, landing: Path) -> None:
    """Two windows: three rows of each table, of which one is deleted and one is changed."""
    for name, one in feed.tables.items():
        first = [
            change("I", number, after=rows_of(one, number), table=name) for number in (1, 2, 3)
        ]
        nothing = {column: None for column in one.columns if column != "id"}
        last = [
            change("D", 10, rows_of(one, 2), table=name),
            change("U", 11, rows_of(one, 3), {"id": "3", **nothing}, table=name),
        ]
        lay(landing, f"2025-11-20/03/{number_of(feed, name)}.json", drop(*first))
        lay(landing, f"2025-11-20/04/{number_of(feed, name)}.json", drop(*last))
    for window in ("2025-11-20T03", "2025-11-20T04"):
        bring(lake, feed, [window])


def number_of(feed: Feed, name: str) -> int:
    return [*feed.tables].index(name)


def made_gold(folder: Path) -> Gold:
    """The tables in a warehouse in a folder: small ones written by delta-rs, large ones by Spark."""
    lake = lake_of(str(folder / "warehouse"))
    paths: dict[str, str] = {}
    for name, tables, executor in (("small", SMALL, IN_PROCESS), ("large", LARGE, SPARK)):
        landing = folder / "landing" / name
        feed = Feed(name, "arcion_s3_json", str(landing), tables=tables)
        two_windows(lake.by(executor), feed, landing)
        paths |= {table: lake.path(Layer.GOLD, name, table) for table in tables}
    paths["kept__history"] = paths["kept"] + "__history"
    return Gold(lake.warehouse, paths)


def expected(one: Table) -> list[dict[str, Any]]:
    """What the two windows leave of a table."""
    full = {name: EXPECTED.get(name, f"{name} 1") for name in one.columns} | {"id": 1}
    return [full, {**dict.fromkeys(one.columns), "id": 3}]
