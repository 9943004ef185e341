"""What a message becomes: its own event, what follows from it, and what is noticed on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.transforms.formats.tigergraph.messages import (
    FEED,
    edge,
    end,
    events,
    overwritten,
    vertex,
)
from transforms.event import Event


def in_short(found: list[Event]) -> list[tuple[object, ...]]:
    """Table, effect, why it follows, and what it is for."""
    return [
        (one.name, one.effect, one.derived, one.scope if one.scope is not None else one.before)
        for one in found
    ]


def test_a_vertex_is_updated_with_what_its_message_mentions() -> None:
    content = {"n": {"op": "Add", "value": 3}, **overwritten(born=0, new=1.5)}
    assert events(vertex("1", content=content, graph="Social")) == [
        Event(
            operation="insert",
            effect="update",
            name="vertex_Person",
            schema="Social",
            after={"uid": "1", "id": "1", "n": "3", "born": "1970-01-01 00:00:00", "new": "1.5"},
            attribute_ops={"n": "Add"},
            stream="1",
            log_position=(0, 1, 5, 0, 0),
            dedup_prefix=5,
            identity=(
                *("1|1700000000001|5|0", "vertex", "insert", "Person", "1"),
                *(None, None, None, None, None),
            ),
            event_at=1_700_000_000_001_000,
        )
    ]


def test_an_insert_only_gives_values_to_a_new_vertex_alone() -> None:
    (one,) = events(vertex(operator="insert-only", content=overwritten(n=3)))
    assert (one.operation, one.effect) == ("insert-only", "update")
    assert one.attribute_ops == {"n": "IgnoreIfExisted"}


@pytest.mark.parametrize("operator", ["delete", "deleted"])
def test_a_deleted_vertex_takes_its_edges_along(operator: str) -> None:
    found = events(vertex("c", operator, typename="Company"))
    at_end = {"to_type": "Company", "to_uid": "c"}
    assert in_short(found) == [
        ("vertex_Company", "remove", None, {"uid": "c"}),
        ("edge_Works", "remove", "vertex_deleted", at_end),
        ("edge_Works__mirror", "remove", "vertex_deleted", at_end),
        ("edge_Pays", "remove", "vertex_deleted", at_end),
        ("edge_Has", "remove", "vertex_deleted", {"from_type": "Company", "from_uid": "c"}),
    ]
    assert {one.operation for one in found} == {"delete"}
    assert {one.log_position for one in found} == {(0, 1, 5, 0, 0)}


def test_a_deleted_vertex_type_takes_all_edges_of_the_type_along() -> None:
    whole = vertex(operator="delete", type="vertex-type", typename="Thing")
    assert in_short(events(whole)) == [
        ("vertex_Thing", "remove", None, {}),
        ("edge_Has", "remove", "vertex_deleted", {"from_type": "Thing"}),
        ("edge_Has", "remove", "vertex_deleted", {"to_type": "Thing"}),
    ]
    unheard_of = vertex(operator="delete", type="vertex-type", typename="Robot")
    assert in_short(events(unheard_of)) == [
        ("vertex_Robot", "remove", None, {}),
        ("edge_Has", "remove", "vertex_deleted", {"from_type": "Robot"}),
    ]


def test_an_edge_brings_its_source_with_the_key_in_its_uid() -> None:
    own, source = events(edge("2", "1", content=overwritten(w=5)))
    key = {"from_type": "Person", "from_uid": "2", "to_type": "Person", "to_uid": "1"}
    assert (own.name, own.effect) == ("edge_Likes", "update")
    assert own.after == {**key, "discriminator": "", "w": "5"}
    assert (source.name, source.effect, source.derived) == (
        "vertex_Person",
        "update",
        "edge_source",
    )
    assert source.after == {"uid": "2", "id": "2"}
    assert source.identity == own.identity
    assert source.warnings == ()


@pytest.mark.parametrize(
    ("message", "name", "first", "second"),
    [
        (edge("a", "Company/c", "Works"), "edge_Works", "a", "c"),
        (edge("Company/c", "a", "Employs"), "edge_Works__mirror", "a", "c"),
        # A reverse edge under its origin's name is recognised by its ends.
        (edge("Company/c", "a", "Works"), "edge_Works__mirror", "a", "c"),
        (edge("a", "b", "Knows"), "edge_Knows", "a", "b"),
        (edge("b", "a", "Knows"), "edge_Knows__mirror", "a", "b"),
        (edge("10", "9", "Knows"), "edge_Knows", "10", "9"),
        (edge("a", "a", "Knows"), "edge_Knows", "a", "a"),
        (edge("b", "a", "Unheard"), "edge_Unheard", "b", "a"),
    ],
)
def test_both_directions_of_an_edge_stand_under_one_key(
    message: dict[str, object], name: str, first: str, second: str
) -> None:
    own = events(message)[0]
    assert (own.name, own.after["from_uid"], own.after["to_uid"]) == (name, first, second)
    (gone,) = events({**message, "operator": "delete"})
    assert (gone.name, gone.effect) == (name, "remove")
    assert gone.before == {key: own.after[key] for key in gone.before}


def test_a_delete_all_is_for_every_direction_in_which_an_edge_is_stored() -> None:
    def delete_all(**more: object) -> list[tuple[object, ...]]:
        message = {**edge("a", "b", operator="delete-all"), **more}
        return in_short(events({key: value for key, value in message.items() if key != "to"}))

    begins = {"from_type": "Person", "from_uid": "a"}
    ends = {"to_type": "Person", "to_uid": "a"}
    assert delete_all() == [("edge_Likes", "remove", None, begins)]
    assert delete_all(typename="Unheard") == [("edge_Unheard", "remove", None, begins)]
    assert delete_all(typename="Employs") == [
        ("edge_Works__mirror", "remove", None, ends),
        ("edge_Works", "remove", "delete_all", ends),
    ]
    both = [
        ("edge_Knows", "remove", "delete_all", begins),
        ("edge_Knows", "remove", "delete_all", ends),
        ("edge_Knows__mirror", "remove", "delete_all", begins),
        ("edge_Knows__mirror", "remove", "delete_all", ends),
    ]
    assert delete_all(typename="Knows") == [(*both[0][:2], None, begins), *both[1:]]
    works = [
        (name, "remove", "delete_all", begins) for name in ("edge_Works", "edge_Works__mirror")
    ]
    others = [(name, "remove", "delete_all", begins) for name in ("edge_Pays", "edge_Has")]
    every = [("edge_Likes", "remove", None, begins), *works, *both, *others]
    assert delete_all(typename="") == every


@pytest.mark.parametrize(
    ("mid", "log_position", "stream"),
    [
        ("1|1700000000001|33|2", (0, 1, 33, 0, 2), "1"),
        (" 12|1700000000001|33|2|1 ", (0, 1, 33, 2, 1), "12"),
        ("01|1|999999999999999999|010|007", (0, 1, 10**18 - 1, 10, 7), "1"),
    ],
)
def test_a_mid_is_numbers(mid: str, log_position: tuple[int, ...], stream: str) -> None:
    (one,) = events(vertex(mid=mid))
    assert (one.log_position, one.stream, one.identity[0]) == (log_position, stream, mid.strip())


@pytest.mark.parametrize(
    ("timestamp", "at"),
    [
        *[(1_700_000_000_005, 1_700_000_000_005_000), ("1700000000005", 1_700_000_000_005_000)],
        *[
            (None, 1_700_000_000_001_000),
            (10**19, 1_700_000_000_001_000),
            (True, 1_700_000_000_001_000),
        ],
        *[("soon", 1_700_000_000_001_000), ({}, 1_700_000_000_001_000), (0, 0)],
    ],
)
def test_the_time_is_the_messages_own_or_that_of_its_mid(timestamp: object, at: int) -> None:
    (one,) = events(vertex(timestamp=timestamp))
    assert one.event_at == at


def test_a_time_that_no_calendar_has_is_none() -> None:
    (one,) = events(vertex(mid="1|999999999999999999|5|0", timestamp=10**18))
    assert (one.event_at, one.fault) == (None, None)


def test_what_a_restored_backup_holds_changes_nothing() -> None:
    last = {"mid": "7|1700000000001|86|3|0"}
    (held,) = events(edge("a", "b", **last))
    assert (held.effect, held.operation, held.name, held.fault) == ("note", "insert", None, None)
    assert (held.after, held.log_position) == ({}, (0, 1, 86, 3, 0))
    (refused,) = events(vertex(operator="upsert", **last))
    assert refused.fault is not None
    assert len(events(edge("a", "b", mid="7|1700000000001|87|0"))) == 2
    assert len(events(edge("a", "b", mid="1|1700000000001|86|0"))) == 2


def test_attributes_that_are_called_like_golds_own_columns_get_other_names() -> None:
    (one,) = events(vertex("1", content=overwritten(uid="x", To_Uid="y", content_z="z")))
    named = {"content_uid": "x", "content_To_Uid": "y", "content_z": "z"}
    assert one.after == {"uid": "1", "id": "1", **named}


def test_an_attribute_that_is_mentioned_counts_before_the_joined_text() -> None:
    (one,) = events(vertex("1", content=overwritten(id=2)))
    assert one.after == {"uid": "1", "id": "2"}


def test_what_is_noticed_stands_at_the_message_alone() -> None:
    def noticed(message: dict[str, object]) -> list[tuple[str, ...]]:
        return [one.warnings for one in events(message)]

    company = {"typename": "Company"}
    assert noticed(vertex("DE,x,7", **company)) == [()]
    assert noticed(vertex("DE,7", **company)) == [("key_not_split",)]
    assert noticed(vertex("DE,7", "delete", **company))[0] == ()
    assert noticed(edge("a", "b", "Pays", discriminator="a")) == [("key_not_split",), ()]
    restricted = {**edge("a", "b", "Pays", "delete-all"), "to": None}
    assert noticed(restricted) == [("delete_all_of_others",)]
    of_reverse = {**edge("a", "b", "Likes", "delete-all"), "to": None, "hasreverseedge": True}
    assert noticed(of_reverse) == [("delete_all_of_others", "reverse_not_declared")]
    assert noticed(edge("a", "b", hasreverseedge=True)) == [("reverse_not_declared",), ()]
    assert noticed(edge("a", "b", hasreverseedge=False)) == [(), ()]
    assert noticed(edge("a", "Company/c", "Works", hasreverseedge=True)) == [(), ()]


def test_a_record_of_a_topic_is_its_value() -> None:
    feed = replace(FEED, landing="kafka://broker:9092/cdc")
    assert events(vertex("1"), feed)[0].after == {"uid": "1", "id": "1"}
    assert events(edge("a", "b"), feed)[1].derived == "edge_source"
    as_dumped = {"partition": 0, "offset": 1, "value": vertex("1")}
    assert events(as_dumped)[0].after == {"uid": "1", "id": "1"}
    fault = events(as_dumped, feed)[0].fault
    assert fault is not None
    assert fault.reason == "missing_field"
    assert end("Company/a/b") == {"type": "Company/a", "vid": 7, "uid": "b"}
