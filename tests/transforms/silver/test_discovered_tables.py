"""Which tables gold can make of what a stream says, and what stops one: the same in whatever order it is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from transforms.errors import KeyDrift, TableNameCollision
from transforms.event import StreamSchema
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import Policies
from transforms.silver import conform, discovered_tables
from transforms.silver.declarations import Declarations
from transforms.silver.discovered_tables import Description, SeenTable

FEED = Feed("zoo", "telling", "/landing")
COLUMNS = (("id", "int"), ("name", "string"))


def test_two_keys_stop_the_one_table_that_has_them() -> None:
    said: list[Description] = [Description(("id",), COLUMNS), Description(("name",), COLUMNS)]
    met = [SeenTable("pets", "zoo.pets", "zoo.pets"), SeenTable("toys", "zoo.toys", "zoo.toys")]
    for order in permutations(said):
        found = discovered_tables.discovered_tables(
            FEED, {"zoo.pets": order, "zoo.toys": said[:1]}, met
        )
        assert list(found.discovered) == ["zoo.toys"]
        assert list(found.stopped) == ["pets"]
        assert isinstance(found.stopped["pets"].fault, KeyDrift)


@pytest.mark.parametrize(
    ("said", "pasted"),
    [
        # As `ALTER TABLE … RENAME COLUMN` looks in the stream.
        (
            ("id name", "id title"),
            "{key: [id], columns: {id: int, title: string}, renamed: {name: title}}",
        ),
        (("id name size", "id title size", "id title"), "{id: int, size: int, title: string}"),
        # One column came, and another went, but not at once: none has the other's values.
        (("id name", "id name title", "id title"), None),
        (("id name", "id", "id title"), None),
        (("id name", "id size"), None),
        (("id name", "id"), None),
    ],
)
def test_a_column_that_may_have_another_name_stops_its_table(
    said: tuple[str, ...], pasted: str | None
) -> None:
    types = {"id": "int", "name": "string", "title": "string", "size": "int"}
    described = [
        Description(("id",), tuple((one, types[one]) for one in text.split())) for text in said
    ]
    met = [SeenTable("pets", "zoo.pets", "zoo.pets")]
    found = discovered_tables.discovered_tables(FEED, {"zoo.pets": described}, met)
    assert ("pets" in found.stopped) == (pasted is not None)
    if pasted is not None:
        assert pasted in str(found.stopped["pets"].fault)
    evolving = replace(FEED, policies=Policies(rename_column="evolve"))
    found = discovered_tables.discovered_tables(evolving, {"zoo.pets": described}, met)
    assert not found.stopped


def test_two_source_tables_stop_the_gold_table_that_would_mix_them() -> None:
    met = [
        SeenTable("pets", "zoo.pets", "zoo.pets"),
        SeenTable("pets", "farm.pets", "farm.pets"),
        # One table, named less and more exactly.
        SeenTable("toys", "toys", "toys"),
        SeenTable("toys", "zoo.toys", "toys"),
    ]
    for order in permutations(met):
        found = discovered_tables.discovered_tables(FEED, {}, order)
        assert list(found.stopped) == ["pets"]
        stopped = found.stopped["pets"]
        assert isinstance(stopped.fault, TableNameCollision)
        assert stopped.fault.sources == ("farm.pets", "zoo.pets")
        assert stopped.declared == ("farm.pets", "zoo.pets")


@pytest.mark.parametrize(
    ("declared", "said", "reason"),
    [
        ("zoo.pets", (None, "farm", "pets"), "table_name_taken"),
        ("zoo.pets", (None, None, "pets"), "table_name_taken"),
        ("zoo.pets", (None, "zoo", "pets"), None),
        ("zoo.pets", (None, "farm", "toys"), None),
        ("pets", (None, "farm", "pets"), None),
    ],
)
def test_a_declared_table_owns_its_gold_name(
    declared: str, said: tuple[str | None, str | None, str], reason: str | None
) -> None:
    table = Table(declared, ("id",), dict(COLUMNS), ("id", "name"))
    feed = Feed("zoo", "telling", "/landing", tables={declared: table})
    found = Declarations(feed, describes_tables=True).of(*said, StreamSchema(("id",), COLUMNS))
    assert (found.fault and found.fault.reason) == reason


def test_a_name_of_another_schema_is_another_table_where_gold_has_the_schemas_in_its_names() -> (
    None
):
    table = Table("zoo.pets", ("id",), dict(COLUMNS), ("id", "name"))
    tables = {"zoo.pets": table}
    feed = Feed("zoo", "telling", "/landing", table_names="schema", tables=tables)
    schema = StreamSchema(("id",), COLUMNS)
    found = Declarations(feed, describes_tables=True).of(None, "farm", "pets", schema)
    assert (found.table, found.fault) == ("farm__pets", None)


def test_beyond_the_bound_new_tables_wait_and_those_that_gold_has_go_on() -> None:
    said = {name: [Description(("id",), COLUMNS)] for name in ("s.a", "s.b", "s.c", "s.d")}
    met = [SeenTable(name[-1], name, name) for name in said]
    found = discovered_tables.discovered_tables(FEED, said, met)
    assert discovered_tables.within_limit(FEED, found, met, 4, ()) is found
    for most, standing, made in (
        (3, (), ["s.a", "s.b", "s.c"]),
        (2, ("d",), ["s.a", "s.d"]),
        (1, ("c", "d"), ["s.c", "s.d"]),
        (0, (), []),
        (3, ("a", "b", "c", "d"), ["s.a", "s.b", "s.c", "s.d"]),
    ):
        some = discovered_tables.within_limit(FEED, found, met, most, standing)
        assert list(some.discovered) == made
        assert sorted(some.stopped) == [name[-1] for name in said if name not in made]
        if not some.stopped:
            continue
        (line,) = discovered_tables.stopped_in_words(some.stopped)
        assert f"WEIR_MOST_TABLES={most}: the stream of feed zoo describes 4 tables" in line


def test_thousands_of_tables_that_stop_are_one_line() -> None:
    said = {f"t{number:05}": [Description(("id",), COLUMNS)] for number in range(10_000)}
    met = [SeenTable(name, name, name) for name in said]
    found = discovered_tables.discovered_tables(FEED, said, met)
    (line,) = discovered_tables.stopped_in_words(
        discovered_tables.within_limit(FEED, found, met, 9, ()).stopped
    )
    assert line.startswith("t00009, t00010, t00011, t00012, t00013 and 9,986 more: ")


def test_a_change_without_a_schema_waits_where_only_the_schema_could_read_its_values() -> None:
    """A Debezium delete by a key that Connect writes in base64, or as a count, is not of the row that has its text."""
    said = [Description(("id",), (("id", "binary"), ("name", "string")), ("id",))]
    table = discovered_tables.discovered_table(FEED, "zoo.pets", said)
    row = {
        **{"window": "2025-11-20T03", "object": "a", "generation": "g", "line": 1},
        **{"byte_offset": 0, "ordinal": 0, "source_table": "zoo.pets", "operation": "delete"},
        **{"effect": "remove", "before": {"id": "AQI=", "name": "Ada"}, "after": {}},
        **{"attribute_ops": {}, "scope": None, "stream": None, "transaction": None},
        **{"derived": None, "log_position": [0, 1, 2], "dedup_prefix": 3, "event_id": "e"},
        **{"event_at": None, "extracted_at": None},
    }
    assert conform.conform_waiting(FEED, table)(row) == []
    # Where the name is encoded, a delete is recognised by its key all the same; an update is not.
    said = [Description(("id",), (("id", "string"), ("name", "binary")), ("name",))]
    of_name = conform.conform_waiting(
        FEED, discovered_tables.discovered_table(FEED, "zoo.pets", said)
    )
    assert [one.key for one in of_name(row)] == [("AQI=",)]
    update = {"operation": "update", "effect": "update", "after": {"id": "AQI=", "name": "QQ=="}}
    assert of_name({**row, **update}) == []
