"""The house rules that a program can see: walls between packages, sizes of functions, and names (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from transforms import errors

PACKAGES = ("bench", "orchestration", "assets", "expectations", "transforms")

MOST_LINES_OF_A_FUNCTION = 50
MOST_PARAMETERS = 5

HOOKS = {
    *("build", "decoder", "split", "main"),
    # What each of the bench's other tools has to answer to.
    *("prepare", "merge", "export", "lines"),
}
"""Functions that several modules have by agreement, so that one caller can take any of them."""


def modules(root: Path) -> Iterator[tuple[str, str]]:
    """Every module of the product: its path below the root, and its text."""
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            yield str(file.relative_to(root)), file.read_text()


@cache
def nodes_of(text: str) -> list[ast.AST]:
    """All nodes of a module, which several tests ask for."""
    return [*ast.walk(ast.parse(text))]


def functions(root: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the product, with where it stands."""
    for path, text in modules(root):
        for node in nodes_of(text):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{node.lineno} {node.name}", node


def layer_of(path: str) -> str:
    """Where a name has to be told apart: a package, and in ``transforms`` each format and each family by itself.

    Formats do not know each other, so that equal names for equal things are no riddle to whoever reads one of them.
    """
    package, *rooms = path.split("/")
    is_apart = package == "transforms" and rooms[0] in ("formats", "families") and len(rooms) > 1
    return "/".join([package, *rooms[:2]]) if is_apart else package


def test_imports_run_one_way(root: Path) -> None:
    """The contracts of pyproject.toml, so that pytest alone sees a crossed wall."""
    command = Path(sys.executable).parent / "lint-imports"
    answer = subprocess.run(
        [command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_no_function_outgrows_a_screen(root: Path) -> None:
    lines = {
        place: (node.end_lineno or node.lineno) - node.lineno + 1 for place, node in functions(root)
    }
    assert {one: count for one, count in lines.items() if count > MOST_LINES_OF_A_FUNCTION} == {}


def test_no_function_asks_for_more_than_five_things(root: Path) -> None:
    asked = {}
    for place, node in functions(root):
        of = node.args
        names = [one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
        asked[place] = [name for name in names if name not in ("self", "cls")]
    assert {one: names for one, names in asked.items() if len(names) > MOST_PARAMETERS} == {}


def test_one_place_says_which_addresses_are_of_s3(root: Path) -> None:
    asking = ('startswith("s3://', 'startswith("s3a://', 'startswith(("s3')
    found = {path for path, text in modules(root) if any(one in text for one in asking)}
    # The second one makes the addresses that the first one knows.
    assert found == {"assets/storage/leases.py", "orchestration/spark/settings.py"}


def test_a_public_name_is_in_two_modules_of_a_layer_at_most(root: Path) -> None:
    homes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, text in modules(root):
        # The first that is walked is the module.
        for node in ast.iter_child_nodes(nodes_of(text)[0]):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            if not node.name.startswith("_") and node.name not in HOOKS:
                homes[layer_of(path), node.name].add(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 2} == {}


def test_errors_for_people_are_in_one_module(root: Path) -> None:
    known = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    found = [
        f"{path}: {node.name}"
        for path, text in modules(root)
        for node in nodes_of(text)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if known.intersection(map(ast.unparse, node.bases)) and path != "transforms/errors.py"
    ]
    assert found == []


def test_markdown_reaches_dagster_in_one_place(root: Path) -> None:
    """What sources wrote is no markup: only what was made inert is shown (``transforms/display``)."""
    homes = ("assets/feed_assets.py", "transforms/display.py")
    found = []
    for path, text in modules(root):
        for node in nodes_of(text):
            if not isinstance(node, ast.Call) or path in homes:
                continue
            called = ast.unparse(node.func)
            if called.endswith(("MetadataValue.md", "MarkdownMetadataValue")) or (
                called in ("Markdown", "markdown.Markdown")
            ):
                found.append(f"{path}:{node.lineno} {called}")
    assert found == []


PRINTS = (
    "orchestration/console.py",
    "orchestration/sheets.py",
    # Steps of ``make``, before or beside Weir's packages: they print pinned names, versions and paths of this machine.
    "orchestration/installation.py",
    "orchestration/spark/archive.py",
    "orchestration/spark/jars.py",
    "orchestration/spark/java.py",
    # It passes on what the JVM prints.
    "orchestration/spark/on_first_use.py",
)
"""The modules that print."""

PRINTING = re.compile(
    r"print|rich(\..*)?|(click\.)?s?echo|pprint|.*\.(print|echo|secho|print_exc|print_exception|print_stack)"
    r"|(sys\.)?(__)?std(out|err)(__)?(\..*)?|os\.write|csv\.writer|logging\.(StreamHandler|basicConfig|lastResort)"
)


def test_what_is_printed_is_printed_in_one_place(root: Path) -> None:
    """What sources wrote does nothing at a terminal: only what was made visible is printed (``console``)."""
    found = []
    for path, text in modules(root):
        if path in PRINTS or path.startswith("bench/"):
            continue
        for node in nodes_of(text):
            names: list[str] = []
            if isinstance(node, ast.Call):
                names = [ast.unparse(node.func)]
            elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("sys.std"):
                names = [ast.unparse(node)]
            elif isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{one.name}" for one in node.names]
            found += [f"{path}: {one}" for one in names if PRINTING.fullmatch(one)]
    assert found == []


def test_names_in_sql_are_quoted_in_one_place(root: Path) -> None:
    """A sign in a name must not end its quotes (``assets/columns/quoting``)."""
    found = []
    for path, text in modules(root):
        if not path.startswith(("assets/", "orchestration/")):
            continue
        for node in nodes_of(text):
            if not isinstance(node, ast.JoinedStr):
                continue
            for before, value, after in zip(
                node.values, node.values[1:], node.values[2:], strict=False
            ):
                texts = [getattr(one, "value", "") for one in (before, after)]
                is_between = isinstance(value, ast.FormattedValue) and all(
                    isinstance(one, str) for one in texts
                )
                if is_between and texts[0].endswith("`") and texts[1].startswith("`"):
                    found.append(f"{path}:{node.lineno} {ast.unparse(value)}")
    assert found == []
