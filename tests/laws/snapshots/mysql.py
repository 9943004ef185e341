"""MySQL and MariaDB: a file and a position, of which newer releases of MariaDB leave little."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.laws.snapshots.source import Change, Committed

FIRST_OF_FILE = 4


class MySql(Committed):
    """Row events with a position of their own, of one row or of several; a compressed transaction has one for all."""

    connector = "mysql"

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.file, self.pos, self.number = rng.randint(8, 12), FIRST_OF_FILE, 0

    def next_event(self) -> int:
        """Where the next event of the log begins."""
        begins = self.pos
        self.pos += self.rng.choice([31, 58, 62, 300])
        return begins

    def source(self, pos: int, row: int, gtid: str | None) -> dict[str, Any]:
        return {
            **{"connector": self.connector, "file": f"mysql-bin.{self.file:06}", "pos": pos},
            **{"row": row, "gtid": gtid},
        }

    def next_gtid(self) -> str:
        self.number += 1
        return f"0-223344-{self.number}"

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        if self.rng.random() < 0.1:
            self.file, self.pos = self.file + 1, FIRST_OF_FILE
        gtid, is_compressed = self.next_gtid(), self.rng.random() < 0.3
        pos, row, found = self.next_event(), 0, []
        for number, _ in enumerate(changes):
            is_next = number > 0 and self.rng.random() < 0.6
            row = 0 if is_next or number == 0 else row + 1
            if is_next and not is_compressed:
                pos = self.next_event()
            found.append(self.source(pos, row, gtid))
        return found

    def log_end(self, kind: str) -> dict[str, Any]:
        if kind == "initial":
            return self.source(self.pos, 0, None)
        # The place of the signal, which is an event of its own.
        gtid = self.next_gtid()
        return self.source(self.next_event(), 0, gtid)

    def restart(self) -> None:
        self.file, self.pos, self.number = 1, FIRST_OF_FILE, 0


class MariaDb(MySql):
    """MariaDB from 11.4 on with Debezium 3.5: one position for a whole transaction, where it begins."""

    connector = "mariadb"

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        if self.rng.random() < 0.1:
            self.file, self.pos = self.file + 1, FIRST_OF_FILE
        gtid, pos = self.next_gtid(), self.next_event()
        # The row begins again with every row event.
        return [self.source(pos, self.rng.choice([0, 0, 1]), gtid) for _ in changes]


class MariaDbNegative(MariaDb):
    """The same with Debezium 3.3: the position of a change is minus the length of its event, which is no place."""

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        return [{**one, "pos": -self.rng.choice([58, 62, 130])} for one in super().written(changes)]

    def log_end(self, kind: str) -> dict[str, Any]:
        if kind == "initial" and self.messages:
            # A connector that begins again does so where the log that it knew is purged: in a later file.
            self.file, self.pos = self.file + 1, FIRST_OF_FILE
        said = super().log_end(kind)
        return said if kind == "initial" else {**said, "pos": -46}
