"""A tablet of YugabyteDB, as a client of GetChanges writes it down: a message is a response with one row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.laws.snapshots.source import Change, Committed, Message, Place

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

    def removal(self, place: Place) -> None:
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
