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
    drops = {name: (samples / "long_script" / name).read_bytes() for name in ENCODINGS}
    scenarios = {name: Scenario({f"t/{name}": data}) for name, data in drops.items()}
    scenarios["both"] = Scenario({f"t/{name}": data for name, data in drops.items()})
    for name in FINAL_OF_TYPE:
        file = samples / "types" / f"test{name}.getchanges.jsonl"
        scenarios[name] = Scenario({"t/a.jsonl": file.read_bytes()})
    return folded(Feed("samples", "yugabyte", "/nowhere", tables=tables), scenarios)


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


@pytest.mark.parametrize("name", sorted(FINAL_OF_TYPE))
def test_the_script_of_every_type_ends_as_it_should(states: dict[str, Folded], name: str) -> None:
    outcome = states[name]
    assert outcome.quarantine == []
    assert {row["a"]: row["b"] for row in outcome.state.get(f"test{name}", [])} == FINAL_OF_TYPE[
        name
    ]
