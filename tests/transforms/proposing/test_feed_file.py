"""A proposal as YAML: what is written is read as it was meant, with whatever names a source has."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.read_yaml import read_yaml
from transforms.proposing.entries import Entry
from transforms.proposing.feed_file import lines_of, text_of
from transforms.proposing.window_sizes import size_of_windows


def read(tmp_path: Path, *entries: Entry) -> dict[str, object]:
    file = tmp_path / "zoo.yaml"
    file.write_text(text_of(["a feed", ""], entries), encoding="utf-8")
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
    assert [*lines_of([hidden])] == [
        "# the stream says it",
        "# tables:",
        "#   pets:                           # ten events",
        "#     key: [id]",
    ]


def test_a_long_comment_stands_above_its_line() -> None:
    *above, line = lines_of([Entry("format", "debezium", "word " * 60)])
    assert line == "format: debezium"
    assert len(above) > 1
    assert all(one.startswith("# ") and len(one) <= 120 for one in above)


@pytest.mark.parametrize(
    ("names", "size"),
    [
        (["2026-11-20/03/a.json"], "hour"),
        (["dt=2026-11-20/hour=03/a.json"], "hour"),
        (["2026-11-20/00/a.json"], "hour"),
        (["2026-11-20/a.json", "2026-11-21/b.json"], "day"),
        (["2026/11/20/a.json"], "day"),
        (["a.json"], "hour"),
    ],
)
def test_windows_are_as_long_as_paths_tell(names: list[str], size: str) -> None:
    assert size_of_windows(names)[0] == size
