"""A feed whose changes call their tables by any name, beside a real source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assets.storage.lake import Layer
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.bringing import run
from tests.support.commands_here import weir

TABLE = "{key: [id], columns: {id: int, n: int}}"
"""What a feed file says of such a table."""


@dataclass
class Named:
    """A feed of changes that call their tables so, and the source at ``address`` that they are compared with."""

    folder: Path
    address: str

    def declare(self, text: str) -> None:
        (self.folder / "feeds").mkdir(exist_ok=True)
        head = f"format: debezium\nlanding: {self.folder / 'landing'}\nsource: {self.address}\n"
        (self.folder / "feeds" / "shop.yaml").write_text(head + text)

    def land(self, *records: dict[str, Any], under: str = "drops") -> None:
        folder = self.folder / "landing" / "2026-11-20" / under
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{len([*folder.iterdir()])}.jsonl"
        file.write_text("".join(f"{json.dumps(one)}\n" for one in records))

    def land_changes(
        self,
        source: Mapping[str, Any],
        rows: Mapping[int, int] | Sequence[Mapping[str, int]],
        key: Sequence[str] = ("id",),
    ) -> None:
        """Changes as Debezium sends them without schemas, each of a row, or of an ``id`` with its ``n``.

        ``source``: what each says of its table and its place.
        """
        if isinstance(rows, Mapping):
            rows = [{"id": number, "n": n} for number, n in rows.items()]
        topic, lines = ".".join(map(str, source.values())), []
        for offset, row in enumerate(rows):
            value = {"op": "c", "before": None, "after": row, "source": source}
            place = {"topic": topic, "partition": 0, "offset": offset}
            lines.append(place | {"key": {name: row[name] for name in key}, "value": value})
        self.land(*lines)

    def bring(self) -> None:
        lake = lake_of(str(self.folder / "warehouse")).by("in-process")
        run(lake, load_feed(self.folder / "feeds" / "shop.yaml"))

    def gold(self, table: str) -> dict[int, int]:
        lake = lake_of(str(self.folder / "warehouse"))
        rows = lake.in_process_table(Layer.GOLD, "shop", table).rows(["id", "n"])
        return {row["id"]: row["n"] for row in rows}

    @property
    def place(self) -> tuple[str, ...]:
        return (
            *("--feeds", str(self.folder / "feeds")),
            *("--warehouse", str(self.folder / "warehouse")),
        )

    def told(
        self, capsys: pytest.CaptureFixture[str], *words: str
    ) -> tuple[int, dict[str, dict[str, Any]]]:
        """How a comparison ends, and what it says of each table; nothing is under way."""
        capsys.readouterr()
        code = weir("reconcile", "shop", *words, "--json", "--idle", *self.place)
        return code, {one["table"]: one for one in json.loads(capsys.readouterr().out)["tables"]}
