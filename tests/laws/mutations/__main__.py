"""Break the product on purpose, one line at a time, and see that the law that is broken fails.

Everything happens in a copy of the source tree, which is removed; nothing needs Spark. Laws over drawn histories get
more of them until they fail, so that the printed table says how few are enough. Arguments are numbers of laws; without
any, all are tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.laws import test_tigergraph
from tests.laws.events.test_laws_of_events import histories_of
from tests.laws.gold.test_newest_laws import compared
from tests.laws.mutations.mutation import LAWS, Mutation, listed
from tests.laws.snapshots import test_any_snapshot_heals

MUTATIONS = tuple(sorted(listed(), key=attrgetter("law")))
ROOT = Path(__file__).resolve().parents[3]
COPIED = ("assets", "expectations", "orchestration", "transforms", "tests", "pyproject.toml")
HISTORIES = (10, 50, 250, 1000, 5000, 25000)
"""How many histories are drawn, each number after the one before it, until the law fails."""
FAILED = 1
"""What pytest ends with where a test failed, and nothing else was wrong."""


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """A copy of what the laws need of the source tree."""
    with TemporaryDirectory(prefix="weir-mutations-") as folder:
        for name in COPIED:
            source, target = root / name, Path(folder, name)
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, ignore=ignored)
            else:
                shutil.copy(source, target)
        yield Path(folder)


@contextmanager
def broken(tree: Path, mutation: Mutation) -> Iterator[None]:
    """Have the fault in the copy."""
    file = tree / mutation.file
    sound = file.read_text()
    _write(file, mutation.applied(sound))
    try:
        yield
    finally:
        _write(file, sound)


def _write(file: Path, text: str) -> None:
    file.write_text(text)
    # Python knows a changed file by its time, in seconds, and its size: both may be what they were.
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def tried(tree: Path, tests: Collection[str], histories: int) -> subprocess.CompletedProcess[str]:
    """Run these tests in the copy, over so many histories of each kind."""
    settings = {"WEIR_LAW_HISTORIES": str(histories), "PYTHONPATH": str(tree)}
    options = ("-q", "-x", "-p", "no:cacheprovider", "-n0")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def noticed(tree: Path, mutation: Mutation) -> tuple[int, str]:
    """After how many histories the law failed, and what it said; 0 where it did not fail."""
    said = ""
    with broken(tree, mutation):
        for histories in {drawn(mutation.test, one): one for one in HISTORIES}.values():
            answer = tried(tree, [mutation.test], histories)
            said = next((one for one in answer.stdout.splitlines() if one.startswith("E  ")), "")
            if answer.returncode == FAILED and "rror" in said and "AssertionError" not in said:
                return 0, f"it failed by another fault: {said}"
            if answer.returncode == FAILED:
                return histories, said.removeprefix("E").strip()
            if answer.returncode:
                return 0, f"the test could not be run: {answer.stdout[-2000:]}{answer.stderr}"
    return 0, f"the law did not fail over {HISTORIES[-1]:,} histories"


def drawn(test: str, histories: int) -> int:
    """How many histories a test draws for this number: those of events divide it among the formats.

    Those of the newest changes compare some of them.
    """
    if "/test_newest_laws.py" in test:
        return compared(histories)
    if test.startswith("tests/laws/gold/"):
        return histories
    if "/test_any_snapshot_heals.py" in test:
        return test_any_snapshot_heals.histories_of(histories)
    # The store's graphs are the same ones every time.
    return histories_of(histories) if "/events/" in test else test_tigergraph.HISTORIES


def main(laws: Collection[int]) -> int:
    """Try them all; how many were not noticed."""
    wanted = [one for one in MUTATIONS if one.law in laws]
    unnoticed = 0
    with copied(ROOT) as tree:
        tests = sorted({one.test for one in wanted})
        sound = tried(tree, tests, HISTORIES[3])
        if sound.returncode:
            print(f"{sound.stdout}\nthe laws do not even hold where nothing is broken")
            return 1
        print(f"{len(tests)} tests hold over {HISTORIES[3]:,} histories where nothing is broken.\n")
        print("| law | what is seen | line of | fails in | among |\n|---|---|---|---|---|")
        for one in wanted:
            histories, said = noticed(tree, one)
            unnoticed += not histories
            cells = (f"{one.law} {LAWS[one.law]}", one.means, f"`{one.file}`", table_cell(one.test))
            print(
                f"| {' | '.join(cells)} | {drawn(one.test, histories) if histories else said} |",
                flush=True,
            )
    print(f"\n{len(wanted) - unnoticed} of {len(wanted)} faults were noticed")
    return unnoticed


def table_cell(test: str) -> str:
    """A test's name in few words: its file and its parameter."""
    file, _, name = test.partition("::")
    _, _, parameter = name.partition("[")
    return f"`{Path(file).stem}` {parameter.removesuffix(']')}".strip()


if __name__ == "__main__":
    sys.exit(min(main({*map(int, sys.argv[1:])} or {*LAWS}), 100))
