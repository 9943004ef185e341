"""What the feed declares decides what goes to gold, and what waits in silver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assets.gold import apply, tables
from assets.silver import checks
from assets.storage.lake import Lake, Layer
from orchestration.runs import planning
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table


def test_two_source_tables_do_not_share_a_gold_table(lake: Lake, folder: Path) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada"}, schema="zoo")),
    )
    lay(
        folder,
        "2025-11-20/04/b.json",
        drop(change("I", 2, after={"id": "1", "name": "Bo"}, schema="farm")),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])
    bring(lake, feed, ["2025-11-20T04"])
    # The window is done all the same: only that table stays as it was, until the feed file says more.
    assert planning.due(lake, feed).windows == []
    assert names(lake, feed) == {1: "Ada"}
    (stopped,) = apply.apply(lake, feed, PETS, ["2025-11-20T04"]).stopped.values()
    why = str(stopped.fault)
    assert "main.farm.pets and main.zoo.pets" in why
    assert "table_names: schema" in why

    apart = replace(feed, name="apart", table_names="schema")
    bring(lake, apart)
    assert names(lake, apart, "zoo__pets") == {1: "Ada"}
    assert names(lake, apart, "farm__pets") == {1: "Bo"}


def test_a_changed_declaration_makes_every_window_due_and_gold_is_rebuilt(
    lake: Lake, folder: Path
) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada", "age": "7"})),
    )
    lay(
        folder,
        "2025-11-20/05/b.json",
        drop(change("I", 2, after={"id": "2", "name": "Bo", "age": "9"})),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    wider = replace(PETS, columns={**PETS.columns, "age": "int"}, cdc_columns=("age", "id", "name"))
    after = replace(feed, tables={"pets": wider})

    assert planning.due(lake, after).windows == ["2025-11-20T03", "2025-11-20T05"]
    # Windows far apart are separate runs: the first leaves gold as it was, the last brings it all.
    bring(lake, after, ["2025-11-20T03"])
    assert "age" not in lake.table(Layer.GOLD, "zoo", "pets").read().columns
    waiting = apply.apply(lake, after, wider, ["2025-11-20T03"])
    assert waiting.waits_for == ("2025-11-20T05",)
    bring(lake, after, ["2025-11-20T05"])
    rows = lake.table(Layer.GOLD, "zoo", "pets").read().collect()
    assert {(row["id"], row["name"], row["age"]) for row in rows} == {(1, "Ada", 7), (2, "Bo", 9)}
    assert planning.due(lake, after).windows == []


def test_changes_of_an_undeclared_table_wait_in_silver_and_are_named(
    lake: Lake, folder: Path
) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1"}, table="toys")))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    _, made = bring(lake, feed)
    assert made.violations["tables_are_declared"] == 1
    listed, _, lines = checks.samples(lake, made.findings)["tables_are_declared"].partition("\n\n")
    assert listed == "- `main.zoo.toys`"
    assert lines.startswith("```yaml\ntables:\n  toys:")
    waiting = (
        lake.table(Layer.SILVER, "zoo").read().select("table", "declared", "key", "after").collect()
    )
    assert [tuple(row) for row in waiting] == [("toys", None, None, {"id": "1"})]
    assert names(lake, feed) == {}


def test_a_table_that_takes_drops_from_another_leaves_none_of_them_there(
    lake: Lake, folder: Path
) -> None:
    region = Table("region", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
    lay(folder, "2025-11-20/03/region/a.csv", b"1,Africa\n2,Asia\n")
    lay(folder, "2025-11-20/03/region/eu_1.csv", b"3,Europe\n")
    feed = Feed("geo", "arcion_s3_csv", str(folder), tables={"region": region})
    bring(lake, feed)
    assert names(lake, feed, "region") == {1: "Africa", 2: "Asia", 3: "Europe"}
    taker = replace(region, name="region_eu", path="**/region/eu_*.csv")
    both = replace(feed, tables={"region_eu": taker, "region": region})
    bring(lake, both)
    assert names(lake, both, "region_eu") == {3: "Europe"}
    assert names(lake, both, "region") == {1: "Africa", 2: "Asia"}


def test_what_the_feed_does_not_declare_stays_out_of_gold_and_is_named(
    lake: Lake, folder: Path
) -> None:
    exact = replace(PETS, name="zoo.pets")
    drops = [
        change("I", 1, after={"id": "1", "name": "Ada", "nickname": "Countess"}),
        change("I", 2, after={"id": "2", "name": "Bo", "colour": "grey"}, schema="farm"),
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*drops))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"zoo.pets": exact})
    _, made = bring(lake, feed)
    assert names(lake, feed) == {1: "Ada"}
    assert made.violations["tables_are_declared"] == 1
    assert made.violations["columns_are_declared"] == 1
    assert checks.samples(lake, made.findings)["columns_are_declared"] == "- `pets.nickname`"
    assert checks.samples(lake, made.findings)["tables_are_declared"].startswith(
        "- `main.farm.pets`\n"
    )


def test_a_name_in_a_record_cannot_leave_the_warehouse(lake: Lake, folder: Path) -> None:
    drops = [
        change("I", 1, after={"id": "1", "name": "Ada"}),
        change("I", 2, after={"id": "2", "name": "Bo"}, schema="../../../elsewhere"),
    ]
    lay(folder, "2025-11-20/03/a.json", drop(*drops))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, table_names="schema")
    bring(lake, feed)
    assert names(lake, feed, "zoo__pets") == {1: "Ada"}
    assert list(tables.mirrors(lake, feed)) == ["zoo__pets"]
    refused = lake.table(Layer.QUARANTINE, "zoo").read().select("table", "reason").collect()
    assert [tuple(row) for row in refused] == [("../../../elsewhere__pets", "unfit_table_name")]


def test_a_table_that_no_due_window_brings_anything_for_follows_its_declaration(
    lake: Lake, folder: Path
) -> None:
    born = change("I", 1, after={"id": "1", "name": "Ada"}, schema="north")
    other = change("I", 2, after={"id": "1", "name": "Bo"}, schema="south")
    lay(folder, "2025-11-20/03/a.json", drop(born))
    lay(folder, "2025-11-20/04/b.json", drop(other))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS}, table_names="schema")
    bring(lake, feed)
    columns = {**PETS.columns, "age": "int"}
    aged = Table("pets", PETS.key, columns, tuple(columns), since={"age": "2025-11-20T04"})
    bring(lake, replace(feed, tables={"pets": aged}))
    for name in ("north__pets", "south__pets"):
        assert "age" in lake.table(Layer.GOLD, "zoo", name).read().columns
