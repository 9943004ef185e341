"""Drawn histories of a database's two tablets, as a client of the CDC SDK might have written them down.

Each is cut into responses at drawn places, in either encoding, the end of it twice, and all in drawn windows. What the
rows are is said by the few lines of ``History`` that run the statements.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.laws.event import Event, Image, Transaction

NAMES = ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "DDL", "TRUNCATE")
INSERT, UPDATE, DELETE, BEGIN, COMMIT, TRUNCATE = 0, 1, 2, 3, 4, 6
EFFECTS = {
    **{INSERT: "put", UPDATE: "merge", DELETE: "remove", TRUNCATE: "remove"},
    **{BEGIN: "begin", COMMIT: "commit"},
}

AFTER_ALL = 2_147_483_647

Values = dict[str, object]


@dataclass(frozen=True)
class Said:
    """One record: what it does, its op id, its transaction, and its row."""

    op: int
    place: tuple[int, int, int] | None
    transaction: str | None
    row: Values = field(default_factory=dict)

    def event(self, tablet: str, after: int, number: int) -> Event:
        """The same in the oracle's words; ``after``: how many rows of its op id come after it."""
        place = (0, 1, *(self.place or ()))
        if self.op == COMMIT:
            place = (*place[:4], AFTER_ALL)
        image: Image = {
            name: None if value is None else str(value) for name, value in self.row.items()
        }
        is_gone = self.op in (DELETE, TRUNCATE)
        part = self.transaction and Transaction(f"{tablet}/{self.transaction}", has_begin=True)
        return Event(
            "model",
            "items",
            NAMES[self.op].lower(),
            (*place, -after) if self.op in (INSERT, UPDATE, DELETE, TRUNCATE) else place,
            None,
            image if is_gone else {},
            {} if is_gone else image,
            effect=EFFECTS[self.op],
            scope={} if self.op == TRUNCATE else None,
            stream=tablet,
            transaction=part or None,
            own_identity=(tablet, str(number)),
        )

    def document(self, *, protojson: bool) -> dict[str, object]:
        datums = [datum(name, value, protojson=protojson) for name, value in self.row.items()]
        padding: list[dict[str, object]] = [{} if protojson else {"Datum": None}]
        old, new = (datums, padding) if self.op == DELETE else (padding, datums)
        message: dict[str, object] = {
            "table": "items",
            "op": NAMES[self.op] if protojson else self.op,
            "pgschema_name": "public",
        }
        if self.transaction is not None:
            message["transaction_id"] = self.transaction
        if self.op in (INSERT, UPDATE, DELETE):
            message |= {"new_tuple": new, "old_tuple": old}
        record: dict[str, object] = {"row_message": message}
        if self.place is not None:
            term, index, write_id = self.place
            numbers = (str(term), str(index)) if protojson else (term, index)
            record["cdc_sdk_op_id"] = {
                "term": numbers[0],
                "index": numbers[1],
                "write_id": write_id,
            }
        return record


def datum(name: str, value: object, *, protojson: bool) -> dict[str, object]:
    kind = (
        ("DatumInt32", "datum_int32") if isinstance(value, int) else ("DatumString", "datum_string")
    )
    told: dict[str, object] = {"column_name": name, "column_type": "23" if protojson else 23}
    if protojson:
        return told | ({} if value is None else {kind[1]: value})
    return told | {"Datum": None if value is None else {kind[0]: value}}


class History:
    """What two tablets did; ``rows`` are the rows at its end, ``logs`` each tablet's batches of records.

    Its keys and tablets are its own, so that many histories may stand in one table.
    """

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.first_key = 100 * seed
        self.rows: dict[int, Values] = {}
        self.logs: dict[str, list[list[Said]]] = {f"h{seed}t0": [], f"h{seed}t1": []}
        for number, tablet in enumerate(self.logs):
            term, index = 1, 3
            for turn in range(self.rng.randint(3, 9)):
                term += self.rng.random() < 0.2
                # Terms rise, and indexes then may be anything: the term alone says what is later.
                index += self.rng.randint(1, 4)
                self.statement(tablet, number, (term, index), f"dHh{number}{turn:04}==")

    def statement(self, tablet: str, number: int, at: tuple[int, int], name: str) -> None:
        """One transaction, one statement of a single shard, or a truncate."""
        kind = self.rng.choice(["transaction", "transaction", "batch", "truncate", "open"])
        if kind == "truncate":
            for key in [key for key in self.rows if key % 2 == number]:
                del self.rows[key]
            self.logs[tablet].append([Said(TRUNCATE, (*at, 0), None)])
            return
        mine = {key: dict(row) for key, row in self.rows.items() if key % 2 == number}
        told, write_id = [], 0
        transaction = None if kind == "batch" else name
        # Under one op id, too, a row may be met more than once.
        keys = [self.first_key + 2 * self.rng.randint(0, 3) + number for _ in range(5)]
        for key in keys[: self.rng.randint(0 if transaction else 1, 5)]:
            op, row = self.change(mine, key)
            told.append(Said(op, (*at, write_id), transaction, row))
            write_id += self.rng.randint(1, 3) if transaction else 0
        if transaction is None:
            self.logs[tablet].append(told)
        else:
            ends = [] if kind == "open" else [[Said(COMMIT, (*at, 0), transaction)]]
            rows = [[one] for one in told]
            self.logs[tablet] += [[Said(BEGIN, None, transaction)], *rows, *ends]
        if kind != "open":
            self.rows = {k: row for k, row in self.rows.items() if k % 2 != number} | mine

    def change(self, mine: dict[int, Values], key: int) -> tuple[int, Values]:
        """A change of the row that has this key, or a new row."""
        drawn: Values = {
            "a": self.rng.choice(["x", "y", "", None]),
            "b": self.rng.choice([0, 7, None]),
        }
        if key not in mine:
            mine[key] = {"id": key} | drawn
            return INSERT, mine[key]
        if self.rng.random() < 0.4:
            del mine[key]
            return DELETE, {"id": key}
        said = {name: drawn[name] for name in drawn if self.rng.random() < 0.7}
        mine[key] = mine[key] | said
        return UPDATE, {"id": key} | said

    def delivered(self, windows: Sequence[str]) -> list[tuple[str, str, list[Said]]]:
        """The responses of both tablets: the window that each comes in, its tablet, and its records."""
        found = []
        for tablet, batches in self.logs.items():
            # Some of it once more, cut elsewhere: a client that began again at an earlier checkpoint.
            start = self.rng.randint(0, len(batches))
            responses = self.cut(batches) + self.cut(batches[start:])
            found += [(self.rng.choice(windows), tablet, response) for response in responses]
        return found

    def cut(self, batches: list[list[Said]]) -> list[list[Said]]:
        responses: list[list[Said]] = [[]]
        for batch in batches:
            if self.rng.random() < 0.4:
                responses.append([])
            responses[-1] += batch
        return responses

    def document(self, records: list[Said], tablet: str) -> str:
        """A response as a client wrote it, who added the tablet."""
        protojson = self.rng.random() < 0.5
        told = [one.document(protojson=protojson) for one in records]
        checkpoint = {"term": 1}
        return json.dumps(
            {
                "tablet_id": tablet,
                "cdc_sdk_proto_records": told,
                "cdc_sdk_checkpoint": checkpoint,
            }
        )

    def events(self, tablet: str, records: list[Said]) -> list[Event]:
        """A response in the oracle's words."""
        batches = self.logs[tablet]
        numbers = {id(one): at for at, one in enumerate(one for batch in batches for one in batch)}

        def after(at: int) -> int:
            later = [one for one in records[at + 1 :] if one.op not in (BEGIN, COMMIT)]
            return sum(one.place == records[at].place for one in later)

        return [one.event(tablet, after(at), numbers[id(one)]) for at, one in enumerate(records)]
