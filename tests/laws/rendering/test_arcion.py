"""Arcion's records are printed as the document has them, and any reader of JSON and CSV reads them."""

from __future__ import annotations

import csv
import json

from tests.laws.drawn.histories import COLUMN_TYPES, COLUMNS, history
from tests.laws.oracle.test_oracle import DELETE, INSERT, SEEDS, UPDATE
from tests.laws.rendering.arcion import exists_flag, to_csv, to_json


def test_rendering_prints_what_the_document_prints() -> None:
    columns = ["r_comment", "r_name", "r_regionkey"]
    assert to_csv(INSERT, columns, seed=1).startswith("India,NULL,1,India,NULL,1,10,NULL,1,I,")
    assert to_csv(UPDATE, columns, seed=1).startswith("USA,NULL,1,NULL,NULL,0,NULL,10,2,U,")
    assert to_csv(DELETE, columns, seed=1).startswith("NULL,NULL,0,NULL,NULL,0,NULL,10,2,D,")
    update = json.loads(to_json(UPDATE, columns, seed=1))
    assert update["before"] == {"r_comment": "null", "r_name": "null", "r_regionkey": "10"}
    assert update["after"] == {"r_comment": "USA", "r_name": "null", "r_regionkey": "null"}
    assert update["exists"] == {"r_comment": "1", "r_name": "0", "r_regionkey": "2"}
    assert json.loads(update["cursor"])["mutId"] == 326190


def test_rendering_can_be_read_back() -> None:
    for seed in SEEDS:
        kind = ["mysql", "cassandra"][seed % 2]
        for event in history(seed, case="a", kind=kind, events=10):
            envelope = json.loads(to_json(event, COLUMNS, seed=seed))
            shown = {column: event.after.get(column) or "" for column in COLUMNS}
            assert {c: "" if v == "null" else v for c, v in envelope["after"].items()} == shown
            assert envelope["exists"].keys() == envelope["before"].keys()
            assert all(envelope["exists"][c] == str(exists_flag(event, c)) for c in COLUMNS)
            doubled = csv.reader([to_csv(event, COLUMNS, seed=seed)], strict=True)
            escaped = csv.reader(
                [to_csv(event, COLUMNS, seed=seed, quoting="backslash")],
                doublequote=False,
                escapechar="\\",
                strict=True,
            )
            record = next(doubled)
            assert record == next(escaped)
            step = 1 if event.source == "snapshot" else 3
            assert record[: step * len(COLUMN_TYPES) : step] == [
                "NULL" if event.after.get(c) is None else event.after[c] for c in COLUMNS
            ]
