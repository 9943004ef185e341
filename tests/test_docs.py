"""What the documentation promises: its links lead somewhere, its modules exist, its words are those of the glossary."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from tests.transforms.formats.folded import folded
from tests.transforms.formats.in_process import Scenario

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

REPLACED = {
    *("books", "graves", "remarks", "traits", "verdict", "verdicts", "fate", "fates", "anew"),
    *("dealt", "told_tables", "settled"),
}
"""Words that others have taken the place of: accounts, tombstones, warnings, change kinds, results, full rebuild, …"""


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_module_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    packages = "assets|bench|demo|docs|expectations|feeds|orchestration|tests|transforms"
    # The tutorial's own files, and a place where something is to be put, have a name that is made up.
    made_up = re.compile(r"[<>*]|tabbed|zoo\.yaml|feeds/[a-z_]+\.yaml")
    for path in re.findall(rf"`((?:{packages})/[^`\s]*)`", text):
        assert made_up.search(path) or (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_words_that_were_replaced_stand_nowhere(page: Path) -> None:
    words = set(re.findall(r"\w+", page.read_text(encoding="utf-8").lower()))
    assert not words & REPLACED


def test_every_room_and_module_of_the_picture_exists(root: Path) -> None:
    """What stands in its boxes of rooms, and along the way of a record, where the word above it says which house."""
    picture = (root / "docs" / "architecture.svg").read_text(encoding="utf-8")
    houses = ("orchestration", "assets", "transforms")
    names = re.findall(r'<text class="code"[^>]*>([a-z_/]+)<', picture)
    assert len(names) > 30
    for name in names:
        assert any(
            (root / house / f"{name}{end}").exists() for house in houses for end in ("", ".py")
        )
    rooms = {one.parent.name for house in houses for one in (root / house).glob("*/__init__.py")}
    assert rooms <= {*names}


def test_the_readme_is_short_and_the_glossary_too(root: Path) -> None:
    assert len((root / "README.md").read_text(encoding="utf-8").splitlines()) <= 135
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    (glossary,) = [part for part in page.split("\n## ") if part.startswith("Glossary\n")]
    words = re.findall(r"^\| ([\w -]+) \| ", glossary, re.MULTILINE)[1:]
    assert 20 <= len(words) <= 35
    of_answers = {"held", "in gold already", "late event", "superseded", "too late"}
    of_tables = {"window", "tombstone", "compaction watermark", "full rebuild", "accounting"}
    assert of_answers | of_tables <= set(words)
    assert len(words) == len(set(words))


def test_every_dependency_says_why_it_is_there(root: Path) -> None:
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    named = {name.strip() for cell in listed for name in cell.split(",")}
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    (needed,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    assert {"dagster", "pyarrow"} <= set(re.findall(r'^ *"([\w-]+)', needed, re.MULTILINE)) <= named


@pytest.mark.parametrize("table", ["customers", "orders"])
def test_the_demo_page_shows_the_gold_that_its_drops_make(root: Path, table: str) -> None:
    page = (root / "docs" / "demo.md").read_text(encoding="utf-8")
    (shown,) = re.findall(
        rf"^\$ weir query .*gold\.shop\.{table} .*\n((?:[^\s`].*\n)+)", page, re.M
    )
    head, _, *lines = [re.split(r"  +", line.strip()) for line in shown.splitlines()]
    landing = root / "demo" / "shop"
    drops = {
        file.relative_to(landing).as_posix(): file.read_bytes()
        for file in landing.rglob("*")
        if file.is_file()
    }
    feed = load_feed(root / "feeds" / "shop.yaml")
    made = folded(feed, {"demo": Scenario(drops)})["demo"].state[table]
    rows = [{name: as_printed(value) for name, value in row.items()} for row in made]
    assert sorted(rows, key=lambda row: row["id"]) == [
        dict(zip(head, line, strict=True)) for line in lines
    ]


def as_printed(value: object) -> str:
    """A value as ``weir query`` prints it."""
    if value is None:
        return "NULL"
    moment = re.fullmatch(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)", str(value))
    return f"{moment[1]}T{moment[2]}.000000Z" if moment else str(value)


def docstrings(file: Path) -> list[str]:
    """Every docstring of a module, and every text below a constant."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return [
        node.value.value
        for node in nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


def below(path: str, file: Path) -> bool:
    """Whether there is such a file or package: below the root, or below one of the packages that the file is in."""
    found = [folder / name for folder in file.parents for name in (path, f"{path}.py")]
    return any(one.exists() for one in found if one.is_relative_to(ROOT))


@pytest.mark.parametrize(
    "package", ["transforms", "expectations", "assets", "orchestration", "bench"]
)
def test_every_path_in_a_docstring_exists(package: str) -> None:
    missing = [
        f"{named(file)}: {path}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for text in docstrings(file)
        for path in re.findall(r"``([a-z_]+(?:/[a-z_0-9]+)+(?:\.py|\.md)?)``", text)
        # Go's package, and a partition of a topic, are no files of ours.
        if path not in ("encoding/json", "orders/0") and not below(path, file)
    ]
    assert not missing
