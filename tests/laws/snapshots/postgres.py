"""Postgres: transactions that are open side by side, and a slot that may be lost."""

from __future__ import annotations

import json
from random import Random

from tests.laws.snapshots.source import KEYS, Change, Place, Source

REMOVES, ROW, CHANGE = -1, 0, 1


class Postgres(Source):
    """Places are how often the log has begun, where a commit or a change stands, what it is, and its own number."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.era, self.lsn = 0, 10_000
        self.last_commit: int | None = None
        self.open: list[list[tuple[int, Change]]] = []

    def next_lsn(self) -> int:
        self.lsn += self.rng.choice([1, 1, 8, 40])
        return self.lsn

    def act(self) -> None:
        if self.rng.random() < 0.68:
            self.write()
        else:
            self.commit()

    def write(self) -> None:
        """A row changes in a transaction, which locks it."""
        if len(self.open) < 2 and (not self.open or self.rng.random() < 0.4):
            self.open.append([])
        mine = self.rng.choice(self.open)
        locked = {change.key for one in self.open if one is not mine for _, change in one}
        free = [one for one in KEYS if one not in locked]
        if not free:
            return
        key = self.rng.choice(free)
        name = next(
            (change.name for _, change in reversed(mine) if change.key == key), self.rows.get(key)
        )
        mine.append((self.next_lsn(), self.drawn_change(key, name)))

    def commit(self) -> None:
        """A transaction ends; its changes are sent then, unless the slot is lost."""
        if not self.open:
            return
        for own, change in self.open.pop(self.rng.randrange(len(self.open))):
            self.put(change)
            if self.is_lost:
                self.lost += 1
                continue
            at = own if self.last_commit is None else max(own, self.last_commit)
            before = None if self.last_commit is None else str(self.last_commit)
            self.said(change, (self.era, at, CHANGE, own), own, [before, str(own)])
        self.last_commit = self.next_lsn()

    def said(
        self,
        change: Change,
        place: Place,
        lsn: int | None,
        sequence: list[str | None],
        snapshot: str = "false",
    ) -> None:
        self.send(
            change,
            place,
            connector="postgresql",
            lsn=lsn,
            sequence=json.dumps(sequence),
            snapshot=snapshot,
        )

    def settle(self) -> None:
        while self.open:
            self.commit()

    def snapshot(self, kind: str) -> None:
        """A new slot waits for open transactions; a blocking snapshot is asked for by a committed signal."""
        if kind == "incremental" and not self.is_lost:
            begin = len(self.messages)
            # What it reads stands directly behind the commit of the signal that closed the window.
            self.last_commit = self.next_lsn()
            for key, name in sorted(self.rows.items()):
                if self.rng.random() < 0.7:
                    place = (self.era, self.last_commit, ROW, 1)
                    sequence = [str(self.last_commit), None]
                    self.said(Change("r", key, name), place, None, sequence, "incremental")
                    self.goes_on = True
            self.goes_on = False
            self.take(self.messages[begin:], None)
            return
        if kind == "initial" or self.is_lost:
            self.settle()
            at, self.last_commit = self.next_lsn(), None
            # The first change behind it may stand at the very place.
            self.lsn -= self.rng.choice([0, 1])
        else:
            at = self.next_lsn()
            self.last_commit = self.next_lsn()
        begin = len(self.messages)
        for row, mark in self.named_rows():
            self.said(row, (self.era, at, ROW, 0), at, [None, str(at)], mark)
        self.take(self.messages[begin:], (self.era, at, ROW, REMOVES))

    def restart(self) -> None:
        self.settle()
        self.era, self.lsn, self.last_commit = self.era + 1, self.rng.randint(1, 100), None
