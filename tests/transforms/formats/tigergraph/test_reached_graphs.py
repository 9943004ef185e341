"""Which graph's tables a message and its consequences are for."""

from __future__ import annotations

from dataclasses import replace

from tests.transforms.formats.tigergraph.messages import FEED, edge, events, vertex
from transforms.feed.feed import Feed

BY_GRAPH = replace(FEED, table_names="schema")


def placed(
    message: dict[str, object], feed: Feed
) -> list[tuple[str | None, str | None, str | None]]:
    return [(one.schema, one.name, one.derived) for one in events(message, feed)]


def test_named_by_type_alone_only_the_message_itself_says_its_graph() -> None:
    assert placed(edge("a", "b", graph="Work"), FEED) == [
        ("Work", "edge_Likes", None),
        (None, "vertex_Person", "edge_source"),
    ]
    assert placed(vertex(graph="GLOBAL"), FEED) == [(None, "vertex_Person", None)]
    assert placed(vertex(graph="Work", typename="Thing"), FEED) == [(None, "vertex_Thing", None)]


def test_named_by_graph_what_follows_from_a_message_stays_in_its_graph() -> None:
    assert placed(edge("a", "b", graph="Work"), BY_GRAPH) == [
        ("Work", "edge_Likes", None),
        ("Work", "vertex_Person", "edge_source"),
    ]
    assert placed(edge("a", "b"), BY_GRAPH) == [
        (None, "edge_Likes", None),
        (None, "vertex_Person", "edge_source"),
    ]


def test_a_shared_vertex_is_there_once_and_its_delete_reaches_every_graph() -> None:
    gone = [(graph, "edge_Has", "vertex_deleted") for graph in ("Social", "Work")] * 2
    own = ("GLOBAL", "vertex_Thing", None)
    deleted = vertex("1", "delete", typename="Thing")
    assert placed({**deleted, "graph": "GLOBAL"}, BY_GRAPH) == [own, *gone]
    # A message of one graph reaches that graph's edges.
    own_graphs = [("Social", "edge_Has", "vertex_deleted")] * 2
    assert placed({**deleted, "graph": "Social"}, BY_GRAPH) == [own, *own_graphs]


def test_a_delete_all_of_all_graphs_is_one_event_and_what_follows_from_it() -> None:
    message = {**edge("a", "b", graph="GLOBAL", operator="delete-all"), "to": None}
    assert placed(message, BY_GRAPH) == [
        ("Social", "edge_Likes", None),
        ("Work", "edge_Likes", "delete-all"),
    ]


def test_a_message_that_cannot_be_taken_is_one_event_of_its_own_graph() -> None:
    message = edge("a", "b", graph="GLOBAL", operator="delete-all")
    (refused,) = events(message, BY_GRAPH)
    assert refused.fault is not None
    assert (refused.schema, refused.name) == ("GLOBAL", "edge_Likes")
    (lost,) = events(vertex("UNKNOWN", typename="Thing", graph="Work"), BY_GRAPH)
    assert (lost.schema, lost.name) == ("GLOBAL", "vertex_Thing")


def test_a_type_of_all_graphs_that_nothing_says_so_of_is_noticed() -> None:
    def noticed(message: dict[str, object], feed: Feed = BY_GRAPH) -> tuple[str, ...]:
        return events(message, feed)[0].warnings

    assert noticed(vertex(graph="GLOBAL")) == ("graph_not_declared",)
    assert noticed(vertex(graph="GLOBAL", typename="Thing")) == ()
    # The edges that touch it are of graphs that nobody has named.
    assert noticed(vertex("1", "delete", graph="GLOBAL", typename="Company")) == (
        "graph_not_declared",
    )
    assert noticed(vertex("1", "delete", graph="GLOBAL", typename="Thing")) == ()
    assert noticed(vertex(graph="Work")) == ()
    assert noticed(vertex(graph="GLOBAL"), FEED) == ()
