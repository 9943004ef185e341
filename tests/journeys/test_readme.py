"""The README's commands, copied to the letter, in a fresh copy of the project."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from tests.journeys.commands import Done, command
from transforms.formats import FORMATS

pytestmark = pytest.mark.journey


@pytest.fixture(scope="module")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git tracks, with the environment that stands beside it already."""
    if not (root / ".venv" / ".ready").exists():
        pytest.skip("there is no .venv made by make: run `make test`")
    clone = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, clone / name)
    (clone / ".venv").symlink_to(root / ".venv")
    return clone


@pytest.fixture(scope="module")
def first(clone: Path) -> Iterator[Done]:
    """``make run`` in the fresh copy."""
    yield command(clone, "make", "run")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_make_alone_lists_what_the_documentation_lists(clone: Path, page: str) -> None:
    listed = command(clone, "make")
    assert listed.code == 0
    text = (clone / page).read_text(encoding="utf-8")
    promised = re.findall(r"^\| `make ([\w-]+)[^`]*` \|", text, re.MULTILINE)
    assert {"check", "test"} <= set(promised)
    for target in promised:
        assert f"  make {target} " in listed.out


def test_make_run_shows_what_came_what_became_of_it_and_what_to_try(first: Done) -> None:
    assert first.code == 0, first.err
    for word in ("source events", "changes", "duplicates", "quarantined", "rows", "tombstones"):
        assert word in first.out
    rows = {line.split()[0]: line.split()[1:] for line in first.out.splitlines() if "shop." in line}
    events, changes, already, duplicates, quarantined = map(int, rows["shop.customers"][:5])
    assert events == changes + duplicates + quarantined
    assert min(changes, already, quarantined) > 0
    assert re.search(r"^checks: \d+ passed, \d+ warnings?, 0 failed$", first.out, re.MULTILINE)
    assert "Try next:" in first.out


def test_what_the_readme_shows_of_make_run_is_what_it_prints(first: Done, clone: Path) -> None:
    text = (clone / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"\(shortened\):\n\n```text\n(.*?)```", text, re.DOTALL)
    printed = [line.strip() for line in first.out.splitlines()]
    # The README shows `weir` where the program's place is printed.
    lines = [
        line.strip().replace("weir query", ".venv/bin/weir query") for line in shown.split("\n")
    ]
    assert "Try next:" in lines
    assert [line for line in lines if line not in printed] == []


def test_every_source_of_the_demo_has_rows(first: Done, root: Path) -> None:
    feeds = sorted(file.stem for file in (root / "feeds").glob("*.yaml"))
    assert {load_feed(root / "feeds" / f"{name}.yaml").format for name in feeds} == set(FORMATS)
    lines = [line.split() for line in first.out.splitlines() if line.count("  ") > 4]
    for name in feeds:
        of_feed = [line for line in lines if line[0].startswith(f"{name}.")]
        assert any(line[-2].isdecimal() and int(line[-2]) > 0 for line in of_feed), name
    # A transaction without its commit waits, whatever else its feed has.
    assert "every_transaction_is_committed" in first.out


def test_what_it_says_to_try_next_works_as_printed(first: Done, clone: Path) -> None:
    lines = [line.strip() for line in first.out.split("Try next:")[1].splitlines()]
    commands = [line for line in lines if " query " in line or " quarantine " in line]
    assert len(commands) == 2
    for line in commands:
        done = command(clone, *shlex.split(line, comments=True))
        assert done.code == 0, done.err
        assert len(done.out.splitlines()) > 3


def test_a_second_make_run_finds_nothing_new_and_says_so(first: Done, clone: Path) -> None:
    assert first.code == 0
    again = command(clone, "make", "run")
    assert again.code == 0, again.err
    assert "Nothing new: every drop in the landing is in gold already." in again.out
    assert "source events" not in again.out


def test_it_leaves_nothing_in_the_tree_that_git_would_see(first: Done, clone: Path) -> None:
    assert first.code == 0
    made = {path.name for path in clone.iterdir()}
    ignored = {line.strip("/\n") for line in (clone / ".gitignore").read_text().splitlines()}
    tracked = subprocess.run(
        ["git", "ls-files"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    known = {name.split("/")[0] for name in tracked.stdout.splitlines()} | ignored
    assert made <= known
