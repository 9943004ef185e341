"""TigerGraph's published messages and load, where they are at hand: gold is what their documents say.

``WEIR_SAMPLES`` names the folder; they are not part of the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.feed.feed import EdgeType, Feed, VertexType
from transforms.formats import FORMATS

FEED = Feed(
    "samples",
    "tigergraph",
    "/nowhere",
    vertices={
        "Company": VertexType("Company", {"cid": "bigint", "startDate": "timestamp"}),
        "Person": VertexType("Person", {}),
        "Set": VertexType("Set", {"iset": "set<bigint>", "ilist": "array<bigint>"}),
    },
    edges={
        "Creates": EdgeType(
            "Creates",
            ("Person",),
            ("Company",),
            {
                "attr_list_tuple": "array<string>",
                "attr_map_tuple": "map<string,string>",
                "attr_list": "array<bigint>",
                "attr_map": "map<string,bigint>",
                "attr_tuple": "array<string>",
            },
            discriminator=("kind", "number"),
        ),
        "Transfer": EdgeType("Transfer", ("Person",), ("Person",), {}),
    },
)
TUPLE = "i: 2, u: 0, f: 3, d: 3, dt: 1222819200, b: 0, s: m2"


@pytest.fixture(scope="module")
def found(samples_of: Callable[[str], Path]) -> dict[str, Folded]:
    """The outcome of each version's messages, of the specification's, and of the load."""
    folder = samples_of("tigergraph")
    drops = {
        version: {file.name: file.read_bytes() for file in (folder / version).iterdir()}
        for version in ("3.10.1", "4.1.0")
    }
    load = (folder / "cumulative_load" / "list_set_vertex.csv").read_text().split()
    drops["load"] = {"load.jsonl": "\n".join(map(loaded, range(len(load)), load)).encode()}
    document = folder.parents[1] / "formats" / "tigergraph-cdc.txt"
    drops["document"] = {"page.json": messages(document.read_text()).encode()}
    feed = replace(FEED, tables=FORMATS["tigergraph"].tables(FEED))
    return folded(feed, {name: Scenario(drop) for name, drop in drops.items()})


def loaded(tid: int, line: str) -> str:
    """A line of the load as the message that it makes: both attributes are added to."""
    uid, value = line.split(",")
    content = {name: {"op": "Add", "value": [int(value)]} for name in ("iset", "ilist")}
    place = {"mid": f"1|1701548849757|{tid + 1}|0", "timestamp": 1701548849757}
    vertex = {"type": "vertex", "typename": "Set", "uid": uid, "vid": 1}
    return json.dumps({**place, "operator": "insert", **vertex, "content": content})


def messages(page: str) -> str:
    """The messages that a page shows: from each brace at a line's start to the one that closes it."""
    lines, inside, cut = page.splitlines(), False, []
    for line in lines:
        inside = inside or line == "{"
        if inside:
            cut.append(line)
        inside = inside and line != "}"
    return "\n".join(cut)


@pytest.mark.parametrize("version", ["3.10.1", "4.1.0"])
def test_messages_of_older_versions_are_what_their_page_says(
    found: dict[str, Folded], version: str
) -> None:
    outcome = found[version]
    assert outcome.quarantine == []
    assert outcome.count("events") == outcome.records == 3
    company = {"uid": "comp1", "cid": 2345, "startDate": "2001-01-01 08:00:00"}
    edge = {
        **{"from_type": "Person", "from_uid": "person2", "to_type": "Company", "to_uid": "comp2"},
        **{"discriminator": "c1:1", "attr_list_tuple": [TUPLE]},
        **{"attr_map_tuple": {"2011-10-20": TUPLE}, "attr_list": [], "attr_map": {}},
        "attr_tuple": [],
    }
    # The page's delete of all persons stands before the edge that brings one.
    assert outcome.state == {
        "vertex_Company": [company],
        "vertex_Person": [{"uid": "person2"}],
        "edge_Creates": [edge],
    }


def test_the_specifications_broken_message_is_in_quarantine(found: dict[str, Folded]) -> None:
    outcome = found["document"]
    assert outcome.records == outcome.count("events") == 4
    assert [one["reason"] for one in outcome.quarantine] == ["damaged_record"]
    own = [change for change in outcome.changes if change["derived"] is None]
    assert [(one["table"], one["operation"]) for one in own] == [
        ("vertex_Company", "insert"),
        ("vertex_Person", "delete"),
        ("edge_Transfer", "delete-all"),
    ]
    assert list(outcome.state) == ["vertex_Company"]


def test_adding_to_lists_and_sets_gives_what_the_documentation_of_loads_says(
    found: dict[str, Folded],
) -> None:
    assert found["load"].state == {
        "vertex_Set": [
            {"uid": "1", "iset": [10, 20], "ilist": [10, 20, 20]},
            {"uid": "3", "iset": [30, 40], "ilist": [30, 30, 40]},
        ]
    }
