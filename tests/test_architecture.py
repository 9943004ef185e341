from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_imports_run_one_way(root: Path) -> None:
    """The contracts of pyproject.toml, so that pytest alone sees a crossed wall."""
    command = Path(sys.executable).parent / "lint-imports"
    answer = subprocess.run(
        [command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_no_source_file_outgrows_a_sitting(root: Path) -> None:
    packages = ("bench", "orchestration", "assets", "expectations", "transforms")
    files = [file for package in packages for file in (root / package).rglob("*.py")]
    lines = {str(file.relative_to(root)): len(file.read_text().splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > 250} == {}
