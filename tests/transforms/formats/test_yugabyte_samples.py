"""YugabyteDB's own test scripts, where they are at hand: the state is what the database says.

``WEIR_SAMPLES`` names the folder; the samples are not part of the project. Where a sample prints BEGIN and COMMIT with
values (-1 and an empty text), these are placeholders: no row has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.feed.feed import Feed, Table

FINAL_OF_TYPE: dict[str, dict[int, object]] = {
    "boolean": {3: False},
    "cidr": {2: "12.2.0.0/22"},
    "circle": {1000: "<(0,0),4>"},
    "daterange": {},
    "double": {1: 10.42, 4: 0.5},
    "inet": {1: "127.0.0.1", 2: "0.0.0.0"},
    "int": {1: 2, 3: 5},
    "int4range": {},
    "json": {2: '{"name":"vaibhav kushwaha"}', 3: '{"a":97, "b":"98"}'},
    "line": {29: "{2.5,-1,0}"},
    "lseg": {37: "[(1,3),(3,5)]"},
    "macaddr": {2: "2c:54:91:e8:99:d2"},
    "macaddr8": {1: "22:00:5c:04:55:08:01:02"},
    "path": {34: "((0,0),(3,4),(5,5),(1,2))"},
    "point": {21: "(33,44)"},
    "polygon": {27: "((1,3),(2,4),(1,4))"},
    "text": {2: "sample string with pk 2", 3: "random sample string"},
    "time": {},
    "timestamp": {1: "1970-01-01 00:00:10", 2: "2021-09-29 00:00:00"},
    "tsrange": {},
    "tstzrange": {},
    "varbit": {0: "0", 3: "11"},
}
"""Of each type's script the rows that are there at its end: a and b."""

SPARK_TYPES = {"boolean": "boolean", "double": "double", "int": "int", "timestamp": "timestamp_ntz"}
ENCODINGS = ("getchanges.jsonl", "getchanges.protojson.jsonl")
OIDS = {"employee_id": 23, "employee_name": 25, "employee_dept": 25}


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("yugabytedb")


@pytest.fixture(scope="module")
def states(samples: Path) -> dict[str, Folded]:
    """The outcome of every script."""
    tables = {
        f"test{name}": Table(
            f"test{name}", ("a",), {"a": "int", "b": SPARK_TYPES.get(name, "string")}, ()
        )
        for name in FINAL_OF_TYPE
    }
    tables["test"] = Table("test", ("a",), {"a": "int", "b": "int", "c": "int"}, ())
    columns = {name: "int" if oid == 23 else "string" for name, oid in OIDS.items()}
    tables["employee"] = Table("employee", ("employee_id",), columns, ())
    drops = {name: (samples / "long_script" / name).read_bytes() for name in ENCODINGS}
    scenarios = {name: Scenario({f"t/{name}": data}) for name, data in drops.items()}
    scenarios["both"] = Scenario({f"t/{name}": data for name, data in drops.items()})
    for name in FINAL_OF_TYPE:
        file = samples / "types" / f"test{name}.getchanges.jsonl"
        scenarios[name] = Scenario({"t/a.jsonl": file.read_bytes()})
    for mode, lines in before_images(samples).items():
        data = "\n".join(json.dumps(line) for line in lines).encode()
        scenarios[mode] = Scenario({"t/a.jsonl": data})
        scenarios[f"{mode} updated"] = Scenario({"t/a.jsonl": data.rpartition(b"\n")[0]})
    return folded(Feed("samples", "yugabyte", "/nowhere", tables=tables), scenarios)


def before_images(samples: Path) -> dict[str, list[dict[str, object]]]:
    """Of each record type an insert, the update and the delete of the page, as records of the CDC SDK."""
    modes = json.loads((samples / "docs" / "before_image_modes.json").read_text())
    whole = {"employee_id": 1001, "employee_name": "Alice", "employee_dept": "Packaging"}
    given: dict[str, object] = {name: {"value": value} for name, value in whole.items()}
    return {
        mode: [
            record(0, 4, None, given),
            record(1, 5, images["u"]["before"], images["u"]["after"]),
            record(2, 6, images["d"]["before"], images["d"]["after"]),
        ]
        for mode, images in modes.items()
    }


def record(
    op: int, index: int, before: dict[str, object] | None, after: dict[str, object] | None
) -> dict[str, object]:
    row_message = {
        "table": "employee",
        "op": op,
        "pgschema_name": "public",
        "new_tuple": tuple_of(after),
        "old_tuple": tuple_of(before),
    }
    return {"row_message": row_message, "cdc_sdk_op_id": {"term": 1, "index": index}}


def tuple_of(image: dict[str, object] | None) -> list[dict[str, object]]:
    """The tuple of a connector's image: a column that has no value there is not in it."""
    return [
        {
            "column_name": name,
            "column_type": OIDS[name],
            "Datum": {"DatumInt32" if OIDS[name] == 23 else "DatumString": cell["value"]},
        }
        for name, cell in (image or {}).items()
        if isinstance(cell, dict)
    ] or [{"Datum": None}]


@pytest.mark.parametrize("encoding", [*ENCODINGS, "both"])
def test_the_long_script_ends_as_the_database_does(
    states: dict[str, Folded], samples: Path, encoding: str
) -> None:
    outcome = states[encoding]
    final = json.loads((samples / "long_script" / "expected_final.json").read_text())
    rows = [[row["a"], row["b"], row["c"]] for row in outcome.state["test"]]
    assert sorted(rows) == final
    assert outcome.quarantine == []
    # Both encodings say the same events.
    assert outcome.count("duplicates") == (64 if encoding == "both" else 0)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_long_script_has_the_records_that_the_database_expects(
    states: dict[str, Folded], samples: Path, encoding: str
) -> None:
    expected = json.loads((samples / "long_script" / "expected_records.json").read_text())
    changes = [one for one in states[encoding].changes if one["derived"] is None]
    assert [str(one["operation"]).upper() for one in changes] == [one["op"] for one in expected]
    rows = [
        one for one in zip(changes, expected, strict=True) if one[1]["op"] in ("INSERT", "DELETE")
    ]
    assert [change["key"] for change, _ in rows] == [[str(one["a"])] for _, one in rows]


@pytest.mark.parametrize("name", sorted(FINAL_OF_TYPE))
def test_the_script_of_every_type_ends_as_it_should(states: dict[str, Folded], name: str) -> None:
    outcome = states[name]
    assert outcome.quarantine == []
    assert {row["a"]: row["b"] for row in outcome.state.get(f"test{name}", [])} == FINAL_OF_TYPE[
        name
    ]


@pytest.mark.parametrize(
    "mode", ["CHANGE", "ALL", "FULL_ROW_NEW_IMAGE", "MODIFIED_COLUMNS_OLD_AND_NEW_IMAGES"]
)
def test_every_record_type_gives_the_same_rows(states: dict[str, Folded], mode: str) -> None:
    bob = {"employee_id": 1001, "employee_name": "Bob", "employee_dept": "Packaging"}
    assert states[f"{mode} updated"].state == {"employee": [bob]}
    assert (states[mode].state, states[mode].quarantine) == ({}, [])
