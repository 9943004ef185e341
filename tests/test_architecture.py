"""The house rules that a program can see: walls between rooms, and their sizes (CONTRIBUTING.md, House style)."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("bench", "orchestration", "assets", "expectations", "transforms")

MOST_LINES_OF_A_FILE = 250
MOST_FILES_OF_A_ROOM = 15


def modules(root: Path) -> Iterator[tuple[str, str]]:
    """Every module of the product: its path below the root, and its text."""
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            yield str(file.relative_to(root)), file.read_text()


def test_imports_run_one_way(root: Path) -> None:
    """The contracts of pyproject.toml, so that pytest alone sees a crossed wall."""
    command = Path(sys.executable).parent / "lint-imports"
    answer = subprocess.run(
        [command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_no_source_file_outgrows_a_sitting(root: Path) -> None:
    lines = {path: len(text.splitlines()) for path, text in modules(root)}
    assert {path: count for path, count in lines.items() if count > MOST_LINES_OF_A_FILE} == {}


def test_no_room_holds_more_files_than_one_takes_in(root: Path) -> None:
    rooms: dict[str, int] = defaultdict(int)
    for path, _ in modules(root):
        folder, _, name = path.rpartition("/")
        rooms[folder] += name != "__init__.py"
    assert {room: files for room, files in rooms.items() if files > MOST_FILES_OF_A_ROOM} == {}
