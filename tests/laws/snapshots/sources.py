"""The sources of snapshots: MySQL and MariaDB, also unwrapped, Postgres, SQL Server, and a tablet of YugabyteDB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.laws.snapshots.source import KEYS, Change, Committed, LogPoint, Message, Source

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
        # The point of the signal, which is an event of its own.
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
    """The same with Debezium 3.3: the position of a change is minus the length of its event, which is no point."""

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        return [{**one, "pos": -self.rng.choice([58, 62, 130])} for one in super().written(changes)]

    def log_end(self, kind: str) -> dict[str, Any]:
        if kind == "initial" and self.messages:
            # A connector that begins again does so where the log that it knew is purged: in a later file.
            self.file, self.pos = self.file + 1, FIRST_OF_FILE
        said = super().log_end(kind)
        return said if kind == "initial" else {**said, "pos": -46}


class Unwrapped(MySql):
    """Rows that MySQL's connector takes out of their envelopes: they stand as in their topic, and so do snapshots.

    A delete is a row that says so, or a null whose header does.
    """

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.rewrites = rng.random() < 0.5

    def send(self, change: Change, point: LogPoint, **said: Any) -> Message:
        return super().send(change, (len(self.messages), 0), **said)

    def take(self, found: list[Message], removes_at: LogPoint | None) -> None:
        has_removal = removes_at is not None and found
        super().take(found, (found[0].offset, -1) if has_removal else None)

    def sent_again(self) -> None:
        begun = len(self.messages)
        super().sent_again()
        self.messages[begun:] = [
            replace(one, point=(one.offset, 0)) for one in self.messages[begun:]
        ]

    def line(self, table: str, message: Message) -> str:
        change = message.change
        said = {"op": change.operation, "table": table}
        source = {"snapshot": None, "ts_ms": message.at_ms, **message.said}
        said |= {f"source_{name}": value for name, value in source.items()}
        is_delete = change.operation == "d"
        if self.rewrites:
            said["deleted"] = str(is_delete).lower()
        row = {"id": change.key, "name": change.before if is_delete else change.name}
        value = {**row, **{f"__{name}": value for name, value in said.items()}}
        record = {"topic": f"server.d.{table}", "partition": 0, "offset": message.offset}
        record |= {"key": {"id": change.key}, "headers": ["__op", change.operation]}
        return json.dumps({**record, "value": None if is_delete and not self.rewrites else value})


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
        point: LogPoint,
        lsn: int | None,
        sequence: list[str | None],
        snapshot: str = "false",
    ) -> None:
        self.send(
            change,
            point,
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
                    point = (self.era, self.last_commit, ROW, 1)
                    sequence = [str(self.last_commit), None]
                    self.said(Change("r", key, name), point, None, sequence, "incremental")
                    self.goes_on = True
            self.goes_on = False
            self.take(self.messages[begin:], None)
            return
        if kind == "initial" or self.is_lost:
            self.settle()
            at, self.last_commit = self.next_lsn(), None
            # The first change behind it may stand at the very point.
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


OPERATIONS = {"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ"}


class Yugabyte(Committed):
    """Changes stand at their op ids; rows of a snapshot behind the op id that all its checkpoints say.

    No response says which one came before it, so that a snapshot is never known to be whole and removes nothing.
    """

    format = "yugabyte"
    kinds = ("initial",)

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.term, self.index = rng.randint(50, 60), 100

    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        if self.rng.random() < 0.1:
            # Terms rise, and the term alone says then what is later.
            self.term, self.index = self.term + 1, self.rng.randint(0, self.index)
        found, write = [], 0
        self.index += self.rng.randint(1, 4)
        for number, _ in enumerate(changes):
            if number > 0 and self.rng.random() < 0.5:
                self.index, write = self.index + self.rng.randint(1, 4), 0
            found.append({"term": self.term, "index": self.index, "write_id": write})
            write += self.rng.randint(1, 3)
        return found

    def log_end(self, kind: str) -> dict[str, Any]:
        return {"term": self.term, "index": self.index}

    def removal(self, point: LogPoint) -> None:
        return None

    def restart(self) -> None:
        self.term, self.index = 1, 0

    def line(self, table: str, message: Message) -> str:
        change, said = message.change, {**message.said}
        is_read = said.pop("snapshot", None) is not None
        time = message.at_ms * 1000 << 12
        datums = [("id", change.key, "datum_int32", 23), ("name", change.name, "datum_string", 25)]
        tuples = [
            {"column_name": name, "column_type": oid, **({} if value is None else {kind: value})}
            for name, value, kind, oid in datums[: 1 if change.operation == "d" else 2]
        ]
        new, old = ([{}], tuples) if change.operation == "d" else (tuples, [{}])
        row = {
            **{"table": table, "op": OPERATIONS[change.operation], "pgschema_name": "public"},
            **{"new_tuple": new, "old_tuple": old, "commit_time": str(time)},
        }
        record: dict[str, Any] = {"row_message": row}
        checkpoint = {"term": said["term"], "index": said["index"]}
        if is_read:
            checkpoint |= {"key": "a2V5", "write_id": 0, "snapshot_time": str(time)}
        else:
            record["cdc_sdk_op_id"] = said
        return json.dumps(
            {
                **{"tablet_id": f"{table}-tablet", "cdc_sdk_proto_records": [record]},
                "cdc_sdk_checkpoint": checkpoint,
            }
        )
