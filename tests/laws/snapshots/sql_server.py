"""SQL Server: the log sequence numbers of a commit and of a change, and the number of an event of that change."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.laws.snapshots.source import Change, Committed


class SqlServer(Committed):
    """Changes stand at their transaction's commit; a snapshot's rows stand behind the commit that it saw last."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.commit, self.change = 0x0000002A_00000D98_0003, 0x0000002A_00000D98_0001

    def said_of(self, change_lsn: int | None, serial: int | None) -> dict[str, Any]:
        return {
            **{"connector": "sqlserver", "commit_lsn": spelled(self.commit)},
            "change_lsn": None if change_lsn is None else spelled(change_lsn),
            "event_serial_no": serial,
        }

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        self.commit += self.rng.choice([1, 0x10, 0x10000])
        serial, numbers = 0, []
        for number, _ in enumerate(changes):
            # Two events of one change: an update is a pair, of which the first is not sent.
            is_same = number > 0 and self.rng.random() < 0.4
            serial = serial + self.rng.choice([1, 2]) if is_same else self.rng.choice([1, 2])
            self.change += 0 if is_same else self.rng.choice([1, 0x10, 0x10000])
            numbers.append((self.change, serial))
        return [self.said_of(*one) for one in numbers]

    def log_end(self, kind: str) -> dict[str, Any]:
        if kind == "initial":
            return self.said_of(None, None)
        # The signal's own commit.
        self.commit += 1
        self.change += 1
        return self.said_of(self.change if kind == "incremental" else None, None)

    def restart(self) -> None:
        self.commit, self.change = 0x00000001_00000010_0001, 0x00000001_00000010_0001


def spelled(number: int) -> str:
    """As the server writes it: three parts of a fixed width."""
    digits = f"{number:020x}"
    return f"{digits[:8]}:{digits[8:16]}:{digits[16:]}"
