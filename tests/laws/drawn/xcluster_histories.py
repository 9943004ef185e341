"""Drawn histories of one tablet, as leader and follower deliver them in xCluster's form.

Writes of transactions are intents among other records; their APPLY comes later, or never. ``History`` runs each
transaction at its commit, and so knows the rows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.laws.drawn.yugabyte_histories import NARROW
from tests.laws.oracle.event import Event, Image, Transaction

WRITE, DELETE, APPLY = 1, 2, 3
NAMES = {WRITE: "WRITE", DELETE: "DELETE", APPLY: "APPLY"}
EFFECTS = {WRITE: "update", DELETE: "remove", APPLY: "commit"}
BEGAN_AT = 1_700_000_000_000_000

Values = dict[str, object]


@dataclass(frozen=True)
class Said:
    """One record: what it does, when, in which transaction, and to which row."""

    op: int
    time: tuple[int, int]
    transaction: bytes | None
    row: Values = field(default_factory=dict)

    @property
    def hybrid(self) -> int:
        micros, logical = self.time
        return micros * 4096 + logical

    def document(self, *, protojson: bool) -> dict[str, object]:
        """The record as a client wrote it."""
        columns = [pair(name, value, protojson=protojson) for name, value in self.row.items()]
        time: object = str(self.hybrid) if protojson else self.hybrid
        record: dict[str, object] = {
            "time": time,
            "operation": NAMES[self.op] if protojson else self.op,
            "key": columns[:1],
            "changes": columns[1:],
        }
        if self.transaction is not None:
            state: dict[str, object] = {
                "transactionId" if protojson else "transaction_id": octets(self.transaction)
            }
            if self.op == APPLY:
                state["commitHybridTime" if protojson else "commit_hybrid_time"] = time
            record["transactionState" if protojson else "transaction_state"] = state
        return record

    def event(self, tablet: str) -> Event:
        """The same in the oracle's words."""
        image: Image = {
            name: None if value is None else str(value) for name, value in self.row.items()
        }
        part = self.transaction and Transaction(f"{tablet}/{self.transaction!r}", at_commit=True)
        return Event(
            "model",
            "items",
            NAMES[self.op].lower(),
            (0, 1, *self.time) if self.op == APPLY else (0, 1, *self.time, 0),
            None,
            image if self.op == DELETE else {},
            {} if self.op == DELETE else image,
            effect=EFFECTS[self.op],
            stream=tablet,
            transaction=part or None,
            own_identity=(tablet, *map(str, self.time)),
        )


def octets(data: bytes) -> str:
    return base64.b64encode(data).decode()


def pair(name: str, value: object, *, protojson: bool) -> dict[str, object]:
    """A named value: texts and bytes are base64, long numbers texts in the one encoding."""
    kind, encoded = "String", value
    if isinstance(value, int):
        kind = "Int32" if -(2**31) <= value < 2**31 else "Int64"
        encoded = str(value) if kind == "Int64" and protojson else value
    elif isinstance(value, float):
        kind = "Double"
    elif isinstance(value, bytes | str):
        kind = "Binary" if isinstance(value, bytes) else "String"
        encoded = octets(value if isinstance(value, bytes) else value.encode())
    if protojson:
        member: dict[str, object] = {} if value is None else {f"{kind.lower()}Value": encoded}
    else:
        member = {"Value": None if value is None else {f"{kind}Value": encoded}}
    return {"key": octets(name.encode()), "value": member}


class History:
    """What a tablet did; ``rows`` are the rows at its end, ``log`` its records."""

    def __init__(
        self,
        seed: int,
        *,
        turns: tuple[int, int] = (6, 24),
        values: Mapping[str, Sequence[object]] = NARROW,
    ) -> None:
        self.rng = Random(seed)
        self.values = values
        self.tablet = f"h{seed}"
        self.rows: dict[int, Values] = {}
        self.log: list[Said] = []
        self.now = (BEGAN_AT, 0)
        running: dict[bytes, list[Said]] = {}
        for turn in range(self.rng.randint(*turns)):
            self.advance()
            chance = self.rng.random()
            if chance < 0.25:
                running[bytes([seed % 256, turn]) * 8] = []
            name = self.rng.choice([None, *running])
            if name is not None and chance > 0.75:
                # Some transactions are aborted; no record is sent for that.
                changes = running.pop(name)
                if chance > 0.8:
                    self.log.append(Said(APPLY, self.now, name))
                    self.run(changes)
                continue
            said = self.change(100 * seed + self.rng.randint(0, 3), name)
            self.log.append(said)
            if name is None:
                self.run([said])
            else:
                running[name].append(said)

    def advance(self) -> None:
        """A later hybrid time: by its clock, or within one microsecond."""
        micros, logical = self.now
        step = self.rng.choice([0, 1, 7, 1000])
        self.now = (micros + step, 0) if step else (micros, logical + self.rng.randint(1, 9))

    def change(self, key: int, transaction: bytes | None) -> Said:
        if self.rng.random() < 0.25:
            return Said(DELETE, self.now, transaction, {"id": key})
        drawn: Values = {name: self.rng.choice(some) for name, some in self.values.items()}
        said = {name: drawn[name] for name in drawn if self.rng.random() < 0.7}
        return Said(WRITE, self.now, transaction, {"id": key} | said)

    def run(self, changes: list[Said]) -> None:
        """What the database does at a commit."""
        for one in changes:
            key = one.row["id"]
            assert isinstance(key, int)
            if one.op == DELETE:
                self.rows.pop(key, None)
            else:
                empty: Values = {"id": key, **dict.fromkeys(self.values)}
                self.rows[key] = self.rows.get(key, empty) | one.row

    def delivered(self, windows: Sequence[str]) -> list[tuple[str, str, list[Said]]]:
        """The responses of leader and follower: the window that each comes in, the tablet, and its records."""
        found = []
        for _ in ("leader", "follower"):
            responses: list[list[Said]] = [[]]
            for one in self.log:
                if self.rng.random() < 0.3:
                    responses.append([])
                responses[-1].append(one)
            found += [(self.rng.choice(windows), self.tablet, one) for one in responses]
        return found

    def document(self, records: list[Said], tablet: str) -> str:
        """A response as a client wrote it, who added the tablet."""
        protojson = self.rng.random() < 0.5
        documents = [one.document(protojson=protojson) for one in records]
        return json.dumps({"tablet_id": tablet, "records": documents})

    def events(self, tablet: str, records: list[Said]) -> list[Event]:
        """A response in the oracle's words."""
        return [one.event(tablet) for one in records]
