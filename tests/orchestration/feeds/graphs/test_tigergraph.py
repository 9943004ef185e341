"""What a feed file may say of TigerGraph's vertices and edges, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from orchestration.feeds.tigergraph import attribute_type
from transforms.column_types.column_type import UnknownType
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import Feed

HEAD = "format: tigergraph\nlanding: s3://drops/graph/\n"


def loaded(folder: Path, text: str) -> Feed:
    file = folder / "graph.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    return load_feed(file)


def test_vertices_and_edges_become_tables_with_the_types_defaults(tmp_path: Path) -> None:
    feed = loaded(
        tmp_path,
        """
vertices:
  Person: {attributes: {visits: int, tags: set<string>, scores: "map<string,int>"}, key: [id]}
edges:
  Knows:
    from: Person
    to: Person
    attributes: {weight: int}
    directed: true
    reverse: KnownBy
    discriminator: [since]
    defaults: {weight: 7}
""",
    )
    assert list(feed.tables) == ["vertex_Person", "edge_Knows", "edge_Knows__mirror"]
    person, knows = feed.tables["vertex_Person"], feed.tables["edge_Knows"]
    assert person.key == ("uid",)
    assert person.columns == {
        "uid": "string",
        "visits": "bigint",
        "tags": "set<string>",
        "scores": "map<string,bigint>",
    }
    assert person.defaults == {"visits": "0", "tags": "[]", "scores": "{}"}
    assert knows.key == ("from_type", "from_uid", "to_type", "to_uid", "discriminator")
    assert list(knows.columns) == [*knows.key, "weight"]
    assert knows.defaults == {"weight": "7"}
    assert feed.vertices["Person"].key == ("id",)
    assert feed.edges["Knows"].discriminator == ("since",)
    assert feed.tables["edge_Knows__mirror"].columns == knows.columns


def test_only_edges_that_are_stored_twice_have_a_mirror(tmp_path: Path) -> None:
    edges = (
        "{A: {from: P, to: Q}, B: {from: [P, Q], to: P, directed: false}, C: {from: '*', to: P}}"
    )
    feed = loaded(tmp_path, f"vertices: {{P: {{}}, Q: {{}}}}\nedges: {edges}\n")
    of_edges = [name for name in feed.tables if name.startswith("edge_")]
    assert of_edges == ["edge_A", "edge_B", "edge_B__mirror", "edge_C"]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *[("int", "bigint"), ("INT", "bigint"), ("UINT", "decimal(20,0)"), ("FLOAT", "float")],
        *[("BOOL", "boolean"), ("STRING COMPRESS", "string"), ("DATETIME", "timestamp")],
        *[("LIST<INT>", "array<bigint>"), ("set< string >", "set<string>"), ("tuple", "string")],
        *[
            ("MAP<DATETIME, UINT>", "map<timestamp,decimal(20,0)>"),
            ("list<tuple>", "array<string>"),
        ],
        *[
            ("bigint", "bigint"),
            ("decimal(12,2)", "decimal(12,2)"),
            ("array<int>", "array<bigint>"),
        ],
        ("tuple<i INT, At datetime, s: string>", "struct<i:bigint,At:timestamp,s:string>"),
        ("list<tuple<i int, u uint>>", "array<struct<i:bigint,u:decimal(20,0)>>"),
        ("map<string, struct<s:string>>", "map<string,struct<s:string>>"),
        *[("map<string,decimal(5,1)>", "map<string,decimal(5,1)>"), ("smallint", "smallint")],
    ],
)
def test_types_are_those_of_tigergraph_or_of_spark(written: str, kind: str) -> None:
    assert attribute_type(written) == kind


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("integr", "'integr' is not a Spark SQL type"),
        ("list<int,int>", "a list has one type"),
        ("map<int>", "a map has a key's type and a value's"),
        ("list<list<int>>", "must be of simple types"),
        ("list<vertex>", "'vertex' is not a Spark SQL type"),
        ("tuple<int>", "a field of a tuple is a name and a type"),
        ("tuple<a list<int>>", "the fields of a tuple must be of simple types"),
        ("tuple<a int, A uint>", "has the field A twice"),
        ("map<tuple<a int>,int>", "the keys of a map must be of a simple type"),
    ],
)
def test_other_types_are_refused(written: str, fault: str) -> None:
    with pytest.raises(UnknownType, match=fault):
        attribute_type(written)


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("vertices: {'a b': {}}", "vertices.a b", "'a b' is no name"),
        ("vertices: {P: {attributes: {n: nmber}}}", "vertices.P.attributes.n", "is not a Spark"),
        ("vertices: {P: {attributes: {uid: int}}}", "vertices.P.attributes.uid", "gold has anyway"),
        (
            *("vertices: {P: {attributes: {From_uid: int}}}", "vertices.P.attributes.From_uid"),
            "declare it as content_From_uid",
        ),
        (
            *("edges: {E: {from: P, to: P, attributes: {uid: int}}}", "edges.E.attributes.uid"),
            "declare it as content_uid",
        ),
        ("vertices: {P: {graph: 'a b'}}", "vertices.P.graph", "'a b' is no name"),
        ("edges: {E: {from: P, to: P, graph: [A, GLOBAL]}}", "edges.E.graph", "name that alone"),
        ("vertices: {P: {attributes: {_weir_x: int}}}", "vertices.P.attributes._weir_x", "own"),
        ("vertices: {P: {key: [a, a]}}", "vertices.P.key", "names a twice"),
        (
            "vertices: {P: {attributes: {n: int}, defaults: {m: 1}}}",
            "vertices.P.defaults",
            "'m' is",
        ),
        (
            *("vertices: {P: {attributes: {n: int}, defaults: {n: x}}}", "vertices.P.defaults.n"),
            "'x' is no bigint",
        ),
        (
            *("vertices: {P: {attributes: {n: set<int>}, defaults: {n: 1}}}",),
            *("vertices.P.defaults.n", "'1' is no set<bigint>"),
        ),
        ("vertices: {P: {tag: x}}", "vertices.P.tag", "is not a known key"),
        ("edges: {E: {to: P}}", "edges.E.from", "is missing"),
        ("edges: {E: {from: P, to: 'a b'}}", "edges.E.to", "'a b' is no name"),
        (
            *(
                "edges: {E: {from: P, to: P, attributes: {to_uid: int}}}",
                "edges.E.attributes.to_uid",
            ),
            "gold has anyway",
        ),
        (
            *("edges: {E: {from: P, to: P, directed: false, reverse: R}}", "edges.E.reverse"),
            "is for directed edges",
        ),
        ("edges: {E: {from: P, to: P, reverse: E}}", "edges.E.reverse", "an edge type already"),
        (
            *("edges: {E: {from: P, to: P, reverse: R}, F: {from: P, to: P, reverse: R}}",),
            *("edges.F.reverse", "R is the name of an edge type already"),
        ),
        (
            *("edges: {X: {from: P, to: P, directed: false}, X__mirror: {from: P, to: P}}",),
            *("edges.X__mirror", "would be the gold table of X, too"),
        ),
        ("tables: {t: {key: [a], columns: {a: int}}}", "tables", "is no key of a feed of format"),
        ("baseline: {a: 1}", "baseline.a", "a partition is a number"),
        ("baseline: {1: last}", "baseline.1", "'last' is no tid"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_the_key(
    tmp_path: Path, text: str, key: str, fault: str
) -> None:
    with pytest.raises(FeedMisdeclared) as caught:
        loaded(tmp_path, text + "\n")
    assert caught.value.key == key
    assert fault in str(caught.value)


def test_a_baseline_is_a_tid_by_partition(tmp_path: Path) -> None:
    assert loaded(tmp_path, "baseline: {1: 33, 2: 40}\n").baseline == {"1": 33, "2": 40}
