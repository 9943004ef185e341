"""An object's path names its table: by a declared glob, a declared name, or its nearest folder."""

from __future__ import annotations

import pytest

from transforms.feed.feed import Table
from transforms.feed.paths import matches, table_of_object


def table(name: str, path: str | None = None) -> Table:
    return Table(name=name, key=("id",), columns={"id": "int"}, cdc_columns=("id",), path=path)


TABLES = {
    one.name: one
    for one in (
        *(table("region"), table("tpch.nation"), table("part_2"), table("a.x"), table("b.x")),
        table("odd", path="strange/**/*.csv"),
    )
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("region.json", "region"),
        ("region_1.csv", "region"),
        ("part_2.csv", "part_2"),
        ("part_2_17.csv.gz", "part_2"),
        ("region/2026-11-20/03/part-0001.csv.gz", "region"),
        ("region/2026/11/20/03/snapshot.json", "region"),
        ("nation/dt=2026-11-20/hour=03/part.json", "tpch.nation"),
        ("drops/tpch.nation.json.gz", "tpch.nation"),
        ("drops/nation_2026-11-20T03_2.json", "tpch.nation"),
        ("region/nation_1.json", "tpch.nation"),
        ("region/other/1.json", "region"),
        ("b/x/1.csv", "b.x"),
        ("a/x_3.csv", "a.x"),
        ("strange/deep/down/region.csv", "odd"),
        ("strange/region.csv", "odd"),
        ("strange/region.json", "region"),
    ],
)
def test_a_declared_table_is_found(name: str, expected: str) -> None:
    assert table_of_object(name, TABLES) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lineitem/2026-11-20/03/part-0001.csv", "lineitem"),
        ("drops/lineitem_1.csv", "drops"),
        ("lineitem_1.csv.gz", "lineitem"),
        ("2026-11-20/lineitem_1.csv", "lineitem"),
        ("lineitem/20261120/03/part-0001.csv", "lineitem"),
        ("lineitem/2026_11_20-03/part-0001.csv", "lineitem"),
        ("lineitem/20.11.2026/part-0001.csv", "lineitem"),
        ("lineitem/y=2026/m=11/d=20/h=03/part-0001.csv", "lineitem"),
        ("lineitem/run=2026-11-20-03-12-33/part-0001.csv", "lineitem"),
        ("2026-11-20T03.json", "2026-11-20T03"),
        ("x.csv", "x"),
    ],
)
def test_a_table_that_is_not_declared_is_named_by_its_path(name: str, expected: str) -> None:
    assert table_of_object(name, TABLES) == expected


@pytest.mark.parametrize(
    ("name", "glob"),
    [
        ("a.json", "**/*.json*"),
        ("x/y/a.json.gz", "**/*.json*"),
        ("region/a.csv", "region/*.csv"),
        ("region/x/y", "region/**"),
        ("region/a.csv", "**/region/**/*.csv"),
        ("any/thing", "**"),
        ("b.csv", "[ab]*.csv"),
        ("c.csv", "[!ab]*.csv"),
        ("a1.csv", "a?.csv"),
        ("a+(b).csv", "a+(b).csv"),
        ("a[.csv", "a[.csv"),
        ("new\nline.csv", "*.csv"),
    ],
)
def test_a_name_fits_a_glob(name: str, glob: str) -> None:
    assert matches(name, glob)


@pytest.mark.parametrize(
    ("name", "glob"),
    [
        ("region/x/a.csv", "region/*.csv"),
        ("x/a.csv", "*.csv"),
        ("c.csv", "[ab]*.csv"),
        ("a.csv", "[!ab]*.csv"),
        ("axb", "a.b"),
        ("a/b", "a?b"),
        ("a/b", "a[!x]b"),
        ("A.csv", "a.csv"),
        ("xregion/a.csv", "**/region/*.csv"),
    ],
)
def test_a_name_does_not_fit_a_glob(name: str, glob: str) -> None:
    assert not matches(name, glob)


def test_many_stars_take_no_time() -> None:
    assert not matches("a" * 200 + "/b", "**/" * 3 + "*" * 50 + "c")
