"""Drawn histories of a database's two tablets, as a client of the CDC SDK might have written them down.

Each is cut into responses at drawn places, in either encoding, its end repeated, and all in drawn windows. ``History``
runs the statements in a few lines, and so knows the rows.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.laws.oracle.event import Event, Image, Transaction

NAMES = ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "DDL", "TRUNCATE")
INSERT, UPDATE, DELETE, BEGIN, COMMIT, TRUNCATE = 0, 1, 2, 3, 4, 6
EFFECTS = {
    **{INSERT: "replace", UPDATE: "update", DELETE: "remove", TRUNCATE: "remove"},
    **{BEGIN: "begin", COMMIT: "commit"},
}

AFTER_TRANSACTION = 2_147_483_647

Values = dict[str, object]

NARROW: Mapping[str, Sequence[object]] = {"a": ["x", "y", "", None], "b": [0, 7, None]}
"""The columns beside the key, each with the values that it may have."""

OIDS = {"id": 23, "a": 25, "b": 23, "n": 20, "d": 1700, "p": 17}
"""PostgreSQL's numbers of the columns' types."""


@dataclass(frozen=True)
class Said:
    """One record: what it does, its op id, its transaction, and its row."""

    op: int
    place: tuple[int, int, int] | None
    transaction: str | None
    row: Values = field(default_factory=dict)
    table: str = "items"

    def event(self, tablet: str, after: int, number: int) -> Event:
        """The same in the oracle's words; ``after``: how many rows of its op id come after it."""
        place = (0, 1, *(self.place or ()))
        if self.op == COMMIT:
            place = (*place[:4], AFTER_TRANSACTION)
        image: Image = {
            name: None if value is None else str(value) for name, value in self.row.items()
        }
        is_gone = self.op in (DELETE, TRUNCATE)
        part = self.transaction and Transaction(f"{tablet}/{self.transaction}", has_begin=True)
        return Event(
            "model",
            self.table,
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
            "table": self.table,
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
    """A value of a tuple; bytes are bytes in the one encoding, and PostgreSQL's text of them in the other."""
    kind, encoded = ("DatumString", "datum_string"), value
    if isinstance(value, int):
        is_long = not -(2**31) <= value < 2**31
        kind = ("DatumInt64", "datum_int64") if is_long else ("DatumInt32", "datum_int32")
        encoded = str(value) if is_long and protojson else value
    elif isinstance(value, bytes):
        kind = ("DatumBytes", "datum_string")
        encoded = f"\\x{value.hex()}" if protojson else b64encode(value).decode()
    oid = OIDS[name]
    said = {"column_name": name, "column_type": str(oid) if protojson else oid}
    if protojson:
        return said | ({} if value is None else {kind[1]: encoded})
    return said | {"Datum": None if value is None else {kind[0]: encoded}}


class History:
    """What two tablets did; ``rows`` are the rows at its end, ``logs`` each tablet's batches of records.

    Its keys and tablets are its own, so that many histories may stand in one table. ``again``: whether rows of a batch
    sometimes say at once again what they said.
    """

    def __init__(
        self,
        seed: int,
        *,
        turns: tuple[int, int] = (3, 9),
        values: Mapping[str, Sequence[object]] = NARROW,
        table: str = "items",
        again: bool = False,
    ) -> None:
        self.rng = Random(seed)
        self.values, self.table, self.again = values, table, again
        self.first_key = 100 * seed
        self.rows: dict[int, Values] = {}
        self.logs: dict[str, list[list[Said]]] = {f"h{seed}t0": [], f"h{seed}t1": []}
        for number, tablet in enumerate(self.logs):
            term, index = 1, 3
            for turn in range(self.rng.randint(*turns)):
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
            self.logs[tablet].append([Said(TRUNCATE, (*at, 0), None, {}, self.table)])
            return
        mine = {key: dict(row) for key, row in self.rows.items() if key % 2 == number}
        changes, write_id = [], 0
        transaction = None if kind == "batch" else name
        # Under one op id, too, a row may be met more than once.
        keys = [self.first_key + 2 * self.rng.randint(0, 3) + number for _ in range(5)]
        for key in keys[: self.rng.randint(0 if transaction else 1, 5)]:
            op, row = self.change(mine, key)
            changes.append(Said(op, (*at, write_id), transaction, row, self.table))
            if self.again and transaction is None and self.rng.random() < 0.3:
                changes.append(replace(changes[-1]))
            write_id += self.rng.randint(1, 3) if transaction else 0
        if transaction is None:
            self.logs[tablet].append(changes)
        else:
            commit = Said(COMMIT, (*at, 0), transaction, {}, self.table)
            ends = [] if kind == "open" else [[commit]]
            rows = [[one] for one in changes]
            begin = Said(BEGIN, None, transaction, {}, self.table)
            self.logs[tablet] += [[begin], *rows, *ends]
        if kind != "open":
            self.rows = {k: row for k, row in self.rows.items() if k % 2 != number} | mine

    def change(self, mine: dict[int, Values], key: int) -> tuple[int, Values]:
        """A change of the row that has this key, or a new row."""
        drawn: Values = {name: self.rng.choice(some) for name, some in self.values.items()}
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
        documents = [one.document(protojson=protojson) for one in records]
        checkpoint = {"term": 1}
        return json.dumps(
            {
                "tablet_id": tablet,
                "cdc_sdk_proto_records": documents,
                "cdc_sdk_checkpoint": checkpoint,
            }
        )

    def said_before(self) -> dict[int, int]:
        """Records that repeat, under the same op id, the previous record of their row: the two cannot be distinguished.

        By the record's ``id``, that of the first that said it.
        """
        found: dict[int, int] = {}
        last: dict[Hashable, Said] = {}
        for tablet, batches in self.logs.items():
            for one in (one for of_batch in batches for one in of_batch if one.row):
                whose = (tablet, one.place, one.row["id"])
                before = last.get(whose)
                if before is not None and (before.op, before.row) == (one.op, one.row):
                    found[id(one)] = found.get(id(before), id(before))
                last[whose] = one
        return found

    def events(self, tablet: str, records: list[Said]) -> list[Event]:
        """A response in the oracle's words."""
        batches = self.logs[tablet]
        numbers = {id(one): at for at, one in enumerate(one for batch in batches for one in batch)}

        def after(at: int) -> int:
            later = [one for one in records[at + 1 :] if one.op not in (BEGIN, COMMIT)]
            return sum(one.place == records[at].place for one in later)

        return [one.event(tablet, after(at), numbers[id(one)]) for at, one in enumerate(records)]
