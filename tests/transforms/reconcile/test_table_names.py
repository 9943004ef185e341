"""What a table may be called in its source, by what is kept of the names that its changes had."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.feed.feed import Feed, Table, TableNames
from transforms.feed.names import StreamName
from transforms.reconcile.table_names import Recorded, TableName, telling, told
from transforms.silver.declarations import Declarations

NAMES = st.sampled_from(["a", "b", "a.b", "b.a", "a.a.b"])
CHANGES = st.one_of(
    st.builds(StreamName, NAMES, NAMES, NAMES),
    st.builds(StreamName, st.none(), NAMES, NAMES),
    st.builds(StreamName, st.none(), st.none(), NAMES),
)
DECLARED = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(".".join)


def kept_of(named: StreamName, declared: str | None, table_names: TableNames) -> Recorded | None:
    """What silver keeps of a name; None where the feed file's table is another one."""
    tables = {} if declared is None else {declared: Table(declared, ("id",), {"id": "int"}, ())}
    feed = Feed("shop", "debezium", "/drops", tables=tables, table_names=table_names)
    found = Declarations(feed, describes_tables=True).of(*named, None)
    if found.declared != declared:
        return None
    return Recorded(found.table or "", found.source_table, declared, table_names)


@given(CHANGES, st.one_of(st.none(), DECLARED), st.sampled_from(["plain", "schema", "catalog"]))
def test_the_name_that_a_change_had_is_among_those_that_it_may_have_had(
    named: StreamName, declared: str | None, table_names: TableNames
) -> None:
    recorded = kept_of(named, declared, table_names)
    if recorded is None:
        return
    may_be = recorded.names_of_changes()
    assert named in may_be
    # That of another database, too: what the source calls itself may be another name for it.
    assert named in recorded.readings("other")
    # And each of them would be kept so.
    assert all(kept_of(one, declared, table_names) == recorded for one in may_be)


@given(CHANGES, DECLARED, st.sets(st.builds(TableName, NAMES, NAMES), min_size=2))
def test_a_name_that_tells_a_table_from_the_others_leaves_it_alone(
    named: StreamName, declared: str, tables: set[TableName]
) -> None:
    recorded = kept_of(named, declared, "plain")
    for table in tables:
        if recorded is None:
            continue
        name = telling(recorded, table, tables, "a", is_of_path=False)
        if name is None:
            continue
        # One of the names that changes may have had is the table's, and is kept as one that no other one has.
        again = [kept_of(one, name, "plain") for one in recorded.names_of_changes()]
        assert table in [told(one.readings("a"), tables) for one in again if one is not None]


@pytest.mark.parametrize(
    ("recorded", "plainest", "others"),
    [
        (
            Recorded("b", "db.shop.b", "b", "plain"),
            ("db", "shop", "b"),
            {(None, "db", "shop.b"), (None, None, "db.shop.b")},
        ),
        # The dot of a declared name is the table's own: its schema is another one.
        (Recorded("b", "db.shop.b", "a.b", "plain"), ("db", "shop", "a.b"), set()),
        (Recorded("b", "db.a.b", "a.b", "plain"), ("db", "a", "b"), {("db", "a", "a.b")}),
        # Gold's name says where the table's begins.
        (Recorded("a.b", "db.shop.a.b", None, "plain"), ("db", "shop", "a.b"), set()),
        (Recorded("shop.a__b", "db.shop.a.b", None, "schema"), ("db", "shop.a", "b"), set()),
        # A topic's name is cut at each dot.
        (Recorded("b", "shop.a.b", "b", "plain"), ("shop", "a", "b"), {(None, "shop", "a.b")}),
        (Recorded("orders", "orders", "orders", "plain"), (None, None, "orders"), set()),
    ],
)
def test_what_a_table_may_be_called(
    recorded: Recorded,
    plainest: tuple[str | None, ...],
    others: set[tuple[str | None, ...]],
) -> None:
    first, *more = recorded.readings("other")
    assert first == plainest
    assert others <= {*more}
    # In a source of that name, what says its database is meant; where no name says one, none of these is.
    assert {one.catalog for one in recorded.readings(first.catalog)} == {first.catalog}
    assert all(one.catalog is None for one in recorded.readings(None))


def test_a_table_is_told_where_no_other_one_may_be_meant() -> None:
    readings = Recorded("b", "shop.b", "b", "plain").readings(None)
    mine, other = TableName("shop", "b"), TableName("x", "shop.b")
    assert told(readings, [mine, TableName("shop", "c"), TableName("c", "b")]) == mine
    assert told(readings, [mine, other]) is None
    # That one may be gone, and this one another table.
    assert told(readings, [other]) is None
    assert told(readings, []) is None
