"""What a feed file may say of schema changes, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from transforms.column_types.registry import widens
from transforms.errors import FeedMisdeclared
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.paths import table_of_object
from transforms.feed.schema_policies import Policies, added

FORMATS = ("arcion_s3_csv", "arcion_s3_json")
HEAD = "format: arcion_s3_json\nlanding: s3://drops/tpch/\n"
COLUMNS = "key: [a], columns: {a: int, b: string}"


def load(folder: Path, text: str) -> Feed:
    file = folder / "tpch.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    return load_feed(file, FORMATS)


def refusal(folder: Path, text: str) -> FeedMisdeclared:
    with pytest.raises(FeedMisdeclared) as caught:
        load(folder, text)
    return caught.value


def test_a_table_has_the_feeds_policies_but_for_its_own(tmp_path: Path) -> None:
    feed = load(
        tmp_path,
        "schema_changes: {add_column: evolve, rename_table: fail}\n"
        f"tables: {{t: {{{COLUMNS}}}, u: {{{COLUMNS}, schema_changes: {{add_column: keep}}}}}}\n",
    )
    assert feed.policies == Policies(add_column="evolve", rename_table="fail")
    assert feed.tables["t"].policies.add_column == "evolve"
    assert feed.tables["u"].policies == Policies(rename_table="fail")
    assert load(tmp_path, f"tables: {{t: {{{COLUMNS}}}}}\n").tables["t"].policies == Policies()


def test_earlier_names_and_later_columns_are_read(tmp_path: Path) -> None:
    declared = "was: [s.old], renamed: {c: b}, since: {b: 2026-11-20T04}"
    table = load(tmp_path, f"tables: {{s.t: {{{COLUMNS}, {declared}}}}}\n").tables["s.t"]
    assert (table.was, table.renamed, table.since) == (
        ("s.old",),
        {"c": "b"},
        {"b": "2026-11-20T04"},
    )
    assert table_of_object("2026-11-20/03/s/old/x.json", {"s.t": table}) == "s.t"


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("{ad_column: keep}", "schema_changes.ad_column", "did you mean add_column"),
        (
            "{add_column: hold}",
            "schema_changes.add_column",
            "must be 'keep', 'evolve', 'quarantine' or 'fail', found 'hold'",
        ),
        ("{drop_column: quarantine}", "schema_changes.drop_column", "'evolve', 'keep', 'hold' or"),
        ("{rename_column: hold}", "schema_changes.rename_column", "must be 'fail' or 'evolve'"),
        ("{widen_type: keep}", "schema_changes.widen_type", "must be 'evolve' or 'fail'"),
        ("{narrow_type: evolve}", "schema_changes.narrow_type", "must be 'fail' or 'quarantine'"),
        ("{rename_table: evolve}", "schema_changes.rename_table", "must be 'keep' or 'fail'"),
        ("[add_column]", "schema_changes", "must be a mapping"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(
    tmp_path: Path, text: str, key: str, fault: str
) -> None:
    refused = refusal(tmp_path, f"schema_changes: {text}\n")
    assert refused.key == key
    assert fault in refused.fault


def test_the_known_kinds_of_change_are_named(tmp_path: Path) -> None:
    kinds = ("add_column", "drop_column", "rename_column", "widen_type", "narrow_type")
    assert refusal(tmp_path, "schema_changes: {x: keep}\n").known == (*kinds, "rename_table")
    of_table = f"tables: {{t: {{{COLUMNS}, schema_changes: {{rename_table: keep}}}}}}\n"
    refused = refusal(tmp_path, of_table)
    assert (refused.key, refused.known) == ("tables.t.schema_changes.rename_table", kinds)


@pytest.mark.parametrize(
    ("declared", "key", "fault"),
    [
        ("renamed: {c: d}", "renamed.c", "'d' is not among the table's columns"),
        ("renamed: {b: a}", "renamed.b", "is declared as a column of its own"),
        ("since: {c: 2026-11-20T04}", "since.c", "'c' is not among the table's columns"),
        ("since: {a: 2026-11-20T04}", "since.a", "is part of what tells the table's rows apart"),
        ("since: {b: 2026-11-20}", "since.b", "is no window of one hour"),
        ("was: [u]", "was", "'u' is declared as a table of its own"),
        ("was: [v]", "was", "'v' is an earlier name of u already"),
        ("was: v", "was", "must be a list"),
    ],
)
def test_an_earlier_name_or_a_later_column_that_cannot_be_is_refused(
    tmp_path: Path, declared: str, key: str, fault: str
) -> None:
    refused = refusal(
        tmp_path, f"tables: {{u: {{{COLUMNS}, was: [v]}}, t: {{{COLUMNS}, {declared}}}}}\n"
    )
    assert refused.key == f"tables.t.{key}"
    assert fault in refused.fault


def test_a_table_without_a_key_takes_no_columns_unasked(tmp_path: Path) -> None:
    feed = "schema_changes: {add_column: evolve}\ntables: {t: {key: [], columns: {a: int}}}\n"
    refused = refusal(tmp_path, feed)
    assert refused.key == "tables.t.schema_changes.add_column"
    assert "evolve needs a key" in refused.fault


T = Table("t", ("a",), {"a": "int", "b": "string"}, ("a", "b"))


def test_a_new_column_changes_the_digest_only_of_windows_that_may_have_it() -> None:
    wider = replace(T, columns={**T.columns, "c": "int"}, cdc_columns=("a", "b", "c"))
    later = replace(wider, since={"c": "2026-11-20T04"})
    before, after = (Feed("f", "arcion_s3_json", "/x", tables={"t": t}) for t in (T, later))
    assert feed_digest(before, "2026-11-20T03") == feed_digest(after, "2026-11-20T03")
    assert feed_digest(before, "2026-11-20T04") != feed_digest(after, "2026-11-20T04")
    assert table_digest(before, T) != table_digest(after, later)


@pytest.mark.parametrize(
    ("change", "is_derived_anew"),
    [
        ({"policies": Policies(add_column="quarantine")}, True),
        ({"policies": Policies(add_column="evolve")}, True),
        ({"policies": Policies(drop_column="hold")}, True),
        ({"renamed": {"c": "b"}}, True),
        ({"was": ("u",)}, True),
        ({"policies": Policies(add_column="fail", drop_column="fail")}, False),
        ({"policies": Policies(narrow_type="quarantine", rename_table="fail")}, False),
    ],
)
def test_what_decides_rows_is_part_of_the_digest(
    change: dict[str, object], is_derived_anew: bool
) -> None:
    changed = replace(T, **change)  # type: ignore[arg-type]
    before, after = (Feed("f", "arcion_s3_json", "/x", tables={"t": t}) for t in (T, changed))
    window = "2026-11-20T03"
    assert (feed_digest(before, window) != feed_digest(after, window)) == is_derived_anew
    assert (table_digest(before, T) != table_digest(after, changed)) == is_derived_anew


@pytest.mark.parametrize(
    ("old", "new", "is_wider"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "decimal(12,2)", True),
        ("int", "decimal(11,2)", False),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(12,1)", False),
        ("smallint", "float", True),
        ("int", "float", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("float", "double", True),
        ("double", "float", False),
        ("date", "timestamp_ntz", True),
        ("timestamp", "date", False),
        ("timestamp", "timestamp_ntz", False),
        ("map<string,int>", "string", True),
        ("string", "int", False),
        ("boolean", "decimal(38,0)", False),
        ("array<int>", "array<bigint>", True),
        ("array<bigint>", "array<int>", False),
    ],
)
def test_a_type_is_wider_when_it_holds_every_value(old: str, new: str, is_wider: bool) -> None:
    assert widens(old, new) == is_wider


def test_gold_takes_columns_that_a_table_can_have() -> None:
    found = ["nick", "Nick", "a b", "_weir_x", "ID", "", "größe"]
    assert added(found, {"id": "int"}) == ("Nick", "größe")
