"""What a feed does when the source's schema, or its own declaration, changes: one fact per policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.control import decisions
from assets.control.discovered_tables import with_added
from assets.control.progress import DECLARATION
from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.cli import release, verify
from orchestration.cli.rebuild import rebuild_in
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import to_record
from tests.laws.oracle.event import Event, Image
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed.decisions import Release
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import Policies

EVOLVES = replace(PETS, policies=Policies(add_column="evolve"))
COWS = replace(PETS, name="cows")
FIRST, SECOND = "2025-11-20T03", "2025-11-20T05"


def with_columns(table: Table, columns: Mapping[str, str], **more: object) -> Table:
    return replace(table, columns=dict(columns), cdc_columns=tuple(columns), **more)  # type: ignore[arg-type]


def rows(lake: Lake, feed: Feed, table: str = "pets") -> list[dict[str, object]]:
    """Gold's rows by id, without Weir's own columns."""
    found = lake.table(Layer.GOLD, feed.name, table).read().orderBy("id").collect()
    return [
        {name: value for name, value in row.asDict().items() if not name.startswith("_weir_")}
        for row in found
    ]


def test_an_added_column_is_kept_evolved_or_quarantined(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    kept = replace(PETS, name="kept")
    evolves = replace(EVOLVES, name="evolves")
    refuses = replace(PETS, name="refuses", policies=Policies(add_column="quarantine"))
    tables = {table.name: table for table in (kept, evolves, refuses)}
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables=tables)
    plain = [
        change("I", at, after={"id": "1", "name": "Ada"}, table=name)
        for at, name in enumerate(tables, start=1)
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*plain))
    bring(lake, feed)
    more = [
        change("U", at, {"id": "1"}, {"name": "Ava", "age": "7", "a b": "x"}, table=name)
        for at, name in enumerate(tables, start=11)
    ]
    # To another key, with all that is declared in its images: the undeclared column goes along.
    moved = change("U", 21, {"id": "1", "name": "Ava"}, {"id": "2", "name": "Ava"}, table="evolves")
    lay(folder, "2025-11-20/05/b.json", drop(*more, moved))
    made = bring(lake, feed)[1]
    assert rows(lake, feed, "kept") == [{"id": 1, "name": "Ava"}]
    assert rows(lake, feed, "evolves") == [{"id": 2, "name": "Ava", "age": "7"}]
    assert rows(lake, feed, "refuses") == [{"id": 1, "name": "Ada"}]
    assert made.violations["columns_are_declared"] == 4
    assert made.violations["accounting_is_exact"] == 0
    refused = (
        lake.table(Layer.QUARANTINE, "zoo").read().select("table", "reason", "detail").collect()
    )
    assert [tuple(row) for row in refused] == [
        (
            "refuses",
            "undeclared_column",
            "a b, age is not declared, and the feed file says add_column: quarantine",
        )
    ]
    assert with_added(lake, feed, evolves, "evolves").added == ("age",)
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0

    # A declared type for what was a text is no narrowing. What is quarantined waits for its last column.
    typed = {
        name: with_columns(table, {"id": "int", "name": "string", "age": "int"})
        for name, table in tables.items()
    }
    bring(lake, replace(feed, tables=typed))
    assert rows(lake, feed, "kept") == [{"id": 1, "name": "Ava", "age": 7}]
    assert rows(lake, feed, "evolves") == [{"id": 2, "name": "Ava", "age": 7}]
    assert rows(lake, feed, "refuses") == [{"id": 1, "name": "Ada", "age": None}]


def test_what_the_stream_may_not_bring_stops_the_run(lake: Lake, folder: Path) -> None:
    known = change("I", 1, after={"id": "1", "name": "Ada"})
    nick = change("I", 2, after={"id": "2", "name": "Bo", "nick": "B"})
    lay(folder, "2025-11-20/03/a.json", drop(known, nick))
    strict = replace(PETS, policies=Policies(add_column="fail"))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": strict})
    with pytest.raises(
        SchemaChangeRefused,
        match=r"feed zoo: table pets: add_column: events mention the undeclared column nick,"
        r" first in 2025-11-20/03/a.json, line 2. .* add_column: fail. Declare the column",
    ):
        bring(lake, feed)
    assert not lake.table(Layer.SILVER, "zoo").exists()

    other = Feed(
        *("farm", "arcion_s3_json", str(folder)),
        tables={"cows": replace(PETS, name="cows")},
        policies=Policies(rename_table="fail"),
    )
    with pytest.raises(
        SchemaChangeRefused, match=r"main.zoo.pets, first in .* line 1.* list the earlier one under"
    ):
        bring(lake, other)

    keyed = with_columns(PETS, {"pet_id": "int", "name": "string"}, key=("pet_id",))
    with pytest.raises(
        KeyDrift,
        match=r"\[pet_id\], but none of its 2 events in window 2025-11-20T03 mentions pet_id",
    ):
        bring(lake, replace(feed, name="other", tables={"pets": keyed}))


def test_a_declaration_that_changed_is_followed_or_refused(lake: Lake, folder: Path) -> None:
    before = with_columns(PETS, {"id": "int", "name": "string", "age": "bigint"})
    small = replace(before, name="small", columns={**before.columns, "age": "smallint"})
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": before, "small": small})
    drops = [
        change("I", 1, after={"id": "1", "name": "Ada", "age": "7"}),
        change("I", 2, after={"id": "2", "name": "Bo", "age": "5000000000"}),
        change("I", 3, after={"id": "1", "name": "Cy", "age": "9"}, table="small"),
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*drops))
    bring(lake, feed)

    def refused(table: Table) -> str:
        after = replace(feed, tables={**feed.tables, table.name: table})
        with pytest.raises((SchemaChangeRefused, KeyDrift)) as caught:
            apply.apply(lake, after, table, [FIRST])
        return str(caught.value)

    narrow = replace(before, columns={**before.columns, "age": "int"})
    assert "narrow_type: column age is bigint in gold and int in the feed file" in refused(narrow)
    assert "narrow_type: quarantine" in refused(narrow)
    wide = replace(small, columns={**small.columns, "age": "int"})
    assert "widen_type: fail" in refused(replace(wide, policies=Policies(widen_type="fail")))
    gone = with_columns(PETS, {"id": "int", "age": "bigint"})
    assert "column name is in gold and no longer in the feed file. The feed file's" in refused(
        replace(gone, policies=Policies(drop_column="keep"))
    )
    titled = with_columns(PETS, {"id": "int", "title": "string", "age": "bigint"})
    assert "add `renamed: {name: title}` to the table" in refused(titled)
    assert "gold.zoo.pets has the key [id]" in refused(replace(before, key=("id", "name")))

    assert "`weir rebuild zoo` does the same once" in refused(narrow)

    quarantines = replace(narrow, policies=Policies(narrow_type="quarantine"))
    bring(lake, replace(feed, tables={"pets": quarantines, "small": wide}))
    assert rows(lake, feed) == [{"id": 1, "name": "Ada", "age": 7}]
    assert rows(lake, feed, "small") == [{"id": 1, "name": "Cy", "age": 9}]
    types = dict(lake.table(Layer.GOLD, "zoo", "small").read().dtypes)
    assert types["age"] == "int"


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
@pytest.mark.parametrize("keeps_versions", [False, True], ids=["rows", "versions"])
def test_a_table_is_made_again_under_another_key_where_a_person_asks_for_it(
    lake: Lake, folder: Path, executor: str, keeps_versions: bool
) -> None:
    by_id = replace(PETS, history=keeps_versions)
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": by_id})
    first = [change("I", at, after={"id": str(at), "name": "Ada"}) for at in (1, 2)]
    lay(folder, "2025-11-20/03/a.json", drop(*first, change("D", 3, {"id": "2", "name": "Ada"})))
    lake = lake.by(executor)
    bring(lake, feed)

    other = replace(feed, tables={"pets": replace(by_id, key=("name",))})
    lay(folder, "2025-11-20/05/a.json", drop(change("I", 4, after={"id": "7", "name": "Bo"})))
    with pytest.raises(KeyDrift, match=r"has the key \[id\].*or `weir rebuild zoo`"):
        apply.apply(lake, other, other.tables["pets"], [FIRST])
    for window in (FIRST, SECOND):
        from_objects.land(lake, other, [window])
    assert rebuild_in(lake, other) == 0
    # Of two rows of one name the second has replaced the first, and its delete is the name's newest change.
    assert rows(lake, other) == [{"id": 7, "name": "Bo"}]
    bring(lake, other, [SECOND])
    assert rows(lake, other) == [{"id": 7, "name": "Bo"}]
    narrow = replace(by_id, columns={"id": "tinyint", "name": "string"})
    small = replace(feed, tables={"pets": narrow})
    assert rebuild_in(lake, small) == 0
    assert rows(lake, small) == [{"id": 1, "name": "Ada"}, {"id": 7, "name": "Bo"}]
    assert dict(lake.table(Layer.GOLD, "zoo", "pets").read().dtypes)["id"] == "tinyint"
    gone = replace(narrow, columns={"id": "tinyint", "title": "string"})
    with pytest.raises(SchemaChangeRefused, match="If it was renamed"):
        rebuild_in(lake, replace(feed, tables={"pets": gone}))


OTHERWISE = {
    "key": replace(PETS, key=("name",)),
    "type": replace(PETS, columns={"id": "int", "name": "int"}),
    "name": with_columns(PETS, {"id": "int", "title": "string"}),
    "evolves": replace(PETS, columns={"id": "bigint", "name": "string"}),
}


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
@pytest.mark.parametrize("change_of", OTHERWISE)
def test_a_declaration_that_is_put_back_before_gold_has_followed_leaves_nothing_of_the_other(
    lake: Lake, folder: Path, executor: str, change_of: str
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS, "cows": COWS})
    born = [change("I", at, after={"id": str(at), "name": "Ada"}) for at in (1, 2)]
    cow = change("I", 3, after={"id": "9", "name": "Moo"}, table="cows")
    lay(folder, "2025-11-20/03/a.json", drop(*born, cow))
    lake = lake.by(executor)
    bring(lake, feed)
    assert planning.due(lake, feed).windows == []

    other = replace(feed, tables={**feed.tables, "pets": OTHERWISE[change_of]})
    # The run ends here: gold refuses, or is killed before it has followed.
    derive.derive(lake, other, [FIRST])
    assert planning.due(lake, feed).windows == [FIRST]
    cows = lake.in_process_table(Layer.GOLD, "zoo", "cows")
    assert cows.properties[DECLARATION] == table_digest(feed, COWS)

    # A partial update that comes late is folded with what silver has of the row, whatever runs come in between.
    late = [change("U", 6, {"name": "Bo"}, {"id": "1", "name": "Bo"})]
    lay(folder, "2025-11-20/05/a.json", drop(*late))
    bring(lake, feed, [SECOND])
    assert planning.due(lake, feed).windows == [FIRST]
    bring(lake, feed)
    assert planning.due(lake, feed).windows == []
    assert rows(lake, feed) == [{"id": 1, "name": "Bo"}, {"id": 2, "name": "Ada"}]
    assert rows(lake, feed, "cows") == [{"id": 9, "name": "Moo"}]
    undisturbed = lake_of(str(folder.parent / "undisturbed")).by(IN_PROCESS)
    bring(undisturbed, feed)
    assert changes_in_silver(lake) == changes_in_silver(undisturbed)


def changes_in_silver(lake: Lake) -> list[str]:
    columns = ["window", "table", "key", "after"]
    found = lake.in_process_table(Layer.SILVER, "zoo").rows(columns)
    return sorted(str(row) for row in found)


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
def test_a_table_without_rows_takes_another_key_type_and_name_at_once(
    lake: Lake, folder: Path, executor: str
) -> None:
    guessed = Table("pets", ("title",), {"id": "int", "title": "int"}, ("id", "title"))
    strict = replace(guessed, policies=Policies(rename_column="fail", widen_type="fail"))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": strict})
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "title": "Dr"})))
    lake = lake.by(executor)
    bring(lake, feed)
    assert rows(lake, feed) == []
    meant = Table("pets", ("id",), {"id": "bigint", "titles": "string"}, ("id", "titles"))
    lay(folder, "2025-11-20/05/a.json", drop(change("I", 2, after={"id": "2", "titles": "Sir"})))
    right = replace(feed, tables={"pets": replace(meant, policies=strict.policies)})
    bring(lake, right, [FIRST, SECOND])
    assert rows(lake, right) == [{"id": 1, "titles": None}, {"id": 2, "titles": "Sir"}]


def test_earlier_names_of_tables_and_columns_are_the_same_table_and_column(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    old = change("I", 1, after={"id": "1", "name": "Ada"})
    gone = change("I", 2, after={"id": "2", "name": "Bo"})
    lay(folder, "2025-11-20/03/a.json", drop(old, gone))
    lay(folder, "2025-11-20/03/pets/snapshot.json", drop('{"id": "3", "name": "Cy"}'))
    bring(lake, feed)

    animals = with_columns(
        *(PETS, {"number": "int", "title": "string"}),
        name="animals",
        key=("number",),
        was=("pets",),
        renamed={"name": "title", "id": "number"},
    )
    later = [
        change("U", 3, {"number": "1"}, {"title": "Ava"}, table="animals"),
        # The same event as the source sent it before, and as it sends it now.
        change("D", 4, {"id": "2", "name": "Bo"}),
        change("D", 4, {"number": "2", "title": "Bo"}, table="animals"),
        change("U", 5, {"id": "1"}, {"name": "Abe", "title": "Al"}),
    ]
    lay(folder, "2025-11-20/05/b.json", drop(*later))
    feed = replace(feed, tables={"animals": animals})
    made = bring(lake, feed)[1]
    found = lake.table(Layer.GOLD, "zoo", "animals").read().orderBy("number").collect()
    assert [(row["number"], row["title"]) for row in found] == [(1, "Ava"), (3, "Cy")]
    assert made.violations["no_event_twice"] == 1
    assert made.violations["tables_are_declared"] == 0
    refused = lake.table(Layer.QUARANTINE, "zoo").read().select("reason", "detail").collect()
    assert [tuple(row) for row in refused] == [
        (
            "ambiguous_rename",
            "name and another column are both title, as the feed file renames them",
        )
    ]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


def test_a_column_that_came_later_leaves_earlier_windows_as_they_are(
    lake: Lake, folder: Path, tmp_path: Path
) -> None:
    lay(folder, "2025-11-20/03/pets/a.csv", b"1,Ada\n2,Bo\n")
    lay(folder, "2025-11-20/05/pets/b.csv", b"3,Cy,9\n")
    feed = Feed("zoo", "arcion_s3_csv", str(folder), tables={"pets": PETS})
    bring(lake, feed, [FIRST])
    aged = with_columns(PETS, {"id": "int", "name": "string", "age": "int"}, since={"age": SECOND})
    after = replace(feed, tables={"pets": aged})
    assert planning.due(lake, after).windows == [SECOND]
    bring(lake, after)
    expected = [
        {"id": 1, "name": "Ada", "age": None},
        {"id": 2, "name": "Bo", "age": None},
        {"id": 3, "name": "Cy", "age": 9},
    ]
    assert rows(lake, after) == expected
    # A drop that comes late for an early window has the columns of its time.
    lay(folder, "2025-11-20/03/pets/late.csv", b"4,Di\n")
    bring(lake, after)
    assert rows(lake, after) == [*expected, {"id": 4, "name": "Di", "age": None}]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), after, seed=3) == 0


def test_a_wrong_since_is_refused(lake: Lake, folder: Path) -> None:
    lay(
        *(folder, "2025-11-20/03/a.json"),
        drop(change("I", 1, after={"id": "1", "name": "Ada", "age": "x"})),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    aged = with_columns(PETS, {"id": "int", "name": "string", "age": "int"}, since={"age": SECOND})
    after = replace(feed, tables={"pets": aged})
    with pytest.raises(
        SchemaChangeRefused, match=r"since 2025-11-20T05, and events of window 2025-11-20T03"
    ):
        apply.apply(lake, after, aged, [FIRST])
    assert names(lake, feed) == {1: "Ada"}


def test_a_dropped_column_is_emptied_kept_held_or_refused(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    policies = {"evolve": "evolves", "keep": "keeps", "hold": "holds"}
    tables = {
        name: replace(PETS, name=name, policies=Policies(drop_column=policy))  # type: ignore[arg-type]
        for policy, name in policies.items()
    }

    def events(name: str) -> list[Event]:
        put: Image = {"id": "1", "name": "Ada"}
        none: Image = {"name": None}
        born = Event("model", name, "insert", (0, 1, 1), None, {}, put, "replace")
        dropped = Event("model", name, "drop_column", (0, 1, 2), None, {}, none, "update", scope={})
        return [born, dropped]

    records = [json.dumps(to_record(event)) for name in tables for event in events(name)]
    lay(folder, "2025-11-20/03/a.jsonl", drop(*records))
    feed = Feed("zoo", "model", str(folder), tables=tables)
    made = bring(lake, feed)[1]
    assert {name: names(lake, feed, name) for name in tables} == {
        "evolves": {1: None},
        "keeps": {1: "Ada"},
        "holds": {1: "Ada"},
    }
    assert made.violations["nothing_held"] == 1
    assert made.violations["accounting_is_exact"] == 0
    (waiting,) = release.held(lake, feed)
    assert (waiting.operation, waiting.table) == ("drop_column", "holds")
    now = datetime(2025, 11, 21, tzinfo=UTC)
    decisions.release(lake, feed, Release(waiting.event_id, waiting.windows), now, None)
    bring(lake, feed)
    assert names(lake, feed, "holds") == {1: None}

    refuses = replace(tables["keeps"], policies=Policies(drop_column="fail"))
    with pytest.raises(
        SchemaChangeRefused, match=r"the source dropped a column, first in .*line 4"
    ):
        bring(lake, replace(feed, tables={**tables, "keeps": refuses}), [FIRST])
