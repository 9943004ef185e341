"""Every number in the code that bounds or times something, with the sentence on it and the file that has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from docs.site.reference.markdown import code, page, prose, table

ROOT: Final = Path(__file__).resolve().parents[3]
PACKAGES: Final = ("transforms", "expectations", "assets", "orchestration")

INTRO = """What bounds and times Weir's work, for whoever looks for the file that has a number. Those that can be
set are keys of the feed file ([feed_keys.md](feed_keys.md)) or settings ([commands.md](../commands.md)); all others are
constants of the code."""


def numbers() -> str:
    """The page."""
    parts = []
    for package in PACKAGES:
        rows = [row for file in sorted((ROOT / package).rglob("*.py")) for row in _numbers_in(file)]
        parts.append(f"## {package}\n\n{table(('number', 'name', 'what it is', 'file'), rows)}")
    return page("Numbers", INTRO, *parts)


def _numbers_in(file: Path) -> Iterator[tuple[str, str, str, str]]:
    """The public constants of a module that are numbers or lengths of time, and have a sentence behind them."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for node, below in pairwise(body):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        sentence = below.value if isinstance(below, ast.Expr) else None
        if not isinstance(target, ast.Name) or not isinstance(sentence, ast.Constant):
            continue
        if type(sentence.value) is str and _is_number(node.value) and target.id[0] != "_":
            name, path = code(target.id), code(str(file.relative_to(ROOT)))
            yield code(ast.unparse(node.value)), name, prose(sentence.value), path


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return type(value.value) in (int, float)
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "timedelta"
