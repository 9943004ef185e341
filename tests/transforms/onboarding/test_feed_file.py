"""A proposal as YAML: what is written is read as it was meant, with whatever names a source has."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import assume, given

from orchestration.feeds.yaml_files import read_yaml
from tests.support.hostile_names import names
from transforms.onboarding.proposal import Entry, file_lines, file_text
from transforms.silver.schema_drift import Drift, lines_to_paste


def read(tmp_path: Path, *entries: Entry) -> dict[str, object]:
    file = tmp_path / "zoo.yaml"
    file.write_text(file_text(["a feed", ""], entries), encoding="utf-8")
    assert file.read_text().startswith("# a feed\n#\n")
    return read_yaml(file)


NAMES = ["id", "no", "null", "on", "a b", "a: b", "# no", "*", "[x]", "{y}", "Straße", "1", "-"]
NAMES += ["a'b", 'a"b', "true", "x,y", "&z", "!t", "%", "@", "=", "a:"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    inside = (Entry(name, "int", "a comment: # and more"),)
    found = read(
        tmp_path, Entry("columns", inside), Entry("key", (name, "other")), Entry("x", name)
    )
    assert found == {"columns": {name: "int"}, "key": [name, "other"], "x": name}


def test_types_and_globs_are_read_as_they_are(tmp_path: Path) -> None:
    values = [
        "decimal(10,2)",
        "map<string,int>",
        "**/*.json",
        "s3://a/b/",
        "kafka://h:9092/t",
        "../d",
    ]
    found = read(tmp_path, *[Entry(f"k{at}", value) for at, value in enumerate(values)])
    assert [*found.values()] == values


def test_what_is_not_needed_is_a_comment(tmp_path: Path) -> None:
    table = Entry("pets", (Entry("key", ("id",)),), "ten events")
    hidden = Entry("tables", (table,), "the stream says it", is_needed=False)
    assert read(tmp_path, Entry("format", "debezium"), hidden) == {"format": "debezium"}
    assert [*file_lines([hidden])] == [
        "# the stream says it",
        "# tables:",
        "#   pets:                           # ten events",
        "#     key: [id]",
    ]


def test_a_long_comment_stands_above_its_line() -> None:
    *above, line = file_lines([Entry("format", "debezium", "word " * 60)])
    assert line == "format: debezium"
    assert len(above) > 1
    assert all(one.startswith("# ") and len(one) <= 120 for one in above)


@given(names, names, names)
def test_no_name_of_a_source_leaves_its_place_in_a_proposed_file(
    name: str, other: str, comment: str
) -> None:
    """Neither a name nor a comment about it becomes a key of its own, and every name can be read back."""
    assume(len(name) < 100)
    entries = [
        Entry("tables", (Entry(name, (Entry("key", (other, name), comment),), comment),), comment),
        Entry("landing", other, comment),
        Entry("left_out", name, comment, is_needed=False),
    ]
    text = file_text([comment, name], entries)
    assert all(one.isprintable() or one == "\n" for one in text)
    assert yaml.load(text, yaml.BaseLoader) == {
        "tables": {name: {"key": [other, name]}},
        "landing": other,
    }


@given(names, names)
def test_no_name_of_a_stream_leaves_its_place_in_lines_to_paste(table: str, column: str) -> None:
    # YAML reads no longer keys than of 1,024 signs.
    assume(len(table) < 100 and len(column) < 100)
    kinds: tuple[Literal["table", "column"], ...] = ("table", "column")
    for kind in kinds:
        drift = Drift(kind, table, "2025-11-20T03", {column: "int"}, ("id",), True)
        found = yaml.load("\n".join(lines_to_paste(drift)), yaml.BaseLoader)
        told = {"columns": {column: "int"}, **({"key": ["id"]} if kind == "table" else {})}
        assert found == {"tables": {table: told}}
