"""The pages of docs/reference are what the code gives, and the code has a sentence for all that they list."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from docs.site.reference import checks, commands, feed_keys, pages, tables
from docs.site.reference.markdown import cell, prose
from expectations import bronze, catalogues, cuts, gold, silver, source, tigergraph
from orchestration.cli.main import COMMANDS, command_of
from orchestration.feeds.keys import PARTS, DeclaredFeed
from transforms.formats import FORMATS


def first_cells(page: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_what_the_code_gives(root: Path, name: str) -> None:
    """Where it fails: run ``make docs``, and commit what has changed."""
    committed = (root / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == pages.PAGES[name]()


def test_a_page_is_written_only_where_it_changes(tmp_path: Path) -> None:
    assert pages.write(tmp_path) == list(pages.PAGES)
    (tmp_path / "checks.md").write_text("stale")
    assert pages.write(tmp_path) == ["checks.md"]


@pytest.mark.parametrize(
    "model", dict.fromkeys((DeclaredFeed, *PARTS.values())), ids=lambda one: one.__name__
)
def test_every_key_of_a_feed_file_has_a_sentence_and_is_listed(model: type[BaseModel]) -> None:
    listed = first_cells(feed_keys.feed_keys())
    for name, field in model.model_fields.items():
        described = field.description
        assert described, f"{model.__name__}.{name} has no docstring below it"
        assert described.endswith("."), described
        assert (field.alias or name) in listed


def test_every_column_of_gold_has_a_sentence_and_no_sentence_is_left_over() -> None:
    for _, schema, described in tables.of_gold():
        assert sorted(name for name, _ in tables.kinds(schema)) == sorted(described)
    assert all(text.endswith(".") for text in tables.sentences().values())


def every(command: click.Command, path: str) -> list[tuple[str, click.Command]]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    found = [pair for part in inner for pair in every(part, f"{path} {part.name}")]
    return found or [(path, command)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed_with_its_options_and_help(name: str) -> None:
    page = commands.commands()
    for path, one in every(command_of(name), name):
        (section,) = [
            part for part in page.split("\n## ") if re.match(rf"`weir {re.escape(path)}`\n", part)
        ]
        assert one.help
        assert prose(one.help.splitlines()[0]) in section
        for option in (word for known in one.params for word in known.opts if word[:2] == "--"):
            assert f"{option}" in section
    assert "Show this message" not in page


def test_every_check_is_listed_once_with_its_words() -> None:
    page = checks.checks()
    rules = {
        rule.name: rule
        for found in (
            source.RULES,
            source.RULES_OF_COMPARISON,
            catalogues.RULES,
            bronze.RULES,
            bronze.RULES_OF_LANDINGS,
            bronze.RULES_OF_FILES,
            gold.RULES,
            cuts.RULES,
            tigergraph.RULES,
            *map(silver.rules_of, FORMATS),
        )
        for rule in found
    }
    assert len(rules) > 25
    for rule in rules.values():
        assert cell(prose(rule.says)) in page
    of_formats = {warning.rule for known in FORMATS.values() for warning in known.warnings}
    once = [name for name in first_cells(page) if name not in of_formats]
    assert sorted(once) == sorted({*rules} - of_formats)


def test_a_text_can_end_no_cell_and_open_no_tag() -> None:
    assert cell(prose("a | b\n<c> ``<d>``")) == "a \\| b &lt;c> `<d>`"
