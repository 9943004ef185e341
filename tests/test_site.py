"""The site that ``make docs`` makes: whole, and readable without a network; a link that leads nowhere stops it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

KINDS = ["Tutorials", "How-to", "Sources", "Reference", "How it works"]
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["'](?:https?:)?//|"""
    r"""<link[^>]*\shref=["'](?:https?:)?//|@import[^;]*//|url\(["']?(?:https?:)?//"""
)
"""What a browser would load from elsewhere by itself; a link that a person may follow is none."""


def made(pages: Path, target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "docs.site", f"{target}"],
        cwd=pages,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("docs") / "site"
    done = made(root, target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return target


BROKEN = (
    "[x](nowhere.md)",
    "[x](tables.md#nobody)",
    "[x](../feeds/nothing.yaml)",
    "![x](unseen.svg)",
)


@pytest.fixture(scope="module")
def spoiled(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> subprocess.CompletedProcess[str]:
    """The site of a copy of the pages, one of which has all the links that lead nowhere, each in a line of its own."""
    copy = tmp_path_factory.mktemp("spoiled")
    for name in ("docs", "feeds", "demo", "orchestration", "assets", "expectations", "transforms"):
        shutil.copytree(root / name, copy / name)
    for file in root.glob("*.md"):
        shutil.copy2(file, copy)
    page = copy / "docs" / "tables.md"
    links = "\n\n".join(BROKEN)
    page.write_text(f"{page.read_text(encoding='utf-8')}\n{links}\n", encoding="utf-8")
    return made(copy, copy / "site")


def listed(root: Path) -> dict[str, list[str]]:
    written: dict[str, list[str]] = yaml.safe_load(
        (root / "docs" / "site" / "navigation.yaml").read_text(encoding="utf-8")
    )
    return written


def test_the_navigation_has_five_kinds_and_each_page_once(root: Path) -> None:
    sections = listed(root)
    assert list(sections) == KINDS
    pages = [page for section in sections.values() for page in section]
    files = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    assert sorted(pages) == sorted(
        file.relative_to(root).as_posix() for file in files if file.name != "README.md"
    )


def test_each_page_is_in_the_site_which_begins_with_the_readme(root: Path, site: Path) -> None:
    for page in (page for section in listed(root).values() for page in section):
        assert (site / page).with_suffix(".html").exists(), page
    first = (site / "index.html").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f'<span class="caption-text">{kind}</span>' in first
    assert "flow.svg" in first
    assert (site / "searchindex.js").exists()


def test_nothing_is_loaded_from_elsewhere_when_it_is_read(site: Path) -> None:
    assert LOADED.search('<link rel="stylesheet" href="https://fonts.example/a.css">')
    assert LOADED.search("<script src='//cdn.example/a.js'></script>")
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css", ".js", ".svg")]
    assert len(files) > 25
    loading = [file.name for file in files if LOADED.search(file.read_text(encoding="utf-8"))]
    assert loading == []


@pytest.mark.parametrize("broken", BROKEN)
def test_a_link_that_leads_nowhere_stops_it(
    spoiled: subprocess.CompletedProcess[str], broken: str
) -> None:
    assert spoiled.returncode == 1
    (target,) = re.findall(r"nowhere|nobody|nothing|unseen", broken)
    assert [line for line in spoiled.stderr.splitlines() if "tables.md" in line and target in line]


@pytest.mark.parametrize("picture", ["flow.svg", "bench.svg"])
def test_a_picture_can_be_read_on_a_light_and_a_dark_page(root: Path, picture: str) -> None:
    text = (root / "docs" / picture).read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "<title" in text
    light, dark = re.findall(r"svg \{([^}]*)\}", text)
    colours = [set(re.findall(r"--[a-z]+", part)) for part in (light, dark)]
    assert colours[0] == colours[1]
    used = set(re.findall(r"var\((--[a-z]+)\)", text))
    assert used == colours[0]
