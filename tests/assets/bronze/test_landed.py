"""What has landed and was not read holds transactions back; what nobody can read any more does not."""

from __future__ import annotations

from assets.bookkeeping.transactions import landed_objects
from assets.lake import Lake
from assets.layers import Layer
from tests.support import made_bronze
from transforms.feed.feed import Feed

FEED = Feed("zoo", "debezium", "/landing")
NOON, LATER = "2025-11-20T12", "2025-11-20T13"


def test_a_drop_that_was_overwritten_before_it_was_read_holds_nothing_back(lake: Lake) -> None:
    landed_objects.note_landed(
        lake, FEED, [(NOON, "a", "g1"), (LATER, "b", "g1"), (LATER, "c", "g1")]
    )
    made_bronze.append(lake, FEED, (NOON, "a", "g1", 1))
    # Neither it nor its window has been accounted for: both are unread.
    assert landed_objects.unread(lake, FEED) == [NOON, LATER]
    landed_objects.note_landed(lake, FEED, [(LATER, "b", "g2")])
    made_bronze.append(lake, FEED, (LATER, "b", "g2", 1))
    there = {(LATER, "b", "g2"), (LATER, "c", "g1")}
    landed_objects.forget_unreadable(lake, FEED, there)
    landed = lake.in_process_table(Layer.LANDED, "zoo", columns=landed_objects.LANDED).rows()
    assert [tuple(row.values()) for row in landed] == [
        (NOON, "a", "g1"), (LATER, "b", "g2"), (LATER, "c", "g1"),
    ]  # fmt: skip
    # The third object is gone from the landing, too.
    landed_objects.forget_unreadable(lake, FEED, {(LATER, "b", "g2")})
    landed = lake.in_process_table(Layer.LANDED, "zoo", columns=landed_objects.LANDED).rows()
    assert {row["object"] for row in landed} == {"a", "b"}
