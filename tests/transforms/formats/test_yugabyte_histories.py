"""Drawn histories of two tablets, as their clients might have written them down: the rows are the database's.

Each history is cut into responses at drawn places, in either encoding, the end of it twice, and all in a drawn order.
What the rows are is said by the few lines of ``History`` that run the statements.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.transforms.formats.pipeline import Outcome, Scenario, outcomes
from transforms.feed import Feed, Table

SEEDS = range(40)
ITEMS = Table("items", ("id",), {"id": "int", "a": "string", "b": "int"}, ())
NAMES = ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "DDL", "TRUNCATE")
INSERT, UPDATE, DELETE, BEGIN, COMMIT, TRUNCATE = 0, 1, 2, 3, 4, 6

Values = dict[str, object]


@dataclass(frozen=True)
class Said:
    """One record: what it does, its op id, its transaction, and its row."""

    op: int
    place: tuple[int, int, int] | None
    transaction: str | None
    row: Values = field(default_factory=dict)

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
    """What two tablets did; ``rows`` are the rows at its end, ``logs`` each tablet's batches of records."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.rows: dict[int, Values] = {}
        self.logs: dict[str, list[list[Said]]] = {"t0": [], "t1": []}
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
        keys = [2 * self.rng.randint(0, 3) + number for _ in range(5)]
        if transaction is None:
            # One op id, and one statement: it meets a row once.
            keys = sorted(set(keys))
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

    def drop(self) -> dict[str, bytes]:
        """The responses of both tablets, in objects."""
        lines: dict[str, list[str]] = {}
        for tablet, batches in self.logs.items():
            responses = self.cut(batches)
            # Some of it once more, cut elsewhere: a client that began again at an earlier checkpoint.
            start = self.rng.randint(0, len(batches))
            responses += self.cut(batches[start:])
            self.rng.shuffle(responses)
            for response in responses:
                name = f"tablet={tablet}/{self.rng.randint(1, 3)}.jsonl"
                lines.setdefault(name, []).append(self.document(response))
        return {name: "\n".join(found).encode() for name, found in lines.items()}

    def cut(self, batches: list[list[Said]]) -> list[list[Said]]:
        responses: list[list[Said]] = [[]]
        for batch in batches:
            if self.rng.random() < 0.4:
                responses.append([])
            responses[-1] += batch
        return responses

    def document(self, records: list[Said]) -> str:
        protojson = self.rng.random() < 0.5
        told = [one.document(protojson=protojson) for one in records]
        return json.dumps({"cdc_sdk_proto_records": told, "cdc_sdk_checkpoint": {"term": 1}})


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, Outcome]:
    scenarios = {str(seed): Scenario(History(seed).drop()) for seed in SEEDS}
    feed = Feed("drawn", "yugabyte", "/nowhere", tables={"items": ITEMS})
    return outcomes(spark, feed, scenarios)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rows_are_those_of_the_database(found: dict[str, Outcome], seed: int) -> None:
    outcome, history = found[str(seed)], History(seed)
    rows = sorted(outcome.state.get("items", []), key=lambda row: str(row["id"]))
    assert rows == [history.rows[key] for key in sorted(history.rows, key=str)]
    assert outcome.quarantine == []
    own = [change for change in outcome.changes if change["derived"] is None]
    records = sum(len(batch) for batches in history.logs.values() for batch in batches)
    # Each record is one event, however often it came; what came again is counted.
    assert len(own) == records
    assert outcome.events == records + outcome.duplicates
